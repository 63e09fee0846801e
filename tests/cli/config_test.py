"""`config check`, `config explain`, `config schema`."""

import json
import os
import tempfile
import unittest
from pathlib import Path

from lanecast_command import SOURCE, SWITCH2, CommandTest, csv_rows, lanecast

SHIPPED = sorted(path.stem for path in Path(SOURCE, "configs", "machines").glob("*.yaml"))


def machine_text(name):
    return Path(SOURCE, "configs", "machines", name + ".yaml").read_text(encoding="utf-8")


class Check(CommandTest):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def file(self, name, text):
        path = Path(self.folder.name, name)
        path.write_text(text, encoding="utf-8")
        return str(path)

    def test_every_shipped_machine_is_good(self):
        run = self.good("config", "check", *SHIPPED)
        self.assertEqual(len(run.out.splitlines()), len(SHIPPED))
        for line in run.out.splitlines():
            self.assertTrue(line.startswith("ok "), line)

    def test_all_problems_of_all_files_are_told_in_one_go(self):
        broken = machine_text(SWITCH2).replace("x16", "x3", 1) + "surplus: 1\n"
        first = self.file("first.yaml", broken)
        second = self.file("second.yaml", "lanecast: 99\n")
        good = self.file("good.yaml", machine_text(SWITCH2))
        run = lanecast("config", "check", first, good, second)
        self.assertEqual(run.code, 2)
        self.assertEqual(run.out.count("ok "), 1)
        self.assertIn("x3", run.err)
        self.assertIn("surplus", run.err)
        self.assertIn("second.yaml:1", run.err)
        self.assertEqual(run.err.count("error: "), run.err.count("  at "))

    def test_what_is_no_machine_is_bad_input(self):
        for path in (self.folder.name, self.file("empty.yaml", ""), "absent.yaml"):
            self.refused("config", "check", path)


class Explain(CommandTest):
    def test_each_value_has_an_origin(self):
        document = self.document("config", "explain", SWITCH2)
        origins = {row["path"]: row["origin"] for row in document["values"]}
        self.assertIn("links.gpu0.width", origins)
        self.assertIn("default", origins.values())
        self.assertTrue(any(f"{SWITCH2}.yaml:" in origin for origin in origins.values()))

    def test_each_parameter_has_value_unit_range_and_source(self):
        document = self.document("config", "explain", SWITCH2, "--profile", "generic")
        self.assertEqual(document["profile"], "generic")
        self.assertGreater(len(document["parameters"]), 40)
        for row in document["parameters"]:
            self.assertEqual(row["origin"], "prior")
            self.assertTrue(row["unit"] and row["source"] and row["doc"], row)
            self.assertLessEqual(row["low"], float(row["value"]), row)
            self.assertGreaterEqual(row["high"], float(row["value"]), row)

    def test_all_formats_hold_the_same_values(self):
        document = self.document("config", "explain", SWITCH2)
        count = len(document["values"]) + len(document["parameters"])
        self.assertEqual(len(csv_rows(self.good("config", "explain", SWITCH2, "--format", "csv").out)), count)
        for form in ("table", "markdown"):
            lines = self.good("config", "explain", SWITCH2, "--format", form).out.splitlines()
            rows = [line for line in lines if "links.gpu0." in line]
            self.assertEqual(len(rows), len([v for v in document["values"] if "links.gpu0." in v["path"]]))


class OneLineMachine(CommandTest):
    LINE = "2x(sw@x8:2xgpu)@gen5x16"

    def test_is_checked_and_explained_as_a_file_would_be(self):
        self.assertIn("4 GPUs", self.good("config", "check", self.LINE).out)
        document = self.document("config", "explain", self.LINE)
        values = {row["path"]: row for row in document["values"]}
        self.assertEqual(values["links.uplink1.width"]["value"], "x8")
        self.assertTrue(values["links.uplink1.width"]["origin"].startswith("one-line.yaml:"))
        self.assertEqual(values["links.gpu3.rate"]["value"], "gen5")

    def test_a_fault_has_a_caret_below_its_place(self):
        run = self.refused("config", "explain", "2x(swi:4xgpu)", says="there is no part `swi`")
        lines = run.err.splitlines()
        place = next(number for number, line in enumerate(lines) if line.startswith("  at "))
        self.assertEqual(lines[place + 1].index("^"), lines[place].index("swi"))


class Schema(CommandTest):
    def test_is_a_schema_that_the_shipped_machines_obey(self):
        schema = json.loads(self.good("config", "schema", "machine").out)
        self.assertIn("properties", schema)
        try:
            import jsonschema
            import yaml
        except ImportError as missing:
            self.skipTest(f"python3-jsonschema or python3-yaml is absent: {missing}")
        jsonschema.Draft7Validator.check_schema(schema)
        for name in SHIPPED:
            jsonschema.validate(yaml.safe_load(machine_text(name)), schema)

    def test_other_kinds_and_no_kind_are_refused(self):
        self.refused("config", "schema", "box", says="machine")
        self.refused("config", "schema", says="KIND")
        self.refused("config", says="config --help")


class ShippedMachines(CommandTest):
    def test_are_listed_in_the_documents(self):
        with open(os.path.join(SOURCE, "docs", "machine-file.md"), encoding="utf-8") as file:
            text = file.read()
        for name in os.listdir(os.path.join(SOURCE, "configs", "machines")):
            self.assertIn(f"| `{name.removesuffix('.yaml')}` |", text)


if __name__ == "__main__":
    unittest.main()
