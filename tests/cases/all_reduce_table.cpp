#include "tests/cases/all_reduce_table.hpp"

#include <utility>

#include "model/error.hpp"

namespace lanecast::cases {
namespace {

constexpr const char* kStated = "stated";
constexpr const char* kAssumed = "assumed";
constexpr const char* kNewest = "not stated: the newest known";

StatedChoice transport(const char* name) {
  StatedChoice choice;
  choice.transport = name;
  return choice;
}

StatedChoice channels(int count) {
  StatedChoice choice;
  choice.channels = count;
  return choice;
}

StatedChoice protocol(const char* name, Bytes up_to = StatedChoice().up_to) {
  StatedChoice choice;
  choice.protocol = name;
  choice.up_to = up_to;
  return choice;
}

/// A case with a single list of rows.
AllReduceCase plain_case(const char* id, const char* machine, const char* implementation,
                         const char* not_stated) {
  AllReduceCase entry;
  entry.case_id = id;
  entry.machine = machine;
  entry.implementation = implementation;
  entry.call = stream_call();
  entry.not_stated = not_stated;
  return entry;
}

void add_esc8000a(std::vector<AllReduceCase>& all) {
  AllReduceCase entry = plain_case("esc8000a-e13p-rtxpro6000-nccl-4gpu", "esc8000a-e13p-2vs-rtxpro6000",
                                   "nccl", "protocol, channels, NCCL's release");
  entry.variant = "default";
  entry.list = "nccl_tests";
  entry.entries = "env=default (SHM for NODE pairs)";
  entry.release_note = kNewest;
  entry.stated = {transport("mixed")};
  all.push_back(entry);

  entry.variant = "NCCL_P2P_LEVEL=SYS";
  entry.entries = "env=NCCL_P2P_LEVEL=SYS";
  entry.machine = "esc8000a-e13p-pex890xx-rtxpro6000-p2p";
  entry.environment = {{"NCCL_P2P_LEVEL", "SYS", kStated}};
  entry.call.ranks = {0, 1, 2, 3};
  entry.stated = {transport("p2p")};
  all.push_back(entry);
}

void add_wrx90(std::vector<AllReduceCase>& all) {
  AllReduceCase entry = plain_case("wrx90-2switch-root-group-a-nccl", "rtxpro6000x8-2switch", "nccl-2.27",
                                   "protocol, channels, datatype");
  entry.environment = {{"NCCL_ALGO", "Ring", kStated}, {"NCCL_P2P_LEVEL", "SYS", kStated}};
  entry.stated = {transport("p2p")};
  for (const char* run : {"latency sweep", "bandwidth sweep"}) {
    entry.variant = run;
    entry.entries = std::string("run=") + run;
    all.push_back(entry);
  }
}

void add_dual_turin(std::vector<AllReduceCase>& all) {
  AllReduceCase entry = plain_case("rtxpro6000-8gpu-nccl-channels", "dual-turin-direct-8xrtxpro6000",
                                   "nccl-2.28", "transport (P2P as the page's other runs), protocol");
  entry.release_note = "2.28.3 by the page's tuning notes";
  entry.environment = {{"NCCL_P2P_LEVEL", "SYS", kAssumed}};
  entry.variant = "dual Turin, 2 channels";
  entry.entries = "host=dual Turin, direct attach;env=default, 2 channels";
  entry.stated = {channels(2)};
  all.push_back(entry);

  entry.variant = "dual Turin, Simple, 2 channels";
  entry.entries = "host=dual Turin 8 GPUs, no graph XML (Simple, 2 channels)";
  entry.stated.front().protocol = "simple";
  entry.not_stated = "transport (P2P as the page's other runs)";
  all.push_back(entry);

  entry.variant = "dual Turin, LL, 4 channels";
  entry.entries = "host=dual Turin 8 GPUs, graph XML (LL, 4 channels)";
  entry.call.protocol = Protocol::ll;
  entry.call.channels = 4;
  entry.stated = {channels(4)};
  entry.stated.front().protocol = "ll";
  entry.not_reckoned = "the graph file that NCCL was given is not published";
  all.push_back(entry);
}

void add_l40s(std::vector<AllReduceCase>& all) {
  const auto add = [&](const char* id, std::vector<NcclSetting> environment, const char* not_stated) {
    AllReduceCase entry = plain_case(id, "l40sx2", "nccl-2.29", not_stated);
    entry.environment = std::move(environment);
    all.push_back(entry);
  };
  add("l40s-2gpu-node-ll", {{"NCCL_PROTO", "LL", kStated}}, "transport, channels");
  add("l40s-2gpu-node-ll128", {{"NCCL_PROTO", "LL128", kStated}}, "transport, channels");
  add("l40s-2gpu-node-simple", {{"NCCL_PROTO", "Simple", kStated}}, "transport, channels");
  // The forced runs above tell which protocol these took: 27.8 us at 128 KiB as LL, 41 us at 256 KiB as
  // Simple.
  const std::vector<StatedChoice> told{protocol("ll", Bytes(128u << 10)), protocol("simple")};
  add("l40s-2gpu-node-auto-1", {}, "transport, protocol, channels");
  all.back().stated = told;
  add("l40s-2gpu-node-ring", {{"NCCL_ALGO", "Ring", kStated}}, "transport, protocol, channels");
  all.back().stated = told;
  add("l40s-2gpu-node-tree", {{"NCCL_ALGO", "Tree", kStated}}, "transport, protocol, channels");
}

void add_host_memory(std::vector<AllReduceCase>& all) {
  AllReduceCase entry = plain_case("8x4090-dualsocket-p2poff-nccl", "rtx4090x8-2socket-nop2p", "nccl",
                                   "layout (inferred), protocol, channels, NCCL's release");
  entry.sets = {"links.xgmi0.rate=20 GB/s"};
  entry.release_note = kNewest;
  entry.stated = {transport("shm")};
  all.push_back(entry);

  entry = plain_case("v100pcie-2x-shm-nccl", "v100x2-pcie3-sockets-nop2p", "nccl-2.21",
                     "CPUs, sockets, protocol, channels");
  entry.stated = {transport("shm")};
  all.push_back(entry);

  for (const char* layout : {"sameswitch", "crosssocket"}) {
    const bool same = std::string(layout) == "sameswitch";
    entry = plain_case(same ? "4090x2-sameswitch-shm-docker" : "4090x2-crosssocket-shm-k8s",
                       same ? "rtx4090x2-sameswitch" : "rtx4090x2-crosssocket", "nccl-2.19",
                       "layout (inferred), link widths, protocol, channels");
    entry.release_note = "of its container (24.01), recalled";
    entry.stated = {transport("shm")};
    all.push_back(entry);
  }

  entry = plain_case("a40-2gpu-node-p2poff-nccl", "a40x2-node-nop2p", "nccl-2.18",
                     "CPUs, link widths, protocol, channels");
  entry.release_note = "2.16.2 is older than any known";
  entry.environment = {{"NCCL_P2P_DISABLE", "1", kStated}};
  all.push_back(entry);

  entry = plain_case("2x2080ti-nccl24-nccl", "rtx2080tix2-switch", "nccl-2.18",
                     "layout, link widths, transport (inferred), protocol, channels");
  entry.release_note = "2.4 is older than any known";
  all.push_back(entry);
}

void add_nvlink(std::vector<AllReduceCase>& all) {
  AllReduceCase entry =
      plain_case("dgx-a100-4gpu-nvswitch-nccl", "dgx-a100-4gpu-nvswitch", "nccl-2.18", "protocol, channels");
  entry.release_note = "2.16.2 is older than any known";
  all.push_back(entry);

  entry = plain_case("h100pcie-nvlink-pair-nccl", "h100pcie-nvlink-pair", "nccl-2.18",
                     "number of NVLinks, protocol, NCCL's release");
  entry.release_note = "not stated: its log looks older than any known";
  entry.stated = {transport("p2p")};
  entry.stated.front().channels = 24;
  entry.difference =
      "the NVLinks are not counted (12 give 16 channels, 18 would give 24), and the log names GPUs by bus "
      "number, as releases before those known did";
  all.push_back(entry);
}

}  // namespace

Call stream_call() {
  Call call;
  call.launch = Launch::stream;
  return call;
}

const std::vector<AllReduceCase>& all_reduce_cases() {
  static const std::vector<AllReduceCase> table = [] {
    std::vector<AllReduceCase> all;
    add_esc8000a(all);
    add_wrx90(all);
    add_dual_turin(all);
    add_l40s(all);
    add_host_memory(all);
    add_nvlink(all);
    return all;
  }();
  return table;
}

const std::vector<AllReduceLeftOut>& all_reduce_left_out() {
  static const std::vector<AllReduceLeftOut> table{
      {"esc8000a-e13p-rtxpro6000-nccl-4gpu, p2pmark and server",
       "library, transport and protocol are not stated"},
      {"rtxpro6000-8gpu-nccl-channels, sweeps 8M-2G", "only the mean of a sweep is published"},
      {"rtxpro6000-8gpu-nccl-channels, other hosts", "the wiring of the hosts is not stated"},
      {"gcp-a3mega-2node-16xh100", "two nodes: clusters are not predicted yet"},
      {"mi300x-8x-xgmi-rccl", "Infinity Fabric mesh: a machine file cannot say that"},
  };
  return table;
}

Implementation implementation_of(const AllReduceCase& entry) {
  Implementation implementation = implementation_from_string(entry.implementation);
  std::vector<Warning> warnings;
  implementation.environment = read_nccl_environment(entry.environment, implementation.version(), warnings);
  if (!warnings.empty()) {
    throw Error(ErrorKind::usage,
                "a setting of `" + entry.name() + "` is not modelled: " + warnings.front().text,
                "tests/cases", "take only variables that change what the model decides");
  }
  return implementation;
}

}  // namespace lanecast::cases
