#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "hw/engine/kernel_call.hpp"

namespace lanecast {
namespace {

/// A piece of a mailbox that one purpose uses alone.
struct Region {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::string name;
};

void add(std::vector<Region>& regions, std::uint64_t begin, std::uint64_t bytes, const std::string& name) {
  if (bytes > 0) regions.push_back({begin, begin + bytes, name});
}

/// What lies in device memory and in host memory: flags, FIFOs, test pages.
std::vector<Region> device_regions(const MailboxLayout& layout) {
  std::vector<Region> regions;
  for (int protocol = 0; protocol < 3; ++protocol) {
    for (int connection = 0; connection < connection_count(layout); ++connection) {
      const std::string name = std::to_string(protocol) + "/" + std::to_string(connection);
      const bool ring = connection < layout.channels;
      add(regions, tail_offset(layout, protocol, connection), kFlagBytes, "tail " + name);
      add(regions, head_offset(layout, protocol, connection), kFlagBytes, "head " + name);
      add(regions, fifo_offset(layout, protocol, connection),
          ring ? layout.ring_bytes[protocol] : layout.any_bytes[protocol], "FIFO " + name);
    }
  }
  for (int from = 0; from < layout.ranks; ++from)
    add(regions, test_offset(layout, from), kTestBytes, "test page");
  return regions;
}

std::vector<Region> host_regions(const MailboxLayout& layout) {
  std::vector<Region> regions = device_regions(layout);
  for (int channel = 0; channel < layout.copy_channels; ++channel) {
    add(regions, copy_tail_offset(layout, channel), kFlagBytes, "copy tail");
    add(regions, copy_head_offset(layout, channel), kFlagBytes, "copy head");
    for (int slot = 0; slot < layout.copy_slots; ++slot)
      add(regions, copy_slot_offset(layout, channel, slot), layout.copy_slot_bytes, "copy slot");
  }
  return regions;
}

std::string overlap(std::vector<Region> regions) {
  std::sort(regions.begin(), regions.end(),
            [](const Region& a, const Region& b) { return a.begin < b.begin; });
  for (std::size_t i = 1; i < regions.size(); ++i) {
    if (regions[i].begin < regions[i - 1].end) return regions[i - 1].name + " and " + regions[i].name;
  }
  return "";
}

std::uint64_t end_of(const std::vector<Region>& regions) {
  std::uint64_t end = 0;
  for (const Region& region : regions) end = std::max(end, region.end);
  return end;
}

/// Layouts as communicators have them, some without connections between any two, some without LL128.
std::vector<MailboxLayout> random_layouts(std::uint64_t seed, int count) {
  std::mt19937_64 random(seed);
  const auto up_to = [&](std::uint64_t most) { return random() % (most + 1); };
  std::vector<MailboxLayout> layouts;
  for (int i = 0; i < count; ++i) {
    MailboxLayout layout;
    layout.ranks = 2 + static_cast<int>(up_to(kMostEngineRanks - 2));
    layout.channels = 1 + static_cast<int>(up_to(kMostEngineChannels - 1));
    const bool exchanges = up_to(3) != 0;
    for (int protocol = 0; protocol < 3; ++protocol) {
      if (protocol == 2 && up_to(2) == 0) continue;
      layout.ring_bytes[protocol] = 128 * (1 + up_to(100'000));
      if (exchanges) layout.any_bytes[protocol] = 128 * (1 + up_to(10'000));
    }
    if (up_to(1) == 0) {
      layout.copy_channels = 1 + static_cast<int>(up_to(7));
      layout.copy_slots = 1 + static_cast<int>(up_to(3));
      layout.copy_slot_bytes = 4096 * (1 + up_to(1024));
    }
    layouts.push_back(layout);
  }
  return layouts;
}

TEST(MailboxLayoutProperty, NoTwoFlagsFifosOrPagesOverlap) {
  for (const MailboxLayout& layout : random_layouts(1, 300)) {
    EXPECT_EQ(overlap(device_regions(layout)), "");
    EXPECT_EQ(overlap(host_regions(layout)), "");
  }
}

TEST(MailboxLayoutProperty, EverythingLiesWithinTheMemoryThatIsAllocated) {
  for (const MailboxLayout& layout : random_layouts(2, 300)) {
    EXPECT_LE(end_of(device_regions(layout)), device_bytes(layout));
    EXPECT_LE(end_of(host_regions(layout)), host_bytes(layout));
  }
}

TEST(MailboxLayoutProperty, FlagsAndFifosBeginAtALineOfTheirOwn) {
  for (const MailboxLayout& layout : random_layouts(3, 300)) {
    for (const Region& region : host_regions(layout)) EXPECT_EQ(region.begin % 128, 0u) << region.name;
  }
}

TEST(MailboxLayoutProperty, EachConnectionHasANumberOfItsOwn) {
  for (const MailboxLayout& layout : random_layouts(4, 100)) {
    std::vector<int> uses(static_cast<std::size_t>(connection_count(layout)), 0);
    for (int channel = 0; channel < layout.channels; ++channel) {
      ++uses.at(static_cast<std::size_t>(connection_index(layout, true, 0, channel)));
      for (int peer = 0; peer < layout.ranks; ++peer)
        ++uses.at(static_cast<std::size_t>(connection_index(layout, false, peer, channel)));
    }
    EXPECT_EQ(uses, std::vector<int>(uses.size(), 1));
  }
}

TEST(MailboxLayoutProperty, EachConnectionHasCountersOfItsOwnAndNoMoreThanAllocated) {
  for (const MailboxLayout& layout : random_layouts(5, 100)) {
    std::vector<int> uses(static_cast<std::size_t>(state_count(layout)), 0);
    for (int protocol = 0; protocol < 3; ++protocol) {
      for (int connection = 0; connection < connection_count(layout); ++connection) {
        ++uses.at(static_cast<std::size_t>(state_index(layout, protocol, false, connection)));
        ++uses.at(static_cast<std::size_t>(state_index(layout, protocol, true, connection)));
      }
    }
    EXPECT_EQ(uses, std::vector<int>(uses.size(), 1));
  }
}

/// Kernels find connections by adding up; what they find has to be what the layout says.
TEST(MailboxLayoutProperty, PlacesOfKernelsAreThoseOfTheLayout) {
  for (const MailboxLayout& layout : random_layouts(6, 60)) {
    for (const int protocol : {0, 1, 2}) {
      for (const bool ring : {true, false}) {
        const ConnectionPlaces places = places_of(layout, protocol, ring);
        for (int peer = 0; peer < layout.ranks; ++peer) {
          for (int channel = 0; channel < layout.channels; ++channel) {
            const int connection = connection_index(layout, ring, peer, channel);
            const int from_first = peer * places.per_peer + channel;
            const auto far = static_cast<std::uint64_t>(from_first);
            EXPECT_EQ(places.fifo + far * places.fifo_bytes, fifo_offset(layout, protocol, connection));
            EXPECT_EQ(places.tail + far * kFlagBytes, tail_offset(layout, protocol, connection));
            EXPECT_EQ(places.head + far * kFlagBytes, head_offset(layout, protocol, connection));
            EXPECT_EQ(places.sending + from_first, state_index(layout, protocol, false, connection));
            EXPECT_EQ(places.receiving + from_first, state_index(layout, protocol, true, connection));
          }
        }
      }
    }
  }
}

/// Ring connections come from the previous rank alone and need no sender in their number; both ends must all
/// the same agree, whoever they are.
TEST(MailboxLayout, SenderAndReceiverOfARingMeetAtOneNumber) {
  MailboxLayout layout;
  layout.ranks = 8;
  layout.channels = 4;
  for (int channel = 0; channel < layout.channels; ++channel) {
    for (int rank = 0; rank < layout.ranks; ++rank)
      EXPECT_EQ(connection_index(layout, true, rank, channel), connection_index(layout, true, 0, channel));
  }
}

}  // namespace
}  // namespace lanecast
