#include "tests/cases/family_table.hpp"

#include <utility>

namespace lanecast::cases {
namespace {

bool names(const std::string& text, const char* word) { return text.find(word) != std::string::npos; }

const std::vector<std::string> kTwoL40s{"l40s-2gpu-node-ll",     "l40s-2gpu-node-ll128",
                                        "l40s-2gpu-node-simple", "l40s-2gpu-node-auto-1",
                                        "l40s-2gpu-node-ring",   "l40s-2gpu-node-tree"};
const std::vector<std::string> kTwo4090{"4090x2-sameswitch-shm-docker", "4090x2-crosssocket-shm-k8s"};
const std::vector<std::string> kEight4090Copies{"8x4090-dualsocket-p2poff-p2p",
                                                "8x4090-dualsocket-p2pon-p2p"};

std::vector<NcclSetting> peer_everywhere() { return {{"NCCL_P2P_LEVEL", "SYS", "assumed"}}; }

}  // namespace

const std::vector<GpuFamily>& gpu_families() {
  static const std::vector<GpuFamily> table{
      {"v100", "V100", {"V100-PCIE"}, {"v100pcie-2x-shm-nccl"}, {}, "through host memory only"},
      {"a100-pcie", "A100 PCIe", {"A100-PCIE"}, {"a100pcie-4x-sys-p2p"}, {}, "copies only, on Gen3 slots"},
      {"rtx2080ti",
       "RTX 2080 Ti",
       {"RTX 2080 Ti"},
       {"2x2080ti-nccl24-nccl", "autodl-2x2080ti-pix-p2p"},
       {},
       "without peer access"},
      {"rtx3090",
       "RTX 3090",
       {"RTX 3090"},
       {"wrx80-2x3090-nop2p", "3x3090-chipset-slot-p2p"},
       {},
       "copies only"},
      {"rtx4090",
       "RTX 4090",
       {"RTX 4090"},
       {"8x4090-dualsocket-p2poff-nccl", "8x4090-dualsocket-p2poff-p2p", "8x4090-dualsocket-p2pon-p2p",
        "wrx80-2x4090-p2p-driver525-60", "tinybox-6x4090-p2p"},
       {},
       "all-reduce through host memory only"},
      {"rtx5090", "RTX 5090", {"RTX 5090"}, {"rtx5090-9x-p2p", "2x5090-genoa-nop2p"}, {}, "copies only"},
      {"l40s",
       "L40S",
       {"L40S"},
       kTwoL40s,
       {},
       "one host, whose transport is not stated and taken as host memory"},
      {"rtxpro6000",
       "RTX PRO 6000",
       {"RTX PRO 6000 Blackwell Server Edition", "RTX PRO 6000 Blackwell Workstation Edition",
        "RTX PRO 6000 Blackwell Max-Q Workstation Edition", "RTX PRO 6000 Blackwell"},
       {"wrx90-2switch-root-group-a-nccl", "wrx90-3switch-rtxpro6000-p2p",
        "wrx90-2switch-flat-rtxpro6000-p2p", "esc8000a-e13p-pex890xx-rtxpro6000-p2p",
        "wrx90-2switch-root-groups-p2p-and-host", "wrx90-2vs-per-chip-rtxpro6000-multiflow",
        "dual-turin-direct-4xpro6000-2x5090-p2p"},
       {{"esc8000a-e13p-rtxpro6000-nccl-4gpu",
         "one row for each setting: any of a dozen parameters explains it, and NCCL's release is not stated"},
        {"rtxpro6000-8gpu-nccl-channels", "transport, wiring and NCCL's release are not stated"}},
       "all-reduce of one machine"},
  };
  return table;
}

const std::vector<UnexplainedCase>& unexplained_cases() {
  static const std::vector<UnexplainedCase> table{
      {"4090x2-sameswitch-shm-docker",
       "half as fast as two Gen3 x16 slots allow; in containers, slots and memory of the host unknown"},
      {"4090x2-crosssocket-shm-k8s",
       "the same host, also half as fast: not the shared uplink; slots and memory of the host unknown"},
      {"a40-2gpu-node-p2poff-nccl",
       "4 GB/s at 1 GiB and falling with size to 2 GB/s: slow host memory, which its own source asks about"},
      {"h100pcie-nvlink-pair-nccl",
       "115 GB/s, half of what three bridges (12 NVLinks) carry: how many are fitted is not stated"},
  };
  return table;
}

StatedFacts stated_facts(const AllReduceCase& entry) {
  StatedFacts facts;
  facts.transport = !names(entry.not_stated, "transport");
  facts.widths = !names(entry.not_stated, "widths") && !names(entry.not_stated, "number of NVLinks");
  facts.channels = !names(entry.not_stated, "channels");
  return facts;
}

const std::vector<TransferTarget>& transfer_targets() {
  static const std::vector<TransferTarget> table{
      {"2 x L40S", kTwoL40s, "4 x L40S", "l40sx4", {}, "nccl-2.29", {}},
      {"2 x RTX 4090 in containers",
       kTwo4090,
       "4 x RTX 4090 of that host",
       "rtx4090x4-2switch",
       {},
       "nccl-2.19",
       {}},
      {"8 x RTX 4090 copies",
       kEight4090Copies,
       "4 x RTX 4090, the same machine",
       "rtx4090x4-2switch",
       {},
       "nccl-2.19",
       {}},
      {"4 x A100 PCIe copies",
       {"a100pcie-4x-sys-p2p"},
       "4 x A100 PCIe",
       "a100pcie-4x-sys-p2p",
       {},
       "nccl",
       {}},
      {"4 x A100 PCIe copies",
       {"a100pcie-4x-sys-p2p"},
       "4 x A100 PCIe, NCCL_P2P_LEVEL=SYS, its sockets joined at 8 GB/s each way as its copies show",
       "a100pcie-4x-sys-p2p",
       {"links.upi0.rate=8.9 GB/s"},
       "nccl",
       peer_everywhere()},
      {"9 x RTX 5090 copies", {"rtx5090-9x-p2p"}, "9 x RTX 5090", "rtx5090-9x-p2p", {}, "nccl", {}},
      {"9 x RTX 5090 copies",
       {"rtx5090-9x-p2p"},
       "9 x RTX 5090, NCCL_P2P_LEVEL=SYS",
       "rtx5090-9x-p2p",
       {},
       "nccl",
       peer_everywhere()},
      {"8 x RTX 4090 copies",
       kEight4090Copies,
       "8 x RTX 4090, P2P off",
       "rtx4090x8-2socket-nop2p",
       {},
       "nccl",
       {}},
      {"8 x RTX 4090 copies",
       kEight4090Copies,
       "8 x RTX 4090, P2P on",
       "rtx4090x8-2socket-p2p",
       {},
       "nccl",
       {}},
  };
  return table;
}

}  // namespace lanecast::cases
