#include <gtest/gtest.h>

#include "model/implementation/nccl/environment_lists.hpp"

namespace lanecast {
namespace {

constexpr Collective kAllReduce = Collective::all_reduce;
constexpr Collective kAllGather = Collective::all_gather;

const NcclRules& rules_of(int minor) { return nccl_rules({false, minor}); }

NcclChoices<NcclAlgorithm> algorithms(const std::string& text, int minor = 30) {
  NcclValueReport report;
  const auto choices = read_algorithm_list(text, rules_of(minor), {}, report);
  for (const NcclValueProblem& each : report.problems) ADD_FAILURE() << text << ": " << each.what;
  return choices;
}

NcclChoices<Protocol> protocols(const std::string& text, int minor = 30) {
  NcclValueReport report;
  const auto choices = read_protocol_list(text, rules_of(minor), {}, report);
  for (const NcclValueProblem& each : report.problems) ADD_FAILURE() << text << ": " << each.what;
  return choices;
}

/// What is wrong with a text, and how to mend it, each problem on a line.
std::string problems(const std::string& text, int minor = 30, const NearestWord& nearest = {}) {
  NcclValueReport report;
  read_algorithm_list(text, rules_of(minor), nearest, report);
  std::string all;
  for (const NcclValueProblem& each : report.problems) all += each.what + " | " + each.mend + "\n";
  return all;
}

TEST(NcclLists, NameWhatIsAllowedInAnyCase) {
  const auto choices = algorithms("Ring,TREE,NvlsTree");
  EXPECT_TRUE(choices.states(kAllReduce));
  EXPECT_TRUE(choices.states(Collective::broadcast));
  EXPECT_TRUE(choices.forces(kAllReduce, NcclAlgorithm::ring));
  EXPECT_TRUE(choices.forces(kAllReduce, NcclAlgorithm::tree));
  EXPECT_TRUE(choices.forces(kAllReduce, NcclAlgorithm::nvls_tree));
  EXPECT_FALSE(choices.allows(kAllReduce, NcclAlgorithm::nvls));
  EXPECT_TRUE(protocols("ll").allows(kAllReduce, Protocol::ll));
  EXPECT_FALSE(protocols("ll").allows(kAllReduce, Protocol::ll128));
}

TEST(NcclLists, ACaretTakesTheOthersAndForcesThem) {
  const auto choices = protocols("^Simple");
  EXPECT_FALSE(choices.allows(kAllReduce, Protocol::simple));
  EXPECT_TRUE(choices.forces(kAllReduce, Protocol::ll128)) << "NCCL switches LL128 on, whatever the path";
  EXPECT_TRUE(protocols("^LL128").forces(kAllReduce, Protocol::ll));
  EXPECT_TRUE(protocols("^").forces(kAllReduce, Protocol::simple));
}

TEST(NcclLists, MayBeGivenForEachCollectiveFrom224On) {
  const auto choices = algorithms("allreduce:ring;AllGather:^tree", 24);
  EXPECT_TRUE(choices.forces(kAllReduce, NcclAlgorithm::ring));
  EXPECT_FALSE(choices.allows(kAllReduce, NcclAlgorithm::tree));
  EXPECT_TRUE(choices.allows(kAllGather, NcclAlgorithm::ring));
  EXPECT_FALSE(choices.allows(kAllGather, NcclAlgorithm::tree));
  EXPECT_FALSE(choices.states(Collective::reduce)) << "left to NCCL";
  const auto general = protocols("^LL128;reducescatter:LL128");
  EXPECT_FALSE(general.allows(kAllReduce, Protocol::ll128));
  EXPECT_TRUE(general.forces(Collective::reduce_scatter, Protocol::ll128));
  EXPECT_FALSE(general.allows(Collective::reduce_scatter, Protocol::ll));
  EXPECT_NE(problems("allreduce:ring", 23).find("came with NCCL 2.24"), std::string::npos);
  EXPECT_NE(problems("ring;tree", 18).find("came with NCCL 2.24"), std::string::npos);
}

TEST(NcclLists, EmptyPiecesCountForNothing) {
  EXPECT_TRUE(algorithms(",ring,,").forces(kAllReduce, NcclAlgorithm::ring));
  EXPECT_TRUE(algorithms("allreduce:ring;").forces(kAllReduce, NcclAlgorithm::ring));
  EXPECT_FALSE(algorithms("").states(kAllReduce));
}

TEST(NcclLists, KnowTheAlgorithmsOfTheRelease) {
  EXPECT_TRUE(algorithms("PAT", 23).forces(kAllGather, NcclAlgorithm::pat));
  EXPECT_NE(problems("PAT", 22).find("NCCL knows no `PAT`"), std::string::npos);
  EXPECT_FALSE(algorithms("^ring", 22).allows(kAllGather, NcclAlgorithm::pat));
  for (const char* name : {"Tree", "Ring", "CollNetDirect", "CollNetChain", "NVLS", "NVLSTree"}) {
    algorithms(name, 18);
  }
}

TEST(NcclLists, EveryUnknownWordIsNamed) {
  const std::string two = problems("ring,foo,bar");
  EXPECT_NE(two.find("NCCL knows no `foo`"), std::string::npos);
  EXPECT_NE(two.find("NCCL knows no `bar`"), std::string::npos);
  EXPECT_NE(two.find("take some of `tree`, `ring`, `collnetdirect`"), std::string::npos);
  EXPECT_NE(problems("ring, tree").find("NCCL knows no ` tree`, and blanks count"), std::string::npos);
  EXPECT_NE(problems("alltoall:ring").find("NCCL knows no `alltoall`"), std::string::npos);
  EXPECT_NE(problems("ring;tree").find("`tree` is not a collective, a colon and a list"), std::string::npos);
  EXPECT_NE(problems("allreduce:").find("is not a collective"), std::string::npos);
  EXPECT_NE(problems("allreduce:ring:tree").find("is not a collective"), std::string::npos);
  const NearestWord ring = [](const std::string&, const std::vector<std::string>& words) { return words[1]; };
  EXPECT_NE(problems("rnig", 30, ring).find("did you mean `ring`?"), std::string::npos);
}

}  // namespace
}  // namespace lanecast
