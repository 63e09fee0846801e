#pragma once
#include <string>
#include <vector>

#include "model/implementation/implementation.hpp"

namespace lanecast::cases {

/// What a source says of NCCL's choices for calls up to a size; empty or 0: nothing.
struct StatedChoice {
  Bytes up_to{~std::uint64_t{0}};
  std::string transport;  // "p2p", "shm", "mixed"
  std::string protocol;   // "ll", "ll128", "simple"
  int channels = 0;       // of the communicator: a small call may use fewer
};

/// One all-reduce sweep that others measured, and what is known of how it ran.
struct AllReduceCase {
  std::string case_id;
  std::string variant;  // tells the sweeps of one case apart; may be empty
  std::string list;     // as FigurePlace::list
  std::string entries;  // as matching_entries: which rows of the list
  std::string machine;  // as CaseMachine's
  std::vector<std::string> sets;
  std::string implementation;            // "nccl-2.27": the release of the case, or the nearest one known
  std::string release_note;              // why it is another release than the case's; empty: it is the case's
  std::vector<NcclSetting> environment;  // origin "stated" or "assumed"
  Call call;                             // how it was launched, and by whom; size left open
  std::vector<StatedChoice> stated;      // by size, ascending
  std::string difference;     // why NCCL's choice by its rules is another than stated; empty: it is not
  std::string not_simulated;  // why there is no prediction; empty: there is one
  std::string not_reckoned;   // why NCCL's own choice and estimate cannot be told; empty: they can
  std::string not_stated;     // of transport, link widths, protocol and channels; empty: a stated case

  std::string name() const { return variant.empty() ? case_id : case_id + ", " + variant; }
};

/// Sweeps of shared/cases.
const std::vector<AllReduceCase>& all_reduce_cases();

/// Sweeps that stay out, and why: "case" or "case, variant".
struct AllReduceLeftOut {
  std::string case_id;
  std::string reason;
};

const std::vector<AllReduceLeftOut>& all_reduce_left_out();

/// The release with the case's environment.
/// @throws Error  as implementation_from_string and read_nccl_environment
Implementation implementation_of(const AllReduceCase& entry);

/// As nccl-tests runs without -G: launched in a stream. Nothing is forced.
Call stream_call();

}  // namespace lanecast::cases
