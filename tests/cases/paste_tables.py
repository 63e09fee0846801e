#!/usr/bin/env python3
"""Puts the output of the programs into their pages of docs/, between the markers.

    paste_tables.py BIN_FOLDER CASES.yaml [PROGRAM ...]

All programs where none is named.
"""

import pathlib
import re
import subprocess
import sys

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
PAGES = {
    "pairwise_cases": "accuracy.md",
    "all_reduce_cases": "accuracy.md",
    "nccl_cases": "accuracy.md",
    "family_cases": "accuracy.md",
    "whatif_cases": "what-if.md",
}


def paste(bin_folder, cases, program):
    page = DOCS / PAGES[program]
    text = page.read_text(encoding="utf-8")
    begin, end = f"<!-- {program}: begin -->", f"<!-- {program}: end -->"
    pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
    if not pattern.search(text):
        sys.exit(f"{page}: no markers for {program}")
    command = [str(pathlib.Path(bin_folder) / program), cases, "--markdown"]
    tables = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    page.write_text(pattern.sub(lambda _: f"{begin}\n\n{tables}{end}", text), encoding="utf-8")


def main(bin_folder, cases, programs):
    unknown = [program for program in programs if program not in PAGES]
    if unknown:
        sys.exit(f"no page for {', '.join(unknown)}; known: {', '.join(PAGES)}")
    for program in programs or PAGES:
        paste(bin_folder, cases, program)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
