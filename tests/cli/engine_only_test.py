"""A build of the engine alone: what it holds works as in the whole one, the rest refuses, nothing else is linked.

The program is linked beside the whole one, from the same libraries that such a build has.
"""

import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from lanecast_command import BINARY, SOURCE, CommandTest, clean_environment

WHOLE = os.environ.get("LANECAST_WHOLE", "")
SOURCES = os.environ.get("LANECAST_ENGINE_SOURCES", "").split(";")

ABSENT = ["predict", "whatif", "tune", "matrix", "doctor", "calibrate", "compare", "config", "topo import", "topo show", "topo diff", "topo export"]
OUR_FOLDERS = "model sim hw configs calibrate reports cli".split()
FORBIDDEN_PACKAGES = re.compile(r"(yaml-cpp|Eigen|unsupported|simgrid|xbt|smpi|boost|hwloc)\b|pugi|zlib\.h")
SYSTEM_LIBRARIES = re.compile(r"(ld-linux-[\w-]+|lib(c|m|dl|rt|pthread|gcc_s|stdc\+\+|fmt|asan|ubsan|tsan))\.so\.\d+")


def printed(binary, *words, sysroot):
    """What the command prints, without the time of day."""
    text = subprocess.run(
        [binary, *words], env={**clean_environment(), "LANECAST_SYSROOT": str(sysroot)},
        capture_output=True, text=True, timeout=60, check=True,
    ).stdout
    return re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "TIME", text)


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def two_cards(root):
    """The files of a Linux system with two NVIDIA cards, each below a root port."""
    write(root / "proc/sys/kernel/hostname", "box\n")
    devices = root / "sys/bus/pci/devices"
    devices.mkdir(parents=True)
    for bus in ("01", "02"):
        card = root / f"sys/devices/pci0000:00/0000:00:{bus}.0/0000:{bus}:00.0"
        for folder, kind, vendor in ((card.parent, "0x060400", "0x8086"), (card, "0x030200", "0x10de")):
            values = {"class": kind, "vendor": vendor, "device": "0x2330", "numa_node": "0",
                      "current_link_speed": "16.0 GT/s PCIe", "max_link_speed": "16.0 GT/s PCIe",
                      "current_link_width": "8", "max_link_width": "16"}
            for name, value in values.items():
                write(folder / name, value + "\n")
            (devices / folder.name).symlink_to(folder)


def included(source, seen):
    """All files of ours that a source includes, itself included; other headers as `<name>`."""
    if source in seen:
        return
    seen.add(source)
    for angle, quoted in re.findall(r'^\s*#\s*include\s*(?:<([^>]+)>|"([^"]+)")', Path(SOURCE, source).read_text(), re.M):
        if angle:
            seen.add(f"<{angle}>")
        elif quoted.split("/")[0] in OUR_FOLDERS:
            included(quoted, seen)


class EngineOnly(CommandTest):
    def test_absent_commands_refuse_by_name_and_say_what_they_need(self):
        for command in ABSENT:
            for words in (["x", "--format", "json"], ["--help"], []):
                run = self.refused(*command.split(), *words, says=f"`lanecast {command}` is not in this build")
                self.assertRegex(run.err, "it needs .*yaml-cpp")

    def test_help_lists_only_what_works(self):
        listing = self.good("--help").out + self.good("topo", "--help").out
        for command in ("measure", "topo", "help", "discover", "collect"):
            self.assertRegex(listing, rf"(?m)^  {command} ")
        self.assertNotRegex(listing, r"(?m)^  (predict|whatif|tune|matrix|doctor|calibrate|compare|config|import|show|diff|export) ")

    def test_codes_and_version_are_told_as_by_the_whole_command(self):
        self.assertIn("LC-LINK-01", self.good("help").out)
        self.assertRegex(self.good("--version").out, r"^lanecast \d+\.\d+\.\d+ ")

    def test_discover_and_collect_print_what_the_whole_command_prints(self):
        with tempfile.TemporaryDirectory() as folder:
            two_cards(Path(folder))
            for words in (["topo", "discover"], ["topo", "collect"], ["topo", "discover", "--format", "csv"]):
                mine = printed(BINARY, *words, sysroot=folder)
                self.assertEqual(mine, printed(WHOLE, *words, sysroot=folder), words)
                self.assertGreater(len(mine), 500, words)

    def test_measure_plans_what_the_whole_command_plans(self):
        words = ["measure", "-g", "2", "--protocol", "all", "--suite", "quick", "--dry-run"]
        mine = printed(BINARY, *words, sysroot="/")
        self.assertEqual(mine, printed(WHOLE, *words, sysroot="/"))
        self.assertGreater(len(mine), 500)

    def test_sources_include_no_package_but_those_that_are_headers_alone(self):
        seen = set()
        for source in SOURCES:
            included(source, seen)
        self.assertGreater(len(seen), 300)
        self.assertIn("<CLI/CLI.hpp>", seen)
        self.assertEqual([name for name in sorted(seen) if FORBIDDEN_PACKAGES.match(name.strip("<>"))], [])

    def test_no_library_but_the_systems_is_linked(self):
        try:
            listing = subprocess.run(["readelf", "-d", BINARY], capture_output=True, text=True, check=True).stdout
        except FileNotFoundError:
            self.skipTest("readelf (binutils) is not installed")
        needed = re.findall(r"\(NEEDED\).*\[(.*)\]", listing)
        self.assertIn("libc.so.6", needed)
        self.assertEqual([name for name in needed if not SYSTEM_LIBRARIES.fullmatch(name)], [])


if __name__ == "__main__":
    unittest.main()
