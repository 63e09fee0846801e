#!/usr/bin/env python3
"""Predicts what tests/nccl/measure_algorithms.py measured, and prints both as a markdown table (docs/accuracy.md).

    python3 tests/cases/compare_algorithms.py LANECAST MEASURED.json

NCCL's rows are predicted as NCCL's of that release, PyTorch's as those of lanecast's engine, all by `generic`.
"""
import json
import statistics
import subprocess
import sys

SHOWN = (1 << 10, 1 << 16, 1 << 20, 1 << 24, 1 << 28)
SMALLEST = 64  # below, PyTorch's symmetric memory was not measured


def predicted(binary, run, document, size):
    nccl = run["library"] == "nccl"
    release = "nccl-" + ".".join(document["nccl"].split(".")[:2])
    words = [binary, "predict", "h200x2-nvlink-vm", "--implementation", release if nccl else "lanecast", "--algorithm",
             run["algorithm"], "--protocol", run["protocol"], "--transport", run["transport"], "--in-place", "-b",
             str(size), "-e", str(size), "--iterations", str(document["iterations"]), "--format", "json", "-q"]
    return json.loads(subprocess.run(words, capture_output=True, check=True, text=True).stdout)["results"][0]["time_us"]


def main():
    binary, path = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    print("| | " + " | ".join("1 KiB,64 KiB,1 MiB,16 MiB,256 MiB".split(",")) + " | median, all | median, 4 MiB and more |")
    print("| --- |" + " ---: |" * (len(SHOWN) + 2))
    for run in document["runs"]:
        errors = {}
        cells = []
        for row in run["rows"]:
            size = row["size_bytes"]
            if size < SMALLEST:
                continue
            time = predicted(binary, run, document, size)
            errors[size] = time / row["time_us"] - 1
            if size in SHOWN:
                cells.append(f"{row['time_us']:.1f}, {time:.1f} ({100 * errors[size]:+.0f} %)")
        cells += ["-"] * (len(SHOWN) - len(cells))
        large = [abs(error) for size, error in errors.items() if size >= 1 << 22]
        name = f"{run['library']} {run['algorithm']} {run['protocol']}, {run['transport']}"
        print(f"| {name} | " + " | ".join(cells) + f" | {100 * statistics.median(map(abs, errors.values())):.0f} % | "
              f"{100 * statistics.median(large):.0f} % |")


if __name__ == "__main__":
    main()
