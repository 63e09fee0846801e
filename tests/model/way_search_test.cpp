// The search for the best way of a call, against predictors that answer by a rule.
#include "model/advice/way_search.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "model/advice/nccl_settings.hpp"
#include "tests/support/machine_builders.hpp"

namespace lanecast::support {
namespace {

using namespace literals;

using Rule = std::function<double(const Call&)>;  // seconds

Predictor by_rule(const Rule& seconds) {
  return [seconds](const Machine&, const std::vector<Call>& calls) {
    std::vector<Prediction> predictions;
    for (const Call& call : calls) {
      Prediction prediction;
      prediction.call = call;
      prediction.algorithm = call.algorithm.value_or(Algorithm::ring);
      prediction.protocol = call.protocol.value_or(Protocol::simple);
      prediction.channels = call.channels.value_or(2);
      prediction.threads = call.threads.value_or(512);
      prediction.chunk = call.chunk.value_or(2_MiB);
      prediction.buffsize = call.buffsize.value_or(4_MiB);
      prediction.ring_order = {0, 1, 2, 3};
      prediction.time = Seconds(seconds(call));
      if (prediction.protocol == Protocol::ll128) prediction.warnings.push_back({"LC-PROTO-01", ""});
      predictions.push_back(prediction);
    }
    return predictions;
  };
}

struct Search {
  Machine machine = one_switch(4);
  Profile profile;
  Implementation implementation = implementation_from_string("nccl");
  std::vector<Call> calls = std::vector<Call>(1);
  Predictor predict;

  explicit Search(const Rule& rule, Bytes size = 16_MiB) : predict(by_rule(rule)) {
    calls.front().size = size;
  }

  WayQuestion question() const {
    return {machine, profile, implementation, predict, {{1, 2, 4, 8, 16, 32}, {}, {}}};
  }
  Prediction best() const { return best_ways(question(), calls, predict(machine, calls)).front(); }
};

int channels_of(const Call& call) { return call.channels.value_or(2); }

TEST(BestWays, TakeTheCountOfChannelsThatIsFastest) {
  const Search search([](const Call& call) { return channels_of(call) == 8 ? 1.0 : 2.0; });
  EXPECT_EQ(search.best().channels, 8);
  EXPECT_EQ(search.best().call.channels, 8);  // as `--channels` forces it
}

TEST(BestWays, TakeTheFewestChannelsOfThoseThatAreAsFast) {
  const Search search(
      [](const Call& call) { return channels_of(call) >= 4 ? 1.0 - 1e-4 * channels_of(call) : 2.0; });
  EXPECT_EQ(search.best().channels, 4);
}

TEST(BestWays, LeaveTheImplementationsChoiceWhereNothingGainsAHundredth) {
  const Search search([](const Call& call) { return call.channels ? 0.995 : 1.0; });
  EXPECT_FALSE(search.best().call.channels.has_value());
  const Search gains([](const Call& call) { return call.channels ? 0.98 : 1.0; });
  EXPECT_TRUE(gains.best().call.channels.has_value());
}

TEST(BestWays, NeverTakeWhatMayCorruptData) {
  const Search search([](const Call& call) { return call.protocol == Protocol::ll128 ? 0.1 : 1.0; });
  EXPECT_NE(search.best().protocol, Protocol::ll128);
}

TEST(BestWays, KeepWhatIsAskedFor) {
  Search search([](const Call& call) { return call.protocol == Protocol::ll ? 2.0 : 1.0; }, 64_KiB);
  search.calls.front().protocol = Protocol::ll;
  EXPECT_EQ(search.best().protocol, Protocol::ll);
}

TEST(BestWays, LeaveANvlsCallAlone) {
  const Search search([](const Call& call) { return call.channels ? 0.1 : 1.0; });
  std::vector<Prediction> as_is = search.predict(search.machine, search.calls);
  as_is.front().stands_in_for = "nvls/simple";
  EXPECT_FALSE(best_ways(search.question(), search.calls, as_is).front().call.channels.has_value());
}

TEST(Crossovers, LieWhereTheTimesCross) {
  // LL: 10 us and 2 us a KiB; Simple: 30 us and 1 us a KiB: equal at 20 KiB
  const Rule rule = [](const Call& call) {
    const double kib = static_cast<double>(call.size.value()) / 1024;
    return call.protocol == Protocol::ll ? 10e-6 + 2e-6 * kib : 30e-6 + 1e-6 * kib;
  };
  Search search(rule, 8_KiB);
  search.calls.push_back(search.calls.front());
  search.calls.back().size = 128_KiB;
  std::vector<Prediction> best = search.predict(search.machine, search.calls);
  best[0].protocol = Protocol::ll;
  best[1].protocol = Protocol::simple;
  const std::vector<Crossover> found = crossovers(search.question(), search.calls, best);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NEAR(static_cast<double>(found[0].size.value()), 20.0 * 1024, 2.1 * 1024);
  EXPECT_EQ(way_name(found[0].below), "ring/ll");
  EXPECT_EQ(way_name(found[0].above), "ring/simple");
}

TEST(ChunkCurve, SetsNcclsBufferAndOurEnginesChunk) {
  Search search([](const Call&) { return 1.0; });
  const Prediction way = search.predict(search.machine, search.calls).front();
  const std::vector<ChunkPoint> nccl = chunk_curve(search.question(), search.calls.front(), way, {512_KiB});
  ASSERT_EQ(nccl.size(), 1u);
  EXPECT_EQ(nccl[0].prediction.call.buffsize, 1_MiB);  // twice the chunk (facts.md A2)
  EXPECT_FALSE(nccl[0].prediction.call.chunk.has_value());
  search.implementation = implementation_from_string("lanecast");
  const std::vector<ChunkPoint> ours = chunk_curve(search.question(), search.calls.front(), way, {512_KiB});
  ASSERT_EQ(ours.size(), 1u);
  EXPECT_EQ(ours[0].prediction.call.chunk, 512_KiB);
}

TEST(MeanFactor, IsTheGeometricMean) {
  const std::vector<Prediction> before(2, by_rule([](const Call&) { return 1.0; })({}, {Call()}).front());
  std::vector<Prediction> after = before;
  after[0].time = Seconds(0.5);
  after[1].time = Seconds(2.0);
  EXPECT_DOUBLE_EQ(mean_factor(before, after), 1.0);
}

TEST(TuneNccl, KeepsOnlyVariablesThatGain) {
  Search search([](const Call&) { return 1.0; });
  search.machine = two_sockets(2);  // no peer access across sockets by default
  const auto orders =
      best_ring_order(search.machine, search.profile, search.implementation, std::nullopt, {0, 1, 2, 3});
  const auto tuned_with = [&](const std::string& name) {
    const PredictorOf predictors = [&](const Implementation& implementation) {
      bool set = false;
      for (const NcclSetting& setting : implementation.environment.settings)
        set = set || setting.name == name;
      return by_rule([set](const Call&) { return set ? 0.5 : 1.0; });
    };
    std::vector<std::string> names;
    for (const NcclAdvice& advice : tune_nccl(search.question(), search.calls, orders, predictors).variables)
      names.push_back(advice.name);
    return names;
  };
  EXPECT_EQ(tuned_with("NCCL_P2P_LEVEL"), std::vector<std::string>{"NCCL_P2P_LEVEL"});
  EXPECT_EQ(tuned_with("NCCL_BUFFSIZE"), std::vector<std::string>{"NCCL_BUFFSIZE"});
  EXPECT_EQ(tuned_with("NCCL_NTHREADS"), std::vector<std::string>{"NCCL_NTHREADS"});
  EXPECT_TRUE(tuned_with("NOTHING").empty());
}

TEST(TuneNccl, LeavesWhatTheEnvironmentSets) {
  Search search([](const Call&) { return 1.0; });
  search.machine = two_sockets(2);
  std::vector<Warning> warnings;
  search.implementation.environment = read_nccl_environment(
      {{"NCCL_P2P_LEVEL", "LOC", "--nccl-env"}, {"NCCL_BUFFSIZE", "1048576", "--nccl-env"}},
      search.implementation.version(), warnings);
  const auto orders =
      best_ring_order(search.machine, search.profile, search.implementation, std::nullopt, {0, 1, 2, 3});
  const PredictorOf predictors = [&](const Implementation& implementation) {
    const double settings = static_cast<double>(implementation.environment.settings.size());
    return by_rule([settings](const Call&) { return 1.0 / settings; });
  };
  for (const NcclAdvice& advice : tune_nccl(search.question(), search.calls, orders, predictors).variables)
    EXPECT_EQ(advice.name, "NCCL_NTHREADS");
}

}  // namespace
}  // namespace lanecast::support
