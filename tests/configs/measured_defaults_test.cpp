// What a command line adds to measured data, and several files as one (docs/measured-data.md).
#include <gtest/gtest.h>

#include <string>

#include "configs/measured/read_measured.hpp"
#include "model/measured/measured_settings.hpp"
#include "tests/configs/refusal.hpp"

namespace lanecast {
namespace {

MeasuredData rows(const std::string& head, const std::string& values) {
  return read_measured("size_bytes,time_us," + head + "\n8,5," + values + "\n16,5," + values + "\n",
                       "box.csv");
}

TEST(MeasuredDefaults, FillInWhatTheDataLeaveOpen) {
  MeasuredData data = rows("protocol,channels,session", "auto,,");
  MeasuredDefaults flags;
  flags.collective = Collective::all_gather;
  flags.datatype = Datatype::float16;
  flags.algorithm = Algorithm::ring;
  flags.protocol = Protocol::ll;
  flags.transport = Transport::shm;
  flags.channels = 4;
  flags.threads = 128;
  flags.buffsize = Bytes(65536);
  flags.launch = Launch::stream;
  flags.iterations = 7;
  flags.registration = Registration::off;
  flags.implementation = "nccl-2.28";
  flags.ranks = 8;
  flags.session = 3;
  apply(flags, data);
  for (const MeasuredCall& m : data.calls) {
    EXPECT_EQ(m.call.collective, Collective::all_gather);
    EXPECT_EQ(m.call.datatype, Datatype::float16);
    EXPECT_EQ(m.call.algorithm, Algorithm::ring);
    EXPECT_EQ(m.call.protocol, Protocol::ll);
    EXPECT_EQ(m.call.transport, Transport::shm);
    EXPECT_EQ(set_channels(m), 4);
    EXPECT_EQ(set_threads(m), 128);
    EXPECT_EQ(set_buffsize(m), Bytes(65536));
    EXPECT_EQ(m.environment.at("NCCL_LL_BUFFSIZE"), "65536");  // LL has a variable of its own
    EXPECT_EQ(m.call.channels, std::nullopt);
    EXPECT_EQ(m.call.launch, Launch::stream);
    EXPECT_EQ(m.call.iterations, 7);
    EXPECT_EQ(m.call.registration, Registration::off);
    EXPECT_EQ(m.implementation, "nccl-2.28");
    EXPECT_EQ(m.ranks, 8);
    EXPECT_EQ(m.session, 3);
  }
}

TEST(MeasuredDefaults, ThatContradictTheDataAreRefusedAllInOneGo) {
  MeasuredData data = rows("protocol,channels,launch,ranks", "simple,2,graph,4");
  MeasuredDefaults flags;
  flags.protocol = Protocol::ll;
  flags.channels = 16;
  flags.launch = Launch::graph;  // agrees
  flags.ranks = 8;
  const std::string message = refusal([&] { apply(flags, data); });
  for (const char* part :
       {"`--protocol ll` contradicts the data: box.csv:2 says simple, and so do 1 more rows", "at --protocol",
        "`--channels 16` contradicts the data: box.csv:2 says 2",
        "`--ranks 8` contradicts the data: box.csv:2 says 4"}) {
    EXPECT_NE(message.find(part), std::string::npos) << part << "\n" << message;
  }
  EXPECT_EQ(message.find("--launch"), std::string::npos) << message;
}

TEST(MeasuredDefaults, NameTheReleaseOfAnNcclThatTheDataDoNotDate) {
  MeasuredData data = rows("implementation", "nccl");
  MeasuredDefaults flags;
  flags.implementation = "nccl-2.28";
  apply(flags, data);
  EXPECT_EQ(data.calls.at(0).implementation, "nccl-2.28");
  flags.implementation = "nccl";
  EXPECT_NO_THROW(apply(flags, data));
  EXPECT_EQ(data.calls.at(0).implementation, "nccl-2.28");
  flags.implementation = "lanecast";
  EXPECT_NE(refusal([&] { apply(flags, data); }), "");
}

TEST(MeasuredDefaults, MakeAnEnginesSettingsExact) {
  MeasuredData data = rows("channels,threads,buffsize", "2,96,262144");
  MeasuredDefaults flags;
  flags.implementation = "lanecast";
  apply(flags, data);
  EXPECT_EQ(data.calls.at(0).call.channels, 2);
  EXPECT_EQ(data.calls.at(0).call.threads, 96);
  EXPECT_EQ(data.calls.at(0).call.buffsize, Bytes(262144));
  EXPECT_TRUE(data.calls.at(0).environment.empty());
}

TEST(MergedMeasurements, KeepSweepsAndSessionsOfTheirFilesApart) {
  const MeasuredData one = rows("session", "1");
  MeasuredData two = rows("session", "1");
  const MeasuredData all = merge_measured({one, two, one});
  ASSERT_EQ(all.calls.size(), 6u);
  EXPECT_EQ(all.calls[0].session, 1);
  EXPECT_NE(all.calls[2].session, all.calls[0].session);
  EXPECT_NE(all.calls[4].session, all.calls[2].session);
  EXPECT_EQ(all.calls[2].session, all.calls[3].session);
  EXPECT_NE(all.calls[2].sweep, all.calls[0].sweep);
  EXPECT_NE(all.calls[4].sweep, all.calls[2].sweep);
  EXPECT_EQ(all.calls[4].sweep, all.calls[5].sweep);
}

}  // namespace
}  // namespace lanecast
