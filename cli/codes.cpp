#include "cli/codes.hpp"

#include <algorithm>

#include "cli/data_codes.hpp"
#include "cli/doctor_codes.hpp"

namespace lanecast {
namespace {

/// What predictions warn about; `doctor` gives some of these too.
std::vector<CodeEntry> prediction_codes() {
  return {
      {"LC-ACS-01", "peer traffic is redirected to the root complex",
       "Access Control Services (or an IOMMU that translates) send traffic between GPUs up to the root "
       "complex and "
       "back, although a switch on the way could turn it. Every such byte crosses the uplink twice, and all "
       "GPUs "
       "below share that uplink.",
       "See `ACSCtl` in `lspci -vvv`: ReqRedir+ on a switch's downstream ports is the cause. Where isolation "
       "between "
       "guests is not needed, switch ACS off in the firmware or with setpci, and pass the IOMMU through. "
       "`--set switches.NAME.acs=off` predicts what that gives."},
      {"LC-ALGO-01", "NCCL takes an algorithm that is not simulated",
       "NCCL's cost model prefers NVLS (NVLink's multicast) for this size, which is not simulated: the time "
       "shown is that of what NCCL would take without it.",
       "`--why` shows NCCL's estimates of all. `NCCL_NVLS_ENABLE=0` (here `--nccl-env NCCL_NVLS_ENABLE=0`) "
       "makes a real run follow the prediction."},
      {"LC-BAND-01", "the call lies outside the data that the profile was fitted to",
       "The profile was fitted to measured calls, and this call differs from all of them in the way that the "
       "warning names: more or fewer ranks, an algorithm, protocol or class of path that was not measured, "
       "links of another generation or width, another kind of launch, another collective. The band "
       "(time_us_low to time_us_high) is wider by a share for each of these; the shares are rules, not "
       "measurements.",
       "Measure a few calls like this one and calibrate again, or take the wider band as what is known. "
       "`lanecast config explain PROFILE` shows what the profile was fitted on."},
      {"LC-CHUNK-01", "the chunk is large for the connection's buffer",
       "The FIFO of a connection holds one chunk only (where `--chunk` asks for more than the default "
       "buffer, the "
       "buffer is taken just large enough for one). A rank then receives each slice whole before it passes "
       "it on, "
       "and the ring's steps don't overlap.",
       "Take a smaller `--chunk` or a larger `--buffsize` (NCCL_BUFFSIZE in a real run): two chunks or more "
       "a buffer "
       "keep the ring busy."},
      {"LC-ENV-01", "a variable changes what NCCL does, but is not modelled",
       "The environment sets a variable of NCCL's that the prediction does not follow: the run may take "
       "another "
       "path, another number of channels or other copies than predicted. A variable that is not known here "
       "and "
       "that a log names is reported in the same way.",
       "Leave the variable out of the run, or take the prediction as one for a run without it. What a "
       "tuner's "
       "table, a graph file or a topology file says has to be put into the machine and the flags "
       "(`--algorithm`, `--protocol`, `--channels`, `--ranks` with `--order given`)."},
      {"LC-ENV-02", "NCCL ignores a variable or takes another value",
       "NCCL does not use the value as it is written: its release does not read the variable, another "
       "variable "
       "wins over it, or the number is rounded or limited. The prediction does as NCCL does.",
       "Write what NCCL makes of it, or leave the variable out, so that the run says what it does. "
       "`--implementation nccl-2.28` predicts another release."},
      {"LC-GROUP-01", "a hierarchical algorithm has one group only",
       "Sockets, NUMA nodes, NVLink islands, root complexes and switches were tried in turn; none divides "
       "the "
       "ranks into two or more groups of the same size with two ranks or more (with `--order given`, groups "
       "that are neighbours in that order). One group of all ranks is a ring.",
       "Take ranks that divide equally (`--ranks`), or another algorithm."},
      {"LC-LINK-01", "a link runs below its capability",
       "The link's status (rate or width) is lower than what both ends can do, and the prediction uses the "
       "status. "
       "Usual causes: a riser or cable, a slot that is wired narrower, dust on the contacts, or a rate that "
       "was "
       "read while the GPU idled (idle GPUs fall back to 2.5 GT/s).",
       "Read `LnkSta` in `lspci -vv` while the GPU works. `--set links.NAME.rate=gen4` or `.width=x16` "
       "predicts the "
       "healthy link."},
      {"LC-LIVE-01", "the machine has changed since its file was written",
       "The machine file was read from the computer that this runs on, and that computer now shows other "
       "cards or "
       "other links: a card is gone or new, a link has fewer lanes. The prediction is that of the file.",
       "`lanecast topo discover -o FILE` reads the machine again; `lanecast topo diff OLD FILE` says what "
       "changed, "
       "`lanecast doctor FILE --before OLD` what it costs."},
      {"LC-MODEL-01", "the times are NCCL's own estimates",
       "`--implementation nccl-model` shows the numbers by which NCCL chooses: a latency and a bandwidth "
       "from "
       "tables, with the bandwidth that its search found. They are a baseline, not a prediction.",
       "Leave `-model` out for the simulation. `--why` sets both side by side."},
      {"LC-PROFILE-01", "nothing was fitted: the profile holds priors only",
       "Every number of the model is a prior, from published sources and from measured rates of H200 thread "
       "blocks; "
       "nothing was fitted to this machine. The "
       "band "
       "(time_us_low to time_us_high) is wide for that reason.",
       "Compare with a measurement before you decide on it. `lanecast config explain MACHINE` lists the "
       "priors with "
       "their ranges and sources. `calibrate` makes a profile from measurements; `--profile` takes it."},
      {"LC-PROFILE-02", "the profile holds nothing for this implementation",
       "A profile has values for NCCL, for our own engine, or for both, since their thread blocks differ. "
       "This "
       "one was made for the other implementation only, so that priors are used.",
       "`lanecast config explain PROFILE` shows what it was fitted on. Take another `--profile`, or measure "
       "this implementation and calibrate."},
      {"LC-PROTO-01", "LL128 over PCIe",
       "LL128 relies on 128-byte stores that arrive whole and in order. NVLink gives that; PCIe does not "
       "promise it. "
       "NCCL does not choose LL128 there by default, and a run that forces it can return wrong sums without "
       "an "
       "error.",
       "Use `--protocol simple` or `ll`. Take the prediction as a what-if, not as advice to set "
       "NCCL_PROTO=LL128."},
      {"LC-SEARCH-01", "NCCL's search for rings finds nothing that fits",
       "No speed that NCCL tries fits the paths of this machine (often across the sockets of AMD hosts, "
       "which it "
       "counts 16 GB/s, with Blackwell GPUs, whose speeds end at 18). It then goes by the GPUs' order with "
       "one "
       "channel that counts 0.1 GB/s, twice: two channels, 256 threads, and protocols chosen for a link that "
       "slow.",
       "A graph file (NCCL_GRAPH_FILE) or NCCL_MIN_NCHANNELS with NCCL_PROTO helps a real run; "
       "`--nccl-env NCCL_MIN_NCHANNELS=8` predicts that."},
      {"LC-SIM-01", "the call could not be folded and was simulated in full",
       "Long messages repeat the same loop and step, and the simulator skips repetitions once all ranks and "
       "channels "
       "share one period. Here they never did (links of unequal rate often cause that), so that every slice "
       "was "
       "simulated. The result is exact; only the run took longer.",
       "Nothing is wrong. Larger chunks (`--chunk`) or fewer channels make the simulation faster, but "
       "describe "
       "another call."},
      {"LC-SWITCH-01", "this switch is known to slow down on writes to several ports",
       "For some PCIe switches a collapse was published: posted writes from one port that fan out to several "
       "others "
       "run far below the links' rate. The prediction does not contain that loss.",
       "Measure with several destinations at once (nvbandwidth's all-to-one and one-to-all tests) before you "
       "rely on "
       "the number. Reads instead of writes, or a ring that keeps neighbours below one switch, avoid it."},
      {"LC-TRANSPORT-01", "some neighbours talk through host memory",
       "There is no peer access between these GPUs, for the reason that the warning gives (the GPU model, "
       "the "
       "distance beyond the P2P level, a switched-off peer access). Their data is written to pinned host "
       "memory and "
       "read back, which loads both GPUs' links and the memory.",
       "Where the hardware can do peer access, allow it: NCCL_P2P_LEVEL=SYS in a real run, `--set "
       "p2p.level=SYS` or "
       "`--transport p2p` here."}};
}

std::vector<CodeEntry> all_codes() {
  std::vector<CodeEntry> all = prediction_codes();
  for (CodeEntry& entry : doctor_codes()) all.push_back(std::move(entry));
  for (CodeEntry& entry : data_codes()) all.push_back(std::move(entry));
  std::sort(all.begin(), all.end(), [](const CodeEntry& a, const CodeEntry& b) { return a.code < b.code; });
  return all;
}

}  // namespace

const std::vector<CodeEntry>& code_table() {
  static const std::vector<CodeEntry> kTable = all_codes();
  return kTable;
}

}  // namespace lanecast
