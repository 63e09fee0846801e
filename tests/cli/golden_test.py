"""Whole outputs against the files in tests/golden/.

A changed prediction changes them. Write them anew with

    LANECAST_BINARY=build/release/bin/lanecast python3 tests/cli/golden_test.py --update

and say in the changelog which numbers moved, and why.
"""

import re
import sys
import unittest
from pathlib import Path

from lanecast_command import CommandTest, lanecast

FOLDER = Path(__file__).resolve().parent.parent / "golden"

COMMANDS = {
    "predict-simple.txt": "predict v100x2-pcie3-switch --algorithm ring --protocol simple -b 1K -e 256M -f 4",
    "predict-ll.txt": "predict v100x2-pcie3-switch --algorithm ring --protocol ll -b 1K -e 256M -f 4",
    "predict-all-gather.csv": "predict v100x4-pcie3-2switch --collective all_gather --protocol simple"
    " -b 1M -e 16M -f 4 --format csv",
    "predict.md": "predict rtxpro6000x8-2switch --protocol simple -b 1M -e 16M -f 4 --format markdown",
    "matrix.txt": "matrix v100x4-pcie3-2switch",
    "flows.txt": "matrix rtxpro6000x8-2switch --flows 0>4,1>5,host>2",
    "help.txt": "help",
}


def comparable(text):
    """The output without what differs from build to build: version and commit."""
    return re.sub(r"lanecast \d+\.\d+\.\d+ \([^)]*\)", "lanecast VERSION", text)


def output_of(line):
    return comparable(lanecast(*line.split()).out)


class Golden(CommandTest):
    maxDiff = None

    def test_outputs_are_those_of_the_files(self):
        for name, line in COMMANDS.items():
            with self.subTest(line):
                expected = (FOLDER / name).read_text(encoding="utf-8")
                self.assertEqual(comparable(self.good(*line.split()).out), expected, f"lanecast {line}")

    def test_no_file_is_left_over(self):
        self.assertEqual(sorted(path.name for path in FOLDER.iterdir()), sorted(COMMANDS))


if __name__ == "__main__":
    if sys.argv[1:] == ["--update"]:
        for file_name, command in COMMANDS.items():
            (FOLDER / file_name).write_text(output_of(command), encoding="utf-8")
    else:
        unittest.main()
