#!/usr/bin/env python3
"""The program in docs/engine.md is the one that is compiled: hw/example/all_reduce.cpp.

    example_in_docs_test.py ROOT             exit 1 if they differ
    example_in_docs_test.py ROOT --update    writes the program into the page
"""

import re
import sys
from pathlib import Path

root = Path(sys.argv[1])
page = root / "docs/engine.md"
program = (root / "hw/example/all_reduce.cpp").read_text()
text = page.read_text()
blocks = re.findall(r"^```cpp\n(.*?)^```$", text, re.M | re.S)
if len(blocks) != 1:
    sys.exit(f"{page}: {len(blocks)} C++ blocks; there must be one, the example")
if "--update" in sys.argv:
    page.write_text(text.replace(blocks[0], program))
elif blocks[0] != program:
    sys.exit(f"{page}: the example differs from hw/example/all_reduce.cpp; run this with --update")
