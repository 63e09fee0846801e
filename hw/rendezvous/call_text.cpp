#include "hw/rendezvous/call_text.hpp"

#include <atomic>
#include <type_traits>

#include "model/predict/algorithm.hpp"
#include "model/predict/call.hpp"
#include "model/protocol/protocol.hpp"

namespace lanecast {
namespace {

template <class To, class From>
void copy_member(To& to, const From& from, std::memory_order load, std::memory_order store) {
  auto& source = const_cast<std::remove_const_t<From>&>(from);  // atomic_ref takes no const object
  std::atomic_ref<To>(to).store(std::atomic_ref<std::remove_const_t<From>>(source).load(load), store);
}

/// Member by member, since a rank writes while others read. The release of a member makes visible that the
/// earlier calls were entered: who reads a member of a newer call sees a newer count too.
void copy_members(CallEntry& to, const CallEntry& from, std::memory_order load, std::memory_order store) {
  copy_member(to.number, from.number, load, store);
  copy_member(to.count, from.count, load, store);
  copy_member(to.collective, from.collective, load, store);
  copy_member(to.datatype, from.datatype, load, store);
  copy_member(to.op, from.op, load, store);
  copy_member(to.root, from.root, load, store);
  copy_member(to.algorithm, from.algorithm, load, store);
  copy_member(to.protocol, from.protocol, load, store);
  copy_member(to.staging, from.staging, load, store);
  copy_member(to.shape, from.shape, load, store);
}

}  // namespace

void publish(CallEntry& place, const CallEntry& call) {
  copy_members(place, call, std::memory_order_relaxed, std::memory_order_release);
}

std::optional<CallEntry> entered_call(const StatusPage& page, std::uint64_t number) {
  if (number == 0 || page.calls.load(std::memory_order_acquire) < number) return std::nullopt;
  CallEntry call;
  copy_members(call, page.entries[number % StatusPage::kEntries], std::memory_order_acquire,
               std::memory_order_relaxed);
  // The place is written again once `number` + kEntries - 1 calls were entered.
  const std::uint64_t calls = page.calls.load(std::memory_order_acquire);
  if (call.number != number || calls >= number + StatusPage::kEntries - 1) return std::nullopt;
  return call;
}

std::string call_in_words(const CallEntry& call) {
  const auto collective = static_cast<Collective>(call.collective);
  std::string words = std::string(to_string(collective)) + " of " + std::to_string(call.count) + " " +
                      to_string(static_cast<Datatype>(call.datatype));
  if (collective == Collective::broadcast) words += " from root " + std::to_string(call.root);
  if (collective == Collective::reduce) words += " to root " + std::to_string(call.root);
  words += " (";
  if (collective != Collective::broadcast && collective != Collective::all_gather) {
    words += std::string(to_string(static_cast<ReduceOp>(call.op))) + ", ";
  }
  return words + to_string(static_cast<Algorithm>(call.algorithm)) + ", " +
         to_string(static_cast<Protocol>(call.protocol)) + ")";
}

}  // namespace lanecast
