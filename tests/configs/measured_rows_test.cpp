// Rows of CSV and of our own JSON as measured data (docs/measured-data.md).
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "configs/measured/call_row.hpp"
#include "configs/measured/read_measured.hpp"
#include "model/measured/measured_settings.hpp"
#include "tests/configs/refusal.hpp"

namespace lanecast {
namespace {

const std::filesystem::path kRoot = LANECAST_TEST_SOURCE_ROOT;
const std::filesystem::path kShared = std::filesystem::path(LANECAST_TEST_SHARED_DIR) / "measurements";

const std::string kHead =
    "session,collective,datatype,algorithm,protocol,transport,channels,buffsize,nthreads,register,shm_memcpy,"
    "launch,iters,graph_replays,warmup,max_bytes,size_bytes,time_us_out_of_place,time_us_in_place\n";
const std::string kSimple = "2,all_reduce,half,ring,simple,shm,4,262144,64,off,0,graph,10,5,3,1048576,";

MeasuredData csv(const std::string& rows) { return read_measured(kHead + rows, "box.csv"); }

TEST(CsvRows, WithBothPlacesAreTwoCallsOfOneSweep) {
  const MeasuredData data = csv(kSimple + "1024,20.5,19.25\n" + kSimple + "4096,21,20\n");
  ASSERT_EQ(data.calls.size(), 4u);
  const MeasuredCall& out = data.calls[0];
  const MeasuredCall& in = data.calls[1];
  EXPECT_FALSE(out.call.in_place);
  EXPECT_TRUE(in.call.in_place);
  EXPECT_DOUBLE_EQ(out.time.value(), 20.5e-6);
  EXPECT_DOUBLE_EQ(in.time.value(), 19.25e-6);
  EXPECT_EQ(out.call.size, Bytes(1024));
  EXPECT_EQ(out.session, 2);
  EXPECT_EQ(out.where, "box.csv:2");
  EXPECT_EQ(data.calls[2].where, "box.csv:3");
  EXPECT_TRUE(out.first_of_sweep && in.first_of_sweep);
  EXPECT_FALSE(data.calls[2].first_of_sweep || data.calls[3].first_of_sweep);
  EXPECT_EQ(data.calls[0].sweep, data.calls[3].sweep);
}

TEST(CsvRows, StateTheCall) {
  const MeasuredData data = csv(kSimple + "1024,20.5,19.25\n" + kSimple + "2048,20.5,19.25\n");
  const MeasuredCall& m = data.calls.at(0);
  EXPECT_EQ(m.call.collective, Collective::all_reduce);
  EXPECT_EQ(m.call.datatype, Datatype::float16);
  EXPECT_EQ(m.call.algorithm, Algorithm::ring);
  EXPECT_EQ(m.call.protocol, Protocol::simple);
  EXPECT_EQ(m.call.transport, Transport::shm);
  EXPECT_EQ(m.call.launch, Launch::graph);
  EXPECT_EQ(m.call.iterations, 10);
  EXPECT_EQ(m.call.registration, Registration::off);
  EXPECT_EQ(set_channels(m), 4);
  EXPECT_EQ(set_threads(m), 64);
  EXPECT_EQ(set_buffsize(m), Bytes(262144));
  EXPECT_TRUE(data.warnings.empty());
}

TEST(CsvRows, LeaveNcclsBoundsVariablesSinceSmallMessagesUseLess) {
  const MeasuredData data = csv(kSimple + "1024,20.5,19.25\n" + kSimple + "2048,20.5,19.25\n");
  const MeasuredCall& m = data.calls.at(0);
  EXPECT_EQ(m.call.channels, std::nullopt);
  EXPECT_EQ(m.environment.at("NCCL_MIN_NCHANNELS"), "4");
  EXPECT_EQ(m.environment.at("NCCL_MAX_NCHANNELS"), "4");
  EXPECT_EQ(m.environment.at("NCCL_NTHREADS"), "64");
  EXPECT_EQ(m.environment.at("NCCL_BUFFSIZE"), "262144");
}

TEST(CsvRows, LeaveOpenWhatIsAuto) {
  const std::string row = "1,all_reduce,float,auto,auto,auto,auto,4194304,auto,auto,0,stream,20,0,5,4096,";
  const MeasuredData data = csv(row + "8,5,\n" + row + "16,5,4\n");
  ASSERT_EQ(data.calls.size(), 3u);  // an empty time is none
  const MeasuredCall& m = data.calls[0];
  EXPECT_FALSE(m.call.algorithm || m.call.protocol || m.call.transport || m.call.channels || m.call.threads);
  EXPECT_TRUE(m.environment.empty());  // 4 MiB is NCCL's own buffer
  EXPECT_EQ(m.call.registration, Registration::automatic);
  EXPECT_EQ(m.ranks, 0);
  EXPECT_EQ(m.implementation, "");
}

TEST(CsvRows, HaveTheWorkingSetOfARotatingBuffer) {
  const MeasuredData data = csv(kSimple + "1024,20,19\n" + kSimple + "524288,20,19\n");
  EXPECT_EQ(data.calls[0].call.working_set, Bytes(2 * 10 * 1024));
  EXPECT_EQ(data.calls[1].call.working_set, Bytes(10 * 1024));
  EXPECT_EQ(data.calls[2].call.working_set, Bytes(2 * 1048576));  // no more than the buffer
  EXPECT_EQ(data.calls[3].call.working_set, Bytes(1048576));
}

TEST(CsvRows, BeginASweepWhereTheConfigurationChangesOrSizesStartAgain) {
  const std::string other = "2,all_reduce,half,ring,ll,shm,4,262144,64,off,0,graph,10,5,3,1048576,";
  const MeasuredData data = csv(kSimple + "8,5,4\n" + kSimple + "16,5,4\n" + other + "32,5,4\n" + other +
                                "64,5,4\n" + other + "32,5,4\n" + other + "64,5,4\n");
  std::vector<int> sweeps;
  std::vector<bool> firsts;
  for (std::size_t i = 0; i < data.calls.size(); i += 2) {
    sweeps.push_back(data.calls[i].sweep);
    firsts.push_back(data.calls[i].first_of_sweep);
  }
  EXPECT_EQ(sweeps, (std::vector<int>{0, 0, 1, 1, 2, 2}));
  EXPECT_EQ(firsts, (std::vector<bool>{true, false, true, false, true, false}));
}

TEST(CsvRows, OfOneSizeEachAreToldToLookCold) {
  const MeasuredData data = read_measured("size_bytes,time_us\n4096,9\n2048,8\n1024,7\n", "box.csv");
  ASSERT_EQ(data.warnings.size(), 1u);
  EXPECT_NE(data.warnings[0].text.find("3 of 3 sweeps"), std::string::npos) << data.warnings[0].text;
}

TEST(CsvRows, TakeSizesWithUnitsQuotesCommentsAndCrlf) {
  const MeasuredData data = read_measured(
      "\xef\xbb\xbf# "
      "mine\r\n\"size_bytes\",time_us,in_place,NCCL_ALGO,ranks\r\n1K,9.5,true,Tree,4\r\n\r\n\"1M\",1e2,true,"
      "Tree,4\r\n",
      "box.csv");
  ASSERT_EQ(data.calls.size(), 2u);
  EXPECT_EQ(data.calls[0].call.size, Bytes(1024));
  EXPECT_EQ(data.calls[1].call.size, Bytes(1048576));
  EXPECT_DOUBLE_EQ(data.calls[1].time.value(), 100e-6);
  EXPECT_TRUE(data.calls[0].call.in_place);
  EXPECT_EQ(data.calls[0].call.algorithm, Algorithm::tree);
  EXPECT_EQ(data.calls[0].environment.at("NCCL_ALGO"), "Tree");
  EXPECT_EQ(data.calls[0].ranks, 4);
}

TEST(CsvRows, OfWrongResultsOrNoBytesAreLeftOutWithTheirLines) {
  const MeasuredData data =
      read_measured("size_bytes,time_us,wrong\n0,1,0\n8,5,0\n16,5,3\n32,5,N/A\n64,5,1\n", "box.csv");
  ASSERT_EQ(data.calls.size(), 2u);
  EXPECT_EQ(data.calls[0].wrong, 0u);
  EXPECT_FALSE(data.calls[1].wrong);
  ASSERT_EQ(data.warnings.size(), 2u);
  EXPECT_EQ(data.warnings[0].code, "LC-DATA-01");
  EXPECT_NE(data.warnings[1].text.find("wrong are left out (box.csv:4, box.csv:6)"), std::string::npos)
      << data.warnings[1].text;
}

TEST(CsvRows, ThatAreFaultyAreToldAllInOneGo) {
  const std::string message = refusal([] {
    read_measured(
        "size_bytes,protocol,time_us\n8,simple,nan\n16,simple,-1\n32,simple,0\n64,sipmle,5\n128,simple\n12Q,"
        "ll,3\n256,ll,\n",
        "box.csv");
  });
  for (const char* part : {"`time_us` is `nan`: not a number", "box.csv:2:3", "`time_us` is `-1`",
                           "box.csv:3:3", "`time_us` is `0`", "`protocol` is `sipmle`: not a protocol",
                           "box.csv:5:2", "a row of 2 fields below 3 columns", "box.csv:6",
                           "`size_bytes` is `12Q`", "a row without a time", "box.csv:8"}) {
    EXPECT_NE(message.find(part), std::string::npos) << part << "\n" << message;
  }
}

TEST(CsvRows, OfUnknownColumnsAreNotedWithTheNearestName) {
  const MeasuredData data = read_measured("size_bytes,time_us,protocl\n8,5,ll\n16,5,ll\n", "box.csv");
  ASSERT_EQ(data.warnings.size(), 1u);
  EXPECT_NE(data.warnings[0].text.find("did you mean `protocol`"), std::string::npos);
}

TEST(CsvRows, OfPredictionsOrOtherTablesAreRefused) {
  EXPECT_NE(
      refusal([] { read_measured("size_bytes,time_us,time_us_low\n8,5,4\n", "p.csv"); }).find("predictions"),
      std::string::npos);
  EXPECT_NE(refusal([] { read_measured("a,b\n8,5\n", "p.csv"); }).find("of no table that is read"),
            std::string::npos);
}

TEST(RateTables, BecomeFlowsWithTheNamesOfMicroBenchmarks) {
  const MeasuredData data = read_measured(
      "operation,gpus,threads_per_block,blocks,GBps_gpu0,GBps_gpu1\nstore_host,alone,128,2,50.5,\n"
      "duplex_host(each),alone,512,4,28.5,\nload_peer,both,256,8,70,71\n",
      "sm.csv");
  ASSERT_EQ(data.rates.size(), 5u);
  EXPECT_EQ(data.rates[0].name, "sm_push");
  EXPECT_EQ(data.rates[0].source, "gpu0");
  EXPECT_EQ(data.rates[0].destination, "host");
  EXPECT_EQ(data.rates[0].threads, 128);
  EXPECT_EQ(data.rates[0].blocks, 2);
  EXPECT_EQ(data.rates[0].GBps, 50.5);
  EXPECT_EQ(data.rates[1].name, "sm_duplex");
  EXPECT_EQ(data.rates[1].destination, "host");
  EXPECT_EQ(data.rates[2].source, "host");
  EXPECT_EQ(data.rates[2].GBps, 28.5);
  EXPECT_EQ(data.rates[3].source, "gpu1");
  EXPECT_EQ(data.rates[3].destination, "gpu0");
  EXPECT_EQ(data.rates[4].GBps, 71);
  const MeasuredData copies =
      read_measured("gpus,operation,GBps_each_direction_each_gpu\n1,h2d,55.1\n0+1,duplex,36.6\n", "ce.csv");
  ASSERT_EQ(copies.rates.size(), 5u);
  EXPECT_EQ(copies.rates[0].name, "ce_copy");
  EXPECT_EQ(copies.rates[0].source, "host");
  EXPECT_EQ(copies.rates[0].destination, "gpu1");
  EXPECT_EQ(copies.rates[4].name, "ce_duplex_all");
}

const std::string kRun =
    R"("collective": "all_reduce", "datatype": "float", "op": "sum", "root": null, "algorithm": "direct",
       "variant": "two_shot", "protocol": "ll", "transport": "shm", "staging": "sm", "channels": 3, "threads": 96,
       "chunk_bytes": 4096, "buffsize_bytes": 524288, "launch": "graph", "iterations": 20, "session": 1,
       "working_set_bytes": 640, "ranks": 2, "ranks_as": "threads", "time_us_min": 4.5, "time_us_p99": 7,
       "wrong": 0)";

std::string measured_json(const std::string& runs, const std::string& more = "") {
  return R"({"lanecast": "0.1.0", "format": 1, "command": "lanecast measure", "machine":
             {"gpus": [{"name": "Example GPU"}, {"name": "Example GPU"}]}, )" +
         more + R"("runs": [)" + runs +
         R"(], "micro": [{"name": "fence", "source": "gpu0", "destination": "host",
             "threads": 512, "blocks": 1, "size_bytes": 0, "GBps": null, "us": 0.5, "repeats": 3}]})";
}

TEST(MeasureJson, StatesWhatRan) {
  const MeasuredData data =
      read_measured(measured_json("{" + kRun + R"(, "size_bytes": 8, "in_place": true, "devices": [0, 1],
                                                  "time_us": 5.5})"),
                    "box.json");
  ASSERT_EQ(data.calls.size(), 1u);
  const MeasuredCall& m = data.calls[0];
  EXPECT_EQ(m.implementation, "lanecast");
  EXPECT_EQ(m.call.algorithm, Algorithm::two_shot);
  EXPECT_EQ(m.call.protocol, Protocol::ll);
  EXPECT_EQ(m.call.transport, Transport::shm);
  EXPECT_EQ(m.staging, "sm");
  EXPECT_EQ(m.call.channels, 3);
  EXPECT_EQ(m.call.threads, 96);
  EXPECT_EQ(m.call.chunk, Bytes(4096));
  EXPECT_EQ(m.call.buffsize, Bytes(524288));
  EXPECT_EQ(m.call.working_set, Bytes(640));
  EXPECT_TRUE(m.call.in_place);
  EXPECT_EQ(m.call.ranks, (std::vector<int>{0, 1}));
  EXPECT_EQ(m.ranks, 2);
  EXPECT_FALSE(m.shared_gpu);
  EXPECT_DOUBLE_EQ(m.time.value(), 5.5e-6);
  EXPECT_DOUBLE_EQ(m.time_min->value(), 4.5e-6);
  EXPECT_DOUBLE_EQ(m.time_p99->value(), 7e-6);
  EXPECT_EQ(m.wrong, 0u);
  EXPECT_EQ(data.gpu_models, (std::vector<std::string>{"Example GPU"}));
  ASSERT_EQ(data.rates.size(), 1u);
  EXPECT_EQ(data.rates[0].us, 0.5);
  EXPECT_FALSE(data.rates[0].GBps);
}

TEST(MeasureJson, TellsRanksThatShareAGpu) {
  const MeasuredData data = read_measured(
      measured_json("{" + kRun + R"(, "size_bytes": 8, "in_place": true, "devices": [0, 0], "time_us": 5})"),
      "b");
  EXPECT_TRUE(data.calls.at(0).shared_gpu);
  EXPECT_TRUE(data.calls.at(0).call.ranks.empty());
}

TEST(MeasureJson, KeepsASweepTogetherWhileTheEngineChoosesBySize) {
  std::string runs;
  for (const auto& [size, place, protocol] :
       std::vector<std::array<std::string, 3>>{{"8", "false", "ll"},
                                               {"8", "true", "ll"},
                                               {"16", "false", "simple"},
                                               {"16", "true", "simple"},
                                               {"8", "false", "ll"},
                                               {"16", "false", "ll"}}) {
    std::string row = kRun;
    row.replace(row.find("\"ll\""), 4, "\"" + protocol + "\"");
    runs += (runs.empty() ? "{" : ", {") + row + ", \"size_bytes\": " + size + ", \"in_place\": " + place +
            ", \"time_us\": 5}";
  }
  const MeasuredData data = read_measured(measured_json(runs), "box.json");
  std::vector<int> sweeps;
  for (const MeasuredCall& call : data.calls) sweeps.push_back(call.sweep);
  EXPECT_EQ(sweeps, (std::vector<int>{0, 0, 0, 0, 1, 1}));
  EXPECT_TRUE(data.calls[1].first_of_sweep);
  EXPECT_FALSE(data.calls[2].first_of_sweep);
}

TEST(MeasureJson, TellsLinesOfWhatIsWrong) {
  const std::string message = refusal([] {
    read_measured(
        "{\"lanecast\": \"0.1.0\", \"format\": 2,\n \"runs\": [\n  {\"size_bytes\": 8, \"time_us\": null},\n"
        "  7,\n  {\"size_bytes\": {}, \"time_us\": 5}\n ]}",
        "box.json");
  });
  for (const char* part :
       {"`format` is 2", "box.json:1:", "a row without a time", "box.json:3:", "a row is a number",
        "box.json:4:", "`size_bytes` holds a mapping", "box.json:5:"}) {
    EXPECT_NE(message.find(part), std::string::npos) << part << "\n" << message;
  }
  EXPECT_NE(refusal([] {
              read_measured("{\"lanecast\": \"1\",\n\"runs\": [\n{\"size_bytes\": nan}]}", "b.json");
            }).find("b.json:3:"),
            std::string::npos);
  EXPECT_NE(
      refusal([] { read_measured("{\"lanecast\": \"1\",\n\"runs\": [", "b.json"); }).find("ends before"),
      std::string::npos);
  EXPECT_NE(refusal([] { read_measured("{\"a\": 1, \"a\": 2}", "b.json"); }).find("stands here twice"),
            std::string::npos);
}

TEST(JsonLines, AreRowsAndMayEndInTheMiddle) {
  const std::string row = "{\"size_bytes\": 8, \"time_us\": 5, \"ranks\": 4}\n";
  const std::string next = "{\"size_bytes\": 16, \"time_us\": 6, \"ranks\": 4}\n";
  const MeasuredData data = read_measured(row + next + "{\"size_bytes\": 32, \"ti", "rows.jsonl");
  ASSERT_EQ(data.calls.size(), 2u);
  EXPECT_EQ(data.calls[1].ranks, 4);
  EXPECT_EQ(data.calls[1].where, "rows.jsonl:2");
  ASSERT_EQ(data.warnings.size(), 1u);
  EXPECT_NE(data.warnings[0].text.find("rows.jsonl:3"), std::string::npos);
  EXPECT_NE(
      refusal([&] { read_measured(row + "{\"size_bytes\n" + next, "rows.jsonl"); }).find("rows.jsonl:2"),
      std::string::npos);
}

TEST(MeasuredDataPage, NamesEachKey) {
  std::ifstream file(kRoot / "docs" / "measured-data.md");
  const std::string page((std::istreambuf_iterator<char>(file)), {});
  for (const auto& keys : {call_keys(), rate_keys()}) {
    for (const std::string& key : keys) {
      const bool there = page.find("`" + key + "`") != std::string::npos;
      EXPECT_TRUE(there || key == "repeats" || key == "spread") << key;  // docs/micro-benchmarks.md
    }
  }
}

TEST(ShippedMeasurements, AreRead) {
  for (const char* name : {"h200x1-4-ranks", "h200x1-8-ranks", "h200x1-copy-engines", "h200x1-two-ranks-host",
                           "h200x1-two-ranks-peer"}) {
    const MeasuredData data =
        read_measured_file(kRoot / "configs" / "measurements" / (std::string(name) + ".json"));
    EXPECT_FALSE(data.calls.empty()) << name;
    EXPECT_EQ(data.gpu_models, (std::vector<std::string>{"NVIDIA H200"})) << name;
    for (const MeasuredCall& call : data.calls) {
      EXPECT_TRUE(call.shared_gpu);
      EXPECT_TRUE(call.call.working_set && call.call.channels);
    }
  }
  EXPECT_EQ(refusal([] {
              read_measured_file(kRoot / "configs/measurements/h200x2-nccl-2.28.9-decisions.json");
            }).find("JSON with the keys"),
            0u);
}

TEST(SharedMeasurements, AreReadRowByRow) {
  if (!std::filesystem::exists(kShared)) GTEST_SKIP() << kShared << " is absent";
  const MeasuredData nccl = read_measured_file(kShared / "h200x2-nvlink" / "nccl-2.28.9.csv");
  EXPECT_EQ(nccl.calls.size(), 2u * 486);  // rows of the file
  EXPECT_TRUE(nccl.warnings.empty());
  std::set<int> sweeps, sessions;
  for (const MeasuredCall& call : nccl.calls) {
    sweeps.insert(call.sweep);
    sessions.insert(call.session);
    EXPECT_TRUE(call.call.working_set);
  }
  EXPECT_EQ(sessions, (std::set<int>{1, 2, 3}));
  EXPECT_EQ(sweeps.size(), 35u);
  EXPECT_EQ(read_measured_file(kShared / "h200x2-nvlink" / "sm-rates.csv").rates.size(), 18u * (8 + 2 * 8));
  EXPECT_EQ(read_measured_file(kShared / "h200x2-nvlink" / "copy-engine.csv").rates.size(), 4u + 4 + 2 * 4);
}

}  // namespace
}  // namespace lanecast
