#include "model/measured/comparison.hpp"

#include <gtest/gtest.h>

#include "model/measured/tolerance.hpp"

namespace lanecast {
namespace {

constexpr StatedMembers kAll{true, true, true, true, true, true, true};

/// A call that says everything but what an implementation decides.
MeasuredCall measured(std::uint64_t size, double us) {
  MeasuredCall call;
  call.call.size = Bytes(size);
  call.stated = kAll;
  call.ranks = 2;
  call.time = Seconds(us * 1e-6);
  call.where = "run.log:" + std::to_string(size);
  return call;
}

/// What runs: 4 channels of 512 threads, Simple; asked for is nothing.
PredictedCall predicted(std::uint64_t size, double us) {
  PredictedCall call;
  call.call.size = Bytes(size);
  call.call.algorithm = Algorithm::ring;
  call.call.protocol = Protocol::simple;
  call.call.channels = 4;
  call.call.threads = 512;
  call.call.buffsize = Bytes(4U << 20U);
  call.asked = Call();
  call.asked->size = Bytes(size);
  call.stated = kAll;
  call.transport = "p2p";
  call.ranks = 2;
  call.time = Seconds(us * 1e-6);
  return call;
}

/// The same with channels that were asked for.
PredictedCall forced(std::uint64_t size, double us, int channels, int ran) {
  PredictedCall call = predicted(size, us);
  call.asked->channels = channels;
  call.call.channels = ran;
  return call;
}

std::vector<double> errors_of(const CallComparison& comparison) {
  std::vector<double> errors;
  for (const ComparedRow& row : comparison.rows) errors.push_back(row.error());
  return errors;
}

TEST(CallComparison, AnErrorIsPredictedOverMeasuredLessOne) {
  const CallComparison comparison = compare_calls({measured(1024, 20)}, {predicted(1024, 25)}, {});
  ASSERT_EQ(comparison.rows.size(), 1U);
  EXPECT_DOUBLE_EQ(comparison.rows[0].error(), 0.25);
  EXPECT_TRUE(comparison.left_out.empty());
}

TEST(CallComparison, EveryKeyThatBothSidesStateMustAgree) {
  const auto joins = [](auto change) {
    MeasuredCall call = measured(1024, 20);
    change(call);
    return compare_calls({call}, {predicted(1024, 20)}, {}).rows.size() == 1;
  };
  EXPECT_TRUE(joins([](MeasuredCall&) {}));
  EXPECT_FALSE(joins([](MeasuredCall& m) { m.call.collective = Collective::all_gather; }));
  EXPECT_FALSE(joins([](MeasuredCall& m) { m.call.datatype = Datatype::float16; }));
  EXPECT_FALSE(joins([](MeasuredCall& m) { m.call.op = ReduceOp::max; }));
  EXPECT_FALSE(joins([](MeasuredCall& m) { m.call.size = Bytes(2048); }));
  EXPECT_FALSE(joins([](MeasuredCall& m) { m.ranks = 4; }));
  EXPECT_FALSE(joins([](MeasuredCall& m) { m.call.algorithm = Algorithm::tree; }));
  EXPECT_FALSE(joins([](MeasuredCall& m) { m.call.protocol = Protocol::ll; }));
  EXPECT_FALSE(joins([](MeasuredCall& m) { m.call.transport = Transport::shm; }));
  EXPECT_FALSE(joins([](MeasuredCall& m) { m.call.channels = 2; }));
  EXPECT_FALSE(joins([](MeasuredCall& m) { m.call.threads = 64; }));
  EXPECT_FALSE(joins([](MeasuredCall& m) { m.call.buffsize = Bytes(256U << 10U); }));
  EXPECT_TRUE(joins([](MeasuredCall& m) { m.call.channels = 4; }));
  EXPECT_TRUE(joins([](MeasuredCall& m) { m.ranks = 0; }));  // not said
  EXPECT_TRUE(joins([](MeasuredCall& m) { m.call.datatype = Datatype::float16, m.stated.datatype = false; }));
}

TEST(CallComparison, AFamilyOfAlgorithmsFitsItsVariants) {
  MeasuredCall call = measured(1024, 20);
  call.call.algorithm = Algorithm::direct;
  PredictedCall variant = predicted(1024, 20);
  variant.call.algorithm = Algorithm::one_shot;
  EXPECT_EQ(compare_calls({call}, {variant}, {}).rows.size(), 1U);
}

TEST(CallComparison, WhatWasAskedForFitsAsWellAsWhatRan) {
  MeasuredCall call = measured(1024, 20);
  call.call.channels = 8;  // as the file says NCCL was told; for 1 KiB it takes one
  EXPECT_EQ(compare_calls({call}, {forced(1024, 20, 8, 1)}, {}).rows.size(), 1U);
}

TEST(CallComparison, ThePredictionThatAgreesInTheMostKeysCounts) {
  MeasuredCall call = measured(1024, 20);
  call.call.channels = 8;
  const CallComparison comparison =
      compare_calls({call}, {forced(1024, 30, 4, 1), forced(1024, 20, 8, 1)}, {});
  EXPECT_EQ(errors_of(comparison), std::vector<double>{0});
}

TEST(CallComparison, ARowLeftOpenIsNotComparedWithWhatAnotherRowStates) {
  MeasuredCall stated = measured(1024, 20);
  stated.call.channels = 8;
  const MeasuredCall open = measured(1024, 40);
  const CallComparison comparison = compare_calls({open, stated}, {forced(1024, 20, 8, 8)}, {});
  EXPECT_EQ(errors_of(comparison), std::vector<double>{0});
  ASSERT_EQ(comparison.left_out.size(), 1U);
  EXPECT_EQ(comparison.left_out[0].rows, 1U);
  EXPECT_FALSE(comparison.left_out[0].asked_for);
  EXPECT_EQ(compare_calls({open}, {forced(1024, 20, 8, 8)}, {}).rows.size(), 1U);  // alone it is
}

TEST(CallComparison, SessionsOfOneCallStayRowsOfTheirOwn) {
  MeasuredCall second = measured(1024, 10);
  second.session = 2;
  EXPECT_EQ(errors_of(compare_calls({measured(1024, 20), second}, {predicted(1024, 20)}, {})),
            (std::vector<double>{0, 1}));
}

TEST(CallComparison, RepeatsOnTheOtherSideCountByTheirMedian) {
  const std::vector<PredictedCall> repeats{as_predicted(measured(1024, 10)), as_predicted(measured(1024, 30)),
                                           as_predicted(measured(1024, 20))};
  EXPECT_EQ(errors_of(compare_calls({measured(1024, 20)}, repeats, {})), std::vector<double>{0});
}

TEST(CallComparison, SeveralPredictionsThatFitEquallyWellAreNoAnswer) {
  PredictedCall other = predicted(1024, 30);
  other.call.protocol = Protocol::ll;
  const CallComparison comparison = compare_calls({measured(1024, 20)}, {predicted(1024, 20), other}, {});
  EXPECT_TRUE(comparison.rows.empty());
  ASSERT_EQ(comparison.left_out.size(), 1U);
  EXPECT_NE(comparison.left_out[0].reason.find("differ in protocol"), std::string::npos);
}

TEST(CallComparison, ARowWithoutAPredictionNamesTheKeysThatStandInTheWay) {
  MeasuredCall call = measured(1024, 20);
  call.call.protocol = Protocol::ll;
  call.ranks = 4;
  const CallComparison comparison =
      compare_calls({call, measured(2048, 20)}, {predicted(1024, 20), predicted(4096, 20)}, {});
  ASSERT_EQ(comparison.left_out.size(), 2U);
  EXPECT_EQ(comparison.left_out[0].reason, "no prediction: the nearest is of another ranks and protocol");
  EXPECT_EQ(comparison.left_out[0].where, "run.log:1024");
  EXPECT_EQ(comparison.left_out[1].reason, "no prediction: the nearest is of another size");
}

TEST(CallComparison, OtherLaunchesAreComparedOnlyWhereThereAreNoneOfTheSame) {
  PredictedCall stream = predicted(1024, 40);
  stream.call.launch = Launch::stream;
  stream.asked->launch = Launch::stream;
  const CallComparison both = compare_calls({measured(1024, 20)}, {stream, predicted(1024, 20)}, {});
  EXPECT_EQ(errors_of(both), std::vector<double>{0});
  EXPECT_TRUE(both.differences.empty());
  const CallComparison other = compare_calls({measured(1024, 20)}, {stream}, {});
  EXPECT_EQ(errors_of(other), std::vector<double>{1});
  ASSERT_EQ(other.differences.size(), 1U);
  EXPECT_NE(other.differences[0].find("predicted are stream"), std::string::npos);
}

TEST(CallComparison, OfTwoPlacesOneCounts) {
  MeasuredCall in_place = measured(1024, 10);
  in_place.call.in_place = true;
  PredictedCall too = predicted(1024, 10);
  too.call.in_place = true;
  const std::vector<PredictedCall> predictions{predicted(1024, 20), too};
  ComparisonOptions options;
  EXPECT_EQ(compare_calls({in_place, measured(1024, 20)}, predictions, options).rows.size(), 1U);
  options.in_place = true;
  const CallComparison comparison = compare_calls({in_place, measured(1024, 20)}, predictions, options);
  ASSERT_EQ(comparison.rows.size(), 1U);
  EXPECT_TRUE(comparison.rows[0].measured.call.in_place);
  ASSERT_EQ(comparison.left_out.size(), 1U);
  EXPECT_TRUE(comparison.left_out[0].asked_for);
}

TEST(CallComparison, FirstRowsOfSweepsStandApartUntilTheyCount) {
  MeasuredCall cold = measured(1024, 10);
  cold.first_of_sweep = true;
  const std::vector<PredictedCall> predictions{predicted(1024, 20), predicted(2048, 20)};
  ComparisonOptions options;
  const CallComparison apart = compare_calls({cold, measured(2048, 20)}, predictions, options);
  EXPECT_EQ(errors_of(apart), std::vector<double>{0});
  ASSERT_EQ(apart.first_rows.size(), 1U);
  EXPECT_DOUBLE_EQ(apart.first_rows[0].error(), 1);
  options.first_rows = true;
  EXPECT_EQ(compare_calls({cold, measured(2048, 20)}, predictions, options).rows.size(), 2U);
}

TEST(CallComparison, RowsWithWrongResultsAreNoMeasurements) {
  MeasuredCall wrong = measured(1024, 10);
  wrong.wrong = 3;
  const CallComparison comparison = compare_calls({wrong}, {predicted(1024, 20)}, {});
  EXPECT_TRUE(comparison.rows.empty());
  ASSERT_EQ(comparison.left_out.size(), 1U);
  EXPECT_EQ(comparison.left_out[0].reason, wrong_results);
  EXPECT_FALSE(comparison.left_out[0].asked_for);
}

TEST(CallComparison, AFilterMayNameWhatOnlyThePredictionSays) {
  ComparisonOptions options;
  options.only.allowed[CallKey::protocol] = {"ll", "simple"};
  EXPECT_EQ(compare_calls({measured(1024, 20)}, {predicted(1024, 20)}, options).rows.size(), 1U);
  options.only.allowed[CallKey::protocol] = {"ll"};
  EXPECT_TRUE(compare_calls({measured(1024, 20)}, {predicted(1024, 20)}, options).rows.empty());
}

TEST(CallComparison, ATimeAtTheEdgeOfTheBandIsWithinIt) {
  ComparedRow row{measured(1024, 20), predicted(1024, 22), std::nullopt};
  EXPECT_FALSE(row.within().has_value());
  row.predicted.time_low = row.measured.time;
  row.predicted.time_high = Seconds(30e-6);
  EXPECT_EQ(row.within(), true);
  row.predicted.time_low = Seconds(20.1e-6);
  EXPECT_EQ(row.within(), false);
}

TEST(Tolerance, BoundsEveryRowUnlessTheMedianOrP95IsAskedFor) {
  std::vector<MeasuredCall> rows;
  std::vector<PredictedCall> predictions;
  for (std::uint64_t size = 1024; size <= (1024U << 9U); size *= 2) {  // ten rows, one of them 50 % off
    rows.push_back(measured(size, 20));
    predictions.push_back(predicted(size, size == 4096 ? 30 : 21));
  }
  const CallComparison comparison = compare_calls(rows, predictions, {});
  const auto count = [&](ToleranceOf of, double tolerance) {
    return breaches(comparison.rows, {}, of, tolerance).size();
  };
  EXPECT_EQ(count(ToleranceOf::max, 0.1), 1U);
  EXPECT_EQ(count(ToleranceOf::max, 0.5), 0U);  // an error at the tolerance passes
  EXPECT_EQ(count(ToleranceOf::max, 0.01), 10U);
  EXPECT_EQ(count(ToleranceOf::median, 0.1), 0U);
  EXPECT_EQ(count(ToleranceOf::median, 0.01), 1U);  // one group
  EXPECT_EQ(count(ToleranceOf::p95, 0.1), 1U);
  EXPECT_NE(breaches(comparison.rows, {}, ToleranceOf::max, 0.01)[0].what.find("4096"), std::string::npos);
}

}  // namespace
}  // namespace lanecast
