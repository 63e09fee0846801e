#include <gtest/gtest.h>

#include <algorithm>

#include "configs/dumps/readers.hpp"
#include "tests/configs/dumps/stated.hpp"

namespace lanecast {
namespace {

MachineFacts facts_of(const std::string& text) {
  MachineFacts facts;
  read_nccl_log_facts(text, "run.log", facts);
  return facts;
}

/// One line of NCCL's.
std::string info(const std::string& message, int device = 0) {
  return "box:4101:41" + std::to_string(20 + device) + " [" + std::to_string(device) + "] NCCL INFO " +
         message + "\n";
}

std::string init(int rank, int nvml, const std::string& bus_id, int cuda = -1) {
  return info("ncclCommInitRankConfig comm 0x2 rank " + std::to_string(rank) + " nranks 4 cudaDev " +
                  std::to_string(cuda < 0 ? nvml : cuda) + " nvmlDev " + std::to_string(nvml) + " busId " +
                  bus_id + " commId 0x1 - Init START",
              nvml);
}

using Ring = std::vector<int>;

TEST(NcclLogFacts, BusIdsAreAddresses) {
  const MachineFacts facts =
      facts_of(init(0, 0, "4b000") + init(1, 1, "60") + init(2, 2, "101c0") + init(3, 3, "100000"));
  ASSERT_EQ(facts.devices.size(), 4u);
  EXPECT_EQ(only(facts.devices.at("0000:4b:00.0").gpu_index), 0);
  EXPECT_EQ(only(facts.devices.at("0000:00:06.0").gpu_index), 1);
  EXPECT_EQ(only(facts.devices.at("0000:10:1c.0").gpu_index), 2) << "two digits of device, one of function";
  EXPECT_EQ(only(facts.devices.at("0001:00:00.0").gpu_index), 3) << "what is above the bus is the domain";
  EXPECT_EQ(only(facts.host), "box");
  EXPECT_TRUE(facts_of(init(0, 0, "4b0ff")).devices.empty()) << "no device 0xf, function 0xf";
}

TEST(NcclLogFacts, RingsAreGpusNotRanks) {
  const MachineFacts facts =
      facts_of(init(0, 2, "21000") + init(1, 0, "1000") + init(2, 1, "2000") + info("Channel 00/02 : 0 2 1") +
               info("Channel 01/02 : 0 2 1") + info("2 coll channels, 2 collnet channels, 0 nvls channels"));
  EXPECT_EQ(only(facts.nccl.ring), (Ring{2, 1, 0}));
  EXPECT_EQ(only(facts.nccl.channels), 2);
}

TEST(NcclLogFacts, ProcessesThatSeeOneGpuEachStillNumberThem) {
  const MachineFacts by_nvml = facts_of(init(0, 3, "1000", 0) + init(1, 5, "2000", 0));
  EXPECT_EQ(only(by_nvml.devices.at("0000:02:00.0").gpu_index), 5);
  const MachineFacts none = facts_of(init(0, 0, "1000", 0) + init(1, 0, "2000", 0));
  EXPECT_TRUE(none.devices.at("0000:02:00.0").gpu_index.empty());
  EXPECT_EQ(only(none.devices.at("0000:02:00.0").class_code), 0x030000u) << "still a GPU";
  EXPECT_TRUE(noted(none, "numbers none"));
}

TEST(NcclLogFacts, DecisionsOfTheRun) {
  const MachineFacts facts =
      facts_of(info("NCCL version 2.28.9+cuda13.0") + info("NCCL_P2P_LEVEL set by environment to SYS") +
               info("Check P2P Type isAllDirectP2p 0 directMode 1") +
               info("Channel 00 : 0[0] -> 1[1] via SHM/direct/direct") +
               info("Channel 00/0 : 1[1] -> 0[0] via P2P/CUMEM") + info("cudaDriverVersion 13000"));
  EXPECT_EQ(only(facts.nccl.version), "2.28.9");
  EXPECT_EQ(only(facts.nccl.transport), "mixed");
  EXPECT_EQ(only(facts.nccl.all_peers), false);
  ASSERT_EQ(facts.nccl.environment.count("NCCL_P2P_LEVEL"), 1u);
  EXPECT_EQ(facts.nccl.environment.at("NCCL_P2P_LEVEL").value, "SYS");
  EXPECT_EQ(facts.nccl.environment.at("NCCL_P2P_LEVEL").from, "run.log:2");
  EXPECT_TRUE(facts.driver.empty()) << "cudaDriverVersion is CUDA's";
  EXPECT_EQ(only(facts_of(info("Channel 00/0 : 0[0] -> 1[1] via P2P/IPC")).nccl.transport), "p2p");
  EXPECT_EQ(only(facts_of(info("Check P2P Type intraNodeP2pSupport 1 directMode 0")).nccl.all_peers), true);
}

TEST(NcclLogFacts, NcclTestsNameTheGpus) {
  const std::string head =
      "#  Rank  0 Group  0 Pid   4101 on        box device  0 [0000:42:00] NVIDIA L40S\r\n"
      "#  Rank  1 Group  0 Pid   4101 on        box device  1 [0000:43:00] NVIDIA L40S\r\n"
      "#   Rank  2 Pid   4101 on  other device  0 [0000:99:00] NVIDIA L40S\n";
  const MachineFacts facts = facts_of(head);
  ASSERT_EQ(facts.devices.size(), 2u) << "GPUs of another computer are not this machine's";
  EXPECT_EQ(only(facts.devices.at("0000:43:00.0").gpu_model), "NVIDIA L40S");
  EXPECT_EQ(only(facts.devices.at("0000:43:00.0").gpu_index), 1);
  EXPECT_EQ(only(facts.devices.at("0000:43:00.0").sm), 89);
}

TEST(NcclLogFacts, OlderNcclTestsPrintTheBusAlone) {
  const auto rank = [](int number, const std::string& bus) {
    return "#   Rank  " + std::to_string(number) + " Pid   77 on  box device  " + std::to_string(number) +
           " [" + bus + "] Tesla V100-PCIE-16GB\n";
  };
  const MachineFacts alone = facts_of(rank(0, "0x1a") + rank(1, "0x3d"));
  EXPECT_EQ(only(alone.devices.at("0000:1a:00.0").gpu_model), "Tesla V100-PCIE-16GB");
  const MachineFacts placed = facts_of(rank(0, "0x1a") + init(0, 0, "101a000"));
  EXPECT_EQ(placed.devices.size(), 2u) << "another domain is another bus";
  const MachineFacts same_bus = facts_of(rank(0, "0x1a") + init(0, 0, "1a030"));
  EXPECT_EQ(same_bus.devices.size(), 1u);
  EXPECT_EQ(only(same_bus.devices.at("0000:1a:03.0").gpu_model), "Tesla V100-PCIE-16GB");
  const MachineFacts guest = facts_of(rank(0, "0x00") + rank(1, "0x00"));
  EXPECT_TRUE(guest.devices.empty()) << "bus 0 of a guest holds all";
  EXPECT_EQ(only(guest.numbered_gpus.at(1)), "Tesla V100-PCIE-16GB");
}

TEST(NcclLogFacts, OfSeveralComputersTheFirstIsTheMachine) {
  const std::string other =
      "node9:1:2 [0] NCCL INFO ncclCommInitRank comm 0x2 rank 1 nranks 2 cudaDev 0 busId 7000 - Init START\n";
  const MachineFacts facts = facts_of(init(0, 0, "4b000") + other);
  EXPECT_EQ(facts.devices.size(), 1u);
  EXPECT_TRUE(noted(facts, "lines of 1 other computers are left out; the machine is `box`"));
  EXPECT_EQ(only(facts_of("[1,0]<stdout>:" + init(0, 0, "4b000")).host), "box")
      << "launchers put more before it";
}

TEST(NcclLogFacts, AnyBytesAreTaken) {
  EXPECT_EQ(read_nccl_log_facts("", "x", *std::make_unique<MachineFacts>()), 0);
  EXPECT_EQ(facts_of(std::string("\0\xff\x1f\x8b# Rank device [ ] [x]\n", 24)).devices.size(), 0u);
  const MachineFacts facts =
      facts_of(std::string(3, '\0') + init(0, 0, "4b000") + info("NCCL version 2.18.3+cuda12.2"));
  EXPECT_EQ(facts.devices.size(), 1u);
  EXPECT_EQ(only(facts.nccl.version), "2.18.3");
}

TEST(RealNcclLogFacts, TwoH200) {
  const auto text = shared_dump("measurements/h200x2-nvlink/nccl-tests-debug-info.log");
  if (!text) GTEST_SKIP() << "no shared dumps";
  const MachineFacts facts = facts_of(*text);
  ASSERT_EQ(facts.devices.size(), 2u);
  const PciFacts& gpu = facts.devices.at("0000:00:07.0");
  EXPECT_EQ(only(gpu.gpu_index), 1);
  EXPECT_EQ(only(gpu.gpu_model), "NVIDIA H200");
  EXPECT_EQ(only(facts.nccl.ring), (Ring{0, 1}));
  EXPECT_EQ(only(facts.nccl.channels), 24);
  EXPECT_EQ(only(facts.nccl.transport), "p2p");
  EXPECT_EQ(only(facts.nccl.all_peers), true);
  EXPECT_EQ(only(facts.nccl.version), "2.28.9");
  EXPECT_TRUE(facts.notes.empty());
  const auto off = shared_dump("measurements/h200x2-nvlink/nccl-tests-p2p-disabled-debug-info.log");
  ASSERT_TRUE(off);
  const MachineFacts shm = facts_of(*off);
  EXPECT_EQ(only(shm.nccl.transport), "shm");
  EXPECT_EQ(only(shm.nccl.all_peers), false);
  EXPECT_EQ(shm.nccl.environment.at("NCCL_P2P_DISABLE").value, "1");
}

TEST(RealNcclLogFacts, TwoRtx5090WithoutPeerAccess) {
  const auto text = shared_dump("cases/raw/nccl-info-2x5090-genoa.txt");
  if (!text) GTEST_SKIP() << "no shared dumps";
  const MachineFacts facts = facts_of(*text);
  ASSERT_EQ(facts.devices.size(), 2u) << "[0x21] and busId 21000 are one GPU";
  EXPECT_EQ(only(facts.devices.at("0000:61:00.0").gpu_model), "NVIDIA GeForce RTX 5090");
  EXPECT_EQ(only(facts.devices.at("0000:61:00.0").gpu_index), 1);
  EXPECT_EQ(only(facts.nccl.all_peers), false);
  EXPECT_EQ(only(facts.nccl.transport), "shm");
  EXPECT_EQ(only(facts.nccl.version), "2.25.1");
}

TEST(RealNcclLogFacts, HeadersOfNcclTests) {
  struct Run {
    const char* name;
    int gpus;
    const char* model;
  };
  const std::vector<Run> runs{
      {"cases/raw/from-fetch/allreduce-l40s-2gpu-ring.txt", 2, "NVIDIA L40S"},
      {"cases/raw/allreduce-2x2080ti-nccl24-oldformat.txt", 2, "GeForce RTX 2080 Ti"},
      {"cases/raw/from-fetch/allreduce-4090x2-sameswitch-shm-docker.txt", 2, "NVIDIA GeForce RTX 4090"},
      {"cases/raw/allreduce-8x4090-p2poff.txt", 8, "NVIDIA GeForce RTX 4090"}};
  for (const Run& run : runs) {
    const auto text = shared_dump(run.name);
    if (!text) GTEST_SKIP() << "no shared dumps";
    const MachineFacts facts = facts_of(*text);
    EXPECT_EQ(static_cast<int>(facts.devices.size()), run.gpus) << run.name;
    for (const auto& [address, device] : facts.devices)
      EXPECT_EQ(only(device.gpu_model), run.model) << run.name;
  }
}

}  // namespace
}  // namespace lanecast
