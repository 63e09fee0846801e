// How a share is cut into loops, chunks and slices.
#include <gtest/gtest.h>

#include <vector>

#include "model/schedule/schedule.hpp"

namespace lanecast {
namespace {

ChannelWork all_reduce_work(int ranks, std::uint64_t count, std::uint64_t chunk_count,
                            std::uint64_t grain_count, int slices, std::uint64_t min_slice_count) {
  ChannelWork work;
  work.ranks = ranks;
  work.offset = 1000;
  work.count = count;
  work.chunk_count = chunk_count;
  work.grain_count = grain_count;
  work.slices_per_chunk = slices;
  work.min_slice_count = min_slice_count;
  return work;
}

std::vector<ChannelWork> some_works() {
  std::vector<ChannelWork> works;
  for (const int ranks : {2, 3, 4, 7, 16}) {
    for (const std::uint64_t count : {1, 2, 3, 16, 17, 127, 128, 1023, 4096, 10007}) {
      for (const int slices : {1, 2, 3}) {
        works.push_back(all_reduce_work(ranks, count, 96, 1, slices, 1));
        works.push_back(all_reduce_work(ranks, count, 96, 8, slices, 1));
        works.push_back(all_reduce_work(ranks, count, 96, 32, slices, 40));
      }
    }
  }
  return works;
}

/// How often each element of the share (and of 1000 more behind it) is in a piece.
class Cover {
 public:
  explicit Cover(const ChannelWork& work) : begin_(work.offset), times_(work.count + 1000, 0) {}
  void add(std::uint64_t offset, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) ++times_.at(offset - begin_ + i);
  }
  bool exact(std::uint64_t count) const {
    for (std::uint64_t i = 0; i < times_.size(); ++i) {
      if (times_[i] != (i < count ? 1 : 0)) return false;
    }
    return true;
  }

 private:
  std::uint64_t begin_;
  std::vector<int> times_;
};

TEST(ShareGeometry, TheChunksOfAllLoopsCoverTheShareWithoutGapOrOverlap) {
  for (ChannelWork work : some_works()) {
    for (const Collective collective : {Collective::all_reduce, Collective::broadcast, Collective::reduce}) {
      work.collective = collective;
      Cover cover(work);
      const int chunks = collective == Collective::all_reduce ? work.ranks : 1;
      for (std::uint64_t loop = 0; loop < loop_count(work); ++loop) {
        for (int index = 0; index < chunks; ++index) {
          const Chunk chunk = chunk_of(work, loop, index);
          if (chunk.count > 0) cover.add(chunk.offset, chunk.count);
          EXPECT_LE(chunk.count, work.chunk_count);
        }
      }
      EXPECT_TRUE(cover.exact(work.count)) << work.ranks << " ranks, " << work.count << " elements";
    }
  }
}

TEST(ShareGeometry, TheSlicesOfAllChunksCoverTheShareWithoutGapOrOverlap) {
  for (const ChannelWork& work : some_works()) {
    Cover cover(work);
    for (std::uint64_t loop = 0; loop < loop_count(work); ++loop) {
      for (int index = 0; index < work.ranks; ++index) {
        const Chunk chunk = chunk_of(work, loop, index);
        for (int i = 0; i < work.slices_per_chunk; ++i) {
          const Slice slice = slice_of(work, chunk, loop, 0, i);
          if (slice.count > 0) cover.add(slice.offset, slice.count);
        }
      }
    }
    EXPECT_TRUE(cover.exact(work.count)) << work.ranks << " ranks, " << work.count << " elements";
  }
}

TEST(ShareGeometry, NoLaterSliceIsLargerThanTheFirstOfLoopZero) {
  for (const ChannelWork& work : some_works()) {
    Chunk full;
    full.count = part_count_of(work, 0);
    const std::uint64_t largest = slice_of(work, full, 0, 0, 0).count;
    for (std::uint64_t loop = 0; loop < loop_count(work); ++loop) {
      for (int index = 0; index < work.ranks; ++index) {
        for (int i = 0; i < work.slices_per_chunk; ++i) {
          EXPECT_LE(slice_of(work, chunk_of(work, loop, index), loop, 0, i).count, largest);
        }
      }
    }
  }
}

/// Schedules that divide a loop into parts, and take several of them in one turn.
std::vector<ChannelWork> works_of_several_parts() {
  std::vector<ChannelWork> works;
  for (ChannelWork work : some_works()) {
    work.schedule = Schedule::halving_doubling;
    works.push_back(work);
    work.schedule = Schedule::hierarchical;
    for (work.group_ranks = 1; work.group_ranks <= work.ranks; ++work.group_ranks) {
      if (work.ranks % work.group_ranks != 0) continue;
      for (const bool outer_tree : {false, true}) {
        work.outer_tree = outer_tree;
        works.push_back(work);
      }
    }
  }
  return works;
}

TEST(ShareGeometry, ThePartsOfAllLoopsCoverTheShareInEverySchedule) {
  for (const ChannelWork& work : works_of_several_parts()) {
    Cover cover(work);
    for (std::uint64_t loop = 0; loop < loop_count(work); ++loop) {
      for (int part = 0; part < static_cast<int>(parts_per_loop(work)); ++part) {
        const Chunk chunk = chunk_of(work, loop, part);
        if (chunk.count > 0) cover.add(chunk.offset, chunk.count);
      }
    }
    EXPECT_TRUE(cover.exact(work.count)) << work.ranks << " ranks, " << work.count << " elements";
  }
}

TEST(ShareGeometry, ARegionIsItsPartsSideBySide) {
  for (const ChannelWork& work : works_of_several_parts()) {
    const int parts = static_cast<int>(parts_per_loop(work));
    for (std::uint64_t loop = 0; loop < loop_count(work); ++loop) {
      for (int length = 1; length <= parts; length *= 2) {
        for (int first = 0; first + length <= parts; first += length) {
          std::uint64_t count = 0;
          for (int part = first; part < first + length; ++part) count += chunk_of(work, loop, part).count;
          const Chunk region = chunk_of(work, loop, first, length);
          ASSERT_EQ(region.count, count);
          ASSERT_EQ(region.offset, chunk_of(work, loop, first).offset);
        }
      }
    }
  }
}

TEST(ShareGeometry, NoTurnIsAboutMoreThanAChunkThatHasAGrainForEachOfItsParts) {
  for (ChannelWork work : works_of_several_parts()) {
    const bool has_grains = work.chunk_count >= parts_per_chunk(work) * work.grain_count;
    const std::uint64_t most = has_grains ? work.chunk_count : parts_per_chunk(work) * work.grain_count;
    for (work.position = 0; work.position < work.ranks; ++work.position) {
      for (int step = 0; step < step_count(work); ++step) {
        const Turn turn = turn_of(work, step);
        ASSERT_LE(static_cast<std::uint64_t>(turn.parts), parts_per_chunk(work));
        for (std::uint64_t loop = 0; loop < loop_count(work); ++loop)
          ASSERT_LE(chunk_of(work, loop, turn.part, turn.parts).count, most);
      }
    }
  }
}

TEST(ShareGeometry, BlocksOfAllGatherAndReduceScatterLieAtTheRankOfTheirPosition) {
  const std::vector<int> order = {2, 0, 3, 1};
  ChannelWork work = all_reduce_work(4, 100, 32, 1, 1, 1);
  work.collective = Collective::all_gather;
  work.block_stride = 5000;
  work.order = order.data();
  for (std::uint64_t loop = 0; loop < 4; ++loop) {
    for (int position = 0; position < 4; ++position) {
      const Chunk chunk = chunk_of(work, loop, position);
      const auto rank = static_cast<std::uint64_t>(order[static_cast<std::size_t>(position)]);
      EXPECT_EQ(chunk.block_offset, 1000 + 32 * loop);
      EXPECT_EQ(chunk.offset, 5000 * rank + 1000 + 32 * loop);
      EXPECT_EQ(chunk.count, loop < 3 ? 32U : 4U);  // 100 = 3 x 32 + 4
    }
  }
}

TEST(ShareGeometry, TheLastLoopDividesTheRestEvenlyRoundedUpToTheGrain) {
  // 2 full loops of 4 x 96, then 150 elements for 4 chunks: ceil(150 / 4) = 38, rounded up to the grain of
  // 8: 40.
  const ChannelWork work = all_reduce_work(4, 2 * 4 * 96 + 150, 96, 8, 1, 1);
  ASSERT_EQ(loop_count(work), 3U);
  EXPECT_EQ(part_count_of(work, 1), 96U);
  EXPECT_EQ(part_count_of(work, 2), 40U);
  EXPECT_EQ(chunk_of(work, 2, 2).count, 40U);
  EXPECT_EQ(chunk_of(work, 2, 3).count, 30U);  // 150 - 3 x 40
}

TEST(ShareGeometry, TrailingChunksOfFewerElementsThanRanksAreEmpty) {
  const ChannelWork work = all_reduce_work(8, 3, 96, 1, 1, 1);
  ASSERT_EQ(loop_count(work), 1U);
  for (int index = 0; index < 8; ++index) EXPECT_EQ(chunk_of(work, 0, index).count, index < 3 ? 1U : 0U);
}

TEST(ShareGeometry, ASimpleChunkOfNcclIsTwoSlicesOfOneMiB) {
  // facts.md A2: chunk 2 MiB, slice 1 MiB, floor 1/32 of the slice, grain 512 B; elements of 4 B.
  const std::uint64_t mib_count = (1U << 20) / 4;
  const ChannelWork work = all_reduce_work(2, 4 * mib_count, 2 * mib_count, 128, 2, mib_count / 32);
  ASSERT_EQ(loop_count(work), 1U);
  const Chunk chunk = chunk_of(work, 0, 0);
  EXPECT_EQ(slice_of(work, chunk, 0, 0, 0).count, mib_count);
  EXPECT_EQ(slice_of(work, chunk, 0, 0, 1).count, mib_count);
}

TEST(ShareGeometry, AChunkUpToTheFloorIsOneSliceAndAnEmptyOne) {
  const std::uint64_t floor_count = (32U << 10) / 4;
  const ChannelWork work = all_reduce_work(2, 2 * floor_count, 64 * floor_count, 128, 2, floor_count);
  const Chunk chunk = chunk_of(work, 0, 0);
  ASSERT_EQ(chunk.count, floor_count);
  EXPECT_EQ(slice_of(work, chunk, 0, 0, 0).count, floor_count);
  EXPECT_EQ(slice_of(work, chunk, 0, 0, 1).count, 0U);
}

}  // namespace
}  // namespace lanecast
