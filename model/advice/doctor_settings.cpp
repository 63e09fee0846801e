#include <algorithm>
#include <array>
#include <cstdio>

#include "model/advice/doctor_rules.hpp"

namespace lanecast {
namespace {

constexpr std::uint64_t kSmallWindow = std::uint64_t{256} << 20;  // BAR1 without above-4G decoding, bytes

std::size_t at_index(int index) { return static_cast<std::size_t>(index); }

void examine_aspm(const Evidence& evidence, std::vector<Finding>& findings) {
  RuleFindings rule("LC-ASPM-01", findings);
  std::vector<std::string> sleepy;
  Machine mended = evidence.machine;
  for (const int index : evidence.used_links()) {
    Link& link = mended.links[at_index(index)];
    if (!evidence.knows("links", link.name, "aspm")) {
      rule.unknown(link.name);
    } else if (link.aspm != Aspm::off) {
      sleepy.push_back(link.name + " (" + to_string(link.aspm) + ")");
      link.aspm = Aspm::off;
    }
  }
  if (!sleepy.empty()) {
    rule.add(
        FindingStatus::warn, named("link", sleepy),
        "may fall asleep when idle (ASPM): the first packet after a pause waits for the link to wake; the "
        "cost is that of a call after a pause",
        "boot with pcie_aspm=off, or switch ASPM off in the firmware; `--set links.NAME.aspm=off` predicts "
        "it",
        std::move(mended));
  }
  rule.close("link", "whether the link may fall asleep (ASPM) is not known",
             "`sudo lspci -vvv` (LnkCtl: ASPM) or /sys/module/pcie_aspm/parameters/policy",
             "no link falls asleep (ASPM is off)");
}

/// The payload that a card's whole path could take; nothing where one link's is unknown.
std::optional<Bytes> possible_payload(const Evidence& evidence, const std::vector<int>& path) {
  std::optional<Bytes> least;
  for (const int index : path) {
    const Link& link = evidence.link(index);
    const bool known = link.max_mps && evidence.knows("links", link.name, "max_mps") &&
                       evidence.knows("links", link.name, "mps");
    if (!known) return std::nullopt;
    least = least ? std::min(*least, *link.max_mps) : *link.max_mps;
  }
  return least;
}

Bytes payload_in_force(const Evidence& evidence, const std::vector<int>& path) {
  Bytes least = evidence.link(path.front()).mps;
  for (const int index : path) least = std::min(least, evidence.link(index).mps);
  return least;
}

void examine_payload(const Evidence& evidence, std::vector<Finding>& findings) {
  RuleFindings rule("LC-MPS-01", findings);
  std::vector<std::string> small;
  Machine mended = evidence.machine;
  for (const int gpu : evidence.gpus) {
    const std::vector<int>& path = evidence.paths[at_index(gpu)];
    if (path.empty()) continue;
    const std::optional<Bytes> possible = possible_payload(evidence, path);
    const Bytes in_force = payload_in_force(evidence, path);
    if (!possible) {
      rule.unknown(evidence.gpu(gpu).name);
    } else if (in_force < *possible) {
      small.push_back(evidence.gpu(gpu).name + " (" + std::to_string(in_force.value()) + " of " +
                      std::to_string(possible->value()) + " B)");
      for (const int index : path) {
        Link& link = mended.links[at_index(index)];
        link.mps = std::max(link.mps, *possible);
      }
    }
  }
  if (!small.empty()) {
    rule.add(
        FindingStatus::warn, named("gpu", small),
        "the packets on the way to the root are smaller than all of its links could take: more headers for "
        "the same bytes",
        "boot with pci=pcie_bus_perf, or raise the payload size in the firmware; thread blocks store 128 B "
        "at "
        "a time, so that mostly copies gain",
        std::move(mended));
  }
  rule.close("gpu",
             "the payload size in force, or the one that both ends of each link could take, is not known",
             "`sudo lspci -vvv` (DevCap and DevCtl: MaxPayload)",
             "the packets to every card are as large as its path allows");
}

std::string size_text(Bytes size) {
  const std::uint64_t size_bytes = size.value();
  std::array<char, 32> text{};
  const bool small = size_bytes < std::uint64_t{1} << 30;
  std::snprintf(text.data(), text.size(), "%.4g %s",
                static_cast<double>(size_bytes) / (small ? 1024.0 * 1024 : 1024.0 * 1024 * 1024),
                small ? "MiB" : "GiB");
  return text.data();
}

void examine_windows(const Evidence& evidence, std::vector<Finding>& findings) {
  RuleFindings rule("LC-BAR-01", findings);
  std::vector<std::string> small;
  bool below_4g = false;
  for (const int index : evidence.gpus) {
    const Gpu& gpu = evidence.gpu(index);
    const auto knows = [&](const char* key) { return evidence.knows("gpus", gpu.name, key); };
    if (!gpu.memory || !gpu.bar1 || !knows("memory") || !knows("bar1")) {
      rule.unknown(gpu.name);
    } else if (*gpu.bar1 < *gpu.memory) {
      small.push_back(gpu.name + " (" + size_text(*gpu.bar1) + " of " + size_text(*gpu.memory) + ")");
      below_4g = below_4g || gpu.bar1->value() <= kSmallWindow;
    }
  }
  if (!small.empty()) {
    std::string fact =
        "the window through which others reach the card's memory (BAR1) is smaller than that memory: peer "
        "mappings may fail or be refused; the cost is not modelled";
    if (below_4g) fact += "; 256 MiB is what a card gets without decoding above 4 GiB";
    rule.add(FindingStatus::warn, named("gpu", small), fact,
             "switch on \"Above 4G Decoding\" and \"Resizable BAR\" in the firmware, and UEFI boot instead "
             "of CSM");
  }
  rule.close("gpu", "the card's memory or its window (BAR1) is not known",
             "`nvidia-smi -q` (FB Memory Usage, BAR1 Memory Usage) or `lspci -vv` (Region 1)",
             "every card shows others its whole memory (BAR1)");
}

}  // namespace

void examine_settings(const Evidence& evidence, std::vector<Finding>& findings) {
  examine_aspm(evidence, findings);
  examine_payload(evidence, findings);
  examine_windows(evidence, findings);
}

}  // namespace lanecast
