#include "cli/codes.hpp"

namespace lanecast {

const std::vector<CodeEntry>& code_table() {
  static const std::vector<CodeEntry> kTable{
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
      {"LC-CHUNK-01", "the chunk is large for the connection's buffer",
       "The FIFO of a connection holds one chunk only (where `--chunk` asks for more than the default "
       "buffer, the "
       "buffer is taken just large enough for one). A rank then receives each slice whole before it passes "
       "it on, "
       "and the ring's steps don't overlap.",
       "Take a smaller `--chunk` or a larger `--buffsize` (NCCL_BUFFSIZE in a real run): two chunks or more "
       "a buffer "
       "keep the ring busy."},
      {"LC-IMPL-01", "NCCL's own decisions are simple defaults here",
       "NCCL picks algorithm, protocol and channels by a cost model of its own, which is not modelled yet. "
       "Where a "
       "flag leaves one open, the prediction takes a simple default that depends on the transport and on the "
       "size. A "
       "real run may pick otherwise, above all at small and middle sizes.",
       "Name what the run does: `--algorithm`, `--protocol`, `--channels`. NCCL prints its choice with "
       "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=TUNING."},
      {"LC-IMPL-02", "the ring follows the order of the GPU indices",
       "NCCL searches for a ring order that loads the links evenly; that search is not modelled yet. The "
       "prediction "
       "uses the GPUs in the order of their indices (or as `--ranks` with `--order given` says), the same "
       "for all "
       "channels.",
       "Take the order of the real run from NCCL_DEBUG=INFO (the lines `Channel 00 : 0 1 2 3`) and give it: "
       "`--ranks 0,2,3,1 --order given`."},
      {"LC-LINK-01", "a link runs below its capability",
       "The link's status (rate or width) is lower than what both ends can do, and the prediction uses the "
       "status. "
       "Usual causes: a riser or cable, a slot that is wired narrower, dust on the contacts, or a rate that "
       "was "
       "read while the GPU idled (idle GPUs fall back to 2.5 GT/s).",
       "Read `LnkSta` in `lspci -vv` while the GPU works. `--set links.NAME.rate=gen4` or `.width=x16` "
       "predicts the "
       "healthy link."},
      {"LC-PROFILE-01", "nothing was fitted: the profile holds priors only",
       "Every number of the model is a prior from published sources, not a measurement of this machine. The "
       "band "
       "(time_us_low to time_us_high) is wide for that reason.",
       "Compare with a measurement before you decide on it. `lanecast config explain MACHINE` lists the "
       "priors with "
       "their ranges and sources. Fitted profiles come with `calibrate`."},
      {"LC-PROTO-01", "LL128 was forced over PCIe",
       "LL128 relies on 128-byte stores that arrive whole and in order. NVLink gives that; PCIe does not "
       "promise it. "
       "NCCL never chooses LL128 there by itself, and a run that forces it can return wrong sums without an "
       "error.",
       "Use `--protocol simple` or `ll`. Take the prediction as a what-if, not as advice to set "
       "NCCL_PROTO=LL128."},
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
  return kTable;
}

}  // namespace lanecast
