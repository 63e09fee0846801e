"""What `lspci -vvv` prints of an invented machine: four Gen5 cards, two below each of two switches on root ports."""

EXPRESS = """\tCapabilities: [60] Express (v2) {role}, IntMsgNum 0
\t\tDevCap:\tMaxPayload 512 bytes, PhantFunc 0
\t\tDevCtl:\tCorrErr- NonFatalErr- FatalErr- UnsupReq-
\t\t\tMaxPayload {payload} bytes, MaxReadReq 512 bytes
\t\tLnkCap:\tPort #0, Speed 32GT/s, Width x16, ASPM not supported
\t\tLnkCtl:\tASPM Disabled; LnkDisable- CommClk+
\t\tLnkSta:\tSpeed {speed}, Width x{width}
"""
REDIRECTS = """\tCapabilities: [148 v1] Access Control Services
\t\tACSCap:\tSrcValid+ TransBlk+ ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans+
\t\tACSCtl:\tSrcValid- TransBlk- ReqRedir{on} CmpltRedir{on} UpstreamFwd- EgressCtrl- DirectTrans-
"""
ERRORS = """\tCapabilities: [100 v2] Advanced Error Reporting
\t\tUESta:\tDLP- SDES- TLP- FCP- CmpltTO- CmpltAbrt- UnxCmplt- RxOF- MalfTLP- ECRC- UnsupReq- ACSViol-
\t\tCESta:\tRxErr- BadTLP- BadDLLP- Rollover- Timeout- AdvNonFatalErr-
"""


def bridge(address, role, buses, speed, acs=False):
    primary, secondary, subordinate = buses
    text = f"{address} PCI bridge: Broadcom / LSI PEX890xx PCIe Gen 5 Switch (rev b0) (prog-if 00 [Normal decode])\n"
    text += f"\tBus: primary={primary}, secondary={secondary}, subordinate={subordinate}, sec-latency=0\n"
    text += EXPRESS.format(role=role, payload=512, speed=speed, width=16)
    if role.startswith("Downstream"):
        text += REDIRECTS.format(on="+" if acs else "-")
    return text + ERRORS + "\n"


def card(address, width):
    text = f"{address} 3D controller: NVIDIA Corporation GB202GL [RTX PRO 6000 Blackwell Server Edition] (rev a1)\n"
    text += "\tNUMA node: 0\n\tRegion 1: Memory at 38000000000 (64-bit, prefetchable) [size=128G]\n"
    text += EXPRESS.format(role="Endpoint", payload=512, speed="32GT/s", width=width)
    return text + ERRORS + "\n"


def lspci_dump(uplink_speed="32GT/s", card_width=16, acs=False):
    """`uplink_speed` is the first switch's, `card_width` the last card's."""
    text = ""
    for base, speed in ((0x20, uplink_speed), (0x40, "32GT/s")):
        bus = [f"{base + i:02x}" for i in range(5)]
        text += bridge(f"{bus[0]}:01.1", "Root Port (Slot-)", (bus[0], bus[1], bus[4]), speed)
        text += bridge(f"{bus[1]}:00.0", "Upstream Port", (bus[1], bus[2], bus[4]), speed)
        for i in range(2):
            below = bus[3 + i]
            text += bridge(f"{bus[2]}:0{i}.0", "Downstream Port (Slot+)", (bus[2], below, below), "32GT/s", acs)
            text += card(f"{below}:00.0", card_width if base == 0x40 and i == 1 else 16)
    return text
