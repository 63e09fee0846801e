#!/usr/bin/env python3
"""Times all-reduce by different algorithms on this machine's two GPUs: NCCL's Ring and Tree with each protocol, over
peer access and through host memory, and PyTorch's one-shot and two-shot over symmetric memory, which pull.

    python3 tests/nccl/measure_algorithms.py OUT.json           # needs 2 GPUs, PyTorch and its NCCL
    python3 tests/nccl/measure_algorithms.py OUT.json beside    # to stand beside `lanecast measure`

Each configuration runs in processes of its own. Float sums in place, 20 calls captured in a CUDA graph, 15 replays of
it timed with events after 3 that are not; the median over replays of the slower rank. Every result is checked once
against the sum that it should be.

`beside` times what NCCL chooses of its own accord, and the two of symmetric memory, as `lanecast measure` does:
20 replays (8 above 64 MiB) that follow each other without the host.
"""
import datetime
import json
import os
import statistics
import subprocess
import sys
import tempfile

SIZES = [1 << power for power in range(3, 31)]
CALLS = 20
REPLAYS = 15


def configurations(beside):
    for path in ("p2p", "shm"):
        if beside:
            yield {"library": "nccl", "algorithm": "default", "protocol": "default", "transport": path, "queued": True,
                   "environment": {"NCCL_NVLS_ENABLE": "0", "NCCL_IB_DISABLE": "1",
                                   **({"NCCL_P2P_DISABLE": "1"} if path == "shm" else {})}}
            continue
        for algorithm in ("Ring", "Tree"):
            for protocol in ("LL", "LL128", "Simple"):
                if path == "shm" and protocol == "LL128":
                    continue  # not safe through host memory
                yield {"library": "nccl", "algorithm": algorithm.lower(), "protocol": protocol.lower(), "transport": path,
                       "environment": {"NCCL_ALGO": "allreduce:" + algorithm.lower(), "NCCL_PROTO": protocol, "NCCL_NVLS_ENABLE": "0",
                                       "NCCL_IB_DISABLE": "1", **({"NCCL_P2P_DISABLE": "1"} if path == "shm" else {})}}
    for algorithm in ("one_shot", "two_shot"):
        yield {"library": "torch symmetric memory", "algorithm": algorithm + "_pull", "protocol": "simple",
               "transport": "p2p", "queued": beside, "environment": {"NCCL_NVLS_ENABLE": "0", "NCCL_IB_DISABLE": "1"}}


def single_times(torch, dist, graph, size):
    replays = REPLAYS if size <= 1 << 26 else 5
    times = []
    for i in range(3 + replays):
        torch.cuda.synchronize()
        dist.barrier()
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        if i >= 3:
            times.append(begin.elapsed_time(end) * 1e3 / CALLS)
    return times


def queued_times(torch, dist, graph, size):
    events = [torch.cuda.Event(enable_timing=True) for _ in range(21 if size <= 1 << 26 else 9)]
    torch.cuda.synchronize()
    dist.barrier()
    graph.replay()
    for event in events:
        event.record()
        if event is not events[-1]:
            graph.replay()
    torch.cuda.synchronize()
    return [a.elapsed_time(b) * 1e3 / CALLS for a, b in zip(events, events[1:])]


def timed(torch, dist, rank, call, tensor, fresh, size, queued):
    """Median microseconds of one call, and whether its result is right."""
    tensor.copy_(fresh[rank])
    result = call()
    torch.cuda.synchronize()
    right = bool(torch.allclose(result, fresh[0] + fresh[1], rtol=1e-5, atol=1e-5))
    tensor.zero_()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(CALLS):
            call()
    times = (queued_times if queued else single_times)(torch, dist, graph, size)
    everyone = [None, None]
    dist.all_gather_object(everyone, (times, right))
    slower = [max(a, b) for a, b in zip(everyone[0][0], everyone[1][0])]
    return {"time_us": round(statistics.median(slower), 3), "time_us_min": round(min(slower), 3),
            "time_us_max": round(max(slower), 3), "right": everyone[0][1] and everyone[1][1]}


def rank_main(rank, configuration, port, path):
    import torch
    import torch.distributed as dist

    os.environ.update(configuration["environment"])
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), RANK=str(rank), WORLD_SIZE="2")
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", rank=rank, world_size=2, device_id=torch.device("cuda", rank))
    rows = []
    symmetric = configuration["library"] != "nccl"
    if symmetric:
        import torch.distributed._symmetric_memory as symm_mem
        group = dist.group.WORLD.group_name
    for size in SIZES:
        count = size // 4
        generator = torch.Generator(device="cuda")
        generator.manual_seed(7)
        fresh = [torch.rand(count, device="cuda", generator=generator) for _ in range(2)]
        if symmetric:
            if size < 64 or (configuration["algorithm"].startswith("one") and size > 1 << 26):
                continue
            tensor = symm_mem.empty(count, dtype=torch.float32, device=torch.device("cuda", rank))
            symm_mem.rendezvous(tensor, dist.group.WORLD)
            if configuration["algorithm"].startswith("one"):
                def call(t=tensor):
                    return torch.ops.symm_mem.one_shot_all_reduce(t, "sum", group)
            else:
                def call(t=tensor):
                    return torch.ops.symm_mem.two_shot_all_reduce_(t, "sum", group)
        else:
            tensor = torch.empty(count, device="cuda")

            def call(t=tensor):
                dist.all_reduce(t)
                return t
        rows.append({"size_bytes": size, **timed(torch, dist, rank, call, tensor, fresh, size, configuration.get("queued", False))})
    if rank == 0:
        with open(path, "w", encoding="utf-8") as out:
            json.dump({"torch": torch.__version__, "nccl": ".".join(map(str, torch.cuda.nccl.version())),
                       "gpus": [torch.cuda.get_device_name(i) for i in range(2)], "rows": rows}, out)
    dist.barrier()
    dist.destroy_process_group()


def measure(configuration, port):
    path = os.path.join(tempfile.gettempdir(), f"measured-{os.getpid()}-{port}.json")
    words = [sys.executable, os.path.abspath(__file__), "--rank"]
    ranks = [subprocess.Popen([*words, str(rank), json.dumps(configuration), str(port), path], stderr=subprocess.PIPE)
             for rank in range(2)]
    errors = ""
    for process in ranks:
        try:
            errors += process.communicate(timeout=90)[1].decode(errors="replace")
        except subprocess.TimeoutExpired:
            for other in ranks:
                other.kill()
            errors += "timeout"
    if not os.path.exists(path):
        return {**configuration, "error": errors[-1500:]}
    with open(path, encoding="utf-8") as file:
        return {**configuration, **json.load(file)}


def main():
    if sys.argv[1] == "--rank":
        rank_main(int(sys.argv[2]), json.loads(sys.argv[3]), int(sys.argv[4]), sys.argv[5])
        return
    runs = []
    for i, configuration in enumerate(configurations(sys.argv[2:] == ["beside"])):
        runs.append(measure(configuration, 29600 + i))
        run = runs[-1]
        rows = {row["size_bytes"]: row for row in run.get("rows", [])}
        some = [f"{rows[size]['time_us']:.1f}" for size in (1024, 65536, 1 << 20, 1 << 26) if size in rows]
        wrong = sum(1 for row in rows.values() if not row["right"])
        print(run["library"], run["algorithm"], run["protocol"], run["transport"], some, "wrong:", wrong,
              run.get("error", "")[-300:], flush=True)
    first = next(run for run in runs if "torch" in run)
    document = {"what": "all-reduce of two ranks by algorithm, microseconds of one call, float, in place",
                "how": "tests/nccl/measure_algorithms.py: " + " ".join(__doc__.split("\n\n", 2)[-1].split()),
                "measured": datetime.date.today().isoformat(), "gpus": first["gpus"], "torch": first["torch"],
                "nccl": first["nccl"], "launch": "graph", "iterations": CALLS, "in_place": True,
                "runs": [{key: value for key, value in run.items() if key not in ("gpus", "torch", "nccl")} for run in runs]}
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        json.dump(document, out, indent=1)


if __name__ == "__main__":
    main()
