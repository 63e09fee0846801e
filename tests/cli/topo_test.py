"""`lanecast topo`: machines in and out. The dumps are invented."""

import json
import os
import tempfile
import unittest
from pathlib import Path

from lanecast_command import CommandTest, lanecast

MATRIX = """\tGPU0\tGPU1\tGPU2\tGPU3\tCPU Affinity\tNUMA Affinity
GPU0\t X \tPIX\tSYS\tSYS\t0-15\t0
GPU1\tPIX\t X \tSYS\tSYS\t0-15\t0
GPU2\tSYS\tSYS\t X \tPIX\t16-31\t1
GPU3\tSYS\tSYS\tPIX\t X \t16-31\t1
"""


def bridge(address, kind, buses, speed, width):
    primary, secondary, last = buses
    return (
        f"{address} PCI bridge: Example Switch (prog-if 00 [Normal decode])\n"
        f"\tBus: primary={primary}, secondary={secondary}, subordinate={last}, sec-latency=0\n"
        f"\tCapabilities: [60] Express (v2) {kind}, MSI 00\n"
        "\t\tDevCap:\tMaxPayload 512 bytes, PhantFunc 0\n"
        "\t\tDevCtl:\tCorrErr- NonFatalErr-\n\t\t\tMaxPayload 256 bytes, MaxReadReq 128 bytes\n"
        "\t\tLnkCap:\tPort #0, Speed 32GT/s, Width x16, ASPM not supported\n"
        "\t\tLnkCtl:\tASPM Disabled; Disabled- CommClk+\n"
        f"\t\tLnkSta:\tSpeed {speed}, Width {width}\n"
        "\t\tACSCtl:\tSrcValid+ TransBlk- ReqRedir- CmpltRedir- UpstreamFwd+ EgressCtrl- DirectTrans-\n"
    )


def card(address, numa, speed="32GT/s"):
    return (
        f"{address} 3D controller [0302]: NVIDIA Corporation GB202GL [RTX PRO 6000 Blackwell] [10de:2bb5] (rev a1)\n"
        f"\tNUMA node: {numa}\n"
        "\tRegion 1: Memory at 38000000000 (64-bit, prefetchable) [size=128G]\n"
        "\tCapabilities: [60] Express (v2) Endpoint, MSI 00\n"
        "\t\tDevCap:\tMaxPayload 256 bytes, PhantFunc 0, Latency L0s <64ns, L1 unlimited\n"
        "\t\tDevCtl:\tCorrErr- NonFatalErr-\n\t\t\tMaxPayload 256 bytes, MaxReadReq 512 bytes\n"
        "\t\tLnkCap:\tPort #0, Speed 32GT/s, Width x16, ASPM not supported\n"
        "\t\tLnkCtl:\tASPM Disabled; RCB 64 bytes\n"
        f"\t\tLnkSta:\tSpeed {speed}, Width x16\n"
    )


def box(uplink="32GT/s", cards=4):
    """Two switches with two cards each, as `lspci -vvv` prints it; the first one's uplink runs at `uplink`."""
    text = ""
    for index, (bus, speed) in enumerate([("20", uplink), ("40", "32GT/s")]):
        base = int(bus, 16)
        text += bridge(f"{bus}:01.0", "Root Port (Slot+)", (bus, f"{base + 1:02x}", f"{base + 4:02x}"), speed, "x16")
        text += bridge(f"{base + 1:02x}:00.0", "Upstream Port", (f"{base + 1:02x}", f"{base + 2:02x}", f"{base + 4:02x}"),
                       speed, "x16")
        for port in range(2):
            below = base + 3 + port
            text += bridge(f"{base + 2:02x}:{port:02x}.0", "Downstream Port (Slot+)",
                           (f"{base + 2:02x}", f"{below:02x}", f"{below:02x}"), "32GT/s", "x16")
            if 2 * index + port < cards:
                text += card(f"{below:02x}:00.0", 0)
    return text


class Topo(CommandTest):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def enterContext(self, manager):  # unittest has it from Python 3.11 on
        value = manager.__enter__()
        self.addCleanup(manager.__exit__, None, None, None)
        return value

    def file(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return str(path)

    def matrix_of(self, *inputs):
        return self.good("topo", "show", *inputs, "--matrix").out.split("\n\n")[0] + "\n"

    def test_a_matrix_alone_gives_a_machine_with_the_same_matrix(self):
        topo = self.file("topo.txt", MATRIX)
        machine = self.file("box.yaml", self.good("topo", "import", topo).out)
        cells = [line.split()[:5] for line in self.matrix_of(machine).splitlines()[1:]]
        self.assertEqual(cells, [line.split()[:5] for line in MATRIX.splitlines()[1:]])
        self.assertEqual(self.good("config", "check", machine).out.split(":")[0], f"ok {machine}")

    def test_every_value_of_an_import_has_its_origin_or_the_rule_that_chose_it(self):
        document = self.document("topo", "import", self.file("topo.txt", MATRIX))
        values = {value["path"]: value for value in document["values"]}
        self.assertTrue(values["links.gpu0.mps"]["assumed"])
        self.assertFalse(values["cpus.cpu1.cores"]["assumed"])
        self.assertIn("topo.txt:", values["cpus.cpu1.cores"]["from"])
        self.assertTrue(document["unknown"])

    def test_lspci_gives_the_real_tree_and_the_link_as_it_runs(self):
        tree = self.good("topo", "show", self.file("lspci.txt", box(uplink="5GT/s")), "--tree").out
        self.assertIn("Gen2 x16 (can Gen5)", tree)
        self.assertEqual(tree.count("RTX PRO 6000 Blackwell"), 4)

    def test_yaml_exported_from_an_import_is_the_same_machine(self):
        machine = self.file("box.yaml", self.good("topo", "import", self.file("topo.txt", MATRIX)).out)
        run = self.good("topo", "export", machine, "--yaml")
        self.assertEqual(self.matrix_of(self.file("again.yaml", run.out)), self.matrix_of(machine))

    def test_contradictions_show_both_values_and_both_places(self):
        first = self.file("a.txt", card("3b:00.0", 0))
        second = self.file("b.txt", card("3b:00.0", 1))
        document = self.document("topo", "import", first, second)
        (row,) = [row for row in document["contradictions"] if "NUMA" in row["what"]]
        self.assertEqual({row["taken"], row["other"]}, {"0", "1"})
        self.assertIn("a.txt:", row["taken_from"] + row["other_from"])
        self.assertIn("b.txt:", row["taken_from"] + row["other_from"])

    def test_what_is_no_dump_is_refused_with_the_kinds(self):
        self.refused("topo", "import", self.file("notes.txt", "it is slow\n"), says=["`nvidia-smi-topo`", "lspci -vvv"])
        self.refused("topo", "import", self.file("a.xml", "<html><body/></html>"), says=["`html`", "`nccl-topology`"])
        self.refused("topo", "import", self.file("topo.txt", MATRIX), "--as", "lspci", says="nothing of the kind `lspci`")
        self.refused("topo", "import", self.file("topo.txt", MATRIX), "--as", "lspi", says="lspci")
        self.refused("topo", "import", str(self.folder / "absent.txt"), says="absent.txt")

    def test_binary_compressed_utf16_and_huge_files_get_an_answer_each(self):
        for name, content, says in [
            ("zero.bin", b"GPU0\0\0\0", "zero byte"),
            ("box.gz", b"\x1f\x8b\x08\0", "gzip -dc"),
            ("wide.txt", "GPU0".encode("utf-16"), "iconv"),
            ("huge.txt", b"garbage " * (8 << 20), "16 MiB"),
        ]:
            path = self.folder / name
            path.write_bytes(content)
            self.refused("topo", "import", str(path), says=says)

    def test_crlf_and_a_missing_last_line_do_not_matter(self):
        plain = self.good("topo", "show", self.file("topo.txt", MATRIX), "--matrix").out
        self.assertEqual(self.good("topo", "show", self.file("topo.txt", MATRIX.replace("\n", "\r\n")), "--matrix").out, plain)

    def test_a_dump_cut_anywhere_ends_in_a_machine_or_a_message(self):
        for end in range(0, len(MATRIX), 7):
            run = lanecast("topo", "import", self.file("topo.txt", MATRIX[:end]))
            self.assertIn(run.code, (0, 2), run.err)

    def test_diff_names_what_changed_and_ends_with_3(self):
        monday = self.file("monday.txt", box())
        friday = self.file("friday.txt", box(uplink="5GT/s", cards=3))
        self.good("topo", "diff", monday, monday)
        run = lanecast("topo", "diff", monday, friday, "--format", "json")
        self.assertEqual(run.code, 3, run.err)
        kinds = {row["kind"] for row in json.loads(run.out)["differences"] if row["change"]}
        self.assertIn("gone", kinds)
        self.assertIn("link-slower", kinds)

    def test_exports_are_one_form_at_a_time(self):
        self.refused("topo", "export", "v100x2-pcie3-switch", says="--nccl-topo")
        self.refused("topo", "export", "v100x2-pcie3-switch", "--dot", "--yaml", says="--dot")
        self.assertIn("<system", self.good("topo", "export", "v100x2-pcie3-switch", "--nccl-topo").out)
        self.assertIn("graph ", self.good("topo", "export", "v100x2-pcie3-switch", "--dot").out)

    def test_nccls_file_of_a_machine_imports_as_that_machine_again(self):
        first = self.file("first.xml", self.good("topo", "export", self.file("lspci.txt", box()), "--nccl-topo").out)
        second = self.file("second.xml", self.good("topo", "export", first, "--nccl-topo").out)
        self.assertEqual(self.matrix_of(second), self.matrix_of(first))

    def test_discover_without_a_gpu_says_what_it_found_and_ends_with_4(self):
        system = self.folder / "system"
        system.mkdir()
        environment = {"LANECAST_SYSROOT": str(system)}
        self.refused("topo", "discover", code=4, says="GPU", environment=environment)

    def test_collect_prints_a_script_that_a_shell_takes(self):
        script = self.file("collect.sh", self.good("topo", "collect").out)
        self.assertEqual(os.system(f"sh -n '{script}'"), 0)


if __name__ == "__main__":
    unittest.main()
