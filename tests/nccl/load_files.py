#!/usr/bin/env python3
"""Shows that NCCL takes the files that `lanecast tune --nccl-dir DIR` writes.

    python3 tests/nccl/load_files.py DIR OUT.json [--tuner-plugin PATH.so]   # needs a GPU, PyTorch and its NCCL
    python3 tests/nccl/load_files.py --self-test                             # needs nothing

Once without files, once for each of nccl.env, nccl_tuner.csv, nccl_graph.xml and nccl_topo.xml, and once with all,
NCCL is started in processes of its own, one for each GPU of the files. Files of one GPU are also given to two
processes that share it and pass for two computers (NCCL_HOSTID; sockets over loopback), since NCCL asks no tuner for
a single rank. Each run ends with all-reduces whose sums are checked. What NCCL logs, and what it dumps of its topology
and graphs, says whether it took a file (load_files_verdict.py). NVLink multicast is off throughout.

Two things are changed in copies of the files: the GPUs' PCI addresses become this machine's, by number, and with two
pretended computers the tuner's rows hold for any ranks and nodes. NCCL itself reads no nccl_tuner.csv: NVIDIA's example
plugin does (`--tuner-plugin`); without one that file is skipped. The exit code is 1 where a file was not taken.
"""
import argparse
import datetime
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import load_files_verdict as verdict

CHILD_SECONDS = 60
GRACE_SECONDS = 5
FILES = ("nccl.env", "nccl_tuner.csv", "nccl_graph.xml", "nccl_topo.xml")
ALWAYS = {"NCCL_DEBUG": "INFO", "NCCL_DEBUG_SUBSYS": "INIT,ENV,GRAPH,TUNING", "NCCL_IB_DISABLE": "1",
          "NCCL_NVLS_ENABLE": "0", "TORCH_SYMM_MEM_DISABLE_MULTICAST": "1", "NCCL_SOCKET_IFNAME": "lo"}
OF_FILES = ("NCCL_TUNER_PLUGIN", "NCCL_TUNER_CONFIG_FILE", "NCCL_GRAPH_FILE", "NCCL_TOPO_FILE")


# ---- the children -----------------------------------------------------------------------------------------------

def gpus_main():
    import torch
    devices = [torch.cuda.get_device_properties(i) for i in range(torch.cuda.device_count())]
    print(json.dumps({
        "gpus": [device.name for device in devices], "torch": torch.__version__,
        "nccl": ".".join(map(str, torch.cuda.nccl.version())),
        "addresses": [f"{d.pci_domain_id:04x}:{d.pci_bus_id:02x}:{d.pci_device_id:02x}.0" for d in devices]}))


def part(store, rank, ranks):
    """Waits for all ranks: one that left with data still to be sent would leave its peers waiting. Rank 0 has the
    store, and leaves last."""
    store.set(f"done-{rank}", "1")
    store.wait([f"done-{peer}" for peer in range(ranks)])
    store.set(f"left-{rank}", "1")
    if rank == 0:
        store.wait([f"left-{peer}" for peer in range(ranks)])


def rank_main(rank, job):
    """One rank of a run: job has ranks, port, sizes and whether all share GPU 0."""
    import torch
    import torch.distributed as dist
    device = torch.device("cuda", 0 if job["shared"] else rank)
    torch.cuda.set_device(device)
    limit = datetime.timedelta(seconds=CHILD_SECONDS)
    store = dist.TCPStore("127.0.0.1", job["port"], job["ranks"], rank == 0, timeout=limit)
    dist.init_process_group("nccl", store=store, rank=rank, world_size=job["ranks"], timeout=limit)
    right = True
    for size in job["sizes"]:
        pattern = torch.arange(size // 4, device=device, dtype=torch.float32).remainder(7)
        tensor = pattern * (rank + 1)
        dist.all_reduce(tensor)
        right = right and bool((tensor == pattern * (job["ranks"] * (job["ranks"] + 1) // 2)).all())
    torch.cuda.synchronize()
    print(json.dumps({"right": right}), flush=True)
    part(store, rank, job["ranks"])
    os._exit(0)  # without destroying the communicator, which would wait for the peers again


def start(words, environment, log):
    return subprocess.Popen([sys.executable, os.path.abspath(__file__), *words], env=environment, stdout=log,
                            stderr=subprocess.STDOUT, start_new_session=True)


def wait_for(processes, seconds, grace=GRACE_SECONDS):
    """Exit codes; who is not done by then, or outlives a peer that failed by the grace, is killed with its children."""
    deadline = time.monotonic() + seconds
    while any(process.poll() is None for process in processes) and time.monotonic() < deadline:
        if any(process.poll() not in (None, 0) for process in processes):
            deadline = min(deadline, time.monotonic() + grace)
        time.sleep(0.05)
    codes = []
    for process in processes:
        done = process.poll() is not None
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        code = process.wait()
        codes.append(code if done else "killed")
    return codes


def read_text(path):
    if not os.path.exists(path):
        return ""
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


# ---- the files --------------------------------------------------------------------------------------------------

def sourced(path):
    """What a shell exports that sources the file."""
    done = subprocess.run(["sh", "-c", '. "$1" && env -0', "sh", os.path.abspath(path)],
                          env={"PATH": os.environ["PATH"]}, capture_output=True, timeout=10, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{path}: no shell can source it: {done.stderr.decode(errors='replace')}")
    pairs = (entry.split("=", 1) for entry in done.stdout.decode().split("\0") if "=" in entry)
    return {name: value for name, value in pairs if name not in ("PATH", "PWD", "OLDPWD", "SHLVL", "_")}


def localized(folder, texts, addresses, shared):
    """Copies of the files as this machine needs them: paths by name, and what was changed."""
    changed = []
    if "nccl_topo.xml" in texts:
        texts["nccl_topo.xml"], renamed = verdict.with_addresses(texts["nccl_topo.xml"], addresses)
        changed += [f"nccl_topo.xml: {old} is {new} here" for old, new in renamed]
    if shared and "nccl_tuner.csv" in texts:
        texts["nccl_tuner.csv"] = verdict.with_any_ranks(texts["nccl_tuner.csv"])
        changed.append("nccl_tuner.csv: rows hold for any nodes and ranks")
    paths = {}
    for name, text in texts.items():
        paths[name] = os.path.join(folder, name)
        with open(paths[name], "w", encoding="utf-8") as file:
            file.write(text)
    return paths, changed


def environment_of(names, paths, plugin):
    """What a run sets for these files; what an nccl.env says of the other files is left to their own runs."""
    given = sourced(paths["nccl.env"]) if "nccl.env" in names else {}
    given = {name: value for name, value in given.items() if name not in OF_FILES and name not in ALWAYS}
    if "nccl_tuner.csv" in names:
        given.update(NCCL_TUNER_PLUGIN=os.path.abspath(plugin), NCCL_TUNER_CONFIG_FILE=paths["nccl_tuner.csv"])
    if "nccl_graph.xml" in names:
        given["NCCL_GRAPH_FILE"] = paths["nccl_graph.xml"]
    if "nccl_topo.xml" in names:
        given["NCCL_TOPO_FILE"] = paths["nccl_topo.xml"]
    return given


# ---- the runs ---------------------------------------------------------------------------------------------------

def run(names, shared, texts, machine, plugin):
    with tempfile.TemporaryDirectory() as folder:
        paths, changed = localized(folder, dict(texts), machine["addresses"], shared)
        given = environment_of(names, paths, plugin)
        ranks = 2 if shared else machine["ranks"]
        sizes = verdict.sizes_to_try(read_text(paths.get("nccl_tuner.csv", "")))
        job = {"ranks": ranks, "port": free_port(), "sizes": sizes, "shared": shared}
        processes, logs = [], []
        begin = time.monotonic()
        for rank in range(ranks):
            logs.append(os.path.join(folder, f"log-{rank}"))
            inherited = {name: value for name, value in os.environ.items() if not name.startswith("NCCL_")}
            environment = {**inherited, **given, **ALWAYS, "NCCL_DEBUG_FILE": logs[-1]}
            if rank == 0:
                environment.update(NCCL_TOPO_DUMP_FILE=f"{folder}/topo", NCCL_GRAPH_DUMP_FILE=f"{folder}/graph")
            if shared:
                environment["NCCL_HOSTID"] = f"computer-{rank}"
            with open(f"{folder}/out-{rank}", "w", encoding="utf-8") as out:
                processes.append(start(["--rank", str(rank), json.dumps(job)], environment, out))
        codes = wait_for(processes, CHILD_SECONDS)
        outputs = [read_text(f"{folder}/out-{rank}") for rank in range(ranks)]
        seen = {"log": "\n".join(read_text(log) for log in logs), "outputs": outputs, "codes": codes, "ranks": ranks,
                "topo": read_text(f"{folder}/topo"), "graph": read_text(f"{folder}/graph"), "environment": given,
                "texts": {name: read_text(path) for name, path in paths.items()}, "sizes": sizes, "addresses": machine["addresses"]}
        return {"shape": "two computers on one GPU" if shared else f"ranks {ranks}, one computer", "files": list(names),
                "seconds": round(time.monotonic() - begin, 1), "changed": changed,
                **verdict.judged(names, seen, folder)}


def machine_of(texts, ranks, skipped):
    process = subprocess.run([sys.executable, os.path.abspath(__file__), "--gpus"], capture_output=True, text=True,
                             timeout=CHILD_SECONDS, check=False)
    if process.returncode != 0 or not process.stdout.strip():
        raise SystemExit("no GPU, or no PyTorch, on this machine: " + process.stderr[-400:])
    machine = json.loads(process.stdout.strip().splitlines()[-1])
    counts = {name: verdict.gpus_in(text) for name, text in texts.items() if name.endswith(".xml")}
    machine["ranks"] = ranks or max(counts.values(), default=len(machine["gpus"]))
    if ranks:  # NCCL leaves out GPUs of a topology that are not here; a graph is for exactly its GPUs
        if counts.get("nccl_graph.xml", ranks) != ranks:
            skipped["nccl_graph.xml"] = f"it is for {counts['nccl_graph.xml']} GPUs"
            del texts["nccl_graph.xml"]
    elif len(set(counts.values())) > 1:
        raise SystemExit(f"the files are of different numbers of GPUs: {counts}")
    if not 1 <= machine["ranks"] <= len(machine["gpus"]):
        raise SystemExit(f"the files are for {machine['ranks']} GPUs, this machine has {len(machine['gpus'])}")
    return machine


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("folder")
    parser.add_argument("out")
    parser.add_argument("--tuner-plugin", help="NVIDIA's example plugin, compiled")
    parser.add_argument("--ranks", type=int, help="fewer GPUs than the files have")
    parser.add_argument("--seconds", type=float, default=480, help="no run is begun after that long")
    options = parser.parse_args()
    texts = {name: read_text(os.path.join(options.folder, name)) for name in FILES}
    skipped = {name: "not in the folder" for name, text in texts.items() if not text}
    if options.tuner_plugin is None:
        skipped.setdefault("nccl_tuner.csv", "NCCL reads it through a plugin only, and no --tuner-plugin was given")
    elif not os.path.exists(options.tuner_plugin):
        raise SystemExit(f"{options.tuner_plugin}: there is no such plugin")
    texts = {name: text for name, text in texts.items() if name not in skipped}
    if not texts:
        raise SystemExit(f"{options.folder}: nothing to load: {skipped}")
    machine = machine_of(texts, options.ranks, skipped)
    begin = time.monotonic()
    runs, late = [], 0
    for shared in ([False, True] if machine["ranks"] == 1 else [False]):
        for names in [(), *((name,) for name in texts), tuple(texts)]:
            if time.monotonic() - begin > options.seconds:
                late += 1
                continue
            runs.append(run(names, shared, texts, machine, options.tuner_plugin))
            print(verdict.summary(runs[-1]), flush=True)
    verdicts = verdict.together(runs, list(texts), skipped)
    document = {"what": "whether NCCL takes the files that lanecast writes for it", "how": "tests/nccl/load_files.py",
                "measured": datetime.date.today().isoformat(), **machine, "files": texts, "runs_left_out": late,
                "verdicts": verdicts, "runs": runs}
    with open(options.out, "w", encoding="utf-8") as out:
        json.dump(document, out, indent=1)
    for name, said in verdicts.items():
        print(f"{name}: {said}")
    if late:
        print(f"{late} runs were left out: the time was up")
    return 0 if verdict.is_success(verdicts) and not late else 1


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        import load_files_test
        sys.exit(load_files_test.main())
    elif sys.argv[1:] == ["--gpus"]:
        gpus_main()
    elif sys.argv[1:2] == ["--rank"]:
        rank_main(int(sys.argv[2]), json.loads(sys.argv[3]))
    else:
        sys.exit(main())
