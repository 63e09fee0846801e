#pragma once
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "configs/dumps/readers.hpp"

namespace lanecast::lspci_test {

inline MachineFacts tree_facts(const std::string& text) {
  MachineFacts facts;
  read_lspci_tree(text, "box.txt", facts);
  return facts;
}

inline MachineFacts verbose_facts(const std::string& text) {
  MachineFacts facts;
  read_lspci_verbose(text, "box.txt", facts);
  return facts;
}

/// The facts of a function, which must be known.
inline const PciFacts& at(const MachineFacts& facts, const std::string& address) {
  static const PciFacts nothing;
  const auto found = facts.devices.find(address);
  if (found != facts.devices.end()) return found->second;
  ADD_FAILURE() << "no facts of " << address;
  return nothing;
}

/// The one value that is stated; nothing where none or several are.
template <class T>
std::optional<T> only(const Statements<T>& statements) {
  if (statements.all().size() != 1) return std::nullopt;
  return statements.all().front().value;
}

template <class T>
std::string place_of(const Statements<T>& statements) {
  return statements.empty() ? "" : statements.all().front().from;
}

/// Addresses of the bridges above a function, nearest first, as far as they are known.
inline std::vector<std::string> bridges_above(const MachineFacts& facts, const std::string& address) {
  std::vector<std::string> above;
  auto parent = only(at(facts, address).parent);
  while (parent && !parent->empty() && above.size() < 256) {
    above.push_back(*parent);
    parent = only(at(facts, *parent).parent);
  }
  return above;
}

template <class T>
bool all_stated(const Statements<T>& part, const Statements<T>& whole) {
  for (const Statement<T>& each : part.all()) {
    bool found = false;
    for (const Statement<T>& other : whole.all()) found = found || other.value == each.value;
    if (!found) return false;
  }
  return true;
}

inline bool is_part(const PciFacts& part, const PciFacts& whole) {
  bool name_begins = true;
  for (const Statement<std::string>& each : part.name.all()) {
    const auto name = only(whole.name);
    name_begins = name_begins && name && name->compare(0, each.value.size(), each.value) == 0;
  }
  return name_begins && all_stated(part.parent, whole.parent) && all_stated(part.ancestor, whole.ancestor) &&
         all_stated(part.root_bus, whole.root_bus) && all_stated(part.port, whole.port) &&
         all_stated(part.secondary_bus, whole.secondary_bus) &&
         all_stated(part.subordinate_bus, whole.subordinate_bus) && all_stated(part.numa, whole.numa) &&
         all_stated(part.slot, whole.slot) && all_stated(part.class_code, whole.class_code) &&
         all_stated(part.vendor, whole.vendor) && all_stated(part.device, whole.device) &&
         all_stated(part.present, whole.present) && all_stated(part.max_rate, whole.max_rate) &&
         all_stated(part.max_width, whole.max_width) && all_stated(part.rate, whole.rate) &&
         all_stated(part.width, whole.width) &&
         all_stated(part.max_payload_capability, whole.max_payload_capability) &&
         all_stated(part.max_payload, whole.max_payload) &&
         all_stated(part.max_read_request, whole.max_read_request) && all_stated(part.aspm, whole.aspm) &&
         all_stated(part.l1_exit, whole.l1_exit) && all_stated(part.acs_redirect, whole.acs_redirect) &&
         all_stated(part.corrected_errors, whole.corrected_errors) &&
         all_stated(part.uncorrected_errors, whole.uncorrected_errors) && all_stated(part.bar1, whole.bar1) &&
         all_stated(part.asleep, whole.asleep);
}

/// Whether a text states nothing that a longer one does not; names may be cut.
inline bool is_part(const MachineFacts& part, const MachineFacts& whole) {
  for (const auto& [address, facts] : part.devices) {
    const auto found = whole.devices.find(address);
    if (found == whole.devices.end() || !is_part(facts, found->second)) return false;
  }
  return true;
}

/// How many values are stated of all functions together: of a growing text it never falls.
inline std::size_t functions_and_parents(const MachineFacts& facts) {
  std::size_t count = facts.devices.size();
  for (const auto& [address, each] : facts.devices) {
    count += each.parent.all().size() + each.secondary_bus.all().size() + each.max_width.all().size() +
             each.rate.all().size() + each.port.all().size() + each.acs_redirect.all().size();
  }
  return count;
}

/// Each line with other line ends and marks before it.
inline std::string with_lines(const std::string& text, const std::string& before, const std::string& end) {
  std::istringstream lines(text);
  std::string changed;
  for (std::string line; std::getline(lines, line);) changed += before + line + end;
  return changed;
}

/// A file of the shared cases; nothing where that folder is absent.
inline std::optional<std::string> shared_case(const std::string& name) {
  std::ifstream file(std::filesystem::path(LANECAST_TEST_SHARED_DIR) / "cases" / "raw" / name);
  if (!file) return std::nullopt;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace lanecast::lspci_test
