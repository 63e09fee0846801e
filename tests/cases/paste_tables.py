#!/usr/bin/env python3
"""Puts the output of the programs into docs/accuracy.md, between the markers.

    paste_tables.py BIN_FOLDER CASES.yaml
"""

import pathlib
import re
import subprocess
import sys

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "accuracy.md"


def main(bin_folder, cases):
    text = PAGE.read_text(encoding="utf-8")
    for program in ("pairwise_cases", "all_reduce_cases", "nccl_cases", "family_cases"):
        command = [str(pathlib.Path(bin_folder) / program), cases, "--markdown"]
        tables = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        begin, end = f"<!-- {program}: begin -->", f"<!-- {program}: end -->"
        pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
        if not pattern.search(text):
            sys.exit(f"{PAGE}: no markers for {program}")
        text = pattern.sub(lambda _: f"{begin}\n\n{tables}{end}", text)
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
