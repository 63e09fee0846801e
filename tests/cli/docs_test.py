"""The examples of the pages in PAGES: each `$ lanecast ...` prints what stands below it.

A changed prediction changes them. Write them anew with

    LANECAST_BINARY=build/release/bin/lanecast LANECAST_SOURCE=. python3 tests/cli/docs_test.py --update
"""

import json
import re
import shlex
import subprocess
import sys
import unittest
from pathlib import Path

from lanecast_command import BINARY, SOURCE, clean_environment

PAGES = [Path(SOURCE, "docs", name) for name in ("algorithms.md", "commands.md", "compare.md", "doctor.md", "nccl.md", "tune.md", "what-if.md")]
BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)


def printed_by(line):
    """What a terminal shows of `lanecast LINE`: both streams, and the exit code where it is not 0."""
    command = f"{shlex.quote(BINARY)} {line}"
    done = subprocess.run(
        ["sh", "-c", command], cwd=SOURCE, capture_output=True, text=True, env=clean_environment(), timeout=300, check=False
    )
    text = re.sub(r"(lanecast \d+\.\d+\.\d+) \([^)]*\)", r"\1 (COMMIT)", done.stderr + done.stdout)
    text = re.sub(r'"(commit|host)": "[^"]*"', lambda m: f'"{m[1]}": "{m[1].upper()}"', text)
    text = "\n".join(part.rstrip() for part in text.rstrip().splitlines())
    return text + (f"\n$ echo $?\n{done.returncode}" if done.returncode else "")


def examples(block):
    """Pairs of a command line and the text below it."""
    parts = re.split(r"^\$ lanecast (.*)\n", block, flags=re.MULTILINE)[1:]
    return [(line, text.strip("\n")) for line, text in zip(parts[::2], parts[1::2])]


def renewed(match):
    shown = [f"$ lanecast {line}\n{printed_by(line)}\n" for line, _ in examples(match[1])]
    return "```console\n" + "\n".join(shown) + "```"


class Documentation(unittest.TestCase):
    maxDiff = None

    def test_examples_print_what_the_pages_say(self):
        blocks = [block for page in PAGES for block in BLOCK.findall(page.read_text(encoding="utf-8"))]
        self.assertGreater(len(blocks), 5)
        for line, text in (example for block in blocks for example in examples(block)):
            with self.subTest(line):
                self.assertEqual(printed_by(line), text)


    def test_every_parameter_of_the_model_is_explained(self):
        shown = subprocess.run(
            [BINARY, "config", "explain", "v100x2-pcie3-switch", "--format", "json"],
            capture_output=True, text=True, env=clean_environment(), timeout=300, check=True,
        ).stdout
        names = [parameter["path"] for parameter in json.loads(shown)["parameters"]]
        self.assertGreater(len(names), 40)
        model = Path(SOURCE, "docs", "model.md").read_text(encoding="utf-8")
        self.assertEqual([name for name in names if f"`{name}`" not in model], [])


if __name__ == "__main__":
    if sys.argv[1:] == ["--update"]:
        for page in PAGES:
            page.write_text(BLOCK.sub(renewed, page.read_text(encoding="utf-8")), encoding="utf-8")
    else:
        unittest.main()
