#!/usr/bin/env python3
"""Tests of what `predict` says of NCCL's decisions: `--why`, `--nccl-env`, `--nccl-log`, `nccl-model`."""

import os
import tempfile
import unittest

from lanecast_command import SOURCE, SWITCH2, SWITCH4, CommandTest, csv_rows

H200 = "h200x2-nvlink-vm"
ONE = ["-b", "1M", "-e", "1M"]
SOME = ["-b", "1K", "-e", "64M", "-f", "16"]
VERSIONS = [f"nccl-2.{minor}" for minor in range(18, 31)] + ["rccl"]
LOG = """node7:11:11 [0] NCCL INFO NCCL version 2.28.9+cuda13.0
node7:11:12 [0] NCCL INFO NCCL_P2P_DISABLE set by environment to 1.
node7:11:12 [1] NCCL INFO NCCL_P2P_DISABLE set by environment to 1.
node7:11:12 [0] NCCL INFO Channel 00/04 : 0 1
"""


def machines():
    folder = os.path.join(SOURCE, "configs", "machines")
    return sorted(name[: -len(".yaml")] for name in os.listdir(folder) if name.endswith(".yaml"))


class Decisions(CommandTest):
    def only(self, *words):
        return self.results(*words)[0]

    def test_two_h200_take_24_channels_over_nvlink_and_4_over_host_memory(self):  # its logs
        words = [H200, "-b", "64M", "-e", "64M", "--implementation", "nccl-2.28"]
        self.assertEqual(self.only(*words)["channels"], 24)
        shm = self.only(*words, "--nccl-env", "NCCL_P2P_DISABLE=1")
        self.assertEqual((shm["channels"], shm["transport"]), (4, "shm"))

    def test_small_calls_take_ll_and_large_ones_simple(self):
        for row in self.results(H200, "-b", "1K", "-e", "256M", "-f", "4", "--implementation", "nccl-2.28"):
            self.assertEqual(row["protocol"], "ll" if row["size_bytes"] < 2 << 20 else "simple")

    def test_every_machine_answers_in_every_version(self):
        for machine in machines():
            for version in VERSIONS:
                rows = self.results(machine, *SOME, "--implementation", version)
                times = [row["time_us"] for row in rows]
                self.assertEqual(times, sorted(times), f"{machine} {version}")
                for row in rows:
                    self.assertLessEqual(row["busbw_GBps"], row["limit_busbw_GBps"] * 1.0001, f"{machine} {version}")
                    self.assertGreaterEqual(row["channels"], 1)

    def test_ll128_is_never_taken_over_pcie_and_warns_where_forced(self):
        for machine in machines():
            for row in self.results(machine, *SOME):
                if machine not in (H200, "dgx1-v100", "hgx-h100x8"):
                    self.assertNotEqual(row["protocol"], "ll128", machine)
        document = self.document("predict", SWITCH4, *ONE, "--nccl-env", "NCCL_PROTO=LL128")
        self.assertEqual(document["results"][0]["protocol"], "ll128")
        self.assertIn("LC-PROTO-01", [warning["code"] for warning in document["warnings"]])

    def test_a_call_that_nccl_would_run_otherwise_says_so(self):
        run = self.good("predict", "hgx-h100x8", "-b", "256M", "-e", "256M")
        self.assertIn("LC-ALGO-01", run.err)
        self.assertIn("NVLS", run.err)
        self.assertIn("ring*", run.out)
        row = self.results("hgx-h100x8", "-b", "256M", "-e", "256M")[0]
        self.assertEqual((row["algorithm"], row["stands_in_for"]), ("ring", "nvls/simple"))
        self.assertIsNone(self.results(SWITCH2, *ONE)[0]["stands_in_for"])
        text = self.good("predict", "hgx-h100x8", "-b", "256M", "-e", "256M", "--why").out
        self.assertIn("nvls/simple is taken, which is not simulated", text)
        self.assertNotIn("LC-ALGO-01", self.good("predict", "hgx-h100x8", "-b", "256M", "-e", "256M", "--nccl-env",
                                                 "NCCL_NVLS_ENABLE=0").err)


class Environment(CommandTest):
    def test_reaches_the_prediction(self):
        few = self.results(H200, "-b", "64M", "-e", "64M", "--nccl-env", "NCCL_MAX_NCHANNELS=2")[0]
        self.assertEqual(few["channels"], 2)
        small = self.results(SWITCH2, *ONE, "--nccl-env", "NCCL_BUFFSIZE=1048576", "--protocol", "simple")[0]
        self.assertEqual(small["buffsize_bytes"], 1 << 20)

    def test_all_problems_come_at_once(self):
        self.refused("predict", H200, *ONE, "--nccl-env", "NCCL_PORTO=LL", "--nccl-env", "NCCL_BUFFSIZE=4M",
                     "--nccl-env", "NOTHING", says=["NCCL_PORTO", "did you mean NCCL_PROTO", "NCCL_BUFFSIZE", "NOTHING"])

    def test_flags_that_go_before_a_variable_are_noted(self):
        words = ["predict", H200, *ONE, "--protocol", "ll", "--channels", "4", "--nccl-env", "NCCL_PROTO=Simple"]
        run = self.good(*words, "--nccl-env", "NCCL_MAX_NCHANNELS=2")
        self.assertIn("--protocol goes before NCCL_PROTO=Simple", run.err)
        self.assertIn("--channels goes before NCCL_MAX_NCHANNELS=2", run.err)

    def test_is_recorded_in_the_document(self):
        document = self.document("predict", H200, *ONE, "--nccl-env", "NCCL_PROTO=LL")
        self.assertEqual(document["nccl_environment"], {"NCCL_PROTO": "LL"})
        self.assertNotIn("nccl_environment", self.document("predict", H200, *ONE))

    def test_bytes_that_are_no_text_are_refused(self):
        run = self.refused("predict", H200, *ONE, "--nccl-env", b"NCCL_PROTO=\xff\xfe", says="no UTF-8")
        self.assertNotIn("\ufffd", run.err)

    def test_what_forces_the_impossible_is_named(self):
        words = ["predict", H200, *ONE, "--implementation", "nccl-model", "--algorithm", "nvls"]
        self.refused(*words, says=["--algorithm allows NVLS", "no NVLink switches that multicast"])

    def test_algo_tree_is_followed(self):
        row = self.results(SWITCH4, *ONE, "--nccl-env", "NCCL_ALGO=Tree")[0]
        self.assertEqual((row["algorithm"], row["variant"], row["stands_in_for"]), ("tree", None, None))

    def test_what_is_not_modelled_warns(self):
        run = self.good("predict", H200, *ONE, "--nccl-env", "NCCL_TUNER_PLUGIN=x.so")
        self.assertIn("LC-ENV-01", run.err)

    def test_leaving_nothing_is_refused(self):
        self.refused("predict", SWITCH4, *ONE, "--nccl-env", "NCCL_ALGO=NVLS", says="NVLS")
        self.refused("predict", SWITCH4, *ONE, "--nccl-env", "NCCL_SHM_DISABLE=1", says="network")


class Logs(CommandTest):
    def test_gives_the_release_and_the_environment(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.log")
            with open(path, "w", encoding="utf-8") as file:
                file.write(LOG)
            document = self.document("predict", H200, *ONE, "--nccl-log", path)
            self.assertEqual(document["implementation"], "nccl-2.28")
            self.assertEqual(document["results"][0]["transport"], "shm")
            typed = self.results(H200, *ONE, "--nccl-log", path, "--nccl-env", "NCCL_P2P_DISABLE=0")[0]
            self.assertEqual(typed["transport"], "p2p")

    def test_of_another_number_of_ranks_is_noted(self):
        text = LOG + "node7:11:12 [0] NCCL INFO comm 0x1 rank 0 nRanks 4 nNodes 1 localRanks 4 localRank 0 MNNVL 0\n"
        self.assertIn("of 4 ranks, predicted are 2", self.good("predict", H200, *ONE, "--nccl-log", "-", stdin=text).err)

    def test_that_shows_other_decisions_is_noted(self):
        text = LOG.replace("NCCL_P2P_DISABLE set by environment to 1", "nothing")
        text += "node7:11:12 [0] NCCL INFO 4 coll channels, 4 collnet channels, 0 nvls channels, 4 p2p channels\n"
        text += "node7:11:12 [0] NCCL INFO Channel 00 : 0[0] -> 1[1] via SHM/direct/direct\n"
        run = self.good("predict", H200, *ONE, "--nccl-log", "-", stdin=text)
        self.assertIn("has 4 channels, decided are 24", run.err)
        self.assertIn("goes through host memory, decided is peer access alone", run.err)
        agrees = self.good("predict", H200, *ONE, "--nccl-log", "-", "--nccl-env", "NCCL_P2P_DISABLE=1", stdin=text)
        self.assertNotIn("decided", agrees.err)

    def test_from_standard_input(self):
        document = self.document("predict", H200, *ONE, "--nccl-log", "-", stdin=LOG)
        self.assertEqual(document["implementation"], "nccl-2.28")
        self.refused("predict", "-", *ONE, "--nccl-log", "-", stdin=LOG, says="standard input")

    def test_ranks_that_disagree_are_named_with_their_lines(self):
        text = LOG.replace("[1] NCCL INFO NCCL_P2P_DISABLE set by environment to 1",
                           "[1] NCCL INFO NCCL_P2P_DISABLE set by environment to 0")
        self.refused("predict", H200, *ONE, "--nccl-log", "-", stdin=text, says=["NCCL_P2P_DISABLE", "2", "3"])

    def test_what_is_no_log_is_refused(self):
        self.refused("predict", H200, *ONE, "--nccl-log", "-", stdin="hello\n", says="NCCL_DEBUG=INFO")
        self.refused("predict", H200, *ONE, "--nccl-log", "/no/such/file", says="/no/such/file")


class Why(CommandTest):
    def test_shows_every_way_with_both_times(self):
        document = self.document("predict", H200, *SOME, "--why", "--implementation", "nccl-2.28")
        self.assertEqual(document["decisions"]["channels"], 24)
        self.assertEqual(document["decisions"]["ring_search"],
                         {"channels": 12, "speed_GBps": 30.0, "type": "NVL", "same_channels": True, "fallback": False})
        for row in document["results"]:
            taken = [way for way in row["why"] if way["taken"]]
            self.assertEqual(len(taken), 1)
            self.assertEqual(taken[0]["protocol"], row["protocol"])
            self.assertAlmostEqual(taken[0]["time_us"], row["time_us"])
            possible = [way for way in row["why"] if way["possible"]]
            self.assertTrue(all(way["nccl_time_us"] > 0 for way in possible))
            self.assertEqual(min(way["nccl_time_us"] for way in possible), taken[0]["nccl_time_us"])
            simulated = [way["time_us"] for way in row["why"] if way["time_us"] is not None]
            fastest = [way for way in row["why"] if way["fastest"]]
            self.assertEqual(fastest[0]["time_us"], min(simulated))
            for way in row["why"]:
                self.assertTrue(way["possible"] or way["note"])

    def test_says_where_nccls_choice_is_not_the_fastest(self):
        words = ["predict", "rtxpro6000x8-2switch", "-b", "64K", "-e", "4M", "-f", "2", "--why"]
        text = self.good(*words).out
        for row in self.document(*words)["results"]:
            taken = next(way for way in row["why"] if way["taken"])
            fastest = next(way for way in row["why"] if way["fastest"])
            slower = taken["time_us"] > 1.02 * fastest["time_us"]
            self.assertEqual(f"{row['size_bytes']} B: " in text, slower)

    def test_calls_nothing_the_fastest_that_may_corrupt_data(self):
        words = ["rtxpro6000x8-2switch", "-b", "64K", "-e", "64K", "--nccl-env", "NCCL_PROTO=^Simple", "--why"]
        for way in self.results(*words)[0]["why"]:
            self.assertFalse(way["fastest"] and way["protocol"] == "ll128")

    def test_numbers_the_channels_of_each_ring(self):
        rings = self.document("predict", "dgx1-v100", *ONE, "--why")["decisions"]["rings"]
        self.assertEqual(sorted(sum((ring["channel_numbers"] for ring in rings), [])), list(range(12)))

    def test_of_our_engine_and_of_one_rank(self):
        document = self.document("predict", SWITCH4, *ONE, "--why", "--implementation", "lanecast")
        self.assertEqual([way["taken"] for way in document["results"][0]["why"]].count(True), 1)
        self.assertIsNone(document["decisions"]["ring_search"])
        self.assertEqual(self.document("predict", SWITCH4, *ONE, "--why", "--ranks", "1")["results"][0]["why"], [])

    def test_knows_ring_where_it_comes_back(self):  # 2.22 brings Ring back where the lists leave nothing
        words = [SWITCH2, *ONE, "--collective", "all_gather", "--nccl-env", "NCCL_ALGO=Tree", "--implementation"]
        row = self.results(*words, "nccl-2.22", "--why")[0]
        self.assertEqual([way["protocol"] for way in row["why"] if way["taken"]], [row["protocol"]])
        self.refused("predict", *words, "nccl-2.24", says="Tree")

    def test_in_all_formats(self):
        words = ["predict", SWITCH4, *ONE, "--why"]
        lines = self.good(*words).out.splitlines()
        self.assertEqual(len([line for line in lines if line and not line.startswith("#")]), 1, "the rest are comments")
        row = csv_rows(self.good(*words, "--format", "csv").out)[0]
        self.assertTrue(row["taken"].startswith("ring/"))
        self.assertIn("| way", self.good(*words, "--format", "markdown").out)


class OwnEstimates(CommandTest):
    def test_are_nccls_formula(self):  # facts.md A6: two ranks, 40 GB/s over host memory: 19.8 us + size / 40 GB/s
        row = self.results(H200, "-b", "64M", "-e", "64M", "--implementation", "nccl-model-2.28", "--transport", "shm")[0]
        self.assertAlmostEqual(row["time_us"], 8.4 + 2 * 5.7 + (64 << 20) / 40e3, places=3)
        self.assertEqual(row["time_us_low"], row["time_us_high"])
        self.assertIsNone(row["bottleneck"])

    def test_may_take_what_is_not_simulated(self):
        rows = self.results("hgx-h100x8", "-b", "256M", "-e", "256M", "--implementation", "nccl-model-2.28")
        self.assertEqual(rows[0]["algorithm"], "nvls")
        tree = self.results(SWITCH4, *ONE, "--implementation", "nccl-model", "--algorithm", "tree")[0]
        self.assertEqual(tree["algorithm"], "tree")
        self.refused("predict", "hgx-h100x8", "--algorithm", "nvls", says="nccl-model")

    def test_say_that_nothing_is_simulated(self):
        run = self.good("predict", SWITCH4, *ONE, "--implementation", "nccl-model")
        self.assertIn("neither simulated nor measured", run.out)
        self.assertIn("LC-MODEL-01", run.err)
        self.refused("predict", SWITCH4, *ONE, "--implementation", "nccl-model", "--ranks", "0", says="one rank")


if __name__ == "__main__":
    unittest.main()
