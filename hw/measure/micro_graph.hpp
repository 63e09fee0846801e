#pragma once
#include <functional>

#include "hw/measure/micro_machine.hpp"

struct CUgraphExec_st;

namespace lanecast {

/// Work of a stream, and of streams that it waits for, captured to be replayed.
class MicroGraph {
 public:
  /// @param issue  puts the work into the stream. @throws Error  kind runtime, also what `issue` throws
  MicroGraph(MicroMachine::Stream stream, const std::function<void()>& issue);
  ~MicroGraph();
  MicroGraph(const MicroGraph&) = delete;
  MicroGraph& operator=(const MicroGraph&) = delete;

  void replay() const;

 private:
  MicroMachine::Stream stream_;
  CUgraphExec_st* executable_ = nullptr;
};

}  // namespace lanecast
