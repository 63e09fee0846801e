#pragma once
#include <vector>

#include "model/advice/predictor.hpp"
#include "model/implementation/implementation.hpp"
#include "model/profile/profile.hpp"

namespace lanecast {

/// Numbers to try beyond what the implementation would take by itself. Empty: left to it.
struct WayLists {
  std::vector<int> channels;
  std::vector<int> threads;
  std::vector<Bytes> chunks;
};

/// Where the fastest way of a call is sought, and who says how fast a way is.
struct WayQuestion {
  const Machine& machine;
  const Profile& profile;
  const Implementation& implementation;
  const Predictor& predict;
  WayLists lists;
};

/// The fastest safe way of each call: algorithm and protocol, then channels, then threads and chunk.
///
/// Each algorithm and protocol that the implementation could run, and that the closed form does not call
/// twice as slow as the best, is predicted with its own geometry; those within 1.6 times the best with each
/// count of channels; the best three of these with each count of threads; and the best two with each chunk. A
/// way that corrupts data (LL128 over PCIe) is left out. Of ways within a hundredth of the fastest, that with
/// the fewest channels is taken; what is no faster than the implementation's own choice by a hundredth leaves
/// that choice.
/// @param as_is  predictions of the calls as the implementation runs them
/// @return       one a call; a call for which NCCL takes what is not simulated (NVLS) keeps `as_is`
std::vector<Prediction> best_ways(const WayQuestion& question, const std::vector<Call>& calls,
                                  const std::vector<Prediction>& as_is);

/// The call forced to run as predicted: algorithm, protocol, channels, threads and chunk as it was asked
/// there.
Call forced_as(const Call& call, const Prediction& way);

/// "ring/ll"
std::string way_name(const Prediction& way);

/// A size from which another way is the fastest.
struct Crossover {
  Bytes size{0};  // the smallest, to a tenth, at which `above` is faster
  Prediction below;
  Prediction above;  // both as found at the sizes around
};

/// Where the fastest algorithm or protocol changes between the calls' sizes.
/// @param best  by best_ways, one a call, sizes ascending
std::vector<Crossover> crossovers(const WayQuestion& question, const std::vector<Call>& calls,
                                  const std::vector<Prediction>& best);

/// What a call takes with one size of chunk.
struct ChunkPoint {
  Bytes chunk{0};  // asked; `prediction.chunk` is what fits the call's geometry
  Prediction prediction;
};

/// A call run as `way` with each chunk. NCCL's chunk follows from its buffer (half of it in Simple, an eighth
/// in LL and LL128): the buffer is what is set there. Chunks that the implementation refuses are left out.
std::vector<ChunkPoint> chunk_curve(const WayQuestion& question, const Call& call, const Prediction& way,
                                    const std::vector<Bytes>& chunks);

}  // namespace lanecast
