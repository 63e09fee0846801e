"""Formats and output files."""

import json
import os
import tempfile
import unittest
from pathlib import Path

from lanecast_command import SWITCH2, CommandTest, csv_rows, markdown_rows, table_rows

SWEEP = ["predict", SWITCH2, "-b", "1K", "-e", "32K", "-f", "32"]

HEAD_KEYS = ["lanecast", "format", "command"]
DOCUMENT_KEYS = {"machine", "profile", "implementation", "ranks", "collective", "results", "warnings"}
RESULT_KEYS = set(
    "size_bytes time_us time_us_low time_us_high algbw_GBps busbw_GBps algorithm protocol transport channels threads "
    "chunk_bytes buffsize_bytes launch in_place datatype op ring_order folded bottleneck limit_busbw_GBps".split()
)


class Formats(CommandTest):
    def test_json_has_the_keys_of_the_contract(self):
        document = self.document(*SWEEP)
        self.assertEqual(list(document)[:3], HEAD_KEYS)
        self.assertLessEqual(DOCUMENT_KEYS, set(document))
        self.assertIs(type(document["format"]), int)
        self.assertEqual(document["machine"], SWITCH2)
        self.assertEqual(document["ranks"], 2)
        self.assertEqual(len(document["results"]), 2)
        for result in document["results"]:
            self.assertLessEqual(RESULT_KEYS, set(result))
            self.assertEqual(set(result["bottleneck"]), {"link", "direction", "utilization"})
            for key in ("time_us", "time_us_low", "time_us_high", "algbw_GBps", "busbw_GBps", "limit_busbw_GBps"):
                self.assertIsInstance(result[key], (int, float))
        for warning in document["warnings"]:
            self.assertEqual(set(warning), {"code", "text"})

    def test_all_formats_print_the_same_rows(self):
        results = self.document(*SWEEP)["results"]
        by_csv = csv_rows(self.good(*SWEEP, "--format", "csv").out)
        by_table = table_rows(self.good(*SWEEP).out)
        by_markdown = markdown_rows(self.good(*SWEEP, "--format", "markdown").out)
        for rows in (by_csv, by_table, by_markdown):
            self.assertEqual(len(rows), len(results))
        for result, line, row, cells in zip(results, by_csv, by_table, by_markdown):
            self.assertEqual(int(line["size_bytes"]), result["size_bytes"])
            self.assertEqual(float(line["time_us"]), result["time_us"])
            self.assertEqual(line["bottleneck_link"], result["bottleneck"]["link"])
            self.assertEqual(line["ring_order"], "-".join(map(str, result["ring_order"])))
            self.assertEqual(int(row[0]), result["size_bytes"])
            self.assertAlmostEqual(float(row[5]), result["time_us"], delta=0.006)
            self.assertEqual([int(cells[0]), cells[5]], [result["size_bytes"], row[5]])

    def test_the_table_begins_with_the_columns_of_nccl_tests(self):
        head = [line for line in self.good(*SWEEP).out.splitlines() if line.startswith("#") and "busbw  " in line]
        self.assertEqual(head[0].split()[1:9], "size count type redop root time algbw busbw".split())

    def test_json_lists_the_command_so_that_a_shell_repeats_it(self):
        document = self.document("matrix", SWITCH2, "--flows", "0>1")
        self.assertEqual(document["command"], f"lanecast matrix {SWITCH2} --flows '0>1' --format json")

    def test_the_digest_follows_the_machine_in_force(self):
        digest = self.document(*SWEEP)["config_digest"]
        self.assertRegex(digest, "^[0-9a-f]{16}$")
        self.assertEqual(self.document(*SWEEP, "-q")["config_digest"], digest)
        self.assertNotEqual(self.document(*SWEEP, "--set", "links.gpu0.width=x8")["config_digest"], digest)

    def test_an_unknown_format_is_refused_with_the_list(self):
        self.refused(*SWEEP, "--format", "jsn", says=["`table`, `json`, `csv` and `markdown`", "did you mean `json`"])

    def test_the_environment_mirrors_flags_and_flags_win(self):
        mirror = {"LANECAST_FORMAT": "json", "LANECAST_SEED": "9", "LANECAST_JOBS": "1"}
        self.assertEqual(json.loads(self.good(*SWEEP, environment=mirror).out)["seed"], 9)
        by_flag = self.good(*SWEEP, "--format", "csv", "--seed", "4", environment=mirror).out
        self.assertEqual([row["seed"] for row in csv_rows(by_flag)], ["4", "4"])
        self.refused(*SWEEP, environment={"LANECAST_FORMAT": "yaml"}, says="--format")
        self.refused(*SWEEP, environment={"LANECAST_PROFILE": "x.yaml"}, says="cannot read `x.yaml`")
        self.refused(*SWEEP, environment={"LANECAST_SEED": "-1"}, says="--seed")


class OutputFile(CommandTest):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = str(Path(self.folder.name, "result.json"))

    def test_is_written_and_stdout_stays_empty(self):
        run = self.good(*SWEEP, "--format", "json", "-o", self.path)
        self.assertEqual(run.out, "")
        self.assertEqual(len(json.loads(Path(self.path).read_text())["results"]), 2)

    def test_is_never_overwritten_unasked(self):
        Path(self.path).write_text("precious")
        self.refused(*SWEEP, "-o", self.path, says=["exists already", "--force"])
        self.assertEqual(Path(self.path).read_text(), "precious")
        self.good(*SWEEP, "--format", "json", "-o", self.path, "--force")
        self.assertEqual(len(json.loads(Path(self.path).read_text())["results"]), 2)

    def test_is_not_made_by_a_failed_run(self):
        self.refused(*SWEEP, "--ranks", "0,99", "-o", self.path)
        self.assertFalse(os.path.exists(self.path))

    def test_must_have_a_folder_and_be_none(self):
        self.refused(*SWEEP, "-o", str(Path(self.folder.name, "absent", "x")), says="there is no folder")
        self.refused(*SWEEP, "-o", self.folder.name, says="is a folder")

    def test_a_dash_is_stdout(self):
        self.assertEqual(self.good(*SWEEP, "-o", "-").out.splitlines()[4:], self.good(*SWEEP).out.splitlines()[4:])

    def test_devices_are_no_files_to_lose(self):
        self.assertEqual(self.good(*SWEEP, "-o", "/dev/null").out, "")


if __name__ == "__main__":
    unittest.main()
