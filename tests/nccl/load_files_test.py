#!/usr/bin/env python3
"""Tests of load_files.py that need no GPU: what it makes of logs and dumps, and that it waits for nobody for long."""
import os
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import load_files
import load_files_verdict as verdict

GRAPH = """<graphs version="1">
  <graph id="0" pattern="4" crossnic="0" nchannels="1" speedintra="20" speedinter="20" latencyinter="0" typeintra="PHB" typeinter="PIX" samechannels="1">
    <channel>
      <gpu dev="0x1"/>
      <gpu dev="0x0"/>
    </channel>
  </graph>
</graphs>
"""
TOPOLOGY = """<system version="1">
  <cpu numaid="0">
    <pci busid="0000:01:00.0" class="0x030200" link_speed="16.0 GT/s PCIe" link_width="8">
      <gpu dev="0" sm="80" rank="0">
        <nvlink target="0000:02:00.0" count="4" tclass="0x030200"/>
      </gpu>
    </pci>
    <pci busid="0000:02:00.0" class="0x030200" link_speed="16.0 GT/s PCIe" link_width="16">
      <gpu dev="1" sm="80" rank="1">
        <nvlink target="0000:01:00.0" count="4" tclass="0x030200"/>
      </gpu>
    </pci>
  </cpu>
</system>
"""
TUNER = """# a comment, with commas, of, more, than, eight, fields, here, x
allreduce,0,999,tree,ll,1,-1,2
allreduce,1000,99999,ring,ll128,2,1,2
allreduce,1000,18446744073709551615,ring,simple,4,-1,-1
"""


def line(text, level="INFO"):
    return f"vm:1:2 [0] NCCL {level} {text}\n"


def seen(**changes):
    """A run of two ranks in which all went well; its log is to be given."""
    return {"log": "", "outputs": ['warming up\n{"right": true}\n'] * 2, "codes": [0, 0], "ranks": 2, "topo": TOPOLOGY,
            "graph": GRAPH, "environment": {}, "texts": {"nccl_graph.xml": GRAPH, "nccl_topo.xml": TOPOLOGY,
                                                         "nccl_tuner.csv": TUNER}, **changes}


def of_one(name, **changes):
    return verdict.judged([name], seen(**changes))["taken"][name]


GRAPH_LOG = line("NCCL_GRAPH_FILE set by environment to g.xml") + line("Search 0 : 1 channels loaded from XML graph")
TUNER_LOG = (line("TUNER/Plugin: Using Example (v5)") +
             line("TUNER/ExamplePlugin: Loaded 3 tuning configurations from DIR/nccl_tuner.csv") +
             line("AllReduce: 8 Bytes -> Algo TREE proto LL channel{Lo..Hi}={0..0}"))


class GraphFile(unittest.TestCase):
    def test_is_taken_when_log_and_dump_agree_with_it(self):
        self.assertEqual(of_one("nccl_graph.xml", log=GRAPH_LOG)["faults"], [])

    def test_numbers_of_other_computers_do_not_matter(self):
        dump = GRAPH.replace("0x1", "0x100000000000001")
        self.assertTrue(of_one("nccl_graph.xml", log=GRAPH_LOG, graph=dump)["taken"])

    def test_is_not_taken_when_the_log_names_other_channels(self):
        faults = of_one("nccl_graph.xml", log=GRAPH_LOG.replace(": 1 ch", ": 21845 ch"))["faults"]
        self.assertIn("the log does not say that graph 0 was loaded with 1 channels", faults)

    def test_is_not_taken_when_the_dump_has_another_order(self):
        swapped = GRAPH.replace('"0x1"', "@").replace('"0x0"', '"0x1"').replace("@", '"0x0"')
        self.assertIn("orders", of_one("nccl_graph.xml", log=GRAPH_LOG, graph=swapped)["faults"][0])

    def test_is_not_taken_when_nccl_complains(self):
        log = GRAPH_LOG + line("graph/search.cc:9 XML Import Channel : dev 3 not found.", "WARN")
        self.assertFalse(of_one("nccl_graph.xml", log=log)["taken"])


class TopologyFile(unittest.TestCase):
    LOG = line("Loading topology file DIR/nccl_topo.xml")

    def test_is_taken_when_the_dump_has_its_cards_where_they_were(self):
        more = TOPOLOGY.replace('link_width="8"', 'link_width="8" vendor="0x10de"')
        self.assertEqual(of_one("nccl_topo.xml", log=self.LOG, topo=more)["faults"], [])

    def test_is_not_taken_when_a_link_is_as_nccl_found_it(self):
        faults = of_one("nccl_topo.xml", log=self.LOG, topo=TOPOLOGY.replace('"8"', '"16"'))["faults"]
        self.assertEqual(faults, ["0000:01:00.0: link_width is 16 in NCCL's dump, not 8"])

    def test_is_not_taken_when_its_cards_were_trimmed(self):
        self.assertFalse(of_one("nccl_topo.xml", log=self.LOG, topo='<system version="1"/>')["taken"])

    def test_addresses_become_those_of_the_machine_by_number(self):
        text, renamed = verdict.with_addresses(TOPOLOGY, ["0000:02:00.0", "000a:03:00.0"])
        self.assertEqual(renamed, [("0000:01:00.0", "0000:02:00.0"), ("0000:02:00.0", "000a:03:00.0")])
        self.assertEqual(list(verdict.cards_of(text)), ["0000:02:00.0", "000a:03:00.0"])
        self.assertIn('<nvlink target="000a:03:00.0"', text)
        self.assertEqual(verdict.with_addresses(TOPOLOGY, ["0000:01:00.0", "0000:02:00.0"]), (TOPOLOGY, []))


class TunerFile(unittest.TestCase):
    def test_is_taken_when_nccl_chose_what_the_first_fitting_row_says(self):
        self.assertEqual(of_one("nccl_tuner.csv", log=TUNER_LOG)["faults"], [])

    def test_is_not_taken_when_nccl_chose_otherwise(self):
        for wrong in (TUNER_LOG.replace("TREE", "RING"), TUNER_LOG.replace("{0..0}", "{0..1}")):
            self.assertIn("8 B: NCCL took", of_one("nccl_tuner.csv", log=wrong)["faults"][0])

    def test_rows_that_nccl_rules_out_are_passed_over(self):
        log = (TUNER_LOG + line("TUNER/ExamplePlugin: combination [ring][ll128] is marked as IGNORE") +
               line("AllReduce: 1000 Bytes -> Algo RING proto SIMPLE channel{Lo..Hi}={0..3}"))
        said = of_one("nccl_tuner.csv", log=log)
        self.assertEqual(said["faults"], [])
        self.assertIn("ring ll128 is ruled out", said["notes"][0])

    def test_is_not_taken_when_rows_were_lost_or_nobody_was_asked(self):
        self.assertIn("rows of 3", of_one("nccl_tuner.csv", log=TUNER_LOG.replace("Loaded 3", "Loaded 2"))["faults"][0])
        self.assertIn("no call", of_one("nccl_tuner.csv", log=TUNER_LOG.replace("AllReduce", "Reduce"))["faults"][0])
        self.assertIn("did not load", of_one("nccl_tuner.csv", log="")["faults"][0])

    def test_one_rank_asks_no_tuner(self):
        log = TUNER_LOG.replace("AllReduce", "Reduce")
        self.assertTrue(of_one("nccl_tuner.csv", log=log, ranks=1, outputs=['{"right": true}'], codes=[0])["taken"])

    def test_sizes_are_those_at_which_rows_begin(self):
        self.assertEqual(verdict.sizes_to_try(TUNER), [8, 1000])
        self.assertEqual(verdict.sizes_to_try(""), verdict.SIZES_WITHOUT_TUNER)

    def test_rows_for_any_ranks_keep_the_rest(self):
        self.assertEqual([row[6:8] for row in verdict.rows_of(verdict.with_any_ranks(TUNER))], [["-1", "-1"]] * 3)
        self.assertTrue(verdict.with_any_ranks(TUNER).startswith(TUNER.splitlines()[0]))


class EnvironmentFile(unittest.TestCase):
    GIVEN = {"NCCL_MIN_NCHANNELS": "8", "NCCL_PROTO": "^LL128", "NCCL_P2P_LEVEL": "SYS"}
    LOG = line("NCCL_MIN_NCHANNELS set by environment to 8.") + line("NCCL_PROTO set by environment to ^LL128")

    def test_is_taken_when_nccl_names_its_values(self):
        said = of_one("nccl.env", log=self.LOG, environment=self.GIVEN)
        self.assertEqual((said["faults"], said["notes"]), ([], ["NCCL_P2P_LEVEL was not asked for"]))

    def test_is_not_taken_when_a_value_is_another_or_none_is_named(self):
        faults = of_one("nccl.env", log=self.LOG.replace("to 8", "to 4"), environment=self.GIVEN)["faults"]
        self.assertEqual(faults, ["NCCL_MIN_NCHANNELS is 4. for NCCL, not 8"])
        self.assertFalse(of_one("nccl.env", log="", environment=self.GIVEN)["taken"])

    def test_is_read_as_a_shell_reads_it(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "nccl.env")
            with open(path, "w", encoding="utf-8") as file:
                file.write("# why\nexport NCCL_PROTO='^LL128'\nexport NCCL_X='it'\\''s'\n")
            self.assertEqual(load_files.sourced(path), {"NCCL_PROTO": "^LL128", "NCCL_X": "it's"})


class Runs(unittest.TestCase):
    def test_a_failed_run_or_a_wrong_sum_takes_nothing(self):
        for changes in ({"codes": [0, "killed"]}, {"outputs": ['{"right": true}', '{"right": false}']},
                        {"outputs": ['{"right": true}', ""]}):
            self.assertFalse(of_one("nccl_graph.xml", log=GRAPH_LOG, **changes)["taken"])

    def test_a_file_is_taken_when_every_run_took_it(self):
        good = {"shape": "a", "files": ["f"], "exit": [0], "right": True,
                "taken": {"f": {"taken": True, "faults": [], "notes": ["x", "y"]}}}
        bad = {**good, "shape": "b", "taken": {"f": {"taken": False, "faults": ["why"], "notes": ["y"]}}}
        bare = {"shape": "a", "files": [], "exit": [0], "right": True, "taken": {}}
        verdicts = verdict.together([bare, good], ["f"], {"g": "none"})
        self.assertEqual(verdicts, {"no files": "ran", "f": "taken; x; y", "g": "skipped: none"})
        self.assertTrue(verdict.is_success(verdicts))
        verdicts = verdict.together([bare, good, bad], ["f"], {})
        self.assertEqual(verdicts["f"], "not taken: b: why")
        self.assertFalse(verdict.is_success(verdicts))
        self.assertFalse(verdict.is_success(verdict.together([{**bare, "exit": ["killed"]}, good], ["f"], {})))
        self.assertFalse(verdict.is_success({"no files": "ran", "g": "skipped: none"}), "nothing was shown")

    def test_who_hangs_is_killed(self):
        self.assertEqual(waited(["import time; time.sleep(60)"], 0.2), ["killed"])

    def test_nobody_waits_long_for_the_peers_of_who_failed(self):
        self.assertEqual(waited(["import sys; sys.exit(3)", "import time; time.sleep(60)"], 50), [3, "killed"])


def waited(scripts, seconds):
    begin = time.monotonic()
    processes = [subprocess.Popen([sys.executable, "-c", script], start_new_session=True) for script in scripts]
    codes = load_files.wait_for(processes, seconds, grace=0.1)
    assert time.monotonic() - begin < 40, "it waited"
    return codes


def main():
    suite = unittest.defaultTestLoader.loadTestsFromName(__name__)
    return 0 if unittest.TextTestRunner().run(suite).wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
