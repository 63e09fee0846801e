"""`predict --algorithm`: every name, on the engine and on NCCL, as users meet it."""

import unittest

from lanecast_command import CommandTest, table_rows

SWITCH4 = "v100x4-pcie3-2switch"
SWITCH8 = "rtxpro6000x8-2switch"
ONE = ("-b", "64K", "-e", "64K")
ENGINE = ("--implementation", "lanecast")
DIRECT = ("one_shot", "two_shot", "one_shot_pull", "two_shot_pull")
HIERARCHICAL = ("hierarchical_ring", "hierarchical_tree")
PLAIN = ("ring", "tree", "halving_doubling", "star")


class Names(CommandTest):
    def test_each_is_answered_and_named(self):
        for name in PLAIN + DIRECT + HIERARCHICAL:
            row = self.results(SWITCH4, *ONE, *ENGINE, "--algorithm", name)[0]
            family = "direct" if name in DIRECT else "hierarchical" if name in HIERARCHICAL else name
            self.assertEqual(row["algorithm"], family)
            self.assertEqual(row["variant"], None if name == family else name)
            self.assertLessEqual(row["busbw_GBps"], row["limit_busbw_GBps"] * (1 + 1e-9), name)
            table = self.good("predict", SWITCH4, *ONE, *ENGINE, "--algorithm", name).out
            self.assertIn(name, table_rows(table)[0])

    def test_of_a_family_the_fastest_is_taken(self):
        for family, variants in (("direct", DIRECT), ("hierarchical", HIERARCHICAL)):
            times = [self.results(SWITCH8, *ONE, *ENGINE, "--algorithm", v)[0]["time_us"] for v in variants]
            row = self.results(SWITCH8, *ONE, *ENGINE, "--algorithm", family)[0]
            self.assertEqual(row["time_us"], min(times))
            self.assertEqual(row["variant"], variants[times.index(min(times))])

    def test_a_wrong_one_is_refused_with_all_that_there_are(self):
        self.refused("predict", SWITCH4, "--algorithm", "trees", says=["tree", "one_shot", "halving_doubling", "auto"])


class Implementations(CommandTest):
    def test_what_nccl_lacks_is_answered_for_the_engine_with_a_note(self):
        for name in ("direct", "hierarchical", "star", "halving_doubling"):
            run = self.good("predict", SWITCH4, *ONE, "--algorithm", name)
            self.assertIn("implementation lanecast", run.out)
            self.assertIn(f"NCCL has no {name}", run.err)
        self.assertIn("implementation nccl-", self.good("predict", SWITCH4, *ONE, "--algorithm", "tree").out)

    def test_what_nccl_lacks_is_refused_where_nccl_is_asked_for(self):
        self.refused("predict", SWITCH4, "--implementation", "nccl", "--algorithm", "direct",
                     says="--implementation lanecast")

    def test_auto_of_the_engine_is_no_slower_than_any(self):
        taken = self.results(SWITCH8, *ONE, *ENGINE)[0]
        for name in PLAIN + DIRECT + HIERARCHICAL:
            time = self.results(SWITCH8, *ONE, *ENGINE, "--algorithm", name)[0]["time_us"]
            self.assertLessEqual(taken["time_us"], time * (1 + 1e-6), name)
        self.assertIsNone(taken["stands_in_for"])

    def test_why_of_the_engine_shows_all_and_takes_the_fastest(self):
        document = self.document("predict", SWITCH4, "-b", "1K", "-e", "16M", "-f", "128", *ENGINE, "--why")
        for result in document["results"]:
            ways = result["why"]
            taken = [way for way in ways if way["taken"]]
            self.assertEqual(len(taken), 1)
            self.assertEqual(taken[0]["time_us"], result["time_us"])
            names = {way["variant"] or way["algorithm"] for way in ways}
            self.assertTrue({"ring", "tree", "one_shot", "two_shot_pull", "halving_doubling"} <= names)
            for way in ways:
                if way["time_us"] is None:
                    self.assertTrue(way["note"])


class Collectives(CommandTest):
    def test_an_algorithm_without_a_form_says_so(self):
        self.refused("predict", SWITCH4, *ONE, *ENGINE, "--algorithm", "one_shot", "--collective", "broadcast",
                     says=["one_shot has no broadcast", "ring"])
        self.refused("predict", SWITCH4, *ONE, *ENGINE, "--algorithm", "halving_doubling", "--collective",
                     "all_gather", "--ranks", "0,1,2", says="3 ranks")

    def test_those_with_a_form_answer(self):
        for name, collective in (("direct", "all_gather"), ("direct", "reduce_scatter"), ("star", "broadcast"),
                                 ("star", "reduce"), ("halving_doubling", "all_gather")):
            row = self.results(SWITCH4, *ONE, *ENGINE, "--algorithm", name, "--collective", collective)[0]
            self.assertEqual(row["algorithm"], name)
        for collective in ("all_gather", "reduce_scatter", "broadcast", "reduce"):
            self.results(SWITCH4, *ONE, *ENGINE, "--collective", collective)

    def test_pulling_takes_simple_only(self):
        self.refused("predict", SWITCH4, *ONE, *ENGINE, "--algorithm", "one_shot_pull", "--protocol", "ll",
                     says="one_shot_pull")

    def test_registered_buffers_are_the_rings(self):
        self.refused("predict", SWITCH4, *ONE, *ENGINE, "--algorithm", "two_shot", "--register", "on",
                     says=["--register on", "two_shot"])

    def test_a_chunk_that_cannot_be_divided_is_refused(self):
        self.refused("predict", SWITCH8, *ONE, *ENGINE, "--algorithm", "halving_doubling", "--chunk", "64",
                     "--protocol", "ll", says="--chunk")


if __name__ == "__main__":
    unittest.main()
