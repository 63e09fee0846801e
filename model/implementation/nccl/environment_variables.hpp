#pragma once
#include <string>
#include <vector>

namespace lanecast {

/// What a variable of NCCL's does to a prediction for one node.
enum class NcclEffect { modelled, none, not_modelled };

const char* to_string(NcclEffect effect);  // "modelled", "no effect here", "not modelled"

/// A variable of NCCL's environment as we know it.
struct NcclVariable {
  std::string name;  // one that ends in `*` stands for all that begin so
  int since = 0;     // of 2.x; 0: older than what we model, or not known
  int until = 0;     // last release 2.x that reads it; 0: still read in 2.30
  NcclEffect effect = NcclEffect::none;
  std::string about;     // what it changes, in a few words
  std::string harmless;  // not_modelled: values that change nothing, such as "1|-2"; "" where all change
};

/// All known variables, sorted by effect and subject. A full name stands before a pattern that covers it.
const std::vector<NcclVariable>& nccl_variables();

/// The entry for a name, patterns included; null for an unknown one.
const NcclVariable* find_nccl_variable(const std::string& name);

}  // namespace lanecast
