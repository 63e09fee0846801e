"""What NCCL's log and dumps say of the files that it was given: the judging half of load_files.py, without GPUs.

Sources of the lines: NVIDIA/nccl 2.28 src/graph/search.cc (`ncclTopoCompute`), src/graph/xml.cc, src/graph/topo.cc,
src/plugin/tuner.cc, src/misc/param.cc, plugins/tuner/example/plugin.c.
"""
import json
import re
import xml.etree.ElementTree as ElementTree

LARGEST_SIZE = 64 << 20
SIZES_WITHOUT_TUNER = [1 << 10, 1 << 20]
LOCAL_NUMBER = (1 << 56) - 1  # a GPU's number without that of its computer

VARIABLE = re.compile(r"(NCCL_\w+) set by environment to (.*)$")
LOADED = re.compile(r"Search (\d+) : (-?\d+) channels loaded from XML graph")
ROWS = re.compile(r"TUNER/ExamplePlugin: Loaded (\d+) tuning configurations from")
IGNORED = re.compile(r"combination \[(\w+)\]\[(\w+)\] is marked as IGNORE")
CHOICE = re.compile(r"AllReduce: (\d+) Bytes -> Algo (\S+) proto (\S+) channel\{Lo\.\.Hi\}=\{(\d+)\.\.(\d+)\}")
EVIDENCE = {
    "nccl.env": re.compile(r" set by environment to "),
    "nccl_tuner.csv": re.compile(r"TUNER|tuner plugin"),
    "nccl_graph.xml": re.compile(r"NCCL_GRAPH_FILE|Loading graphs|loaded from XML graph"),
    "nccl_topo.xml": re.compile(r"NCCL_TOPO_FILE|Loading topology|Loading unnamed topology|topology file")}
COMPLAINTS = {
    "nccl.env": re.compile(r"(?i)environment|invalid|unrecognized"),
    "nccl_tuner.csv": re.compile(r"(?i)tuner"),
    "nccl_graph.xml": re.compile(r"XML"),
    "nccl_topo.xml": re.compile(r"XML")}
MOST_LINES = 60


# ---- the files --------------------------------------------------------------------------------------------------

def gpus_in(text):
    """How many GPUs a topology or graph file has."""
    return len({int(gpu.get("dev"), 16) for gpu in ElementTree.fromstring(text).iter("gpu")})


def with_addresses(text, addresses):
    """A topology file whose GPU number i stands at addresses[i]; and what was renamed, as pairs. GPUs beyond stay."""
    renamed = {}
    for pci in ElementTree.fromstring(text).iter("pci"):
        gpu = pci.find("gpu")
        here = gpu is not None and int(gpu.get("dev")) < len(addresses)
        if here and addresses[int(gpu.get("dev"))] != pci.get("busid"):
            renamed[pci.get("busid")] = addresses[int(gpu.get("dev"))]
    changed = re.sub(r'"([0-9a-f:.]+)"', lambda match: f'"{renamed.get(match.group(1), match.group(1))}"', text)
    return changed, sorted(renamed.items())


def rows_of(csv):
    """Rows of a tuner's file as the plugin reads them."""
    lines = (line.split(",") for line in csv.splitlines() if line and not line.startswith("#"))
    return [[field.strip() for field in fields] for fields in lines if 8 <= len(fields) <= 10]


def with_any_ranks(csv):
    lines = []
    for line in csv.splitlines():
        fields = line.split(",")
        if not line.startswith("#") and len(fields) >= 8:
            fields[6:8] = ["-1", "-1"]
        lines.append(",".join(fields))
    return "\n".join(lines) + "\n"


def sizes_to_try(csv):
    """Bytes: the smallest size of whole floats of each all-reduce row that is not too large."""
    sizes = set()
    for row in rows_of(csv):
        size = max(8, (int(row[1]) + 3) // 4 * 4)
        if row[0] == "allreduce" and size <= min(int(row[2]), LARGEST_SIZE):
            sizes.add(size)
    return sorted(sizes) or SIZES_WITHOUT_TUNER


# ---- one file in one run: sentences why it was not taken, and sentences of what else is to be said ------------------

def same_value(given, logged):
    try:
        return int(given, 0) == int(logged.rstrip("."), 0)
    except ValueError:
        return logged in (given, given + ".")


def judge_environment(seen):
    logged = dict(match.groups() for match in map(VARIABLE.search, seen["log"].splitlines()) if match)
    given = {name: value for name, value in seen["environment"].items() if not name.endswith(("_FILE", "_PLUGIN"))}
    faults = [f"{name} is {logged[name]} for NCCL, not {value}" for name, value in given.items()
              if name in logged and not same_value(value, logged[name])]
    if given and not set(given) & set(logged):
        faults.append("NCCL names none of its variables")
    return faults, [f"{name} was not asked for" for name in given if name not in logged]


def judge_tuner(seen):
    rows = rows_of(seen["texts"]["nccl_tuner.csv"])
    counts = {int(count) for count in ROWS.findall(seen["log"])}
    faults = [] if "TUNER/Plugin: Using" in seen["log"] else ["NCCL did not load the plugin"]
    if counts != {len(rows)}:
        faults.append(f"the plugin read {sorted(counts) or 'no'} rows of {len(rows)}")
    if seen["ranks"] < 2:
        return faults, ["read; NCCL asks no tuner for one rank"]
    ruled_out = set(IGNORED.findall(seen["log"]))
    asked = 0
    for size, algorithm, protocol, low, high in sorted(set(CHOICE.findall(seen["log"]))):
        row = next((r for r in rows if r[0] == "allreduce" and int(r[1]) <= int(size) <= int(r[2])
                    and r[7] in ("-1", str(seen["ranks"])) and (r[3], r[4]) not in ruled_out), None)
        if row is None:
            continue
        asked += 1
        channels = int(high) - int(low) + 1
        if [algorithm.lower(), protocol.lower()] != row[3:5] or channels > int(row[5]):
            faults.append(f"{size} B: NCCL took {algorithm} {protocol} with {channels} channels, the row says "
                          f"{row[3]} {row[4]} with {row[5]}")
    if asked == 0:
        faults.append("no call of NCCL's log fits a row")
    return faults, [f"{algorithm} {protocol} is ruled out by NCCL: its rows were passed over"
                    for algorithm, protocol in sorted(ruled_out)]


def graphs_of(text):
    """What stands in graphs 0 and 1 of a graph file or dump, in comparable form."""
    graphs = {}
    for graph in ElementTree.fromstring(text).iter("graph"):
        number = int(graph.get("id"))
        if number in (0, 1):
            graphs[number] = {
                **{name: int(graph.get(name)) for name in ("pattern", "crossnic", "nchannels", "samechannels")},
                **{name: float(graph.get(name)) for name in ("speedintra", "speedinter", "latencyinter")},
                **{name: graph.get(name) for name in ("typeintra", "typeinter")},
                "orders": [[int(gpu.get("dev"), 16) & LOCAL_NUMBER for gpu in channel.iter("gpu")]
                           for channel in graph.iter("channel")]}
    return graphs


def judge_graph(seen):
    wanted = graphs_of(seen["texts"]["nccl_graph.xml"])
    loaded = {(int(number), int(count)) for number, count in LOADED.findall(seen["log"])}
    faults = [f"the log does not say that graph {number} was loaded with {graph['nchannels']} channels"
              for number, graph in wanted.items() if (number, graph["nchannels"]) not in loaded]
    if not seen["graph"]:
        return faults + ["NCCL dumped no graphs"], []
    dumped = graphs_of(seen["graph"])
    for number, graph in wanted.items():
        for name, value in graph.items():
            if dumped.get(number, {}).get(name) != value:
                found = dumped.get(number, {}).get(name)
                faults.append(f"graph {number}: {name} is {found} in NCCL's dump, not {value}")
    return faults, []


def cards_of(text):
    """GPUs of a topology by address: what NCCL takes over from a file, down from the CPU."""
    cards = {}

    def walk(node, above):
        here = above
        if node.tag == "cpu":
            here = [("numaid", node.get("numaid"))]
        if node.tag == "pci":
            here = above + [(name, node.get(name)) for name in ("busid", "link_speed", "link_width")]
            gpu = node.find("gpu")
            if gpu is not None:
                links = sorted((link.get("target"), link.get("count")) for link in gpu.iter("nvlink"))
                cards[node.get("busid")] = here + [("dev", gpu.get("dev")), ("sm", gpu.get("sm")), ("nvlinks", links)]
        for child in node:
            walk(child, here)

    walk(ElementTree.fromstring(text), [])
    return cards


def judge_topology(seen):
    faults = [] if "Loading topology file" in seen["log"] else ["the log does not say that the file was loaded"]
    if not seen["topo"]:
        return faults + ["NCCL dumped no topology"], []
    notes = []
    dumped = cards_of(seen["topo"])
    for address, wanted in cards_of(seen["texts"]["nccl_topo.xml"]).items():
        if address not in seen.get("addresses", [address]):
            notes.append(f"{address} is a GPU that is not here: NCCL leaves it out")
            continue
        for (name, value), (_, found) in zip(wanted, dumped.get(address, [])):
            if name == "nvlinks" and not value:  # a file without NVLinks makes NCCL look for real ones
                notes += [f"NCCL added NVLinks of its own to {address}"] if found else []
            elif value != found:
                faults.append(f"{address}: {name} is {found} in NCCL's dump, not {value}")
        if len(dumped.get(address, [])) != len(wanted):
            faults.append(f"{address} is not where the file puts it, or missing in NCCL's dump")
    return faults, notes


JUDGES = {"nccl.env": judge_environment, "nccl_tuner.csv": judge_tuner, "nccl_graph.xml": judge_graph,
          "nccl_topo.xml": judge_topology}


# ---- a run, and all runs -------------------------------------------------------------------------------------------

def sums_right(outputs):
    def said(output):
        lines = [line for line in output.splitlines() if line.startswith('{"right"')]
        return bool(lines) and json.loads(lines[-1])["right"]
    return bool(outputs) and all(map(said, outputs))


def judged(names, seen, folder=""):
    """Of a run with these files: whether it ran, what was logged, and of each file whether it was taken.

    seen: log, outputs and codes of the ranks, ranks, topo and graph (dumps), environment, texts (of the files)
    """
    texts = [line.replace(folder, "DIR") if folder else line for line in seen["log"].splitlines()]
    texts = [line.split("NCCL ", 1)[-1] for line in texts]
    warnings = list(dict.fromkeys(line for line in texts if line.startswith("WARN")))
    right = sums_right(seen["outputs"])
    ran = right and all(code == 0 for code in seen["codes"])
    result = {"exit": seen["codes"], "right": right, "warnings": warnings[:MOST_LINES], "taken": {}}
    for name in names:
        faults, notes = JUDGES[name](seen)
        faults += [line for line in warnings if COMPLAINTS[name].search(line)]
        faults += [] if ran else ["the run failed" if not all(code == 0 for code in seen["codes"]) else "wrong sums"]
        lines = list(dict.fromkeys(line for line in texts if EVIDENCE[name].search(line)))
        result["taken"][name] = {"taken": not faults, "faults": faults, "notes": notes, "lines": lines[:MOST_LINES]}
    result["choices"] = sorted({(int(s), a, p, int(h) - int(l) + 1) for s, a, p, l, h in CHOICE.findall(seen["log"])})
    if not ran:
        result["last_lines"] = texts[-15:] + [output[-600:] for output in seen["outputs"]]
    return result


def summary(run):
    said = ", ".join(f"{name} {'taken' if each['taken'] else 'NOT taken'}" for name, each in run["taken"].items())
    return f"{run['shape']}: {said or 'no files'}; exit {run['exit']}, right {run['right']}, {run['seconds']} s"


def together(runs, names, skipped):
    """A sentence for each file, that begins with taken, not taken or skipped, and one for the runs without files."""
    verdicts = {}
    bare = [run for run in runs if not run["files"]]
    failed = [run["shape"] for run in bare if not run["right"] or any(code != 0 for code in run["exit"])]
    verdicts["no files"] = f"not run: {'; '.join(failed)}" if failed or not bare else "ran"
    for name in names:
        each = [(run["shape"], run["taken"][name]) for run in runs if name in run["taken"]]
        faults = [f"{shape}: {fault}" for shape, said in each for fault in said["faults"]]
        unseen = set.intersection(*(set(said["notes"]) for _, said in each)) if each else set()
        verdicts[name] = ("not taken: " + "; ".join(faults or ["no run"]) if faults or not each
                          else "taken" + "".join(f"; {note}" for note in sorted(unseen)))
    verdicts.update({name: f"skipped: {why}" for name, why in skipped.items()})
    return verdicts


def is_success(verdicts):
    taken = [said for said in verdicts.values() if said.startswith("taken")]
    return bool(taken) and all(said.startswith(("taken", "skipped", "ran")) for said in verdicts.values())
