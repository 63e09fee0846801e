#pragma once
#include <string>
#include <vector>

#include "model/implementation/implementation.hpp"
#include "model/predict/prediction.hpp"
#include "model/profile/profile_file.hpp"
#include "model/topology/machine.hpp"

namespace lanecast {

/// The numbers to predict with, and why these.
struct ChosenProfile {
  Profile profile;
  std::string reason;             // "it is for the machine's GPUs, `NVIDIA H200`"
  std::vector<Warning> warnings;  // LC-PROFILE-02
};

/// Chooses a profile for a machine and an implementation.
///
/// @param asked  `auto`: the one that the machine names, else the shipped one for its GPUs, else `generic`;
///               the name of a shipped one; a file; or `gpu=NAME,link=NAME`, each a name or a file
/// @throws Error  kind usage: an unknown name, a faulty file, a transfer from a transfer
ChosenProfile choose_profile(const std::string& asked, const Machine& machine,
                             const Implementation& implementation);

/// The part of a profile file that is for an implementation. A transfer's lenders are read, too.
/// @param path  of the file: what a transfer names is sought beside it
ChosenProfile profile_for(const ProfileFile& file, const std::string& path,
                          const Implementation& implementation);

/// The shipped profiles whose `gpus` name the model of all the machine's GPUs.
std::vector<std::string> profiles_for_gpus(const Machine& machine);

/// A GPU's model without the vendor, GeForce, Tesla, and memory, in lower case with single blanks:
/// "NVIDIA H100 80GB HBM3" becomes "h100".
std::string plain_gpu_model(const std::string& model);

/// Key of `implementations` in a profile file: "nccl" or "lanecast".
std::string profile_part_of(const Implementation& implementation);

}  // namespace lanecast
