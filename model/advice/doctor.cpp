#include "model/advice/doctor.hpp"

#include <algorithm>
#include <utility>

#include "model/advice/doctor_rules.hpp"

namespace lanecast {
namespace {

constexpr std::uint64_t kSmallCall = std::uint64_t{1} << 20;    // bytes
constexpr std::uint64_t kLargeCall = std::uint64_t{256} << 20;  // bytes

int urgency(FindingStatus status) {
  switch (status) {
    case FindingStatus::fail:
      return 0;
    case FindingStatus::warn:
      return 1;
    case FindingStatus::skip:
      return 2;
    case FindingStatus::pass:
      break;
  }
  return 3;
}

std::vector<Call> priced_calls() {
  std::vector<Call> calls(2);
  calls[0].size = Bytes(kSmallCall);
  calls[1].size = Bytes(kLargeCall);
  return calls;
}

/// What mending saves on the large call; 0 where no cost is stated.
double saving(const Finding& finding) {
  return finding.cost.empty() ? 0 : finding.cost.back().before.value() - finding.cost.back().after.value();
}

void sort_by_status(std::vector<Finding>& findings) {
  std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    if (a.status != b.status) return urgency(a.status) < urgency(b.status);
    return saving(a) > saving(b);
  });
}

/// Predictions by machine: equal machines are asked for once.
class Prices {
 public:
  explicit Prices(const Predictor& predict) : predict_(predict) {}

  const std::vector<Prediction>& on(const Machine& machine) {
    for (const auto& [known, predictions] : asked_) {
      if (*known == machine) return predictions;
    }
    asked_.emplace_back(&machine, predict_(machine, priced_calls()));
    return asked_.back().second;
  }

 private:
  const Predictor& predict_;
  std::vector<std::pair<const Machine*, std::vector<Prediction>>> asked_;
};

std::vector<FindingCost> difference(const std::vector<Prediction>& before,
                                    const std::vector<Prediction>& after) {
  std::vector<FindingCost> cost;
  for (std::size_t i = 0; i < before.size(); ++i)
    cost.push_back({before[i].call.size, before[i].time, after[i].time});
  return cost;
}

}  // namespace

std::vector<Finding> examine(const DoctorInput& input) {
  const Evidence evidence(input);
  std::vector<Finding> findings;
  examine_links(evidence, findings);
  examine_settings(evidence, findings);
  examine_access(evidence, findings);
  examine_redirects(evidence, findings);
  examine_layout(evidence, findings);
  examine_nvlinks(evidence, findings);
  examine_cards(evidence, findings);
  examine_errors(evidence, findings);
  examine_changes(evidence, findings);
  sort_by_status(findings);
  return findings;
}

void add_costs(std::vector<Finding>& findings, const Machine& machine, const Predictor& predict) {
  Prices prices(predict);
  for (Finding& finding : findings) {
    if (!finding.mended) continue;
    const std::vector<Prediction> before = prices.on(machine);
    finding.cost = difference(before, prices.on(*finding.mended));
  }
  sort_by_status(findings);
}

const char* to_string(FindingStatus status) {
  switch (status) {
    case FindingStatus::pass:
      return "PASS";
    case FindingStatus::warn:
      return "WARN";
    case FindingStatus::fail:
      return "FAIL";
    case FindingStatus::skip:
      break;
  }
  return "SKIP";
}

}  // namespace lanecast
