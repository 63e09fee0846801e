#pragma once
#include <string>

namespace lanecast {

/// Whether writes that fan out from a switch of this model to several root ports were seen to collapse.
///
/// Broadcom PEX890xx with two sources or more; Microchip Switchtec with four GPUs a switch, not with two.
/// Source: facts.md C6 (local-inference-lab/rtx6kpro, collapse-report.md).
bool collapses_on_fan_out(const std::string& switch_model);

}  // namespace lanecast
