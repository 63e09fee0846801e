#!/usr/bin/env python3
"""Checks the direction of includes, the length of files and what stands at the root.

    check_layering.py ROOT       prints a line for each violation; exit 1 if there is any
    check_layering.py --self-test  plants a violation of each kind in a temporary tree and looks for it
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

MAX_LINES = 400
CPP_SUFFIXES = {".cpp", ".hpp", ".cu", ".cuh", ".cc", ".h"}

TOP_LEVEL = set(
    "model sim hw configs calibrate reports tests cli docs bootstrap CMakeLists.txt CMakePresets.json "
    "README.md LICENSE NOTICE CHANGELOG.md build".split()
)

# The C++20 headers (and the C ones under their C++ and C names).
STANDARD = set(
    """
    algorithm any array atomic barrier bit bitset charconv chrono codecvt compare complex concepts
    condition_variable coroutine deque exception execution filesystem format forward_list fstream functional
    future initializer_list iomanip ios iosfwd iostream istream iterator latch limits list locale map memory
    memory_resource mutex new numbers numeric optional ostream queue random ranges ratio regex scoped_allocator
    semaphore set shared_mutex source_location span sstream stack stdexcept stop_token streambuf string
    string_view strstream syncstream system_error thread tuple type_traits typeindex typeinfo unordered_map
    unordered_set utility valarray variant vector version
    cassert cctype cerrno cfenv cfloat cinttypes climits clocale cmath csetjmp csignal cstdarg cstddef cstdint
    cstdio cstdlib cstring ctime cuchar cwchar cwctype
    assert.h ctype.h errno.h fenv.h float.h inttypes.h limits.h locale.h math.h setjmp.h signal.h stdarg.h
    stddef.h stdint.h stdio.h stdlib.h string.h time.h uchar.h wchar.h wctype.h
    """.split()
)

# The operating system's own headers: everywhere but in model, which does no input or output.
SYSTEM = re.compile(
    r"(sys|linux|netinet|arpa|net|asm)/.+|"
    r"(cxxabi|dirent|dlfcn|endian|execinfo|fcntl|fnmatch|getopt|glob|grp|libgen|link|netdb|poll|pthread|pwd|"
    r"sched|semaphore|spawn|strings|termios|unistd)\.h"
)


class Layer(NamedTuple):
    folders: frozenset  # folders of ours that it may include
    packages: str  # regular expression of third-party headers that it may include
    system: bool = True  # whether it may include the operating system's headers


def layer(folders, packages, system=True):
    return Layer(frozenset(folders.split()), packages, system)


NOTHING = r"(?!)"
LAYERS = {
    "model": layer("model", NOTHING, system=False),
    "sim": layer("model sim", r"(simgrid|xbt|smpi)/.+"),
    "hw": layer(
        "model hw",
        r"(cuda|cub|thrust|cooperative_groups|nvtx3|nv)/.+|cooperative_groups\.h|(cuda|cupti|nv)\w*\.h|"
        r"(device|vector)_\w+\.h|sm_\w+\.h|math_constants\.h",
    ),
    "configs": layer("model configs", r"(yaml-cpp|nlohmann|hwloc)/.+|pugi(xml|config)\.hpp|hwloc\.h"),
    "calibrate": layer("model calibrate", r"(Eigen|unsupported/Eigen)/.+"),
    "reports": layer("model reports", r"(nlohmann|fmt)/.+|pugi(xml|config)\.hpp|zlib\.h"),
    "cli": layer("model sim hw configs calibrate reports cli", r".+"),
}
FOLDERS = set(LAYERS) | {"tests"}
GENERATED = {"lanecast_version.hpp"}  # made by the top CMakeLists.txt; model is not to know it

INCLUDE = re.compile(r'\s*#\s*include\s*(?:<([^>]+)>|"([^"]+)")')


def angle_problem(folder, header):
    allowed = LAYERS[folder]
    if header.split("/")[0] in FOLDERS and "/" in header:
        return f'include <{header}> names our own file: write "{header}"'
    if header in STANDARD or (allowed.system and SYSTEM.fullmatch(header)):
        return None
    if re.fullmatch(allowed.packages, header):
        return None
    return f"{folder} may not include <{header}>"


def quoted_problem(folder, header):
    first, slash, _ = header.partition("/")
    if header in GENERATED and folder != "model":
        return None
    if not slash or first not in FOLDERS:
        return f'include "{header}" is not a path from the root, as in "{folder}/..."'
    if first not in LAYERS[folder].folders:
        return f'{folder} may not include {first} ("{header}")'
    return None


def include_problems(folder, lines):
    for number, line in enumerate(lines, start=1):
        match = INCLUDE.match(line)
        if not match:
            continue
        angle, quoted = match.groups()
        problem = angle_problem(folder, angle) if angle else quoted_problem(folder, quoted)
        if problem:
            yield number, problem


def file_problems(root):
    for folder in sorted(FOLDERS):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in CPP_SUFFIXES or not path.is_file():
                continue
            name = path.relative_to(root)
            lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
            length = len(lines) - (lines[-1] == "")
            if folder in LAYERS:
                for number, problem in include_problems(folder, lines):
                    yield f"{name}:{number}: {problem}"
            if length > MAX_LINES:
                yield f"{name}:{MAX_LINES + 1}: {length} lines; {MAX_LINES} is the limit: split by noun"


def is_ignored(root, name):
    """Whether git ignores it: what tools leave behind is nobody's concern. Without git nothing is ignored."""
    try:
        command = ["git", "-C", str(root), "check-ignore", "-q", name]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def top_level_problems(root):
    for entry in sorted(root.iterdir()):
        name = entry.name
        if not name.startswith(".") and name not in TOP_LEVEL and not is_ignored(root, name):
            yield f"{name}:1: does not belong at the root"


def problems(root):
    return [*file_problems(root), *top_level_problems(root)]


# --- self-test ---------------------------------------------------------------------------------------------

CLEAN = {
    "README.md": "",
    ".hidden": "",
    "build/anything.hpp": '#include "cli/x.hpp"\n',
    "model/link/a.hpp": '#pragma once\n#include <vector>\n#include <cmath>\n#include "model/units.hpp"\n',
    "sim/a.cpp": '#include <simgrid/s4u.hpp>\n#include <sys/wait.h>\n#include "model/a.hpp"\n#include "sim/b.hpp"\n',
    "hw/a.cu": '#include <cuda_runtime.h>\n#include "model/a.hpp"\n',
    "configs/a.cpp": "#include <hwloc.h>\n#include <nlohmann/json.hpp>\n#include <pugixml.hpp>\n#include <yaml-cpp/yaml.h>\n",
    "calibrate/a.cpp": "#include <Eigen/Dense>\n#include <unsupported/Eigen/LevenbergMarquardt>\n",
    "reports/a.cpp": "#include <fmt/format.h>\n#include <nlohmann/json.hpp>\n#include <pugixml.hpp>\n",
    "cli/a.cpp": '#include <CLI/CLI.hpp>\n#include "configs/a.hpp"\n#include "lanecast_version.hpp"\n#include "sim/a.hpp"\n',
    "tests/a_test.cpp": '#include <gtest/gtest.h>\n#include "cli/a.hpp"\n#include "tests/support/b.hpp"\n',
    "tests/full.cpp": "//\n" * MAX_LINES,
}

# path, text, the line at fault, what the message says
VIOLATIONS = [
    ("model/b.hpp", '#include "sim/a.hpp"\n', 1, "model may not include sim"),
    ("model/b.hpp", '\n#  include "configs/a.hpp"\n', 2, "model may not include configs"),
    ("model/b.cpp", "#include <yaml-cpp/yaml.h>\n", 1, "model may not include <yaml-cpp/yaml.h>"),
    ("model/b.cpp", "#include <simgrid/s4u.hpp>\n", 1, "model may not include <simgrid"),
    ("model/b.cpp", "#include <fmt/format.h>\n", 1, "model may not include <fmt"),
    ("model/b.cpp", "#include <nlohmann/json.hpp>\n", 1, "model may not include <nlohmann"),
    ("model/b.cpp", "#include <unistd.h>\n", 1, "model may not include <unistd.h>"),
    ("model/b.cpp", "#include <cuda_runtime.h>\n", 1, "model may not include <cuda_runtime.h>"),
    ("model/b.cpp", '#include "lanecast_version.hpp"\n', 1, "not a path from the root"),
    ("model/link/b.cpp", '#include "a.hpp"\n', 1, "not a path from the root"),
    ("model/b.cpp", "#include <model/a.hpp>\n", 1, "names our own file"),
    ("sim/b.cpp", '#include "configs/a.hpp"\n', 1, "sim may not include configs"),
    ("sim/b.cpp", "#include <fmt/format.h>\n", 1, "sim may not include <fmt"),
    ("hw/b_device.cuh", '#include "sim/a.hpp"\n', 1, "hw may not include sim"),
    ("hw/b.cu", "#include <yaml-cpp/yaml.h>\n", 1, "hw may not include <yaml-cpp"),
    ("configs/b.cpp", '#include "reports/a.hpp"\n', 1, "configs may not include reports"),
    ("configs/b.cpp", "#include <Eigen/Dense>\n", 1, "configs may not include <Eigen"),
    ("calibrate/b.cpp", '#include "sim/a.hpp"\n', 1, "calibrate may not include sim"),
    ("calibrate/b.cpp", "#include <simgrid/s4u.hpp>\n", 1, "calibrate may not include <simgrid"),
    ("reports/b.cpp", '#include "cli/a.hpp"\n', 1, "reports may not include cli"),
    ("reports/b.cpp", "#include <hwloc.h>\n", 1, "reports may not include <hwloc.h>"),
    ("cli/b.cpp", '#include "tests/support/b.hpp"\n', 1, "cli may not include tests"),
    ("model/b.cpp", "//\n" * (MAX_LINES + 1), MAX_LINES + 1, "401 lines"),
    ("tests/b_test.cpp", "//\n" * (MAX_LINES + 1), MAX_LINES + 1, "401 lines"),
    ("utils/b.py", "", 1, "does not belong at the root"),
    ("notes.txt", "", 1, "does not belong at the root"),
]


def problems_of_tree(files):
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for name, text in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return problems(root)


def self_test():
    failures = []
    found = problems_of_tree(CLEAN)
    if found:
        failures.append(f"a clean tree is not clean: {found}")
    for name, text, line, message in VIOLATIONS:
        found = problems_of_tree({**CLEAN, name: text})
        at_root = "root" in message and "path" not in message
        start = f"{name.split('/')[0] if at_root else name}:{line}: "
        if len(found) != 1 or not found[0].startswith(start) or message not in found[0]:
            failures.append(f"expected one `{start}...{message}...`, found {found}")
    for failure in failures:
        print(failure)
    print(f"{len(VIOLATIONS) + 1 - len(failures)} of {len(VIOLATIONS) + 1} cases as expected")
    return 1 if failures else 0


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    if len(arguments) != 1 or not Path(arguments[0]).is_dir():
        print(__doc__, file=sys.stderr)
        return 2
    found = problems(Path(arguments[0]))
    for problem in found:
        print(problem)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
