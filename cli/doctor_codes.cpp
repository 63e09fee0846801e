#include "cli/doctor_codes.hpp"

namespace lanecast {
namespace {

std::vector<CodeEntry> codes_of_links() {
  return {
      {"LC-ASPM-01", "links may fall asleep when idle",
       "Active State Power Management lets an idle link sleep (L0s, L1). The first packet after a pause "
       "waits for it "
       "to wake: a microsecond from L0s, up to 64 from L1. Calls that follow each other closely do not pay. "
       "The cost "
       "is that of a call after a pause.",
       "Boot with pcie_aspm=off, or switch ASPM off in the firmware. `--set links.NAME.aspm=off` predicts "
       "the link "
       "that stays awake."},
      {"LC-LINK-02", "a link was read while its card slept",
       "Idle cards fall back to 2.5 GT/s (Gen1) to save power, so what a dump shows may not be what the link "
       "does at "
       "work. The rate is then taken as what both ends can do, and nothing is said about whether it is.",
       "Read it again while the card works: start all_reduce_perf or any kernel, then `lspci -vv` (LnkSta) "
       "or "
       "`nvidia-smi -q` (GPU Link Info). `lanecast topo discover` wakes the cards first."},
      {"LC-LINK-03", "equal cards have unequal links",
       "A card's slot can do less (lanes or generation) than the slots of equal cards. A ring passes all "
       "cards, so "
       "that the slowest link sets its pace. Boards with x16 and x8 slots are built so; a bifurcated slot or "
       "a "
       "chipset slot looks the same.",
       "Move the card to a slot as good as the others', or run on the cards with full links (`--ranks`)."},
      {"LC-MPS-01", "packets are smaller than the path could take",
       "The payload of a packet (MaxPayload) is the smallest that any device on the path was set to; DevCap "
       "says what "
       "each could take. Small packets spend more of the link on headers: 24 bytes on each. Thread blocks "
       "store 128 "
       "bytes at a time, so that mostly copy engines gain.",
       "Boot with pci=pcie_bus_perf, or look for Max Payload Size in the firmware."},
      {"LC-SLOT-01", "a slot is narrower or slower than its card",
       "The card could use more lanes, or a higher generation, than its slot or port has. The link runs as "
       "well as "
       "this slot allows; another slot would allow more.",
       "Move the card to a wider or faster slot, or change the slot's bifurcation. Where the board has no "
       "better "
       "slot, this is its limit."},
      {"LC-UPLINK-01", "cards share an uplink that is narrower than all of them",
       "A switch has one link to the root, and the cards below it could send more than that link carries. "
       "What stays "
       "below the switch is not concerned. A ring crosses an uplink once each way and so hardly notices; "
       "all-to-all, "
       "host copies and traffic through host memory share it. The cost compares with a root port for each of "
       "these "
       "cards, which is a longer way between them and may well be worse.",
       "Keep ring neighbours below one switch, spread cards over more switches, or attach them directly."}};
}

std::vector<CodeEntry> codes_of_errors() {
  return {{"LC-AER-01", "a link counts corrected errors",
           "Advanced Error Reporting counts packets that came damaged and were sent again. Some since the "
           "machine was "
           "started are no reason to act; a count that rises under load means a bad contact, cable or "
           "retimer. How many "
           "packets went by is not counted, so that the share, and the cost, is not known.",
           "Give a second dump (`--before EARLIER`) to see whether it rises. Reseat the card and its riser; "
           "until it is "
           "replaced, one generation lower runs cleanly. `--set links.NAME.replay_rate=1e-4` predicts what a "
           "share costs."},
          {"LC-AER-02", "a link counts uncorrected errors",
           "Data or requests were lost and not recovered by the link. Jobs may have failed, hung, or gone on "
           "with wrong "
           "data.",
           "See `dmesg` for the device and the kind of error, reseat or replace card, riser or cable, and "
           "keep the card "
           "out of jobs until the counter stands still."},
          {"LC-REPLAY-01", "a link sends packets again",
           "The GPU's own counter (`nvidia-smi -q`, Replays Since Reset) of packets that had to be sent "
           "again, or a share "
           "of replays that the machine file states (replay_rate). Each replay costs the link about a "
           "microsecond. Inside "
           "most virtual machines this is the only counter to be seen.",
           "As for LC-AER-01: read it twice under load, then reseat or replace."}};
}

std::vector<CodeEntry> codes_of_access() {
  return {{"LC-BAR-01", "a card's memory is not fully visible to others",
           "Others reach a card's memory through a window (BAR1). Where the firmware does not decode above 4 "
           "GiB, or "
           "resizable BAR is off, the window is smaller than the memory (often 256 MiB), and peer mappings "
           "may be refused "
           "or break. The model has no such limit, so no cost is stated.",
           "Switch on \"Above 4G Decoding\" and \"Resizable BAR\" in the firmware; both need UEFI boot."},
          {"LC-IOMMU-01", "the IOMMU translates peer traffic",
           "With full translation, packets between cards go up to the root complex to be translated, even "
           "where a switch "
           "could turn them. On bare metal that slows peer access or breaks it: NCCL was seen to hang.",
           "Pass it through (iommu=pt) or switch it off (intel_iommu=off, amd_iommu=off). Virtual machines "
           "need it. `--set "
           "p2p.iommu=false` predicts what that gives."},
          {"LC-P2P-01", "cards have no peer access to each other",
           "Without peer access, what goes from card to card is written to host memory and read back from "
           "there. The "
           "reason is one of: peer access switched off for all; a card whose family or driver has none "
           "(GeForce); a "
           "distance beyond the level up to which NCCL uses it (its default is PXB: below one host bridge's "
           "switches).",
           "NCCL_P2P_LEVEL=SYS raises the level, `--set p2p.level=SYS` predicts it. Measure both: some roots "
           "carry peer "
           "traffic worse than host memory does. `nvidia-smi topo -p2p w` says what the driver allows."}};
}

std::vector<CodeEntry> codes_of_boxes() {
  return {{"LC-CARD-01", "a card is missing",
           "A card is marked as gone, an earlier dump shows one more, or one switch, root or socket holds "
           "one card fewer "
           "than all others like it. Rings close over the rest. The cost compares with a ring of one rank "
           "more, which does "
           "more work and may take longer.",
           "See `dmesg` (\"fallen off the bus\", Xid 79), power the box off and on, reseat the card, check "
           "its power."},
          {"LC-CHANGE-01", "the box is not what it was",
           "Compared with the earlier dump, a card moved or was added, a link's ends can do less than they "
           "could, or the "
           "dumps do not belong together.",
           "`lanecast topo diff EARLIER NOW` lists every difference. Rank lists and topology files made for "
           "the earlier box "
           "no longer fit."},
          {"LC-GPU-01", "the cards are of different models",
           "The slowest card sets the pace of every ring, and NCCL leaves LL128 out unless compute "
           "capabilities are equal "
           "(or all 9.0 or higher).",
           "Run jobs on cards of one model: `--ranks` predicts that."},
          {"LC-NUMA-01", "a card's network adapter is on another socket",
           "Some cards have an adapter on their own socket, this one has not: its network traffic crosses "
           "the link between "
           "the sockets. Networks are not simulated, so no cost is stated.",
           "Put an adapter on that socket, or move the card."},
          {"LC-NVLINK-01", "NVLinks are missing",
           "Equal cards have more NVLinks than this one, an earlier dump shows more, or a card of a board "
           "with NVLink shows "
           "none. NCCL then finds fewer or slower rings, or goes over PCIe.",
           "`nvidia-smi nvlink --status` shows which link is down. Power the box off and on; reseat a "
           "bridge; on boards "
           "with NVSwitches see that nvidia-fabricmanager runs."},
          {"LC-VM-01", "a virtual machine hides the PCIe tree",
           "The guest sees its cards on a flat bus: switches, shared uplinks, ACS and link states are the "
           "host's secret, "
           "and so are their costs. NCCL is in the same place, and clouds give it a topology file for that "
           "reason.",
           "Read `lspci -vvv` and `lspci -tv` on the host, or use the provider's topology file "
           "(NCCL_TOPO_FILE)."}};
}

}  // namespace

std::vector<CodeEntry> doctor_codes() {
  std::vector<CodeEntry> all;
  for (const auto& part : {codes_of_links(), codes_of_errors(), codes_of_access(), codes_of_boxes()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace lanecast
