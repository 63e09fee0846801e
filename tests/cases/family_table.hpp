#pragma once
#include <string>
#include <vector>

#include "tests/cases/all_reduce_table.hpp"

namespace lanecast::cases {

/// An all-reduce case that leaves too much open, or tells too little, to be fitted to.
struct OnlyPredicted {
  std::string case_id;
  std::string reason;
};

/// Cases of one GPU family: what its profile is fitted to.
struct GpuFamily {
  std::string profile;             // name of the profile, and of its file
  std::string title;               // "RTX 4090"
  std::vector<std::string> gpus;   // models that the profile is for
  std::vector<std::string> cases;  // ids, of all-reduce sweeps and of copies
  std::vector<OnlyPredicted> only_predicted;
  std::string note;  // what its profile's description says beside the cases
};

const std::vector<GpuFamily>& gpu_families();

/// All-reduce cases that are listed and stay out of the families' fits: far off, and nothing that their
/// sources state says why.
struct UnexplainedCase {
  std::string case_id;
  std::string reason;
};

const std::vector<UnexplainedCase>& unexplained_cases();

/// Which of the three things that decide large calls a source states.
struct StatedFacts {
  bool transport = false;
  bool widths = false;
  bool channels = false;

  bool path() const { return transport && widths; }
  bool all() const { return path() && channels; }
};

StatedFacts stated_facts(const AllReduceCase& entry);

/// A machine whose all-reduce nobody has shown us, and the cases that its prediction is fitted to.
struct TransferTarget {
  std::string fitted_on;           // as tables name the data
  std::vector<std::string> cases;  // ids; not a shipped profile's
  std::string target;              // as tables name the machine
  std::string machine;             // as CaseMachine's
  std::vector<std::string> sets;
  std::string implementation;
  std::vector<NcclSetting> environment;
};

const std::vector<TransferTarget>& transfer_targets();

}  // namespace lanecast::cases
