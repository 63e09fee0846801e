#include <gtest/gtest.h>

#include <string>

#include "model/error.hpp"
#include "model/implementation/nccl/cost_model.hpp"
#include "tests/model/nccl_cost_inputs.hpp"

namespace lanecast {
namespace {

using namespace literals;
using Algorithms = std::vector<NcclAlgorithm>;
using Protocols = std::vector<Protocol>;

void expect_refusal(const CostModelInput& input, const std::string& named) {
  try {
    ADD_FAILURE() << "took " << chosen(input, 1_MiB) << "; expected a refusal that names " << named;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_NE(std::string(error.what()).find(named), std::string::npos) << error.what();
  }
}

TEST(Ll128, IsNeverTakenByDefaultBeyondNvlink) {  // facts.md A6
  for_every_version([](const NcclVersion& version) {
    for (const PathType type : {PathType::pix, PathType::pxb, PathType::phb, PathType::sys}) {
      for (const int sm : {70, 75, 80, 86, 89, 90, 100, 120}) {
        CostModelInput input = ring_and_tree(8, 24, type);
        input.version = version;
        input.min_sm = input.max_sm = sm;
        for (const Collective collective : kAllCollectives) {
          input.collective = collective;
          for (const CostEstimate& estimate : nccl_costs(input, 1_MiB)) {
            EXPECT_FALSE(estimate.possible && estimate.protocol == Protocol::ll128)
                << version.name() << " " << to_string(type) << " sm_" << sm;
          }
        }
      }
    }
  });
}

bool has_ll128(int minor, int min_sm, int max_sm, PathType type = PathType::nvl) {
  CostModelInput input = ring_of(8, 100, type, minor);
  input.min_sm = min_sm;
  input.max_sm = max_sm;
  return line(input, NcclAlgorithm::ring, Protocol::ll128, 1_MiB).possible;
}

TEST(Ll128, IsOnOverNvlinkForTheCapabilitiesOfTheRelease) {  // facts.md A6; the same file, v2.18.3 to v2.30
  EXPECT_TRUE(has_ll128(18, 80, 80));
  EXPECT_TRUE(has_ll128(18, 80, 80, PathType::nvb));
  EXPECT_FALSE(has_ll128(18, 86, 86)) << "7.0, 8.0 and 9.0 only";
  EXPECT_TRUE(has_ll128(27, 86, 86));
  EXPECT_FALSE(has_ll128(24, 100, 100));
  EXPECT_TRUE(has_ll128(25, 100, 100));
  EXPECT_FALSE(has_ll128(28, 80, 86)) << "different capabilities";
  EXPECT_FALSE(has_ll128(28, 90, 100));
  EXPECT_TRUE(has_ll128(30, 90, 100)) << "all 9.0 or newer";
}

TEST(Ll128, IsTakenAnywhereWhenItIsForced) {  // facts.md A6: NCCL_PROTO=LL128
  CostModelInput input = ring_of(8, 24, PathType::sys);
  input.protocols = Protocols{Protocol::ll128};
  EXPECT_EQ(chosen(input, 1_MiB), "Ring ll128");
  EXPECT_NEAR(algbw_GBps(input, NcclAlgorithm::ring, Protocol::ll128), 20 * 8 / 14.0, 1e-9) << "20 a channel";
}

TEST(ForcedLists, NarrowTheChoice) {
  CostModelInput input = ring_and_tree(4, 24, PathType::phb);
  input.algorithms = Algorithms{NcclAlgorithm::tree};
  EXPECT_EQ(chosen(input, Bytes(64)), "Tree ll");
  input.protocols = Protocols{Protocol::simple};
  EXPECT_EQ(chosen(input, Bytes(64)), "Tree simple");
  EXPECT_EQ(line(input, NcclAlgorithm::ring, Protocol::simple, 1_MiB).reason, "NCCL_ALGO leaves it out");
  EXPECT_EQ(line(input, NcclAlgorithm::tree, Protocol::ll, 1_MiB).reason, "NCCL_PROTO leaves it out");
}

TEST(ForcedLists, WithoutAnyAlgorithmAreRefusedFrom224) {  // src/enqueue.cc: invalid usage where one is set
  for (const int minor : {24, 28, 30}) {
    CostModelInput input = ring_and_tree(4, 24, PathType::phb, minor);
    input.algorithms = Algorithms{NcclAlgorithm::collnet_direct};
    expect_refusal(input, "NCCL_ALGO allows CollNetDirect");
    input.algorithms = Algorithms{NcclAlgorithm::tree};
    input.collective = Collective::all_gather;
    expect_refusal(input, "NCCL_ALGO allows Tree");
  }
}

TEST(ForcedLists, OfCollNetAloneWereIgnoredBefore) {  // src/graph/tuning.cc, v2.18.3 to v2.22.3
  for (const int minor : {18, 20, 21, 22}) {
    CostModelInput input = ring_and_tree(4, 24, PathType::phb, minor);
    const std::string open = chosen(input, 64_MiB);
    input.algorithms = Algorithms{NcclAlgorithm::collnet_direct};
    EXPECT_EQ(chosen(input, 64_MiB), open);
  }
}

TEST(ForcedLists, OfTreeAloneLeftRingToOtherCollectivesBefore) {  // the same
  for (const int minor : {18, 20, 21, 22}) {
    CostModelInput input = ring_and_tree(4, 24, PathType::phb, minor);
    input.algorithms = Algorithms{NcclAlgorithm::tree};
    input.collective = Collective::broadcast;
    EXPECT_EQ(chosen(input, 64_MiB), "Ring simple");
  }
}

TEST(ForcedLists,
     BroughtLl128BackToo221) {  // v2.21.5 restores Ring's bandwidths as they were before protocols
  CostModelInput input = ring_and_tree(8, 24, PathType::phb, 21);
  input.algorithms = Algorithms{NcclAlgorithm::tree};
  input.collective = Collective::all_gather;
  // 1 MB: LL 13.6 + 72.9 us, LL128 31.5 + 43.8 us at 20 GB/s a channel, Simple 48.3 + 36.5 us
  EXPECT_EQ(chosen(input, Bytes(1'000'000)), "Ring ll128");
  input.version.minor = 22;
  EXPECT_EQ(chosen(input, Bytes(1'000'000)), "Ring simple");
}

TEST(ForcedLists, ThatAreEmptyAreRefused) {
  CostModelInput input = ring_and_tree(4, 24, PathType::phb);
  input.protocols = Protocols{};
  expect_refusal(input, "NCCL_PROTO allows none");
}

}  // namespace
}  // namespace lanecast
