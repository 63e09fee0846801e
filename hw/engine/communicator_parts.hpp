#pragma once
#include <memory>
#include <string>
#include <vector>

#include "hw/engine/call_planner.hpp"
#include "hw/engine/communicator.hpp"
#include "hw/engine/copy_proxy.hpp"
#include "hw/engine/engine_device.hpp"
#include "hw/engine/engine_paths.hpp"
#include "hw/engine/mailboxes.hpp"
#include "hw/rendezvous/exchange.hpp"
#include "hw/rendezvous/status_board.hpp"
#include "hw/rendezvous/watch.hpp"

namespace lanecast {

/// What a communicator is made of, in the order in which it comes into being; destroyed the other way round.
struct Communicator::Impl {
  Impl(std::unique_ptr<Exchange> joined, EngineDevice& own_device, const EngineOptions& wanted);
  ~Impl();
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  /// Throws the watch's problem, if there is one.
  void check() const;

  /// Throws where another rank has closed this communicator without the coming call: it takes no part any
  /// more.
  void refuse_closed() const;

  /// Where the abort flag is up, gives the watch the moment that it needs to say why.
  void explain_abort() const;

  std::unique_ptr<Exchange> exchange;
  EngineDevice& device;
  EngineOptions options;
  std::vector<RankDevice> devices;
  EnginePaths paths;
  std::unique_ptr<StatusBoard> board;
  std::byte* page_seen = nullptr;  // own status page, as the device sees it
  std::unique_ptr<Mailboxes> mailboxes;
  std::unique_ptr<CallPlanner> planner;
  std::unique_ptr<Watch> watch;
  std::unique_ptr<CopyEngines> engines;  // where all ranks meet in host memory
  std::unique_ptr<CopyProxy> proxy;      // where copy engines can be used

  std::vector<std::byte*> recordings;  // kept to the end: captured graphs write into older ones
  Recording recording;
  int recorded_blocks = 0;

 private:
  void exchange_devices();
  void map_status_page();
  void choose_layout();
  bool end_together(EndStage stage) noexcept;
  bool all_reach(EndStage stage) noexcept;
};

/// Checked and the same on all ranks, or an Error of kind usage on all of them.
void agree_about(Exchange& exchange, const EngineOptions& options);

}  // namespace lanecast
