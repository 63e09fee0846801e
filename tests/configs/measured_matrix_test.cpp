// Tables of nvbandwidth and p2pBandwidthLatencyTest as measured data (docs/measured-data.md).
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "configs/measured/read_measured.hpp"
#include "tests/configs/refusal.hpp"

namespace lanecast {
namespace {

const std::filesystem::path kFixtures =
    std::filesystem::path(LANECAST_TEST_SOURCE_ROOT) / "tests" / "fixtures" / "measured";
using Row = std::vector<std::optional<double>>;

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

const MeasuredMatrix& named(const MeasuredData& data, const std::string& name) {
  for (const MeasuredMatrix& matrix : data.matrices) {
    if (matrix.name == name) return matrix;
  }
  throw std::out_of_range(name);
}

TEST(NvbandwidthText, TurnsTablesSoThatRowsAreSources) {
  const MeasuredData data = read_measured_file(kFixtures / "nvbandwidth.txt");
  const MeasuredMatrix& read = named(data, "device_to_device_memcpy_read_ce");  // GPU(row) -> GPU(column)
  EXPECT_EQ(read.kind, "p2p");
  EXPECT_EQ(read.engine, "ce");
  EXPECT_EQ(read.unit, "GB/s");
  EXPECT_EQ(read.rows.at(0), (Row{std::nullopt, 23.01, 12.02}));
  const MeasuredMatrix& write = named(data, "device_to_device_memcpy_write_ce");  // GPU(row) <- GPU(column)
  EXPECT_EQ(write.rows.at(0), (Row{std::nullopt, 24.10, 13.20}));
  EXPECT_EQ(named(data, "host_to_device_memcpy_ce").rows, (std::vector<Row>{{25.10, 25.20, 24.90}}));
  EXPECT_EQ(named(data, "host_to_device_memcpy_ce").kind, "h2d");
  EXPECT_EQ(named(data, "device_to_host_memcpy_ce").kind, "d2h");
}

TEST(NvbandwidthText, TakesTheTotalOfBothDirectionsAndHalfOfARoundTrip) {
  const MeasuredData data = read_measured_file(kFixtures / "nvbandwidth.txt");
  EXPECT_EQ(data.matrices.size(), 6u);
  const MeasuredMatrix& both = named(data, "device_to_device_bidirectional_memcpy_write_ce");
  EXPECT_EQ(both.kind, "bidir");
  EXPECT_EQ(both.rows.at(0), (Row{std::nullopt, 40.02, 22.04}));
  const MeasuredMatrix& latency = named(data, "device_to_device_latency_sm");
  EXPECT_EQ(latency.unit, "us");
  EXPECT_DOUBLE_EQ(latency.rows.at(0).at(1).value(), 0.7);
}

TEST(NvbandwidthText, GivesHostCopiesInDuplexAsRates) {
  const MeasuredData data = read_measured_file(kFixtures / "nvbandwidth.txt");
  ASSERT_EQ(data.rates.size(), 3u);
  EXPECT_EQ(data.rates[1].name, "ce_duplex");
  EXPECT_EQ(data.rates[1].source, "host");
  EXPECT_EQ(data.rates[1].destination, "gpu1");
  EXPECT_EQ(data.rates[1].GBps, 21.20);
}

TEST(NvbandwidthText, NamesWhatWasWaived) {
  const MeasuredData data = read_measured_file(kFixtures / "nvbandwidth.txt");
  EXPECT_TRUE(has(data.warnings.at(0).text, "`multinode_device_to_device_memcpy_read_ce` printed no table"));
}

TEST(NvbandwidthText, OfAnOldReleaseHasNoLatencies) {
  const std::string table =
      "Running device_to_device_latency_sm.\nDevice to Device Latency SM GPU(row) <-> GPU(column) (ns)\n"
      "           0         1\n 0       N/A    900.00\n 1    900.00       N/A\n\n";
  EXPECT_TRUE(has(refusal([&] { read_measured("nvbandwidth Version: v0.7\n" + table, "nvb.txt"); }),
                  "latencies between GPUs are wrong before nvbandwidth 0.8"));
  EXPECT_EQ(read_measured("nvbandwidth Version: v0.8\n" + table, "nvb.txt").matrices.size(), 1u);
}

TEST(NvbandwidthText, ThatIsCutOffOrGarbledIsRefusedWithItsLine) {
  const std::string head =
      "Running device_to_device_memcpy_read_ce.\nmemcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)\n"
      "           0         1\n";
  EXPECT_TRUE(
      has(refusal([&] { read_measured(head + " 0       N/A     23.01\n", "nvb.txt"); }), "nvb.txt:2"));
  EXPECT_TRUE(
      has(refusal([&] { read_measured(head + " 0 N/A 23.01\n 1 nan N/A\n", "nvb.txt"); }), "nvb.txt:5"));
  EXPECT_TRUE(has(refusal([&] { read_measured(head + " 0 N/A\n 1 N/A 3\n", "nvb.txt"); }), "not complete"));
}

TEST(NvbandwidthJson, SaysTheSameAsTheText) {
  const MeasuredData json = read_measured_file(kFixtures / "nvbandwidth.json");
  const MeasuredData text = read_measured_file(kFixtures / "nvbandwidth.txt");
  ASSERT_EQ(json.matrices.size(), 5u);
  for (const MeasuredMatrix& matrix : json.matrices) {
    const MeasuredMatrix& other = named(text, matrix.name);
    EXPECT_EQ(matrix.rows, other.rows) << matrix.name;
    EXPECT_EQ(matrix.kind, other.kind) << matrix.name;
  }
  EXPECT_EQ(json.rates.size(), 3u);
  EXPECT_EQ(json.gpu_models, (std::vector<std::string>{"Example GPU"}));
  EXPECT_TRUE(has(json.warnings.at(0).text, "Waived"));
}

TEST(P2pLatencyText, HasATableForEachSectionWithoutItsDiagonal) {
  const MeasuredData data = read_measured_file(kFixtures / "p2p-bandwidth-latency.txt");
  ASSERT_EQ(data.matrices.size(), 6u);
  const std::vector<std::pair<std::string, bool>> expected{{"p2p", false},     {"p2p", true},
                                                           {"bidir", false},   {"bidir", true},
                                                           {"latency", false}, {"latency", true}};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(data.matrices[i].kind, expected[i].first) << i;
    EXPECT_EQ(data.matrices[i].peer_access, expected[i].second) << i;
  }
  EXPECT_EQ(data.matrices[1].rows.at(1), (Row{24.10, std::nullopt, 19.12}));
  EXPECT_EQ(data.matrices[5].rows.at(0), (Row{std::nullopt, 1.1, 1.2}));  // of the GPU, not of the CPU
  EXPECT_EQ(data.matrices[5].unit, "us");
  EXPECT_EQ(data.gpu_models, (std::vector<std::string>{"Example GPU"}));
}

const std::string kAccess =
    "P2P Connectivity Matrix\n     D\\D     0     1\n     0\t     1     0\n     1\t     0     1\n";
const std::string kEnabled =
    "Unidirectional P2P=Enabled Bandwidth (P2P Writes) Matrix (GB/s)\n   D\\D     0      1 \n";

TEST(P2pLatencyText, WithoutPeerAccessIsStagedWhateverItsTitleSays) {
  const MeasuredData data =
      read_measured(kAccess + kEnabled + "     0 800.00  11.00 \n     1  11.10 800.00 \n", "p.txt");
  EXPECT_FALSE(data.matrices.at(0).peer_access);
  EXPECT_TRUE(has(data.warnings.at(0).text, "no pair has peer access"));
}

TEST(P2pLatencyText, ThatIsCutOffIsRefusedWithItsLine) {
  EXPECT_TRUE(has(refusal([] { read_measured(kEnabled + "     0 800.00  11.00 \n", "p.txt"); }), "p.txt:2"));
  EXPECT_TRUE(
      has(refusal([] { read_measured("P2P=Disabled Latency Matrix (us)\n", "p.txt"); }), "no table below"));
}

TEST(MeasuredFiles, OfTwoFormatsOrNoneAreRefused) {
  const std::string nvb = "Running device_to_device_memcpy_read_ce.\n";
  const std::string message = refusal([&] { read_measured(kEnabled + nvb, "both.txt"); });
  EXPECT_TRUE(has(message, "p2pBandwidthLatencyTest and of nvbandwidth (line 3)")) << message;
  EXPECT_TRUE(has(refusal([] { read_measured("", "none.txt"); }), "is empty"));
  EXPECT_TRUE(has(refusal([] { read_measured(" \n\n", "none.txt"); }), "is empty"));
  EXPECT_TRUE(
      has(refusal([] { read_measured("hello\nworld\n", "none.txt"); }), "no measurement is recognised"));
  EXPECT_TRUE(has(refusal([] { read_measured(std::string("a\0b", 3), "none.bin"); }), "zero byte"));
  EXPECT_TRUE(has(refusal([] { read_measured("\x1f\x8b\x08", "none.gz"); }), "unpack it first"));
  EXPECT_TRUE(has(refusal([] { read_measured("{\"lanecast\": \"1\", \"results\": []}", "p.json"); }),
                  "a prediction"));
}

}  // namespace
}  // namespace lanecast
