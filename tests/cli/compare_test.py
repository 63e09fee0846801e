"""`compare`: joins, errors, the tolerance, and rows that are predicted one by one."""

import csv
import json
import os
import tempfile
import unittest
from pathlib import Path

from lanecast_command import SOURCE, SWITCH2, CommandTest, csv_rows, lanecast, markdown_rows, table_rows

SIZES = ["-b", "1K", "-e", "16M", "-f", "4"]
CALL = ["--protocol", "simple", "--algorithm", "ring"]
FIXTURES = Path(SOURCE, "tests", "fixtures", "measured")
SUMMARY_KEYS = {"n", "median_abs_error", "p95_abs_error", "max_abs_error"}


class CompareTest(CommandTest):
    """Measurements are made of a prediction: its rows, with times that are wrong by known shares."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def save(self, name, text):
        Path(self.path(name)).write_text(text, encoding="utf-8")
        return self.path(name)

    def predicted(self, name="predicted.json", words=(), protocol="simple"):
        call = ["--algorithm", "ring", "--protocol", protocol]
        run = self.good("predict", SWITCH2, *SIZES, *call, *words, "--format", "json")
        self.save(name, run.out)
        return json.loads(run.out)

    def measured(self, document, factor, name="measured.csv", **keys):
        """Rows of the document as measured CSV; times are the predicted ones by `factor(row number)`."""
        rows = []
        for number, result in enumerate(document["results"]):
            row = {"collective": document["collective"], "ranks": document["ranks"], "implementation": "nccl-2.30"}
            for key in ("size_bytes", "datatype", "op", "algorithm", "protocol", "transport", "launch", "in_place"):
                row[key] = result[key]
            row["iterations"] = result["iterations"]
            row["time_us"] = result["time_us"] * factor(number)
            row.update(keys)
            rows.append(row)
        with open(self.path(name), "w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
        return self.path(name)

    def compared(self, *words, **settings):
        return self.document("compare", *words, **settings)


class Joins(CompareTest):
    def test_a_prediction_agrees_with_itself(self):
        self.predicted()
        document = self.compared(self.path("predicted.json"), self.path("predicted.json"), "--tolerance", "0%")
        self.assertEqual(document["summary"]["n"], 8)
        self.assertEqual({row["error"] for row in document["rows"]}, {0})
        self.assertEqual(document["summary"]["coverage"], 1)

    def test_an_error_is_predicted_over_measured_less_one(self):
        document = self.predicted()
        measured = self.measured(document, lambda number: 1.25 if number == 3 else 0.8 if number == 4 else 1)
        result = self.compared(measured, self.path("predicted.json"), "--with-first-rows")
        errors = {row["size_bytes"]: row["error"] for row in result["rows"]}
        self.assertAlmostEqual(errors[64 << 10], -0.2, places=6)
        self.assertAlmostEqual(errors[256 << 10], 0.25, places=6)
        self.assertAlmostEqual(errors[1 << 10], 0, places=6)
        summary = result["summary"]
        self.assertLessEqual(SUMMARY_KEYS, set(summary))
        self.assertEqual(summary["n"], 8)
        self.assertAlmostEqual(summary["max_abs_error"], 0.25, places=6)
        self.assertAlmostEqual(summary["median_abs_error"], 0, places=6)

    def test_the_document_has_the_keys_of_the_contract(self):
        document = self.predicted()
        result = self.compared(self.measured(document, lambda _: 1.1), self.path("predicted.json"))
        self.assertEqual(list(result)[:3], ["lanecast", "format", "command"])
        self.assertEqual([(group["protocol"], group["transport"]) for group in result["groups"]], [("simple", "p2p")])
        self.assertLessEqual(SUMMARY_KEYS, set(result["groups"][0]))
        self.assertEqual(sum(band["n"] for band in result["bands"]), result["summary"]["n"])
        for row in result["rows"]:
            self.assertAlmostEqual(row["predicted_time_us"] / row["measured_time_us"] - 1, row["error"], places=6)
            self.assertEqual(row["launch"], "graph")
            self.assertFalse(row["in_place"])

    def test_the_first_row_of_a_sweep_stands_apart(self):
        document = self.predicted()
        measured = self.measured(document, lambda number: 2 if number == 0 else 1)
        result = self.compared(measured, self.path("predicted.json"))
        self.assertEqual(result["summary"]["n"], 7)
        self.assertAlmostEqual(result["summary"]["max_abs_error"], 0, places=6)
        self.assertEqual(result["first_rows"]["summary"]["n"], 1)
        self.assertAlmostEqual(result["first_rows"]["summary"]["max_abs_error"], 0.5, places=6)

    def test_out_of_place_counts_unless_in_place_is_asked_for(self):
        document = self.predicted()
        measured = self.measured(document, lambda _: 1, in_place=True)
        self.refused("compare", measured, self.path("predicted.json"), says=["nothing can be compared", "in place"])
        self.predicted("in-place.json", ["--in-place"])
        self.assertEqual(self.compared(measured, self.path("in-place.json"), "--in-place")["summary"]["n"], 7)

    def test_rows_that_do_not_join_are_counted_with_the_key_that_stands_in_the_way(self):
        document = self.predicted()
        self.predicted("ll.json", protocol="ll")
        measured = self.measured(document, lambda _: 1)
        run = self.refused("compare", measured, self.path("ll.json"), says="nothing can be compared")
        self.assertIn("the nearest is of another protocol", run.err)
        small = self.good("predict", SWITCH2, "-b", "4K", "-e", "16K", *CALL, "--format", "json").out
        result = self.compared(measured, self.save("small.json", small))
        self.assertEqual([row["size_bytes"] for row in result["rows"]], [4096, 16384])
        self.assertEqual([(item["reason"], item["rows"]) for item in result["left_out"]],
                         [("no prediction: the nearest is of another size", 6)])
        self.assertIn("LC-COMPARE-02", {warning["code"] for warning in result["warnings"]})

    def test_what_was_forced_joins_with_what_a_file_says_was_set(self):
        document = self.predicted("two.json", ["--channels", "2"])
        measured = self.measured(document, lambda _: 1, channels=2)
        self.assertEqual(document["results"][0]["channels"], 1)  # so few for 1 KiB
        self.assertEqual(self.compared(measured, self.path("two.json"), "--with-first-rows")["summary"]["n"], 8)

    def test_other_launches_are_compared_with_a_warning(self):
        document = self.predicted()
        measured = self.measured(document, lambda _: 1, launch="stream")
        result = self.compared(measured, self.path("predicted.json"))
        self.assertEqual(result["summary"]["n"], 7)
        self.assertIn("LC-COMPARE-03", {warning["code"] for warning in result["warnings"]})

    def test_a_prediction_may_be_csv(self):
        document = self.predicted()
        run = self.good("predict", SWITCH2, *SIZES, *CALL, "--format", "csv")
        result = self.compared(self.measured(document, lambda _: 1), self.save("predicted.csv", run.out))
        self.assertEqual(result["summary"]["n"], 7)

    def test_two_measurements_are_compared_with_each_other(self):
        document = self.predicted()
        before = self.measured(document, lambda _: 1, "before.csv")
        after = self.measured(document, lambda _: 1.5, "after.csv")
        result = self.compared(before, after)
        self.assertAlmostEqual(result["summary"]["median_abs_error"], 0.5, places=6)
        self.assertIsNone(result["summary"]["coverage"])

    def test_filters(self):
        document = self.predicted()
        measured = self.measured(document, lambda _: 1)
        pair = [measured, self.path("predicted.json")]
        sizes = [row["size_bytes"] for row in self.compared(*pair, "--min-size", "1M")["rows"]]
        self.assertEqual(sizes, [1 << 20, 4 << 20, 16 << 20])
        self.assertEqual(self.compared(*pair, "--only", "protocol=simple,ll,size=4K")["summary"]["n"], 1)
        self.refused("compare", *pair, "--only", "protocol=ll", says="nothing can be compared")
        self.refused("compare", *pair, "--only", "protocoll=ll", says="did you mean `protocol`")
        self.refused("compare", *pair, "--only", "ll", says="KEY=VALUE")


class Tolerances(CompareTest):
    def pair(self):
        document = self.predicted()
        return self.measured(document, lambda number: 1 / 1.5 if number == 5 else 1 / 1.05), self.path("predicted.json")

    def check(self, code, *words):
        run = lanecast("compare", *self.pair(), *words)
        self.assertEqual(run.code, code, run.err)
        self.assertIn("beyond the tolerance" if code else "all within the tolerance", run.out)
        self.assertEqual("beyond the tolerance" in run.err, code != 0)

    def test_every_row_is_bounded(self):
        self.check(3, "--tolerance", "10%")
        self.check(3, "--tolerance", "0.1")
        self.check(0, "--tolerance", "51%")

    def test_or_the_median_or_p95_of_each_group(self):
        self.check(0, "--tolerance", "10%", "--tolerance-of", "median")
        self.check(3, "--tolerance", "10%", "--tolerance-of", "p95")
        self.check(3, "--tolerance", "1%", "--tolerance-of", "median")

    def test_the_failing_row_is_named(self):
        run = lanecast("compare", *self.pair(), "--tolerance", "10%", "--format", "json")
        self.assertEqual(run.code, 3)
        tolerance = json.loads(run.out)["tolerance"]
        self.assertFalse(tolerance["kept"])
        self.assertEqual(len(tolerance["beyond"]), 1)
        self.assertIn("size 1048576", tolerance["beyond"][0]["what"])
        self.assertIn("measured.csv:7", tolerance["beyond"][0]["what"])

    def test_a_tolerance_is_a_share(self):
        pair = self.pair()
        for text in ("10", "-1%", "x", "%", "1e999%"):
            self.refused("compare", *pair, "--tolerance", text, says="`10%` or `0.1`")
        self.refused("compare", *pair, "--tolerance", "10%", "--tolerance-of", "mean", says="`max`, `median` and `p95`")


class Predicts(CompareTest):
    def test_each_row_is_predicted_with_its_own_keys(self):
        document = self.predicted()
        first = self.measured(document, lambda _: 1, "simple.csv")
        second = self.measured(self.predicted("ll.json", protocol="ll"), lambda _: 1, "ll.csv")
        result = self.compared("--machine", SWITCH2, first, second)
        self.assertEqual(result["summary"]["n"], 14)
        for row in result["rows"]:
            self.assertAlmostEqual(row["error"], 0, places=6)
        self.assertEqual({group["protocol"] for group in result["groups"]}, {"simple", "ll"})
        self.assertEqual(result["machine"], SWITCH2)

    def test_a_changed_machine_predicts_other_times(self):
        measured = self.measured(self.predicted(), lambda _: 1)
        result = self.compared("--machine", SWITCH2, "--set", "links.gpu0.width=x8", measured, "--min-size", "16M")
        self.assertGreater(result["rows"][0]["error"], 0.5)

    def test_flags_say_what_the_data_leave_open(self):
        text = FIXTURES.joinpath("nccl-tests-2.4.txt")
        self.predicted()
        open_rows = self.compared("--machine", SWITCH2, str(text))["rows"]
        ll = self.compared("--machine", SWITCH2, str(text), "--protocol", "ll")["rows"]
        self.assertEqual({row["protocol"] for row in ll}, {"ll"})
        self.assertNotEqual([row["predicted_time_us"] for row in open_rows], [row["predicted_time_us"] for row in ll])
        measured = self.measured(self.predicted(), lambda _: 1)
        self.refused("compare", "--machine", SWITCH2, measured, "--protocol", "ll", says="contradicts the data")

    def test_nccls_own_model_stands_beside(self):
        measured = self.measured(self.predicted(), lambda _: 1)
        result = self.compared("--machine", SWITCH2, measured, "--with-nccl-model")
        self.assertEqual(result["nccl_model"]["summary"]["n"], result["summary"]["n"])
        model = self.results(SWITCH2, "-b", "1M", "-e", "1M", *CALL, "--implementation", "nccl-model-2.30")[0]
        row = next(row for row in result["rows"] if row["size_bytes"] == 1 << 20)
        self.assertAlmostEqual(row["nccl_model_time_us"], model["time_us"], places=6)
        self.assertAlmostEqual(row["nccl_model_error"], model["time_us"] / row["measured_time_us"] - 1, places=6)

    def test_rows_that_cannot_be_predicted_are_left_out_with_the_reason(self):
        document = self.predicted()
        measured = self.measured(document, lambda _: 1)
        many = self.measured(document, lambda _: 1, "many.csv", ranks=64)
        result = self.compared("--machine", SWITCH2, measured, many)
        self.assertEqual(result["summary"]["n"], 7)
        self.assertEqual([item["rows"] for item in result["left_out"]], [8])
        self.assertIn("measured on 64 GPUs", result["left_out"][0]["reason"])

    def test_an_unknown_implementation_profile_or_machine_is_refused(self):
        measured = self.measured(self.predicted(), lambda _: 1)
        self.refused("compare", "--machine", SWITCH2, measured, "--implementation", "nccl-9", says="nccl-9")
        self.refused("compare", "--machine", SWITCH2, measured, "--profile", "nope", says="nope")
        self.refused("compare", "--machine", "no-such-machine", measured, says="no-such-machine")


class Matrices(CompareTest):
    def test_a_predicted_table_agrees_with_itself(self):
        self.save("matrix.json", self.good("matrix", SWITCH2, "--format", "json").out)
        result = self.compared(self.path("matrix.json"), self.path("matrix.json"), "--tolerance", "0%")
        self.assertEqual([cell["error"] for cell in result["matrices"][0]["cells"]], [0, 0])
        self.assertEqual(result["summary"]["n"], 0)
        self.assertIsNone(result["summary"]["median_abs_error"])

    def test_printed_tables_are_predicted_with_and_without_peer_access(self):
        result = self.compared("--machine", "3xgpu@gen4x16", str(FIXTURES / "p2p-bandwidth-latency.txt"))
        tables = {(table["kind"], table["peer_access"]): table for table in result["matrices"]}
        self.assertIn(("p2p", True), tables)
        self.assertIn(("p2p", False), tables)
        cell = tables["p2p", True]["cells"][0]
        self.assertEqual((cell["source"], cell["destination"], cell["measured"]), ("0", "1", 24.01))
        staged = tables["p2p", False]["cells"][0]
        self.assertLess(staged["predicted"], cell["predicted"])


class Output(CompareTest):
    def test_all_formats_hold_the_same_rows(self):
        document = self.predicted()
        words = ["compare", self.measured(document, lambda number: 1 + number / 100), self.path("predicted.json")]
        rows = self.document(*words)["rows"]
        by_csv = csv_rows(self.good(*words, "--format", "csv").out)
        self.assertEqual([float(row["error"]) for row in by_csv], [row["error"] for row in rows])
        table = [row for row in table_rows(self.good(*words).out) if row[0].isdigit()]
        self.assertEqual([int(row[0]) for row in table], [row["size_bytes"] for row in rows])
        markdown = [row for row in markdown_rows(self.good(*words, "--format", "markdown").out) if row[0].isdigit()]
        self.assertEqual([int(row[0]) for row in markdown], [row["size_bytes"] for row in rows])

    def test_documents_follow_the_schema(self):
        try:
            import jsonschema
        except ImportError as missing:
            self.skipTest(f"python3-jsonschema is absent: {missing}")
        schema = json.loads(Path(SOURCE, "configs/schema/compare.schema.json").read_text(encoding="utf-8"))
        jsonschema.Draft7Validator.check_schema(schema)
        measured = self.measured(self.predicted(), lambda number: 1 + number / 100)
        for words in (
            [measured, self.path("predicted.json")],
            ["--machine", SWITCH2, measured, "--with-nccl-model", "--tolerance", "100%"],
            ["--machine", "3xgpu@gen4x16", str(FIXTURES / "p2p-bandwidth-latency.txt")],
        ):
            jsonschema.validate(self.compared(*words), schema)

    def test_the_worst_rows_come_first(self):
        document = self.predicted()
        words = ["compare", self.measured(document, lambda number: 1 + number / 100), self.path("predicted.json")]
        table = table_rows(self.good(*words, "--rows", "worst", "--worst", "2").out)
        self.assertEqual([int(row[0]) for row in table if row[0].isdigit()], [16 << 20, 4 << 20])

    def test_slips_are_refused(self):
        self.predicted()
        one = self.path("predicted.json")
        self.refused("compare", one, says="nothing to compare")
        self.refused("compare", one, one, one, says="3 files are too many")
        self.refused("compare", "-", "-", says="standard input")
        self.refused("compare", one, self.path("absent.json"), says="absent.json")
        self.refused("compare", one, self.save("text.txt", "hello\n"), says="text.txt")
        self.refused("compare", one, one, "--with-nccl-model", says="--machine")

    def test_bad_predictions_are_refused_with_all_problems(self):
        document = self.predicted()
        document["results"][0]["time_us"] = -1
        document["results"][1]["protocol"] = "lll"
        del document["results"][2]["size_bytes"]
        broken = self.save("broken.json", json.dumps(document))
        self.refused("compare", broken, broken,
                     says=["results[0].time_us", "results[1].protocol", "results[2].size_bytes"])


if __name__ == "__main__":
    unittest.main()
