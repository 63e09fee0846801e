#!/usr/bin/env python3
"""Records what NCCL decides: on this machine's two GPUs, and on machines that it is only told of.

NCCL takes a topology file (NCCL_TOPO_FILE) for the truth, so that two GPUs of any kind stand for two GPUs on
any PCIe tree: behind a switch, on root ports, on two sockets, with as many NVLinks as the file says. For each
machine and environment one child process sets a communicator up, dumps the graphs of the search, and runs one
call of each size; NCCL's log says what it chose. Nothing is timed.

    python3 tests/nccl/collect_decisions.py OUT.json      # needs 2 GPUs, PyTorch and its NCCL

The result is read by tests/nccl/decisions_test.cpp.
"""
import concurrent.futures
import ctypes
import datetime
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

INTEL_MODELS = {"broadwell": 79, "skylake": 85, "sapphire": 143, "emerald": 207}
SPEEDS = {1: "2.5 GT/s PCIe", 2: "5.0 GT/s PCIe", 3: "8.0 GT/s PCIe", 4: "16.0 GT/s PCIe", 5: "32.0 GT/s PCIe"}
COLLECTIVES = {"all_reduce": [8 << (2 * i) for i in range(13)] + [1 << i for i in range(15, 25)],
               "all_gather": [64, 4096, 65536, 1 << 20, 16 << 20],
               "reduce_scatter": [64, 4096, 65536, 1 << 20, 16 << 20],
               "broadcast": [64, 4096, 65536, 1 << 20, 16 << 20],
               "reduce": [64, 4096, 65536, 1 << 20, 16 << 20]}


# ---- the machines ---------------------------------------------------------------------------------------------

def pair(layout, cpu, generation, sm, width=16, nvlinks=0):
    """Two GPUs: `switch` behind one switch, `nested` behind two below a third, `switches` behind one each, `root`
    on root ports of one CPU, `sockets` on two CPUs."""
    return {"layout": layout, "cpu": cpu, "generation": generation, "width": width, "sm": sm, "nvlinks": nvlinks}


def machines():
    for sm in (70, 80, 89, 90, 120):
        for generation in (3, 4, 5):
            yield pair("switch", "amd", generation, sm)
    yield pair("switch", "intel-skylake", 4, 80, width=8)
    yield pair("switch", "amd", 5, 120, width=8)
    yield pair("switch", "amd", 5, 120, width=4)
    yield pair("nested", "intel-skylake", 4, 80)
    yield pair("nested", "amd", 5, 120)
    for cpu in ("amd", "intel-sapphire"):
        for sm in (70, 80, 89, 90, 120):
            for generation in (3, 4, 5):
                yield pair("root", cpu, generation, sm)
        yield pair("switches", cpu, 4, 80)
        yield pair("switches", cpu, 5, 120)
    for cpu in ("amd", "intel-broadwell", "intel-skylake", "intel-sapphire", "intel-emerald"):
        for sm in (70, 80, 90, 120):
            yield pair("sockets", cpu, 5 if sm >= 90 else 4, sm)
    for sm, count in ((70, 1), (70, 2), (80, 4), (80, 12), (86, 4), (90, 6), (90, 18)):
        yield pair("root", "intel-sapphire", 4, sm, nvlinks=count)
        yield pair("sockets", "amd", 4, sm, nvlinks=count)


ENVIRONMENTS = [{}, {"NCCL_P2P_DISABLE": "1"}]
REAL_ENVIRONMENTS = ENVIRONMENTS + [
    {"NCCL_ALGO": "Ring"}, {"NCCL_ALGO": "Tree"}, {"NCCL_ALGO": "^Ring"}, {"NCCL_PROTO": "LL"},
    {"NCCL_PROTO": "LL128"}, {"NCCL_PROTO": "Simple"}, {"NCCL_PROTO": "^LL"}, {"NCCL_PROTO": "^Simple"},
    {"NCCL_PROTO": "LL128", "NCCL_P2P_DISABLE": "1"}, {"NCCL_PROTO": "^LL", "NCCL_P2P_DISABLE": "1"},
    {"NCCL_ALGO": "Ring", "NCCL_P2P_DISABLE": "1"}, {"NCCL_MIN_NCHANNELS": "8", "NCCL_MAX_NCHANNELS": "8"},
    {"NCCL_MAX_NCHANNELS": "2"}, {"NCCL_MIN_NCHANNELS": "16", "NCCL_P2P_DISABLE": "1"}, {"NCCL_NTHREADS": "128"},
    {"NCCL_NTHREADS": "100"}, {"NCCL_P2P_LEVEL": "LOC"}, {"NCCL_P2P_LEVEL": "NVL"}, {"NCCL_P2P_LEVEL": "PIX"},
    {"NCCL_THREAD_THRESHOLDS": "1024 1024 1024 1024 1024 1024"}, {"NCCL_MIN_CTAS": "4", "NCCL_MAX_CTAS": "4"},
    {"NCCL_ALGO": "ring;allreduce:tree"}, {"NCCL_PROTO": "allreduce:ll"}]


def bus_ids():
    import torch
    return [f"{p.pci_domain_id:04x}:{p.pci_bus_id:02x}:{p.pci_device_id:02x}.0"
            for p in (torch.cuda.get_device_properties(i) for i in range(2))]


def cpu_element(system, spec, numa):
    vendor, _, model = spec["cpu"].partition("-")
    intel = vendor == "intel"
    return ElementTree.SubElement(system, "cpu", {
        "host_hash": "0x1", "numaid": str(numa), "affinity": "ffffffff", "arch": "x86_64",
        "vendor": "GenuineIntel" if intel else "AuthenticAMD", "familyid": "6" if intel else "25",
        "modelid": str(INTEL_MODELS[model] if intel else 17)})


def bridge(parent, number, spec):
    return ElementTree.SubElement(parent, "pci", {
        "busid": f"00f0:{number:02x}:00.0", "class": "0x060400", "vendor": "0x1000", "device": "0xc010",
        "subsystem_vendor": "0x1000", "subsystem_device": "0xa096",
        "link_speed": SPEEDS[spec["generation"]], "link_width": str(spec["width"])})


def gpu_element(parent, spec, index, ids):
    pci = ElementTree.SubElement(parent, "pci", {
        "busid": ids[index], "class": "0x030200", "vendor": "0x10de", "device": "0x2335",
        "subsystem_vendor": "0x10de", "subsystem_device": "0x18bf",
        "link_speed": SPEEDS[spec["generation"]], "link_width": str(spec["width"])})
    gpu = ElementTree.SubElement(pci, "gpu", {"dev": str(index), "sm": str(spec["sm"]), "rank": str(index),
                                              "gdr": "1"})
    # a file without NVLinks makes NCCL look for real ones: one to a card that does not exist means none
    target = ids[1 - index] if spec["nvlinks"] else "00fe:00:00.0"
    ElementTree.SubElement(gpu, "nvlink", {"target": target, "count": str(spec["nvlinks"] or 1),
                                           "tclass": "0x030200"})


def topology(spec, ids):
    system = ElementTree.Element("system", {"version": "1"})
    cpus = [cpu_element(system, spec, n) for n in range(2 if spec["layout"] == "sockets" else 1)]
    above = [cpus[0], cpus[-1]]
    if spec["layout"] in ("switch", "nested"):
        above = [bridge(cpus[0], 1, spec)] * 2
    if spec["layout"] == "switches":
        above = [bridge(cpus[0], 1, spec), bridge(cpus[0], 2, spec)]
    if spec["layout"] == "nested":
        above = [bridge(above[0], 2, spec), bridge(above[0], 3, spec)]
    for index in range(2):
        gpu_element(above[index], spec, index, ids)
    return ElementTree.tostring(system, encoding="unicode")


# ---- one run, in a child ---------------------------------------------------------------------------------------

def library():
    import torch
    places = glob.glob(os.path.join(os.path.dirname(torch.__file__), "..", "nvidia", "nccl", "lib", "libnccl.so*"))
    return ctypes.CDLL((places or ["libnccl.so.2"])[0])


def check(nccl, status):
    if status != 0:
        nccl.ncclGetErrorString.restype = ctypes.c_char_p
        raise RuntimeError(nccl.ncclGetErrorString(status).decode())


def call(nccl, collective, buffers, streams, comms, size):
    elements = size // 4
    nccl.ncclGroupStart()
    for rank, comm in enumerate(comms):
        send, receive = (ctypes.c_void_p(t.data_ptr()) for t in buffers[rank])
        stream = ctypes.c_void_p(streams[rank].cuda_stream)
        half, whole = ctypes.c_size_t(elements // 2), ctypes.c_size_t(elements)
        number, add = 7, 0  # float, sum
        status = {
            "all_reduce": lambda: nccl.ncclAllReduce(send, receive, whole, number, add, comm, stream),
            "all_gather": lambda: nccl.ncclAllGather(send, receive, half, number, comm, stream),
            "reduce_scatter": lambda: nccl.ncclReduceScatter(send, receive, half, number, add, comm, stream),
            "broadcast": lambda: nccl.ncclBroadcast(send, receive, whole, number, 0, comm, stream),
            "reduce": lambda: nccl.ncclReduce(send, receive, whole, number, add, 0, comm, stream),
        }[collective]()
        check(nccl, status)
    check(nccl, nccl.ncclGroupEnd())


def child():
    import torch
    nccl = library()
    comms = (ctypes.c_void_p * 2)()
    check(nccl, nccl.ncclCommInitAll(comms, 2, (ctypes.c_int * 2)(0, 1)))
    comms = [ctypes.c_void_p(c) for c in comms]
    largest = max(max(sizes) for sizes in COLLECTIVES.values()) // 4
    buffers = [[torch.zeros(largest, device=f"cuda:{i}") for _ in range(2)] for i in range(2)]
    streams = [torch.cuda.Stream(device=i) for i in range(2)]
    for i in range(2):
        torch.cuda.synchronize(i)
    for collective, sizes in COLLECTIVES.items():
        for size in sorted(set(sizes)):
            try:
                call(nccl, collective, buffers, streams, comms, size)
            except RuntimeError as error:
                print("FAILED", collective, size, error, flush=True)
                os._exit(3)
    for i in range(2):
        torch.cuda.synchronize(i)
    os._exit(0)


# ---- what the logs say ------------------------------------------------------------------------------------------

def graphs_of(path):
    graphs = {}
    for graph in ElementTree.parse(path).getroot().iter("graph"):
        graphs[graph.get("id")] = {
            "pattern": int(graph.get("pattern")), "channels": int(graph.get("nchannels")),
            "speed_intra": float(graph.get("speedintra")), "type_intra": graph.get("typeintra"),
            "same_channels": int(graph.get("samechannels")),
            "orders": [[int(gpu.get("dev"), 0) for gpu in channel.iter("gpu")] for channel in graph.iter("channel")]}
    return {"ring": graphs.get("0"), "tree": graphs.get("1"), "nvls": graphs.get("3")}


CHOICE = re.compile(r"(AllReduce|AllGather|ReduceScatter|Broadcast|Reduce): (\d+) Bytes -> Algo (\S+) proto (\S+) "
                    r"channel\{Lo\.\.Hi\}=\{(\d+)\.\.(\d+)\}")


def costs_of(lines):
    """NCCL's table: of Tree and Ring, latency in us and bandwidth in GB/s by collective, LL, LL128 and Simple."""
    threads, costs, here = {}, {}, False
    for line in lines:
        name, _, rest = line.partition("|")
        cells = [cell.strip() for cell in rest.split("|")]
        if name.strip() == "Algorithm":
            here = cells[:2] == ["Tree", "Ring"]
        elif here and name.strip() == "Max NThreads":
            threads = {"tree": [int(c) for c in cells[0:3]], "ring": [int(c) for c in cells[3:6]]}
        elif here and "/" in rest:
            pairs = [[float(number) for number in cell.split("/")] for cell in cells[:6]]
            costs[name.strip()] = {"tree": pairs[:3], "ring": pairs[3:]}
    return threads, costs


def decisions(log):
    found = {"choices": [], "transports": []}
    table = []
    for line in log.splitlines():
        text = line.split("NCCL INFO ", 1)[-1]
        choice = CHOICE.search(text)
        if choice:
            name, size, algorithm, protocol, low, high = choice.groups()
            entry = [name, int(size), algorithm, protocol, int(high) - int(low) + 1]
            if entry not in found["choices"]:
                found["choices"].append(entry)
        if " coll channels" in text:
            found["coll_channels"] = int(text.split()[0])
        if text.startswith("threadThresholds"):
            found["thread_thresholds"] = text[len("threadThresholds "):]
        if "falling back to simple order" in text:
            found["fallback"] = True
        if re.search(r"^\s*(Algorithm|Max NThreads|AllReduce|AllGather|ReduceScatter|Broadcast|Reduce) *\|", text):
            if text.rstrip() not in table:
                table.append(text.rstrip())
        via = re.search(r": \d+\[\d+\] -> \d+\[\d+\] via (\S+)", text)
        if via and via.group(1) not in found["transports"]:
            found["transports"].append(via.group(1))
        version = re.search(r"NCCL version (\S+)", text)
        if version:
            found["version"] = version.group(1)
    found["max_threads"], found["costs"] = costs_of(table)
    return found


def run(spec, environment, ids):
    with tempfile.TemporaryDirectory() as folder:
        given = dict(os.environ, NCCL_DEBUG="INFO", NCCL_DEBUG_SUBSYS="INIT,GRAPH,TUNING,ENV,P2P,SHM",
                     NCCL_DEBUG_FILE=f"{folder}/log", NCCL_GRAPH_DUMP_FILE=f"{folder}/graph.xml",
                     NCCL_NVLS_ENABLE="0", NCCL_IB_DISABLE="1", **environment)
        if spec:
            with open(f"{folder}/topology.xml", "w", encoding="utf-8") as file:
                file.write(topology(spec, ids))
            given["NCCL_TOPO_FILE"] = f"{folder}/topology.xml"
        result = {"machine": spec, "environment": environment}
        try:
            done = subprocess.run([sys.executable, __file__, "--child"], env=given, timeout=120, check=False,
                                  capture_output=True, text=True)
            result["exit"] = done.returncode
            if done.returncode != 0:
                result["error"] = (done.stdout + done.stderr)[-600:]
        except subprocess.TimeoutExpired:
            result["exit"] = 124
        if os.path.exists(f"{folder}/log"):
            with open(f"{folder}/log", encoding="utf-8", errors="replace") as file:
                text = file.read()
            result.update(decisions(text))
            if result["exit"] != 0:
                result["last_lines"] = text.splitlines()[-15:]
        if os.path.exists(f"{folder}/graph.xml"):
            result["graphs"] = graphs_of(f"{folder}/graph.xml")
        return result


def main():
    if sys.argv[1:] == ["--child"]:
        child()
    import torch
    ids = bus_ids()
    jobs = [(None, e) for e in REAL_ENVIRONMENTS] + [(m, e) for m in machines() for e in ENVIRONMENTS]
    with concurrent.futures.ThreadPoolExecutor(max_workers=8) as pool:
        results = list(pool.map(lambda job: run(*job, ids), jobs))
    head = {
        "what": "what NCCL decides, on two GPUs and on machines told to it by NCCL_TOPO_FILE; nothing is timed",
        "how": "tests/nccl/collect_decisions.py",
        "gpus": [torch.cuda.get_device_name(i) for i in range(2)],
        "torch": torch.__version__,
        "note": "NCCL_NVLS_ENABLE=0, NCCL_IB_DISABLE=1; `machine` null is the real one (NVLink between the GPUs)",
        "measured": f"{datetime.date.today()}, {os.uname().machine}",
    }
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write("{\n" + "".join(f" {json.dumps(k)}: {json.dumps(v)},\n" for k, v in head.items()))
        runs = ",\n".join("  " + json.dumps(r, separators=(",", ":")) for r in results)
        file.write(' "runs": [\n' + runs + "\n ]\n}\n")
    bad = [r for r in results if r["exit"] != 0]
    print(len(results), "runs,", len(bad), "failed")
    for r in bad[:12]:
        print(r["machine"], r["environment"], r["exit"], r.get("error", "")[-300:], r.get("last_lines", [])[-3:])


if __name__ == "__main__":
    main()
