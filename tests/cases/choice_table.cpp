#include "tests/cases/choice_table.hpp"

#include <algorithm>
#include <string>

namespace lanecast::cases {
namespace {

std::string size_text(Bytes size) {
  const char* units[] = {"B", "KiB", "MiB", "GiB"};
  std::uint64_t value = size.value();
  std::size_t unit = 0;
  for (; unit < 3 && value % 1024 == 0; ++unit) value /= 1024;
  return std::to_string(value) + " " + units[unit];
}

template <class Of>
std::string range_text(const ChoiceRegion& region, const Of& of) {
  int least = of(*region.from().nccl);
  int most = least;
  for (std::size_t i = region.first; i <= region.last; ++i) {
    least = std::min(least, of(*region.sweep->points[i].nccl));
    most = std::max(most, of(*region.sweep->points[i].nccl));
  }
  return least == most ? std::to_string(least) : std::to_string(least) + " to " + std::to_string(most);
}

bool is_stated(const StatedChoice& stated) {
  return !stated.transport.empty() || !stated.protocol.empty() || stated.channels != 0;
}

std::string stated_text(const StatedChoice& stated) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (!stated.transport.empty()) add(stated.transport);
  if (!stated.protocol.empty()) add(stated.protocol);
  if (stated.channels != 0) add(std::to_string(stated.channels) + " channels");
  return text.empty() ? "-" : text;
}

std::string environment_text(const AllReduceCase& entry) {
  std::string text;
  for (const NcclSetting& setting : entry.environment) {
    text += (text.empty() ? "" : " ") + setting.name + "=" + setting.value +
            (setting.origin == "assumed" ? " (assumed)" : "");
  }
  return text.empty() ? "-" : text;
}

std::string release_text(const AllReduceCase& entry) {
  std::string name = implementation_of(entry).version().name();
  name = name.substr(name.rfind(' ') + 1);
  return entry.release_note.empty() ? name : name + " (" + entry.release_note + ")";
}

std::string verdict_text(const ChoiceRegion& region) {
  switch (verdict_on(region)) {
    case Verdict::agrees:
      return "agrees";
    case Verdict::differs:
      return "differs: " + region.sweep->entry.difference;
    case Verdict::not_stated:
      return "not stated";
  }
  return "";
}

bool same_way(const AllReducePoint& a, const AllReducePoint& b, const AllReduceCase& entry) {
  return a.nccl->algorithm == b.nccl->algorithm && a.nccl->protocol == b.nccl->protocol &&
         a.nccl->transport == b.nccl->transport &&
         stated_for(entry, a.size).up_to == stated_for(entry, b.size).up_to;
}

}  // namespace

std::vector<ChoiceRegion> choice_regions(const AllReduceComparison& sweep) {
  std::vector<ChoiceRegion> regions;
  for (std::size_t i = 0; i < sweep.points.size(); ++i) {
    if (!sweep.points[i].nccl) return {};
    if (i > 0 && same_way(sweep.points[i - 1], sweep.points[i], sweep.entry)) {
      regions.back().last = i;
    } else {
      regions.push_back({&sweep, i, i});
    }
  }
  return regions;
}

StatedChoice stated_for(const AllReduceCase& entry, Bytes size) {
  for (const StatedChoice& stated : entry.stated) {
    if (size <= stated.up_to) return stated;
  }
  return {};
}

Verdict verdict_on(const ChoiceRegion& region) {
  const StatedChoice stated = stated_for(region.sweep->entry, region.from().size);
  if (!is_stated(stated)) return Verdict::not_stated;
  const Prediction& chosen = *region.from().nccl;
  const bool agrees = (stated.transport.empty() || stated.transport == chosen.transport) &&
                      (stated.protocol.empty() || stated.protocol == to_string(chosen.protocol)) &&
                      (stated.channels == 0 || stated.channels == region.sweep->channels);
  return agrees ? Verdict::agrees : Verdict::differs;
}

Grid choice_grid(const std::vector<AllReduceComparison>& comparisons) {
  Grid grid;
  grid.columns = {{"case", "", 0, false},       {"NCCL", "", 0, false},      {"environment", "", 0, false},
                  {"sizes", "", 0, false},      {"transport", "", 0, false}, {"algorithm", "", 0, false},
                  {"protocol", "", 0, false},   {"channels", "", 0, false},  {"threads", "", 0, false},
                  {"the source", "", 0, false}, {"verdict", "", 0, false}};
  for (const AllReduceComparison& one : comparisons) {
    for (const ChoiceRegion& region : choice_regions(one)) {
      const Prediction& chosen = *region.from().nccl;
      const std::string sizes = region.first == region.last
                                    ? size_text(region.from().size)
                                    : size_text(region.from().size) + " to " + size_text(region.to().size);
      grid.rows.push_back({one.entry.name(), release_text(one.entry), environment_text(one.entry), sizes,
                           chosen.transport, to_string(chosen.algorithm), to_string(chosen.protocol),
                           range_text(region, [](const Prediction& p) { return p.channels; }) + " of " +
                               std::to_string(one.channels),
                           range_text(region, [](const Prediction& p) { return p.threads; }),
                           stated_text(stated_for(one.entry, region.from().size)), verdict_text(region)});
    }
    if (!one.entry.not_reckoned.empty()) {
      grid.rows.push_back({one.entry.name(), release_text(one.entry), environment_text(one.entry), "all", "-",
                           "-", "-", "-", "-", stated_text(stated_for(one.entry, Bytes(1))),
                           one.entry.not_reckoned});
    }
  }
  return grid;
}

}  // namespace lanecast::cases
