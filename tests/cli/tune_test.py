"""`tune`: best ways, ring orders, crossovers, chunk curves, and the files for NCCL."""

import json
import subprocess
import tempfile
import unittest
from pathlib import Path
from xml.etree import ElementTree

from lanecast_command import SWITCH2, SWITCH4, CommandTest, csv_rows, table_rows

SIZES = ["-b", "16K", "-e", "64M", "-f", "64"]
FILES = ["nccl.env", "nccl_graph.xml", "nccl_topo.xml", "nccl_tuner.csv"]
INTERLEAVED = """lanecast: 1
machine: interleaved
cpus: [{name: cpu0, vendor: amd}]
roots: [{name: root0, cpu: cpu0}, {name: root1, cpu: cpu0}]
switches: [{name: sw0}, {name: sw1}]
gpus: [{name: gpu0, model: NVIDIA L40S, sm: 89}, {name: gpu1, model: NVIDIA L40S, sm: 89}, {name: gpu2, model: NVIDIA L40S, sm: 89}, {name: gpu3, model: NVIDIA L40S, sm: 89}]
p2p: {level: SYS}
links:
  - {name: uplink0, from: root0, to: sw0, rate: gen4, width: x16}
  - {name: uplink1, from: root1, to: sw1, rate: gen4, width: x16}
  - {name: gpu0, from: sw0, to: gpu0, rate: gen4, width: x16}
  - {name: gpu1, from: sw1, to: gpu1, rate: gen4, width: x16}
  - {name: gpu2, from: sw0, to: gpu2, rate: gen4, width: x16}
  - {name: gpu3, from: sw1, to: gpu3, rate: gen4, width: x16}
"""


class Ways(CommandTest):
    def test_the_best_is_never_slower_than_what_the_implementation_does(self):
        for words in ((SWITCH4,), ("rtx4090x8-2socket-p2p",), ("l40sx4", "--implementation", "lanecast")):
            for size in self.document("tune", *words, *SIZES, "--chunks", "none")["sizes"]:
                self.assertGreaterEqual(size["gain"], 0.999, (words, size["size_bytes"]))
                self.assertLessEqual(size["best"]["busbw_GBps"], size["best"]["limit_busbw_GBps"] * (1 + 1e-9))

    def test_as_is_is_what_predict_says(self):
        tuned = self.document("tune", SWITCH4, *SIZES, "--chunks", "none")
        predicted = self.document("predict", SWITCH4, *SIZES)["results"]
        self.assertEqual([size["as_is"] for size in tuned["sizes"]], predicted)

    def test_the_best_can_be_had_with_predicts_flags(self):
        document = self.document("tune", SWITCH4, *SIZES, "--chunks", "none")
        settings = [f"--nccl-env={v['name']}={v['value']}" for v in document["variables"] if v["name"] != "NCCL_MIN_NCHANNELS"]
        for size in document["sizes"]:
            best = size["best"]
            words = ["--algorithm", best["algorithm"], "--protocol", best["protocol"], "--channels", str(best["channels"])]
            one = ["-b", str(size["size_bytes"]), "-e", str(size["size_bytes"])]
            again = self.document("predict", SWITCH4, *one, *words, *settings)["results"][0]
            self.assertAlmostEqual(again["time_us"] / best["time_us"], 1, delta=1e-6)

    def test_ll128_is_not_advised_over_pcie(self):
        for size in self.document("tune", SWITCH4, "-b", "256K", "-e", "16M", "--chunks", "none")["sizes"]:
            self.assertNotEqual(size["best"]["protocol"], "ll128")

    def test_crossovers_lie_between_the_sizes_and_the_ways_around_them(self):
        document = self.document("tune", SWITCH4, "-b", "16K", "-e", "64M", "-f", "16", "--chunks", "none")
        self.assertTrue(document["crossovers"])
        for crossover in document["crossovers"]:
            before = [s for s in document["sizes"] if s["size_bytes"] < crossover["size_bytes"]][-1]
            after = [s for s in document["sizes"] if s["size_bytes"] >= crossover["size_bytes"]][0]
            self.assertEqual(crossover["below"], f"{before['best']['algorithm']}/{before['best']['protocol']}")
            self.assertEqual(crossover["above"], f"{after['best']['algorithm']}/{after['best']['protocol']}")

    def test_forms_hold_the_same_sizes(self):
        sizes = [16384, 1 << 20, 64 << 20]
        rows = csv_rows(self.good("tune", SWITCH2, *SIZES, "--format", "csv", "-q").out)
        self.assertEqual([int(row["size_bytes"]) for row in rows], sizes)
        shown = table_rows(self.good("tune", SWITCH2, *SIZES, "--chunks", "none", "-q").out)
        self.assertEqual([int(row[0]) for row in shown if row[0].isdigit()], sizes)
        self.assertIn("ring order", self.good("tune", SWITCH2, *SIZES, "--format", "markdown", "-q").out)


class Orders(CommandTest):
    def orders(self, machine, *words):
        return self.document("tune", machine, "-b", "64M", "-e", "64M", "--chunks", "none", *words)["ring_order"]

    def test_cards_whose_numbers_alternate_between_switches_are_grouped(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "interleaved.yaml")
            path.write_text(INTERLEAVED, encoding="utf-8")
            document = self.document("tune", str(path), "-b", "64M", "-e", "64M", "--chunks", "none", "--implementation", "lanecast", "--algorithm", "ring")
        order = document["ring_order"]
        self.assertIn(order["best"]["order"], ([0, 1, 3, 2], [0, 2, 1, 3], [0, 2, 3, 1], [0, 3, 1, 2]))
        # numbers go from switch to switch at each of four hops, the best order at two
        self.assertEqual((order["as_is"]["crossings"], order["best"]["crossings"]), (4, 2))
        self.assertAlmostEqual(order["best"]["busbw_GBps"] / order["as_is"]["busbw_GBps"], 2, delta=0.1)
        self.assertTrue(order["gains"])
        self.assertEqual(document["sizes"][0]["best"]["ring_order"], order["best"]["order"])
        self.assertIn("uplink", order["why"])

    def test_shipped_machines_keep_cards_of_a_switch_together(self):
        for machine in ("rtxpro6000x8-2switch", "a100x8-pcie4-shared-port", "rtx4090x8-2socket-p2p"):
            order = self.orders(machine)
            self.assertTrue(order["exact"])
            crossing = sum((a < 4) != (b < 4) for a, b in zip(order["best"]["order"], order["best"]["order"][1:] + order["best"]["order"][:1]))
            self.assertEqual(crossing, 2, machine)
            self.assertLess(order["worst"]["busbw_GBps"], 0.3 * order["best"]["busbw_GBps"])

    def test_a_given_order_is_kept(self):
        document = self.document("tune", SWITCH4, "--ranks", "0,2,1,3", "--order", "given", "-b", "1M", "-e", "1M", "--chunks", "none")
        self.assertEqual(document["sizes"][0]["best"]["ring_order"], [0, 2, 1, 3])


class Chunks(CommandTest):
    def test_the_curve_has_each_chunk_that_fits(self):
        curve = self.document("tune", "l40sx4", "--implementation", "lanecast", "-b", "64M", "-e", "64M", "--chunks", "4K:4M")["chunk_curve"]
        self.assertEqual([point["chunk_bytes"] for point in curve["points"]], [4096 << k for k in range(11)])
        times = [point["time_us"] for point in curve["points"]]
        self.assertGreater(times[0], 2 * min(times))

    def test_nccls_curve_says_which_buffer_makes_the_chunk(self):
        curve = self.document("tune", SWITCH2, "-b", "64M", "-e", "64M", "--chunks", "256K:1M")["chunk_curve"]
        self.assertEqual([(p["chunk_bytes"], p["buffsize_bytes"]) for p in curve["points"]], [(1 << k, 2 << k) for k in (18, 19, 20)])
        again = self.document("predict", SWITCH2, "-b", "64M", "-e", "64M", "--nccl-env", "NCCL_BUFFSIZE=524288", "--protocol", "simple")
        self.assertEqual(again["results"][0]["chunk_bytes"], 1 << 18)

    def test_mistakes_in_the_range_are_named(self):
        for text in ("4K", "4K:2K", "0:4K", "4K:", "4K:8Q", "1:2G", "1:2:3"):
            self.refused("tune", SWITCH2, "--chunks", text, says="--chunks")


class Files(CommandTest):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = Path(self.folder.name, "nccl")

    def write(self, machine, *words):
        return self.good("tune", machine, *SIZES, "--chunks", "none", "--nccl-dir", str(self.path), *words, "-q")

    def rows(self):
        lines = Path(self.path, "nccl_tuner.csv").read_text(encoding="utf-8").splitlines()
        return [line.split(",") for line in lines if not line.startswith("#")]

    def test_all_files_are_there_and_named(self):
        out = self.write(SWITCH4).out
        self.assertEqual(sorted(path.name for path in self.path.iterdir()), FILES)
        for name in FILES:
            self.assertIn(str(Path(self.path, name)), out)

    def test_every_size_of_every_collective_and_communicator_fits_a_row_with_channels(self):
        self.write(SWITCH4)
        rows = self.rows()
        for collective in ("allreduce", "reducescatter", "allgather", "broadcast", "reduce"):
            for nodes, ranks in (("1", "4"), ("-1", "-1")):
                mine = [row for row in rows if row[0] == collective and row[6:8] == [nodes, ranks]]
                self.assertTrue(mine, (collective, ranks))
                end = -1
                for row in mine:
                    self.assertEqual(int(row[1]), end + 1)
                    self.assertGreaterEqual(int(row[5]), 1)
                    end = int(row[2])
                self.assertEqual(end, 2**64 - 1)

    def test_rows_say_what_was_found_best(self):
        document = json.loads(self.write(SWITCH4, "--format", "json").out)
        for size in document["sizes"]:
            row = next(r for r in self.rows() if r[0] == "allreduce" and int(r[1]) <= size["size_bytes"] <= int(r[2]))
            best = size["best"]
            self.assertEqual(row[3:6], [best["algorithm"], best["protocol"], str(best["channels"])])

    def test_the_graph_and_the_topology_are_of_all_cards(self):
        self.write(SWITCH4)
        graph = ElementTree.parse(Path(self.path, "nccl_graph.xml")).getroot()
        self.assertEqual([g.get("id") for g in graph], ["0", "1"])
        for channel in graph.iter("channel"):
            self.assertEqual(sorted(int(gpu.get("dev"), 16) for gpu in channel), [0, 1, 2, 3])
        shown = self.good("topo", "export", SWITCH4, "--nccl-topo", "-q").out
        self.assertEqual(Path(self.path, "nccl_topo.xml").read_text(encoding="utf-8"), shown)

    def test_sizes_that_were_not_asked_have_rows_of_their_own(self):
        self.good("tune", SWITCH4, "-b", "64M", "-e", "64M", "--chunks", "none", "--nccl-dir", str(self.path), "-q")
        rows = [row for row in self.rows() if row[0] == "allreduce" and row[7] == "4"]
        small = next(row for row in rows if int(row[1]) <= 1024 <= int(row[2]))
        self.assertEqual(small[4], "ll")

    def test_what_is_exported_is_what_is_predicted_for_it(self):
        document = json.loads(self.write("epycx8-direct", "--format", "json").out)
        exported = [f"--nccl-env={v['name']}={v['value']}" for v in document["variables"]]
        tuner = next(file for file in document["files"] if file["name"] == "NCCL_TUNER_CONFIG_FILE")
        for size in document["sizes"]:
            if tuner["gains"]:
                self.assertAlmostEqual(size["exported_us"], size["best"]["time_us"], delta=1e-6)
                continue
            one = ["-b", str(size["size_bytes"]), "-e", str(size["size_bytes"])]
            alone = self.document("predict", "epycx8-direct", *one, *exported)["results"][0]
            self.assertAlmostEqual(size["exported_us"] / alone["time_us"], 1, delta=1e-6)

    def test_peer_access_comes_with_its_danger(self):
        self.write("epycx8-direct")
        lines = Path(self.path, "nccl.env").read_text(encoding="utf-8").splitlines()
        at = next(i for i, line in enumerate(lines) if line.startswith("export NCCL_P2P_LEVEL"))
        self.assertIn("gives right data", lines[at - 1] + lines[at - 2])

    def test_the_users_own_most_channels_hold(self):
        document = json.loads(self.write("epycx8-direct", "--nccl-env", "NCCL_MAX_NCHANNELS=2", "--format", "json").out)
        self.assertNotIn("NCCL_MIN_NCHANNELS", [variable["name"] for variable in document["variables"]])
        self.assertLessEqual(max(size["best"]["channels"] for size in document["sizes"]), 2)

    def test_a_shell_can_source_the_environment(self):
        document = json.loads(self.write(SWITCH4, "--format", "json").out)
        done = subprocess.run(["sh", "-c", ". \"$1\" && env", "sh", str(Path(self.path, "nccl.env"))], capture_output=True, text=True, check=True)
        for variable in document["variables"]:
            self.assertIn(f"{variable['name']}={variable['value']}", done.stdout.splitlines())
        for file in document["files"]:
            self.assertEqual(f"{file['name']}=" in done.stdout, file["gains"], file["name"])
            if file["name"] == "NCCL_TUNER_CONFIG_FILE":
                self.assertEqual("NCCL_TUNER_PLUGIN=" in done.stdout, file["gains"])

    def test_files_are_not_overwritten_unasked(self):
        self.write(SWITCH4)
        self.refused("tune", SWITCH4, "--nccl-dir", str(self.path), says=["exists already", "--force"])
        self.write(SWITCH4, "--force")
        self.refused("tune", SWITCH4, "--nccl-dir", str(Path(self.path, "nccl.env")), says="no folder")
        self.refused("tune", SWITCH4, "--nccl-dir", "/nowhere/at/all", says="no folder")
        self.refused("tune", SWITCH4, "--nccl-dir", str(self.path) + "\n", says="characters")
        self.refused("tune", SWITCH4, "--nccl-dir", str(self.path), "-o", str(Path(self.path, "nccl.env")), "--force", says="one file")

    def test_a_degraded_link_makes_the_topology_file_worth_a_look(self):
        document = self.document("tune", SWITCH4, "--set", "links.gpu1.width=x2", *SIZES, "--chunks", "none")
        topology = next(file for file in document["files"] if file["name"] == "NCCL_TOPO_FILE")
        self.assertEqual(len(topology["alone"]), 3)


class Refusals(CommandTest):
    def test_mistakes_are_named(self):
        self.refused("tune", SWITCH2, "--ranks", "0", says="one rank")
        self.refused("tune", SWITCH2, "--implementation", "nccl-model", says="simulation")
        self.refused("tune", SWITCH2, "--implementation", "lanecast", "--nccl-dir", "x", says="--nccl-dir")


if __name__ == "__main__":
    unittest.main()
