#include "configs/dumps/link_values.hpp"

#include <algorithm>

#include "configs/dumps/assumed_values.hpp"
#include "configs/reading.hpp"

namespace lanecast {
namespace {

const PciFacts no_facts{};
constexpr std::uint64_t smallest_payload = 128, largest_payload = 4096;  // bytes, as PCIe encodes them
constexpr const char* read_links = "run `lspci -vvv` as root";

std::string rate_text(PcieRate rate) { return to_string(rate); }
std::string width_text(int width) { return "x" + std::to_string(width); }
std::string bytes_text(Bytes size) { return std::to_string(size.value()) + " B"; }
std::string aspm_text(Aspm aspm) { return to_string(aspm); }

bool is_rate(PcieRate rate) { return rate >= PcieRate::gen1 && rate <= PcieRate::gen6; }
bool is_payload(Bytes size) {
  const std::uint64_t bytes = size.value();
  return bytes >= smallest_payload && bytes <= largest_payload && (bytes & (bytes - 1)) == 0;
}

template <class T>
std::vector<Statement<T>> trusted(const std::vector<Statement<T>>& statements, bool wanted) {
  constexpr int nccl = 2;
  std::vector<Statement<T>> kept;
  for (const Statement<T>& each : statements) {
    if ((distrust(each.from) < nccl) == wanted) kept.push_back(each);
  }
  return kept;
}

/// Capability and status of one quantity, of both ends.
template <class T>
struct Ability {
  std::vector<Statement<T>> lower, upper;  // capability of each end
  std::vector<Statement<T>> link;          // of both together
  std::vector<Statement<T>> status;
};

/// The outcome: places are "" where a rule chose.
template <class T>
struct Settled {
  std::optional<Statement<T>> lower;  // the device's own capability
  std::optional<Statement<T>> most;   // capability of the link
  bool one_end = false;               // the other end's is unknown
  std::optional<Statement<T>> status;
};

class LinkReader {
 public:
  LinkReader(const MachineFacts& facts, const LinkEnds& ends, OriginBook& book)
      : facts_(facts), ends_(ends), book_(book), path_("links." + ends.name) {
    link_.name = ends.name;
    link_.port = ends.upper;
  }

  Link read() {
    set_rate_and_width();
    set_packets();
    set_aspm();
    set_counters();
    set_slot();
    return std::move(link_);
  }

 private:
  const PciFacts& facts_of(const std::string& address) const {
    const auto found = facts_.devices.find(address);
    return found == facts_.devices.end() ? no_facts : found->second;
  }
  const PciFacts& upper() const { return facts_of(ends_.upper); }

  /// Of the first of a card's functions that says something.
  template <class T, class Good>
  std::vector<Statement<T>> lower(Statements<T> PciFacts::*member, const Good& good) const {
    for (const std::string& function : ends_.lower) {
      std::vector<Statement<T>> found = good_ones(facts_of(function).*member, good);
      if (!found.empty()) return found;
    }
    return {};
  }

  template <class T, class Show>
  Settled<T> settle(const std::string& key, Ability<T> of, const Show& show) {
    Settled<T> settled;
    settled.lower = book_.judge(path_ + ".device_max_" + key, trusted(of.lower, true), show);
    const auto above =
        book_.judge("port above " + ends_.name + ": max_" + key, trusted(of.upper, true), show);
    const auto both = joined(of.link, joined(trusted(of.lower, false), trusted(of.upper, false)));
    settled.status = book_.judge(path_ + "." + key, of.status, show);
    if (settled.lower && above) {
      settled.most = above->value < settled.lower->value ? above : settled.lower;
      // NCCL's files hold what the link could do or, from 2.30.7 on, what it does; nvidia-smi prints the
      // card's own width even in a narrower slot.
      for (const auto& told : both) {
        const bool fits = told.value == settled.most->value || told.value == settled.lower->value ||
                          (settled.status && told.value == settled.status->value);
        if (!fits)
          book_.contradict({path_ + ".max_" + key, show(settled.most->value), settled.most->from,
                            show(told.value), told.from});
      }
    } else if (!both.empty()) {
      settled.most = book_.judge(path_ + ".max_" + key, both, show);
    } else {
      settled.most = settled.lower ? settled.lower : above;
      settled.one_end = settled.most.has_value();
    }
    if (settled.most && settled.status && settled.most->value < settled.status->value) {
      book_.contradict({path_ + "." + key, show(settled.status->value), settled.status->from,
                        "at most " + show(settled.most->value), settled.most->from});
      settled.most = settled.status;
    }
    return settled;
  }

  /// A card that sleeps shows Gen1 to one dump and its true rate to another that woke it.
  void leave_out_sleep(std::vector<Statement<PcieRate>>& status) {
    const auto asleep = [](const Statement<PcieRate>& each) { return each.value == PcieRate::gen1; };
    const auto first = std::find_if(status.begin(), status.end(), asleep);
    if (ends_.lower_kind != NodeKind::gpu || status.size() < 2 || first == status.end()) return;
    book_.note(ends_.name + " runs at gen1 in one dump (" + first->from +
               ") and faster in another: it slept while the first was taken");
    status.erase(std::remove_if(status.begin(), status.end(), asleep), status.end());
  }

  void set_rate_and_width() {
    Ability<PcieRate> rate{lower(&PciFacts::max_rate, is_rate), good_ones(upper().max_rate, is_rate),
                           lower(&PciFacts::link_max_rate, is_rate),
                           joined(lower(&PciFacts::rate, is_rate), good_ones(upper().rate, is_rate))};
    rate.upper = joined(rate.upper, lower(&PciFacts::host_max_rate, is_rate));
    leave_out_sleep(rate.status);
    const Ability<int> width{
        lower(&PciFacts::max_width, is_pcie_width), good_ones(upper().max_width, is_pcie_width),
        lower(&PciFacts::link_max_width, is_pcie_width),
        joined(lower(&PciFacts::width, is_pcie_width), good_ones(upper().width, is_pcie_width))};
    const Settled<PcieRate> rates = settle<PcieRate>("rate", rate, rate_text);
    const Settled<int> widths = settle<int>("width", width, width_text);
    const AssumedValue<PcieRate> usual = usual_rate();
    take<PcieRate>("rate", rates, usual, link_.max_rate, link_.rate, link_.device_max_rate);
    take<int>("width", widths, {16, "as most cards and switches"}, link_.max_width, link_.width,
              link_.device_max_width);
    mark_sleep(rates);
    name_unknown(rates, widths);
  }

  AssumedValue<PcieRate> usual_rate() const {
    if (ends_.lower_kind != NodeKind::nic) return assumed_gpu_rate(ends_.model, ends_.sm);
    const AdapterFamily family = assumed_adapter(ends_.model);
    return {family.link, family.rule};
  }

  template <class T>
  void take(const std::string& key, const Settled<T>& settled, const AssumedValue<T>& usual, T& most,
            T& status, std::optional<T>& own) {
    most = settled.most ? settled.most->value : settled.status ? settled.status->value : usual.value;
    status = settled.status ? settled.status->value : most;
    const bool reached = settled.status && settled.status->value == most;
    const std::string most_path = path_ + ".max_" + key, status_path = path_ + "." + key;
    if (settled.most && settled.one_end && !reached) {
      book_.assumed(most_path,
                    "the capability of one end (" + settled.most->from + "): no dump has the other end's");
    } else if (settled.most) {
      book_.stated(most_path, settled.most->from);
    } else {
      book_.assumed(most_path, settled.status ? "not known to be more than the link does" : usual.rule);
    }
    if (settled.status) {
      book_.stated(status_path, settled.status->from);
    } else {
      book_.assumed(status_path, settled.most ? "the link does what it can" : usual.rule);
    }
    if (!settled.lower) return;
    own = settled.lower->value;
    book_.stated(path_ + ".device_max_" + key, settled.lower->from);
  }

  void mark_sleep(const Settled<PcieRate>& rates) {
    if (ends_.lower_kind != NodeKind::gpu || !rates.status || link_.rate >= link_.max_rate) return;
    const auto sleeps = lower(&PciFacts::asleep, [](bool value) { return value; });
    const bool as_sleeping_cards = link_.rate == PcieRate::gen1 && link_.width == link_.max_width;
    const bool kept_awake = !lower(&PciFacts::asleep, [](bool value) { return !value; }).empty();
    if (sleeps.empty() && (kept_awake || !as_sleeping_cards)) return;
    link_.idle = true;
    book_.stated(path_ + ".idle",
                 sleeps.empty() ? rates.status->from + ", at full width" : sleeps.front().from);
    book_.assumed(path_ + ".rate", "the card slept (" + to_string(link_.rate) + ", " + rates.status->from +
                                       "): awake the link does what it can");
    link_.rate = link_.max_rate;
    book_.missing("link rate at work", ends_.name,
                  "the card slept; run `lspci -vvv` as root or `nvidia-smi -q` while a copy keeps it busy");
  }

  void name_unknown(const Settled<PcieRate>& rates, const Settled<int>& widths) {
    const bool capability = rates.most && widths.most, status = rates.status && widths.status;
    if (!capability && !status) {
      book_.missing("link capability and status", ends_.name, read_links);
    } else if (!status) {
      book_.missing("link status", ends_.name, read_links);
    } else if (!capability) {
      book_.missing("link capability", ends_.name, read_links);
    } else if (rates.one_end || widths.one_end) {
      book_.missing("capability of the port above", ends_.name, "run `lspci -vvv` as root, without `-s`");
    }
  }

  std::optional<Statement<Bytes>> smaller(const std::string& what, const std::vector<Statement<Bytes>>& below,
                                          const std::vector<Statement<Bytes>>& above, bool both_needed) {
    const auto first = book_.judge(what, below, bytes_text);
    const auto second = book_.judge(what + " of the port above", above, bytes_text);
    if (first && second) return second->value < first->value ? second : first;
    if (both_needed) return std::nullopt;
    return first ? first : second;
  }

  void set_packets() {
    const auto mps = smaller(path_ + ".mps", lower(&PciFacts::max_payload, is_payload),
                             good_ones(upper().max_payload, is_payload), false);
    const auto mrrs =
        book_.judge(path_ + ".mrrs", lower(&PciFacts::max_read_request, is_payload), bytes_text);
    if (mps) link_.mps = mps->value;
    if (mrrs) link_.mrrs = mrrs->value;
    book_.stated_or_assumed(path_ + ".mps", mps ? mps->from : "", "256 B, as most servers");
    book_.stated_or_assumed(path_ + ".mrrs", mrrs ? mrrs->from : "", "512 B, as most GPUs");
    if (!mps || !mrrs) book_.missing("payload and read request size", ends_.name, read_links);
    const auto most = smaller(path_ + ".max_mps", lower(&PciFacts::max_payload_capability, is_payload),
                              good_ones(upper().max_payload_capability, is_payload), true);
    if (!most) return;
    link_.max_mps = most->value;
    book_.stated(path_ + ".max_mps", most->from);
  }

  void set_aspm() {
    const auto all = [](Aspm) { return true; };
    const auto below = book_.judge(path_ + ".aspm", lower(&PciFacts::aspm, all), aspm_text);
    const auto above = book_.judge("port above " + ends_.name + ": aspm", upper().aspm.all(), aspm_text);
    if (!below && !above) {
      book_.assumed(path_ + ".aspm", "off, as advised for GPUs");
      return book_.missing("ASPM", ends_.name, read_links);
    }
    const auto& lesser = !below || (above && above->value < below->value) ? above : below;
    link_.aspm = lesser->value;
    book_.stated(path_ + ".aspm", lesser->from);
  }

  using Counter = Statements<std::uint64_t> PciFacts::*;

  /// The highest value that dumps saw of a function's counter: they only rise.
  void count(const std::string& function, Counter counter, std::optional<std::uint64_t>& sum,
             std::string& from) const {
    const Statement<std::uint64_t>* highest = nullptr;
    for (const auto& each : (facts_of(function).*counter).all()) {
      if (highest == nullptr || each.value > highest->value) highest = &each;
    }
    if (highest == nullptr) return;
    const std::uint64_t before = sum.value_or(0);
    sum = before + highest->value < before ? ~std::uint64_t{0} : before + highest->value;
    from += (from.empty() ? "" : " + ") + highest->from;
  }

  void set_counter(const std::string& key, Counter counter, bool both_ends,
                   std::optional<std::uint64_t>& to) {
    std::string from;
    for (const std::string& function : ends_.lower) count(function, counter, to, from);
    if (both_ends && !ends_.upper.empty()) count(ends_.upper, counter, to, from);
    if (to) book_.stated(path_ + "." + key, from);
  }

  void set_counters() {
    set_counter("corrected_errors", &PciFacts::corrected_errors, true, link_.corrected_errors);
    set_counter("uncorrected_errors", &PciFacts::uncorrected_errors, true, link_.uncorrected_errors);
    set_counter("replays", &PciFacts::replays, false, link_.replays);
  }

  void set_slot() {
    const auto all = [](const std::string& slot) { return !slot.empty(); };
    const auto stated = lower(&PciFacts::slot, all);
    const auto slot =
        book_.judge(path_ + ".slot", stated.empty() ? good_ones(upper().slot, all) : stated, printable);
    if (!slot) return;
    link_.slot = printable(slot->value);
    book_.stated(path_ + ".slot", slot->from);
  }

  const MachineFacts& facts_;
  const LinkEnds& ends_;
  OriginBook& book_;
  std::string path_;
  Link link_;
};

}  // namespace

Link pcie_link_values(const MachineFacts& facts, const LinkEnds& ends, OriginBook& book) {
  return LinkReader(facts, ends, book).read();
}

}  // namespace lanecast
