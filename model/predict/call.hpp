#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/predict/algorithm.hpp"
#include "model/protocol/protocol.hpp"
#include "model/schedule/geometry.hpp"
#include "model/units.hpp"

namespace lanecast {

enum class Datatype { float32, float16, bfloat16, float64, int32, int64, uint8 };
enum class ReduceOp { sum, prod, max, min, avg };
enum class Transport { p2p, shm };
enum class Launch { stream, graph };
enum class Registration { automatic, on, off };

/// One collective call, as a user states it. Absent members are decided by the implementation.
struct Call {
  Collective collective = Collective::all_reduce;
  Bytes size{0};  // as in nccl-tests: all-gather and reduce-scatter count the larger buffer
  Datatype datatype = Datatype::float32;
  ReduceOp op = ReduceOp::sum;
  int root = 0;  // GPU index; broadcast and reduce
  bool in_place = false;
  std::optional<Algorithm> algorithm;
  std::optional<Protocol> protocol;
  std::optional<Transport>
      transport;  // p2p: for every pair, up to the machine's own p2p.level; shm: for none
  std::optional<int> channels;
  std::optional<int> threads;
  std::optional<Bytes> buffsize;  // of one connection, wire bytes
  std::optional<Bytes> chunk;     // payload of one chunk
  Launch launch = Launch::graph;
  int iterations = 20;  // launches in one graph, or in one stream timing
  Registration registration = Registration::automatic;
  std::optional<Bytes> working_set;  // that the calls of a timing touch on a rank, input and output; absent:
                                     // this call's buffers
  std::vector<int> ranks;            // GPU indices in ring order; empty: every present GPU
  bool order_given = false;  // true: the ring follows `ranks` as written; false: the implementation orders it
};

int element_bytes(Datatype type);
const char* to_string(Datatype type);   // "float", "half", "bfloat16", "double", "int32", "int64", "uint8"
const char* to_string(ReduceOp op);     // "sum", ...
const char* to_string(Transport t);     // "p2p", "shm"
const char* to_string(Launch launch);   // "stream", "graph"
const char* to_string(Collective c);    // "all_reduce", ...
const char* to_string(Registration r);  // "auto", "on", "off"
std::optional<Datatype> datatype_from_string(
    const std::string& text);  // nccl-tests' names and float32, float16 ...
std::optional<ReduceOp> reduce_op_from_string(const std::string& text);
std::optional<Collective> collective_from_string(const std::string& text);

/// What bus bandwidth counts for each byte of size: 2(n-1)/n, (n-1)/n or 1.
/// Source: facts.md B1 (nccl-tests doc/PERFORMANCE.md).
double busbw_factor(Collective collective, int ranks);

}  // namespace lanecast
