#include <utility>

#include "tests/cases/all_reduce_comparison.hpp"

namespace lanecast::cases {
namespace {

/// As nccl-tests runs without -G: launched in a stream.
Call stream_call() {
  Call call;
  call.launch = Launch::stream;
  call.algorithm = Algorithm::ring;
  return call;
}

Call forced(std::optional<Transport> transport, std::optional<Protocol> protocol = {},
            std::optional<int> channels = {}) {
  Call call = stream_call();
  call.transport = transport;
  call.protocol = protocol;
  call.channels = channels;
  return call;
}

void add_rtxpro6000(std::vector<AllReduceCase>& all) {
  Call four = forced(Transport::p2p);
  four.ranks = {0, 1, 2, 3};
  all.push_back({"esc8000a-e13p-rtxpro6000-nccl-4gpu",
                 "NCCL_P2P_LEVEL=SYS",
                 "nccl_tests",
                 "env=NCCL_P2P_LEVEL=SYS",
                 "esc8000a-e13p-pex890xx-rtxpro6000-p2p",
                 {},
                 "nccl",
                 four,
                 "channels, NCCL version"});
  for (const char* run : {"latency sweep", "bandwidth sweep"}) {
    all.push_back({"wrx90-2switch-root-group-a-nccl",
                   run,
                   "",
                   std::string("run=") + run,
                   "rtxpro6000x8-2switch",
                   {},
                   "nccl-2.27",
                   forced(Transport::p2p),
                   "channels, datatype"});
  }
  const auto turin = [&](const std::string& variant, const std::string& entries, const Call& call,
                         const std::string& not_stated) {
    all.push_back({"rtxpro6000-8gpu-nccl-channels",
                   variant,
                   "",
                   entries,
                   "dual-turin-direct-8xrtxpro6000",
                   {},
                   "nccl-2.28",
                   call,
                   not_stated});
  };
  // NCCL's search fell back to 0.1 GB/s there (facts.md A10): at most 12 GB/s, so 256 threads (A5.2).
  const auto narrow = [] {
    Call call = forced(Transport::p2p, Protocol::simple, 2);
    call.threads = 256;
    return call;
  };
  turin("dual Turin, 2 channels", "host=dual Turin, direct attach;env=default, 2 channels", narrow(),
        "transport: P2P as the page's other runs");
  turin("dual Turin, Simple, 2 channels", "host=dual Turin 8 GPUs, no graph XML (Simple, 2 channels)",
        narrow(), "transport: P2P as the page's other runs");
  turin("dual Turin, LL, 4 channels", "host=dual Turin 8 GPUs, graph XML (LL, 4 channels)",
        forced(Transport::p2p, Protocol::ll, 4), "transport: P2P as the page's other runs");
}

void add_l40s(std::vector<AllReduceCase>& all) {
  const auto add = [&](const std::string& id, const Call& call) {
    all.push_back({id,
                   "",
                   "",
                   "",
                   "l40sx2",
                   {},
                   "nccl-2.29",
                   call,
                   "transport (NODE: SHM by NCCL's default), channels"});
  };
  add("l40s-2gpu-node-ll", forced({}, Protocol::ll));
  add("l40s-2gpu-node-ll128", forced({}, Protocol::ll128));
  add("l40s-2gpu-node-simple", forced({}, Protocol::simple));
  add("l40s-2gpu-node-auto-1", forced({}));
  add("l40s-2gpu-node-ring", forced({}));
}

void add_others(std::vector<AllReduceCase>& all) {
  all.push_back({"8x4090-dualsocket-p2poff-nccl",
                 "",
                 "",
                 "",
                 "rtx4090x8-2socket-nop2p",
                 {"links.xgmi0.rate=20 GB/s"},
                 "nccl",
                 forced(Transport::shm),
                 "layout (inferred), channels, NCCL version"});
  all.push_back({"v100pcie-2x-shm-nccl",
                 "",
                 "",
                 "",
                 "v100x2-pcie3-sockets-nop2p",
                 {},
                 "nccl-2.21",
                 forced(Transport::shm),
                 "CPUs, sockets, channels"});
  all.push_back({"4090x2-sameswitch-shm-docker",
                 "",
                 "",
                 "",
                 "rtx4090x2-sameswitch",
                 {},
                 "nccl",
                 forced(Transport::shm),
                 "layout (inferred), link widths, channels"});
  all.push_back({"2x2080ti-nccl24-nccl",
                 "",
                 "",
                 "",
                 "rtx2080tix2-switch",
                 {},
                 "nccl-2.18",
                 forced(Transport::shm),
                 "layout, link widths, channels; NCCL 2.4 is older than any known"});
}

}  // namespace

const std::vector<AllReduceCase>& all_reduce_cases() {
  static const std::vector<AllReduceCase> table = [] {
    std::vector<AllReduceCase> all;
    add_rtxpro6000(all);
    add_l40s(all);
    add_others(all);
    return all;
  }();
  return table;
}

const std::vector<AllReduceLeftOut>& all_reduce_left_out() {
  static const std::vector<AllReduceLeftOut> table{
      {"esc8000a-e13p-rtxpro6000-nccl-4gpu, default",
       "host memory between the virtual switches of one chip: the machine file draws them as one switch"},
      {"esc8000a-e13p-rtxpro6000-nccl-4gpu, p2pmark and server",
       "library, transport and protocol are not stated"},
      {"rtxpro6000-8gpu-nccl-channels, sweeps 8M-2G", "only the mean of a sweep is published"},
      {"rtxpro6000-8gpu-nccl-channels, other hosts", "the wiring of the hosts is not stated"},
      {"l40s-2gpu-node-tree", "the tree algorithm is not predicted yet"},
      {"4090x2-crosssocket-shm-k8s", "no machine: sockets and link widths are only inferred"},
      {"a40-2gpu-node-p2poff-nccl",
       "no machine: CPU not stated, and host memory unexplainedly slow (3.9 GB/s)"},
      {"dgx-a100-4gpu-nvswitch-nccl", "no machine yet: NVSwitch, not PCIe"},
      {"h100pcie-nvlink-pair-nccl", "no machine yet: NVLink bridges, not PCIe"},
      {"gcp-a3mega-2node-16xh100", "two nodes: clusters are not predicted yet"},
      {"mi300x-8x-xgmi-rccl", "Infinity Fabric mesh and RCCL"},
  };
  return table;
}

}  // namespace lanecast::cases
