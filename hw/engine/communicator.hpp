#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hw/engine/kernel_call.hpp"
#include "hw/engine/staging.hpp"
#include "hw/rendezvous/exchange.hpp"
#include "model/predict/call.hpp"
#include "model/units.hpp"

struct CUstream_st;

namespace lanecast {

using Stream = CUstream_st*;  // cudaStream_t

class EngineDevice;

/// What a communicator sets up once. Every rank must give the same values.
struct EngineOptions {
  std::optional<Transport> transport;  // p2p or shm for all pairs; absent: peer memory where it works
  std::optional<int> channels;         // most channels that a call may use; absent: by the path
  std::optional<Bytes>
      ring_buffsize[3];   // FIFO of a ring connection, wire bytes, by Protocol; absent: NCCL's
  bool exchanges = true;  // connections between any two ranks: all algorithms but the ring
  std::chrono::milliseconds timeout{10'000};  // of every wait, in kernels too; 1 ms to 10 min
  std::uint64_t first_step = 0;  // number of the first slice on each connection: tests of counters that wrap
};

/// What a call may fix; the rest is the engine's choice. Every rank must give the same values.
struct CallChoice {
  std::optional<Algorithm> algorithm;
  std::optional<Protocol> protocol;
  std::optional<int> channels;
  std::optional<int> threads;
  std::optional<Bytes> buffsize;  // at most what the communicator has
  std::optional<Bytes> chunk;
  std::optional<Staging> staging;  // between ranks that meet in host memory
};

/// How a call ran, or would run.
struct ChosenWay {
  Algorithm algorithm = Algorithm::ring;
  Protocol protocol = Protocol::simple;
  Transport transport = Transport::p2p;  // shm where any two that exchange data meet in host memory
  Staging staging = Staging::kernels;
  int channels = 1;
  int threads = 512;
  int blocks = 1;
  int slices_per_chunk = 1;
  int fifo_slices = 8;
  Bytes chunk{0};
  Bytes buffsize{0};
};

/// A rank's GPU, as all ranks know it.
struct RankDevice {
  int rank = 0;
  int process = 0;     // pid
  int device = 0;      // CUDA's index in that process
  std::string bus_id;  // "0000:3b:00.0"
  std::string name;
  int sm = 0;
  int multiprocessors = 0;
};

/// One rank of a group of GPUs of one machine that run collectives together: processes of one user, or
/// threads of one process.
///
/// All ranks call the same collectives with the same arguments in the same order; a rank that does otherwise
/// gives every rank an Error that says how they differ. Calls are ordered by the stream that they are given;
/// they may be captured in a graph, and the graph replayed, as long as all ranks replay the same one. Nothing
/// is allocated and nothing waits in a call, but for the first one of a kind, which is planned.
/// One communicator is used from one thread at a time, and by calls on one stream at a time.
///
/// Counts are elements. Buffers are device memory of this rank's GPU, aligned to the element, and may be the
/// same (in place) or must not overlap.
///
/// After an Error of kind runtime the communicator is broken: all later calls throw the same. The ranks can
/// then destroy it and open a new one.
class Communicator {
 public:
  /// Collective: returns when all ranks have joined.
  /// @param device    of this rank; outlives the communicator
  /// @throws Error  kind usage: options out of range or not the same on all ranks; kind runtime: what went
  /// wrong
  ///                on any rank (out of memory, peer access refused where it was asked for, a memory handle
  ///                that can't be opened, data that arrive wrong, a rank that did not come), on every rank
  Communicator(std::unique_ptr<Exchange> exchange, EngineDevice& device, const EngineOptions& options = {});

  /// Waits for kernels of its own, which end after the time-out at the latest; then for the other ranks to be
  /// as far, at most the time-out; then closes, in order, what it opened.
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  int rank() const;
  int ranks() const;
  const std::vector<RankDevice>& devices() const;

  /// "p2p" or "shm" between two ranks, and why.
  Transport transport(int from_rank, int to_rank) const;
  std::string path(int from_rank, int to_rank) const;         // "peer memory over NVLink", "host memory"
  std::string path_reason(int from_rank, int to_rank) const;  // why not peer memory; empty where it is used

  /// output[i] = op over ranks of their input[i], on every rank.
  void all_reduce(const void* input, void* output, std::uint64_t count, Datatype type, ReduceOp op,
                  Stream stream);
  /// output: count elements; input: ranks x count; rank r gets block r of the reduction.
  void reduce_scatter(const void* input, void* output, std::uint64_t count, Datatype type, ReduceOp op,
                      Stream stream);
  /// output: ranks x count elements, block r from rank r; input: count.
  void all_gather(const void* input, void* output, std::uint64_t count, Datatype type, Stream stream);
  void broadcast(const void* input, void* output, std::uint64_t count, Datatype type, int root,
                 Stream stream);
  /// output on `root` alone; elsewhere it may be null.
  void reduce(const void* input, void* output, std::uint64_t count, Datatype type, ReduceOp op, int root,
              Stream stream);

  /// Any of them. Of `call` count the collective, size, type, operation and root; how it runs is `choice`'s.
  /// `call.size` is as in nccl-tests (the larger buffer); `call.in_place` is taken from the
  /// pointers, and what a Call leaves open is the engine's choice. Ranks and order are the communicator's.
  void run(const Call& call, const CallChoice& choice, const void* input, void* output, Stream stream);

  /// The way that `run` would take. @throws Error  kind usage: what is fixed cannot be
  ChosenWay way(const Call& call, const CallChoice& choice) const;

  /// Records the slices of all later calls (the last one stays), up to `slices` a block; 0 ends it.
  void record(std::uint32_t slices);
  /// Of the last call; its stream must be done. @throws Error  kind usage: nothing was recorded
  std::vector<SliceRecord> recorded() const;

  /// @throws Error  kind runtime: what has gone wrong so far, on any rank
  void check() const;

  /// Waits until the stream is done, however long that takes; once something is wrong, for the time-out and
  /// 30 s at most.
  /// @throws Error  kind runtime: as `check`, or the stream did not end in time
  void synchronize(Stream stream);

  /// All ranks wait for each other, on the host.
  void barrier();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lanecast
