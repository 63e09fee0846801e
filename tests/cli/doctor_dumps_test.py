"""`lanecast doctor` on what machines print, and costs beside those of `predict`."""

import json
import tempfile
import unittest
from pathlib import Path

from lanecast_command import CommandTest, lanecast
from topo_test import box

BOX = "rtxpro6000x8-2switch"


class DoctorOnDumps(CommandTest):
    def findings(self, *words, code=0):
        run = lanecast("doctor", *words, "--format", "json")
        self.assertEqual(run.code, code, run.err)
        return json.loads(run.out)["findings"]

    def times(self, *words):
        return [row["time_us"] for row in self.results(*words, "-b", "1M", "-e", "256M", "-f", "256")]

    def test_a_machine_without_faults_ends_with_0(self):
        self.assertNotIn("FAIL", {finding["status"] for finding in self.findings("v100x2-pcie3-switch", "--no-cost")})

    def test_a_gen2_uplink_is_found_and_its_cost_is_what_predict_says(self):
        found = self.findings(BOX, "--set", "links.uplink0.rate=gen2", "--only", "LC-LINK-01", code=3)
        (fault,) = [finding for finding in found if finding["status"] == "FAIL"]
        self.assertIn("uplink0", fault["where"])
        self.assertEqual([cost["size_bytes"] for cost in fault["cost"]], [1 << 20, 256 << 20])
        for key, words in (("before_us", ["--set", "links.uplink0.rate=gen2"]), ("after_us", [])):
            for cost, predicted in zip(fault["cost"], self.times(BOX, *words)):
                self.assertAlmostEqual(cost[key], predicted, delta=1e-6 * predicted)

    def test_the_same_from_an_lspci_in_which_the_uplink_says_5_gts(self):
        with tempfile.TemporaryDirectory() as folder:
            dump = Path(folder) / "lspci.txt"
            dump.write_text(box(uplink="5GT/s"))
            found = self.findings(str(dump), "--only", "LC-LINK-01", code=3)
            (fault,) = [finding for finding in found if finding["status"] == "FAIL"]
            self.assertIn("uplink0", fault["where"])
            before = [cost["before_us"] for cost in fault["cost"]]
            for said, predicted in zip(before, self.times(str(dump))):
                self.assertAlmostEqual(said, predicted, delta=1e-6 * predicted)

    def test_a_card_that_is_gone_since_the_older_dump_fails(self):
        with tempfile.TemporaryDirectory() as folder:
            monday, friday = Path(folder) / "monday.txt", Path(folder) / "friday.txt"
            monday.write_text(box())
            friday.write_text(box(cards=3))
            found = self.findings(str(friday), "--before", str(monday), "--only", "LC-CARD-01", "--no-cost", code=3)
            self.assertIn("FAIL", {finding["status"] for finding in found})

    def test_every_code_is_explained(self):
        for finding in self.findings(BOX, "--no-cost"):
            self.good("help", finding["code"])

    def test_the_report_is_printed_before_the_failure_is_told(self):
        run = lanecast("doctor", BOX, "--set", "links.gpu0.width=x4", "--no-cost")
        self.assertEqual(run.code, 3)
        self.assertIn("LC-LINK-01", run.out)
        self.assertIn("failed", run.err)


if __name__ == "__main__":
    unittest.main()
