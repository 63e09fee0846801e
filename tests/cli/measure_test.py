"""`measure` where no GPU is seen: its plan, its refusals, and how its ranks are told apart."""

import json
import os
import tempfile
import unittest
from pathlib import Path

from lanecast_command import CommandTest, lanecast, csv_rows, markdown_rows, table_rows

NO_GPU = {"CUDA_VISIBLE_DEVICES": ""}


class MeasureTest(CommandTest):
    def plan(self, *words):
        return self.document("measure", "--dry-run", *words)["plan"]

    def slip(self, *words, says=()):
        """Bad usage is told as such where no GPU is, too."""
        return self.refused("measure", *words, says=says, environment=NO_GPU)


class Plan(MeasureTest):
    def test_each_size_is_measured_out_of_place_and_in_place(self):
        rows = self.plan("-g", "2", "-b", "1K", "-e", "4K", "-f", "2")
        self.assertEqual(
            [(r["size_bytes"], r["in_place"]) for r in rows],
            [(s, p) for s in (1024, 2048, 4096) for p in (False, True)],
        )
        self.assertEqual(rows[0]["count"], 256)
        for key in ("algorithm", "protocol", "transport", "staging", "channels", "threads", "chunk_bytes"):
            self.assertIsNone(rows[0][key], f"{key} is the engine's choice")

    def test_in_place_and_out_of_place_select_one(self):
        self.assertEqual({r["in_place"] for r in self.plan("-g", "2", "--in-place")}, {True})
        self.assertEqual({r["in_place"] for r in self.plan("-g", "2", "--out-of-place")}, {False})
        self.slip("-g", "2", "--in-place", "--out-of-place", says="--out-of-place")

    def test_lists_give_every_combination_once(self):
        rows = self.plan(
            *("-g", "2", "-b", "1M", "-e", "1M", "--in-place", "--protocol", "all", "--transport", "p2p,shm"),
            *("-d", "float,half,float", "--channels", "1,4", "--staging", "sm,ce,auto"),
        )
        combinations = {(r["protocol"], r["transport"], r["datatype"], r["channels"], r["staging"]) for r in rows}
        self.assertEqual(len(rows), 3 * 2 * 2 * 2 * 3)
        self.assertEqual(len(combinations), len(rows))

    def test_all_types_and_operations_are_35_cases_of_a_reduction_and_7_of_what_does_not_reduce(self):
        common = ("-g", "2", "-b", "1K", "-e", "1K", "--in-place", "--datatype", "all", "--op", "all")
        self.assertEqual(len(self.plan(*common)), 7 * 5)
        gather = self.plan(*common, "--collective", "all_gather,broadcast")
        self.assertEqual(len(gather), 2 * 7)
        self.assertEqual({r["op"] for r in gather}, {None})
        self.assertEqual({r["root"] for r in gather if r["collective"] == "broadcast"}, {0})

    def test_sizes_are_whole_elements_and_whole_blocks(self):
        rows = self.plan("-g", "3", "-b", "100", "-e", "100", "--collective", "all", "--in-place")
        sizes = {r["collective"]: (r["size_bytes"], r["count"]) for r in rows}
        self.assertEqual(sizes["all_reduce"], (100, 25))
        self.assertEqual(sizes["all_gather"], (96, 8))
        self.assertEqual(sizes["reduce_scatter"], (96, 8))

    def test_a_step_gives_odd_counts(self):
        rows = self.plan("-g", "2", "-b", "4", "-e", "44", "-i", "20", "--in-place")
        self.assertEqual([r["count"] for r in rows], [1, 6, 11])

    def test_stream_launches_are_asked_for_in_two_ways(self):
        for words in (("--graph", "0"), ("--launch", "stream"), ("-G", "0", "--launch", "stream")):
            self.assertEqual({r["launch"] for r in self.plan("-g", "2", *words)}, {"stream"})
        self.assertEqual({r["launch"] for r in self.plan("-g", "2", "--graph", "7")}, {"graph"})
        self.slip("-g", "2", "--launch", "stream", "--graph", "7", says="leave one of them out")

    def test_every_format_has_the_same_rows(self):
        words = ("measure", "-g", "2", "-b", "1K", "-e", "1M", "-f", "4", "--dry-run")
        rows = self.plan(*words[1:-1])
        self.assertEqual(len(csv_rows(self.good(*words, "--format", "csv").out)), len(rows))
        self.assertEqual(len(table_rows(self.good(*words).out)), len(rows))
        self.assertEqual(len(markdown_rows(self.good(*words, "--format", "markdown").out)), len(rows))

    def test_the_number_of_gpus_named_is_the_number_of_ranks(self):
        self.assertEqual({r["ranks"] for r in self.plan("--devices", "0,0,1")}, {3})

    def test_a_launcher_is_the_one_to_say_how_many_ranks_there_are(self):
        torchrun = {"RANK": "0", "WORLD_SIZE": "4", "LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "4"}
        run = self.refused("measure", "-g", "2", environment={**NO_GPU, **torchrun}, code=self.absent_code())
        if "built without CUDA" not in run.err:
            self.assertIn("torchrun", run.err)
            self.assertIn("leave both out", run.err)

    def absent_code(self):
        run = self.refused("measure", "-g", "2", environment=NO_GPU, code=4)
        return 4 if "built without CUDA" in run.err else 2

    def test_the_micro_benchmarks_are_listed(self):
        out = self.good("measure", "-g", "2", "--suite", "quick", "--collective", "none", "--dry-run").out
        self.assertIn("micro-benchmark", out)
        self.assertEqual(table_rows(out), [])


class Measured(unittest.TestCase):
    """The files that `measure` wrote on real GPUs and that are shipped."""

    def test_shipped_measurements_follow_the_schema_and_have_no_wrong_element(self):
        import jsonschema

        root = Path(os.environ["LANECAST_SOURCE"])
        schema = json.loads((root / "configs/schema/measure.schema.json").read_text())
        files = sorted((root / "configs/measurements").glob("h200x1-*.json"))
        self.assertEqual(len(files), 5)
        for file in files:
            document = json.loads(file.read_text())
            jsonschema.validate(document, schema)
            self.assertEqual({row["wrong"] for row in document["runs"]}, {0}, file.name)


class Refusals(MeasureTest):
    def test_without_a_gpu_the_exit_code_is_4_and_the_message_has_three_lines(self):
        run = self.refused("measure", "-g", "2", environment=NO_GPU, code=4)
        what, at, mend = run.err.splitlines()[-3:]
        self.assertTrue(what.startswith("error: "), run.err)
        self.assertTrue(at.startswith("  at "), run.err)
        self.assertTrue(mend.startswith("  mend: "), run.err)
        self.refused("measure", environment=NO_GPU, code=4)
        self.refused("measure", "--dry-run", environment=NO_GPU, code=4)

    def test_values_that_are_none_are_named_with_their_choices(self):
        self.slip("--protocol", "ll,llama", says=["llama", "ll128"])
        self.slip("--collective", "all_redux", says="all_reduce")
        self.slip("--datatype", "int16", says="bfloat16")
        self.slip("--op", "mean", says="avg")
        self.slip("--transport", "nvlink", says="shm")
        self.slip("--staging", "dma", says="ce")
        self.slip("--algorithm", "rung", says="ring")
        self.slip("--ranks-as", "fibres", says="threads")
        self.slip("--suite", "long", says="full")
        self.slip("--launch", "cuda", says="graph")

    def test_numbers_out_of_range_are_named_with_their_range(self):
        self.slip("-g", "0", says="1 to 16")
        self.slip("-g", "17", says="1 to 16")
        self.slip("-n", "0", says="-n")
        self.slip("-w", "-1", says="-w")
        self.slip("-c", "x", says="-c")
        self.slip("--graph", "-3", says="--graph")
        self.slip("--timeout", "0", says="0.001 to 600")
        self.slip("--timeout", "soon", says="0.001 to 600")
        self.slip("--sessions", "0", says="--sessions")
        self.slip("--channels", "65", says="1 to 64")
        self.slip("--chunk", "2G", says="1 to 1G")
        self.slip("-g", "2", "--root", "2", says="0 to 1")
        self.slip("-b", "12Q", says="12Q")
        self.slip("-b", "8", "-e", "4", says="begins at")

    def test_what_leaves_nothing_to_measure_is_refused(self):
        self.slip("--collective", "none", says="--suite quick")
        self.slip("-g", "8", "-b", "4", "-e", "16", "--collective", "all_gather", says="no size is left")

    def test_too_many_rows_are_refused_before_they_are_made(self):
        counts = ",".join(str(n) for n in range(1, 65))
        self.slip(*("-g", "2", "--channels", counts, "--threads", counts, "--datatype", "all"), says="rows")

    def test_gpus_and_ranks_must_agree(self):
        self.slip("-g", "2", "--devices", "0,0,0", says="one GPU for each rank")

    def test_what_does_not_fit_the_launcher_is_told_without_a_gpu_and_in_a_dry_run(self):
        def under(ranks, *words, says):
            launcher = {"RANK": "0", "WORLD_SIZE": ranks, "LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": ranks}
            self.refused("measure", "-e", "8", *words, says=says, environment=NO_GPU | launcher)

        under("2", "--ranks-as", "threads", says=["has started 2 ranks as processes", "--ranks-as threads"])
        under("2", "--dry-run", "--devices", "0,0,0", says=["has started 2 ranks", "asks for 3"])
        under("17", says=["has started 17 ranks", "at most 16"])

    def test_only_rank_0_prints_the_plan(self):
        other = {"RANK": "1", "WORLD_SIZE": "2", "LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "2"}
        result = lanecast("measure", "--dry-run", "-g", "2", "-e", "8", environment=NO_GPU | other)
        self.assertEqual((result.code, result.out), (0, ""))

    def test_one_file_under_two_spellings_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "a.json")
            again = os.path.join(folder, ".", "a.json")
            self.slip("-J", file, "--json-lines", again, says=["two documents"])
        self.slip("-g", "2", "-J", "-", says=["the standard output has the result"])

    def test_a_file_is_never_overwritten_unasked(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "there.json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump({}, file)
            self.slip("-g", "2", "--dry-run", "-o", path, says="--force")
            self.slip("-g", "2", "-J", path, says="--force")
            self.slip("-g", "2", "--json-lines", path, says="--force")


if __name__ == "__main__":
    unittest.main()
