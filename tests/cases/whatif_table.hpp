#pragma once
#include <optional>
#include <string>
#include <vector>

#include "tests/cases/all_reduce_table.hpp"
#include "tests/cases/copy_sets.hpp"

namespace lanecast::cases {

/// What differs between the two settings of a pair.
enum class ChangeKind { peer_access, uplink, acs, channels, sharing, wiring, protocol, algorithm };

const char* to_string(ChangeKind kind);
const std::vector<ChangeKind>& change_kinds();

/// Two published measurements of copies on one machine: before and after a change.
struct CopyWhatIf {
  ChangeKind kind = ChangeKind::peer_access;
  std::string source;  // id of the case, or a citation
  CopySet before;      // both name the same machine
  CopySet after;
  Engine after_engine = Engine::copy;  // before: always copy engines
  std::string note;
};

/// Pairs of shared/cases, matrices apart.
const std::vector<CopyWhatIf>& copy_what_ifs();

/// Pairs that no case has, but that facts.md cites with their source.
const std::vector<CopyWhatIf>& cited_what_ifs();

/// A case that holds matrices of one machine with and without peer access.
struct PeerMatrices {
  std::string case_id;
  std::string machine;  // as CaseMachine's
};

const std::vector<PeerMatrices>& peer_matrices();

/// The change from a machine file that has peer access to what such a case calls P2P=Disabled.
const std::vector<std::string>& peer_access_off();

/// One of the two settings of a pair of all-reduces.
struct AllReduceSide {
  AllReduceCase entry;            // its name() is the sweep that holds the figures
  std::optional<double> carried;  // busbw in GB/s, where the case has it outside of a sweep
  std::vector<Bytes> mean_over;   // the figure is the mean busbw of these sizes; empty: of the pair's size
};

/// Two published all-reduces of one machine, of the same size: before and after a change.
struct AllReduceWhatIf {
  ChangeKind kind = ChangeKind::protocol;
  AllReduceSide before;
  AllReduceSide after;
  std::vector<Bytes> sizes;  // a row each
  std::string note;
};

const std::vector<AllReduceWhatIf>& all_reduce_what_ifs();

/// Pairs that stay out, and why.
struct WhatIfLeftOut {
  std::string pair;
  std::string reason;
};

const std::vector<WhatIfLeftOut>& what_ifs_left_out();

/// A copy set of copy_sets(). @throws Error  kind usage, where there is none
const CopySet& copy_set(const std::string& case_id, const std::string& label);

/// A sweep of all_reduce_cases() by name(). @throws Error  kind usage, where there is none
const AllReduceCase& all_reduce_case(const std::string& name);

}  // namespace lanecast::cases
