#include "configs/measured/read_predicted.hpp"

#include <gtest/gtest.h>

#include "model/error.hpp"

namespace lanecast {
namespace {

const std::string kDocument = R"({"lanecast": "0.1.0", "format": 1, "machine": "box", "profile": "generic",
  "implementation": "nccl-2.30", "ranks": 2, "collective": "all_reduce",
  "asked": {"algorithm": null, "protocol": "ll", "transport": null, "channels": 8},
  "results": [{"size_bytes": 1024, "time_us": 12.5, "time_us_low": 10, "time_us_high": 15, "algorithm": "ring",
               "protocol": "ll", "transport": "mixed", "channels": 1, "in_place": true, "op": "sum",
               "launch": "stream", "datatype": "half"}]})";

std::string message_of(const std::string& text) {
  try {
    read_predicted(text, "box.json");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  return "";
}

TEST(ReadPredicted, TakesRowsWithWhatTheDocumentSaysOfAllOfThem) {
  const PredictedData data = read_predicted(kDocument, "box.json");
  ASSERT_EQ(data.calls.size(), 1U);
  const PredictedCall& call = data.calls[0];
  EXPECT_EQ(call.call.size, Bytes(1024));
  EXPECT_DOUBLE_EQ(call.time.value(), 12.5e-6);
  EXPECT_DOUBLE_EQ(call.time_high->value(), 15e-6);
  EXPECT_EQ(call.call.protocol, Protocol::ll);
  EXPECT_EQ(call.transport, "mixed");
  EXPECT_EQ(call.ranks, 2);
  EXPECT_EQ(call.implementation, "nccl-2.30");
  EXPECT_TRUE(call.call.in_place);
  EXPECT_EQ(call.call.launch, Launch::stream);
  EXPECT_EQ(call.call.datatype, Datatype::float16);
  EXPECT_TRUE(call.stated.launch);
  EXPECT_FALSE(call.stated.iterations);
  ASSERT_TRUE(call.asked.has_value());
  EXPECT_EQ(call.asked->channels, 8);
  EXPECT_FALSE(call.asked->algorithm.has_value());
  EXPECT_EQ(call.call.channels, 1);
  EXPECT_EQ(data.machine, "box");
}

TEST(ReadPredicted, NcclsVariablesCountAsAsked) {
  std::string text = kDocument;
  text.replace(text.find("\"channels\": 8"), 13, "\"channels\": null");
  text.replace(
      text.find("\"ranks\""), 7,
      "\"nccl_environment\": {\"NCCL_MIN_NCHANNELS\": \"4\", \"NCCL_MAX_NCHANNELS\": \"4\"}, \"ranks\"");
  EXPECT_EQ(read_predicted(text, "box.json").calls.at(0).asked->channels, 4);
}

TEST(ReadPredicted, TellsAPredictionFromAMeasurement) {
  EXPECT_TRUE(is_prediction(kDocument));
  EXPECT_TRUE(is_prediction("size_bytes,time_us,time_us_low\n8,1,1\n"));
  EXPECT_TRUE(is_prediction("{\"size_bytes\": 8, \"time_us\": 1, \"time_us_low\": 1}\n"));
  EXPECT_TRUE(is_prediction(R"({"lanecast": "0.1.0", "kind": "p2p", "rows": [[null, 1]]})"));
  EXPECT_FALSE(is_prediction(R"({"lanecast": "0.1.0", "runs": [], "results": []})"));
  EXPECT_FALSE(is_prediction("size_bytes,time_us\n8,1\n"));
  EXPECT_FALSE(is_prediction("#  size  count\n"));
  EXPECT_FALSE(is_prediction(""));
}

TEST(ReadPredicted, ReadsCsvWithQuotesAndEmptyFields) {
  const PredictedData data = read_predicted(
      "size_bytes,time_us,time_us_low,time_us_high,protocol,bottleneck_link,in_place\n"
      "8,1.5,,,simple,\"a, \"\"b\"\"\",false\n",
      "box.csv");
  ASSERT_EQ(data.calls.size(), 1U);
  EXPECT_EQ(data.calls[0].call.protocol, Protocol::simple);
  EXPECT_FALSE(data.calls[0].time_low.has_value());
  EXPECT_FALSE(data.calls[0].asked.has_value());
  EXPECT_EQ(data.calls[0].where, "box.csv:2");
}

TEST(ReadPredicted, NamesEveryProblemInOneGo) {
  const std::string message = message_of(
      R"({"lanecast": "0.1.0", "results": [{"size_bytes": -8, "time_us": 0}, {"protocol": "lll"}, 7]})");
  for (const char* part : {"results[0].size_bytes", "results[0].time_us", "results[1].protocol",
                           "results[1].size_bytes", "results[2]"})
    EXPECT_NE(message.find(part), std::string::npos) << part << " in " << message;
}

TEST(ReadPredicted, RefusesLinesThatDoNotFitTheHead) {
  EXPECT_NE(message_of("size_bytes,time_us,time_us_low\n8,1\n").find("box.json:2"), std::string::npos);
}

TEST(ReadPredicted, ReadsMatricesWithTheirDiagonalAbsent) {
  const PredictedData data = read_predicted(
      R"({"lanecast": "0.1.0", "kind": "p2p", "engine": "ce", "unit": "GB/s", "rows": [[null, 20.5], [21, null]]})",
      "m.json");
  ASSERT_EQ(data.matrices.size(), 1U);
  EXPECT_EQ(data.matrices[0].kind, "p2p");
  EXPECT_FALSE(data.matrices[0].rows[0][0].has_value());
  EXPECT_DOUBLE_EQ(*data.matrices[0].rows[1][0], 21);
  EXPECT_NE(
      message_of(R"({"lanecast": "0.1.0", "kind": "p2p", "rows": [[null, "x"], 3]})").find("rows[0][1]"),
      std::string::npos);
}

}  // namespace
}  // namespace lanecast
