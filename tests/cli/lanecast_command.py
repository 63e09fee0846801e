"""Runs the built command for the tests of this folder, and checks what holds for every run."""

import csv
import io
import json
import os
import re
import subprocess
import unittest
from typing import NamedTuple

BINARY = os.environ.get("LANECAST_BINARY", "")
SOURCE = os.environ.get("LANECAST_SOURCE", "")

SWITCH2 = "v100x2-pcie3-switch"
SWITCH4 = "v100x4-pcie3-2switch"


class Run(NamedTuple):
    code: int
    out: str
    err: str


def clean_environment():
    """The caller's environment without what changes the command's defaults."""
    return {k: v for k, v in os.environ.items() if not k.startswith("LANECAST_") and k != "NO_COLOR"}


def lanecast(*words, environment=None, stdin=None, folder=None):
    """The exit code and both streams of `lanecast WORDS...`; no LANECAST_* of the caller gets in."""
    done = subprocess.run(
        [BINARY, *words],
        env={**clean_environment(), **(environment or {})},
        input=stdin,
        cwd=folder,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=300,
        check=False,
    )
    return Run(done.returncode, done.stdout, done.stderr)


def csv_rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def table_rows(text):
    """The columns of each row of a table: lines that are no comment, taken apart at blanks."""
    return [line.split() for line in text.splitlines() if line and not line.startswith("#")]


def markdown_rows(text):
    rows = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]] for row in rows[2:]]


class CommandTest(unittest.TestCase):
    """What the tests of all commands need."""

    def good(self, *words, **settings):
        run = lanecast(*words, **settings)
        self.assertEqual(run.code, 0, f"{words}: {run.err}")
        return run

    def refused(self, *words, code=2, says=(), **settings):
        """A run that ends with `code`, an empty stdout, and a message with each of the texts in it."""
        run = lanecast(*words, **settings)
        self.assertEqual(run.code, code, f"{words}: {run.out} {run.err}")
        self.assertEqual(run.out, "", f"{words} printed a result")
        self.assertIn("error: ", run.err)
        for text in [says] if isinstance(says, str) else says:
            self.assertIn(text, run.err)
        return run

    def document(self, *words, **settings):
        return json.loads(self.good(*words, "--format", "json", **settings).out)

    def results(self, *words, **settings):
        return self.document("predict", *words, **settings)["results"]
