"""Profiles: `--profile`, `--set profile.`, `config check|explain|schema` of profile files."""

import json
import os
import shutil
import tempfile
import unittest
from pathlib import Path

from lanecast_command import SOURCE, SWITCH2, CommandTest, csv_rows, lanecast

FIXTURES = Path(SOURCE, "tests", "fixtures", "profiles")
H200 = str(FIXTURES / "hand-h200.yaml")
L40S = str(FIXTURES / "hand-l40s.yaml")
MIXED = str(FIXTURES / "mixed.yaml")
MACHINE = "h200x2-nvlink-vm"
CALL = ["-b", "1M", "-e", "1M", "--protocol", "simple", "--algorithm", "ring"]


class ProfileTest(CommandTest):
    """A data folder with the shipped machines and profiles of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.data = Path(folder.name)
        (self.data / "profiles").mkdir()
        os.symlink(Path(SOURCE, "configs", "machines").resolve(), self.data / "machines")
        self.environment = {"LANECAST_DATA": str(self.data)}

    def ship(self, file):
        shutil.copy(file, self.data / "profiles")

    def predicted(self, *words):
        return self.document("predict", MACHINE, *CALL, *words, environment=self.environment)

    def parameters(self, *words):
        document = self.document("config", "explain", MACHINE, *words, environment=self.environment)
        return {row["path"]: row for row in document["parameters"]}


class Choice(ProfileTest):
    def test_a_shipped_profile_is_taken_by_the_machines_gpus(self):
        self.assertEqual(self.predicted()["profile"], "generic")
        self.ship(H200)
        self.assertEqual(self.predicted()["profile"], "hand-h200")
        other = self.document("predict", SWITCH2, *CALL, environment=self.environment)
        self.assertEqual(other["profile"], "generic")

    def test_the_choice_and_its_reason_are_told(self):
        self.ship(H200)
        reason = "profile `hand-h200` is for the machine's GPUs, `NVIDIA H200`"
        document = self.document("config", "explain", MACHINE, environment=self.environment)
        self.assertEqual((document["profile"], document["profile_reason"]), ("hand-h200", reason))
        words = ["predict", MACHINE, *CALL]
        self.assertEqual(self.good("-v", *words, environment=self.environment).err.count(reason), 1)
        self.assertNotIn(reason, self.good(*words, environment=self.environment).err)

    def test_a_value_of_the_profile_changes_the_prediction(self):
        generic = self.predicted("--profile", "generic")["results"][0]["time_us"]
        fitted = self.predicted("--profile", H200)["results"][0]["time_us"]
        self.assertNotEqual(generic, fitted)

    def test_the_machines_file_names_a_profile(self):
        self.ship(L40S)
        text = Path(SOURCE, "configs", "machines", MACHINE + ".yaml").read_text(encoding="utf-8")
        box = self.data / "box.yaml"
        box.write_text(text.replace("\nmachine:", "\nprofile: hand-l40s\nmachine:", 1), encoding="utf-8")
        explain = ["config", "explain", str(box)]
        document = self.document(*explain, environment=self.environment)
        self.assertEqual(document["profile"], "hand-l40s")
        self.assertEqual(document["profile_reason"], "the machine's file asks for it")
        box.write_text(text.replace("\nmachine:", "\nprofile: hand-l40\nmachine:", 1), encoding="utf-8")
        self.refused(*explain, environment=self.environment, says=["`hand-l40`", "did you mean `hand-l40s`"])

    def test_every_command_takes_a_profile(self):
        for words in (["matrix", MACHINE], ["doctor", MACHINE, "--no-cost"], ["config", "explain", MACHINE]):
            document = self.document(*words, "--profile", H200)
            self.assertEqual(document["profile"], "hand-h200", words)

    def test_what_is_no_profile_is_refused(self):
        for name, text in (
            ("nvlink", "there is no profile `nvlink`"),
            ("absent.yaml", "absent.yaml"),
            ("gpu=generic,cpu=generic", "`cpu` is no group"),
            (f"gpu={MIXED}", "takes its own values from others"),
        ):
            self.refused("predict", MACHINE, *CALL, "--profile", name, says=text)


class Implementations(ProfileTest):
    def test_a_profile_for_the_other_one_warns_and_leaves_the_priors(self):
        document = self.predicted("--profile", H200, "--implementation", "lanecast")
        codes = [warning["code"] for warning in document["warnings"]]
        self.assertIn("LC-PROFILE-02", codes)
        self.assertEqual(document["profile"], "generic")
        self.assertNotIn("LC-PROFILE-02", [w["code"] for w in self.predicted("--profile", H200)["warnings"]])
        self.assertIn("priors are used", self.good("help", "LC-PROFILE-02").out)

    def test_each_has_its_own_values(self):
        values = {
            name: self.parameters("--profile", L40S, "--implementation", name)["gpu.channel_spread"]["value"]
            for name in ("nccl-2.28", "rccl", "lanecast")
        }
        self.assertEqual(values, {"nccl-2.28": 0.08, "rccl": 0.08, "lanecast": 0.02})


class Explain(ProfileTest):
    def test_each_parameter_says_value_interval_prior_and_origin(self):
        rows = self.parameters("--profile", H200)
        base = rows["gpu.base_generic"]
        self.assertEqual((base["value"], base["interval_low"], base["interval_high"]), (7, 6.5, 7.5))
        self.assertEqual((base["prior"], base["origin"], base["determined"]), (7.4, "profile `hand-h200`", True))
        unknown = rows["latency.gpu"]
        self.assertEqual((unknown["origin"], unknown["determined"]), ("prior", False))
        self.assertIn("crosses PCIe", unknown["note"])
        self.assertIsNone(rows["duplex.host"]["interval_low"])

    def test_a_transfer_says_whose_each_value_is(self):
        for profile in (MIXED, f"gpu={H200},link={L40S}"):
            rows = self.parameters("--profile", profile)
            self.assertEqual(rows["gpu.channel_spread"]["origin"], "profile `hand-h200`")
            self.assertEqual(rows["latency.root"]["origin"], "profile `hand-l40s`: a guess")
            self.assertEqual(rows["latency.switch"]["origin"], "prior")

    def test_a_profile_file_says_what_was_fitted_on_what(self):
        part = self.document("config", "explain", H200)["implementations"][0]
        self.assertEqual(part["implementation"], "nccl")
        self.assertEqual(part["sources"][0]["file"], "ring.csv")
        self.assertEqual(part["holdout"][0]["p95_abs_error"], 0.07)
        self.assertEqual(part["undetermined"], ["latency.gpu"])
        self.assertEqual(part["range"]["size_to_bytes"], 1 << 30)
        for form in ("table", "markdown"):
            text = self.good("config", "explain", H200, "--format", form).out
            for said in ("ring.csv", "7.0 %", "can't tell latency.gpu", "6.5 to 7.5", "channels=2,8"):
                self.assertIn(said, text)

    def test_csv_has_a_row_for_each_parameter_and_implementation(self):
        names = [row["path"] for row in self.document("config", "explain", SWITCH2)["parameters"]]
        rows = csv_rows(self.good("config", "explain", L40S, "--format", "csv").out)
        for part in ("nccl", "lanecast"):
            self.assertEqual([row["path"] for row in rows if row["implementation"] == part], names)

    def test_generic_is_explained_too(self):
        document = self.document("config", "explain", "generic")
        self.assertEqual(document["profile"], "generic")
        self.assertEqual({row["origin"] for row in document["implementations"][0]["parameters"]}, {"prior"})


class Check(ProfileTest):
    def test_profiles_and_machines_are_told_apart(self):
        lines = self.good("config", "check", H200, MACHINE, L40S, MIXED, "generic").out.splitlines()
        self.assertEqual(["profile " in line for line in lines], [True, False, True, True, True])

    def test_all_problems_are_told_with_their_places(self):
        text = Path(H200).read_text(encoding="utf-8")
        for one, other in (("value: 7,", "value: 99,"), ("latency.nvlink:", "latency.nvlnk:"), ("rows: 40", "row: 40")):
            text = text.replace(one, other, 1)
        broken = self.data / "broken.yaml"
        broken.write_text(text, encoding="utf-8")
        run = self.refused("config", "check", str(broken), says=["from 3 to 12 us", "did you mean `latency.nvlink`?"])
        self.assertEqual(run.err.count("error: "), run.err.count("  at "))
        self.assertGreaterEqual(run.err.count("broken.yaml:"), 3)

    def test_a_file_that_forgot_its_format_is_still_a_profile(self):
        run = lanecast("config", "check", "-", stdin="profile: box\nimplementations: {nccl: {}}\n")
        self.assertEqual(run.code, 2)
        self.assertIn("write `lanecast_profile: 1`", run.err)

    def test_a_transfer_from_a_missing_profile_is_bad(self):
        file = self.data / "t.yaml"
        file.write_text("lanecast_profile: 1\nprofile: t\ntransfer: {gpu: ./absent.yaml}\n", encoding="utf-8")
        self.refused("config", "check", str(file), says="absent.yaml")


class Set(ProfileTest):
    def test_sets_a_parameter_for_one_run(self):
        row = self.parameters("--profile", H200, "--set", "profile.gpu.base_generic=8")["gpu.base_generic"]
        self.assertEqual((row["value"], row["origin"], row["interval_low"]), (8, "command line", None))
        plain = self.predicted("--profile", H200)["results"][0]["time_us"]
        slower = self.predicted("--profile", H200, "--set", "profile.gpu.base_generic=8")["results"][0]["time_us"]
        self.assertAlmostEqual(slower - plain, 1, places=6)  # once a call

    def test_stands_beside_changes_of_the_machine(self):
        both = ["--profile", "generic", "--set", "links.gpu0.width=x8", "--set", "profile.duplex.host=0.1"]
        for words in (["predict", SWITCH2, *CALL], ["matrix", SWITCH2], ["doctor", SWITCH2, "--no-cost"]):
            run = lanecast(*words, *both)
            self.assertIn(run.code, (0, 3), run.err)  # 3: doctor finds the narrow link
            self.assertIn("profile generic", run.out)

    def test_range_and_name_are_checked(self):
        self.refused("predict", SWITCH2, "--set", "profile.gpu.channel_spread=0.5", says="from 0 to 0.2")
        self.refused("predict", SWITCH2, "--set", "profile.gpu.spread=0.1", says="there is no parameter")
        self.refused("config", "explain", SWITCH2, "--set", "links.gpu0.width=x8", says="topo show")


class Schema(CommandTest):
    def test_is_a_schema_that_the_fixtures_and_shipped_profiles_obey(self):
        schema = json.loads(self.good("config", "schema", "profile").out)
        try:
            import jsonschema
            import yaml
        except ImportError as missing:
            self.skipTest(f"python3-jsonschema or python3-yaml is absent: {missing}")
        jsonschema.Draft7Validator.check_schema(schema)
        files = [*FIXTURES.glob("*.yaml"), *Path(SOURCE, "configs", "profiles").glob("*.yaml")]
        self.assertGreaterEqual(len(files), 3)
        for file in files:
            profile = yaml.safe_load(file.read_text(encoding="utf-8"))
            jsonschema.validate(profile, schema)
            self.assertFalse(jsonschema.Draft7Validator(schema).is_valid({**profile, "surplus": 1}), file)


class ShippedProfiles(CommandTest):
    def test_are_good_and_named_as_their_files(self):
        for file in Path(SOURCE, "configs", "profiles").glob("*.yaml"):
            self.assertIn(f": profile {file.stem},", self.good("config", "check", file.stem).out)


if __name__ == "__main__":
    unittest.main()
