#include "tests/support/pretended_copies.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "tests/support/element.hpp"
#include "tests/support/pretended_kernel.hpp"
#include "tests/support/pretended_stream.hpp"

namespace lanecast::support {
namespace {

using Event = std::shared_ptr<PretendedEvent>;

Event marked(PretendedStream& stream) {
  auto event = std::make_shared<PretendedEvent>();
  stream.submit([event] { event->reach(); });
  return event;
}
void follow_event(PretendedStream& stream, const Event& event) {
  stream.submit([event] { event->wait(); });
}

void combine_elements(const ElementKernel& kernel, void* to, const std::vector<std::byte>& first,
                      const void* second, std::uint64_t count, int finish_ranks) {
  std::vector<std::byte> value = first;
  kernel.combine(value.data(), static_cast<const std::byte*>(second), count);
  if (finish_ranks != 0) kernel.finish(value.data(), count, finish_ranks);
  std::memcpy(to, value.data(), value.size());
}

class PretendedLanes : public CopyEngines {
 public:
  void share(int) override {}
  void begin() override { marks_.clear(); }
  void wait(Lane lane, const KernelCall& call, const CopyWait& wait) override {
    streams_.at(lane).submit([call, wait] { pretended_copy_wait(call, wait); });
  }
  void copy(Lane lane, void* to, const void* from, std::size_t bytes) override {
    streams_.at(lane).submit([=] { std::memcpy(to, from, bytes); });
  }
  void post(Lane lane, std::uint64_t* counter, const std::uint64_t* base, std::uint64_t relative,
            const std::uint32_t* broken) override {
    streams_.at(lane).submit([=] { pretended_copy_post(counter, base, relative, broken); });
  }
  void combine(Lane lane, Datatype type, ReduceOp op, void* to, const void* first, const void* second,
               std::uint64_t count, int finish_ranks) override {
    streams_.at(lane).submit([=] {
      const auto* begin = static_cast<const std::byte*>(first);
      const std::vector<std::byte> own(begin, begin + count * static_cast<std::size_t>(element_bytes(type)));
      combine_elements(element_kernel(type, op), to, own, second, count, finish_ranks);
    });
  }
  int mark(Lane lane) override {
    marks_.push_back(marked(streams_.at(lane)));
    return static_cast<int>(marks_.size()) - 1;
  }
  void follow(Lane lane, int mark) override {
    follow_event(streams_.at(lane), marks_.at(static_cast<std::size_t>(mark)));
  }
  void end(const BaseAdvance& advance, std::uint64_t* done, const std::uint64_t* epoch,
           const std::uint32_t* broken) override {
    for (int lane = 1; lane < lanes; ++lane) follow(Lane{}, mark(static_cast<Lane>(lane)));
    streams_.front().submit([advance] {
      for (int i = 0; i < advance.count; ++i) advance.bases[i] += advance.by[i];
    });
    post(Lane{}, done, epoch, 0, broken);
  }
  void request(const CopyRequest& request, const KernelCall& call, const CopyWait& done,
               Stream stream) override {
    PretendedStream& caller = PretendedStream::of(stream);
    caller.submit([request, call] { pretended_copy_request(request, call.broken); });
    caller.submit([call, done] { pretended_copy_wait(call, done); });
  }
  bool idle() override {
    for (PretendedStream& each : streams_) {
      if (!each.idle()) return false;
    }
    return true;
  }
  std::byte* scratch(std::size_t bytes) override {
    if (scratch_.size() < bytes) scratch_.resize(bytes);
    return scratch_.data();
  }

 private:
  std::vector<std::byte> scratch_;  // before the streams, which use it to their end
  std::vector<Event> marks_;
  std::array<PretendedStream, CopyEngines::lanes> streams_;
};

}  // namespace

std::unique_ptr<CopyEngines> pretended_copies() { return std::make_unique<PretendedLanes>(); }

}  // namespace lanecast::support
