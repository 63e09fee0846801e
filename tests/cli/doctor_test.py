"""`doctor`: findings, what they cost, exit code 3, dumps of a box then and now."""

import json
import tempfile
import unittest
from pathlib import Path

from lanecast_command import SWITCH2, SWITCH4, CommandTest, csv_rows, lanecast, markdown_rows
from lspci_dump import lspci_dump

BOX8 = "rtxpro6000x8-2switch"
GEN2 = ["--set", "links.uplink0.rate=gen2"]


class DoctorTest(CommandTest):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def file(self, name, text):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    def report(self, *words, code=0):
        run = lanecast("doctor", *words, "--format", "json")
        self.assertEqual(run.code, code, run.err)
        return json.loads(run.out)

    def findings(self, *words, code=0, status=None):
        found = self.report(*words, code=code)["findings"]
        return [f for f in found if status is None or f["status"] in status]

    def times(self, machine, *words):
        return [r["time_us"] for r in self.results(machine, *words, "-b", "1M", "-e", "256M", "-f", "256")]


class Costs(DoctorTest):
    def test_a_gen2_uplink_is_found_and_costs_what_predict_says(self):
        failed = self.findings(BOX8, *GEN2, code=3, status=["FAIL"])
        self.assertEqual([(f["code"], f["where"]) for f in failed], [("LC-LINK-01", "link uplink0")])
        cost = failed[0]["cost"]
        self.assertEqual([c["size_bytes"] for c in cost], [1 << 20, 256 << 20])
        self.assertEqual([c["before_us"] for c in cost], self.times(BOX8, *GEN2))
        self.assertEqual([c["after_us"] for c in cost], self.times(BOX8))
        self.assertIn("--set links.uplink0.rate=gen5", failed[0]["mend"])

    def test_the_same_from_what_lspci_prints_of_such_a_box(self):
        dump = self.file("lspci.txt", lspci_dump(uplink_speed="5GT/s"))
        failed = self.findings(dump, code=3, status=["FAIL"])
        self.assertEqual([(f["code"], f["where"]) for f in failed], [("LC-LINK-01", "link uplink0")])
        self.assertIn("gen2 x16; both ends can do gen5 x16", failed[0]["fact"])
        self.assertIn("0000:20:01.1", failed[0]["mend"])
        self.good("topo", "import", dump, "-o", str(self.folder / "box.yaml"))
        box = str(self.folder / "box.yaml")
        cost = failed[0]["cost"]
        self.assertEqual([c["before_us"] for c in cost], self.times(box))
        self.assertEqual([c["after_us"] for c in cost], self.times(box, "--set", "links.uplink0.rate=gen5"))
        self.assertGreater(cost[1]["before_us"], 3 * cost[1]["after_us"])
        self.assertEqual(self.findings(self.file("well.txt", lspci_dump()), status=["FAIL"]), [])

    def test_an_implementation_has_its_own_level_of_peer_access(self):
        warned = lambda *words: [f["code"] for f in self.findings(*words, status=["WARN"])]
        self.assertIn("LC-P2P-01", warned(BOX8, "--no-cost"))
        self.assertNotIn("LC-P2P-01", warned(BOX8, "--no-cost", "--implementation", "lanecast"))

    def test_without_costs_nothing_is_simulated(self):
        for finding in self.findings(BOX8, *GEN2, "--no-cost", code=3):
            self.assertEqual(finding["cost"], [])
        self.assertNotIn("LC-PROFILE-01", lanecast("doctor", BOX8, "--no-cost").err)


class Report(DoctorTest):
    def test_a_failed_check_is_exit_code_3_after_the_whole_report(self):
        run = lanecast("doctor", BOX8, *GEN2)
        self.assertEqual(run.code, 3)
        self.assertIn("FAIL  LC-LINK-01", run.out)
        self.assertRegex(run.out.splitlines()[-1], r"^1 FAIL, \d+ WARN, \d+ SKIP, \d+ PASS$")
        self.assertIn("error: 1 check failed: LC-LINK-01 (link uplink0)", run.err)
        self.assertEqual(self.good("doctor", SWITCH2).code, 0)

    def test_all_formats_hold_the_same_findings(self):
        document = self.report(SWITCH4, "--no-cost")
        self.assertEqual(list(document)[:3], ["lanecast", "format", "command"])
        findings = document["findings"]
        self.assertEqual(sum(document["summary"].values()), len(findings))
        codes = [(f["status"], f["code"]) for f in findings]
        rows = csv_rows(self.good("doctor", SWITCH4, "--no-cost", "--format", "csv").out)
        self.assertEqual([(row["status"], row["code"]) for row in rows], codes)
        marked = markdown_rows(self.good("doctor", SWITCH4, "--no-cost", "--format", "markdown").out)
        self.assertEqual([(row[0], row[1]) for row in marked], codes)
        lines = self.good("doctor", SWITCH4, "--no-cost").out.splitlines()
        words = [line.split() for line in lines if line.startswith(("FAIL", "WARN", "SKIP", "PASS"))]
        self.assertEqual([(line[0], line[1]) for line in words], codes)

    def test_every_check_is_explained(self):
        for code in {f["code"] for f in self.findings(BOX8, "--no-cost")}:
            self.assertIn("What to do: ", self.good("help", code).out)

    def test_only_names_checks(self):
        found = self.findings(BOX8, *GEN2, "--only", "lc-link-01", "--only", "LC-ACS-01", "--no-cost", code=3)
        self.assertEqual([f["code"] for f in found], ["LC-LINK-01", "LC-ACS-01"])
        self.good("doctor", BOX8, *GEN2, "--only", "LC-ACS-01")
        self.refused("doctor", BOX8, "--only", "LC-LINK-1", says=["no check", "did you mean `LC-LINK-0"])
        self.refused("doctor", BOX8, "--only", "LC-SIM-01", says="no check")

    def test_a_report_goes_to_a_file(self):
        path = self.folder / "report.json"
        self.good("doctor", SWITCH2, "--no-cost", "--format", "json", "-o", str(path))
        self.assertEqual(json.loads(path.read_text(encoding="utf-8"))["machine"], SWITCH2)
        self.refused("doctor", SWITCH2, "-o", str(path), says="exists already")

    def test_refusals(self):
        self.refused("doctor", "no-such-machine", says="no-such-machine")
        self.refused("doctor", SWITCH2, "--implementation", "nccl-model", says="simulated")
        self.refused("doctor", SWITCH2, "--before", "no-such-machine", says="no-such-machine")


class Dumps(DoctorTest):
    def test_an_earlier_dump_shows_what_has_changed(self):
        then, now = self.file("then.txt", lspci_dump()), self.file("now.txt", lspci_dump(card_width=8))
        failed = self.findings(now, "--before", then, "--no-cost", code=3, status=["FAIL"])
        self.assertEqual([f["code"] for f in failed], ["LC-LINK-01"])
        last_card = lspci_dump().rindex("44:00.0 3D controller")
        gone = self.file("gone.txt", lspci_dump()[:last_card])
        failed = self.findings(gone, "--before", then, "--no-cost", code=3, status=["FAIL"])
        self.assertEqual([f["code"] for f in failed], ["LC-CARD-01"])
        self.assertIn("0000:44:00.0", failed[0]["fact"])
        self.assertEqual(self.findings(then, "--before", then, "--only", "LC-CHANGE-01", "--no-cost")[0]["status"], "PASS")

    def test_redirects_are_known_from_lspci_and_skipped_without_it(self):
        status = lambda dump: [
            f["status"] for f in self.findings(dump, "--only", "LC-ACS-01", "--no-cost", "--set", "p2p.level=SYS",
                                               code=3 if "+" in Path(dump).name else 0)
        ]
        self.assertEqual(status(self.file("acs+.txt", lspci_dump(acs=True))), ["FAIL"])
        self.assertEqual(status(self.file("acs-.txt", lspci_dump())), ["PASS"])
        unknown = "".join(line for line in lspci_dump().splitlines(True) if "ACS" not in line and "Access Con" not in line)
        self.assertEqual(status(self.file("unknown.txt", unknown)), ["SKIP"])

    def test_what_is_set_by_hand_is_no_assumption(self):
        unknown = self.file("x.txt", "".join(line for line in lspci_dump().splitlines(True) if "MaxPayload" not in line))
        checked = ["--only", "LC-ASPM-01", "--no-cost"]
        no_aspm = self.file("y.txt", "".join(line for line in lspci_dump().splitlines(True) if "ASPM" not in line))
        self.assertEqual(self.findings(no_aspm, *checked)[0]["status"], "SKIP")
        sets = [w for n in ("uplink0", "uplink1", "gpu0", "gpu1", "gpu2", "gpu3") for w in ("--set", f"links.{n}.aspm=off")]
        self.assertEqual(self.findings(no_aspm, *checked, *sets)[0]["status"], "PASS")
        self.assertEqual(self.findings(unknown, "--only", "LC-MPS-01", "--no-cost")[0]["status"], "SKIP")


if __name__ == "__main__":
    unittest.main()
