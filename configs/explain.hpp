#pragma once
#include <string>
#include <vector>

#include "configs/machine_reader.hpp"

namespace lanecast {

/// One value of a machine for `config explain`.
struct Explanation {
  std::string path;    // as `--set` takes it: "links.gpu0.width"
  std::string value;   // as the file writes it; "" where nothing holds
  std::string origin;  // "box.yaml:14:12" or "default"
  std::string doc;
};

/// Every value of the machine, defaults included, in the order of the file's sections.
std::vector<Explanation> explain(const MachineDocument& document);

}  // namespace lanecast
