"""`matrix`: kinds, engines, flows, and their refusals."""

import unittest

from lanecast_command import SWITCH2, SWITCH4, CommandTest, csv_rows, markdown_rows, table_rows

BOX8 = "rtxpro6000x8-2switch"


class Matrix(CommandTest):
    def test_pairs_have_null_on_the_diagonal_and_numbers_elsewhere(self):
        for kind in ("p2p", "bidir", "latency"):
            document = self.document("matrix", SWITCH4, "--kind", kind)
            self.assertEqual(list(document)[:3], ["lanecast", "format", "command"])
            self.assertEqual([document["machine"], document["kind"], document["engine"]], [SWITCH4, kind, "ce"])
            self.assertEqual(document["unit"], "us" if kind == "latency" else "GB/s")
            for i, row in enumerate(document["rows"]):
                for j, cell in enumerate(row):
                    self.assertIsInstance(cell, type(None) if i == j else float)

    def test_host_copies_have_one_row(self):
        for kind in ("h2d", "d2h"):
            rows = self.document("matrix", SWITCH4, "--kind", kind)["rows"]
            self.assertEqual([len(row) for row in rows], [4])

    def test_both_directions_at_once_carry_more_than_one_but_less_than_twice(self):
        one = self.document("matrix", SWITCH4)["rows"]
        both = self.document("matrix", SWITCH4, "--kind", "bidir")["rows"]
        for i in range(4):
            for j in range(4):
                if i != j:
                    self.assertGreater(both[i][j], one[i][j])
                    self.assertLessEqual(both[i][j], 2 * one[i][j] * (1 + 1e-9))

    def test_thread_blocks_are_an_engine_too(self):
        self.assertEqual(self.document("matrix", SWITCH2, "--engine", "sm")["engine"], "sm")

    def test_all_formats_print_the_same_cells(self):
        rows = self.document("matrix", SWITCH4)["rows"]
        cells = csv_rows(self.good("matrix", SWITCH4, "--format", "csv").out)
        self.assertEqual(len(cells), 16)
        for cell in cells:
            value = rows[int(cell["source"])][int(cell["destination"])]
            self.assertEqual(cell["value"], "" if value is None else str(value))
        printed = [["N/A" if value is None else f"{value:.2f}" for value in row] for row in rows]
        table = table_rows(self.good("matrix", SWITCH4).out)
        self.assertEqual(table[0], ["D\\D", "0", "1", "2", "3"])
        self.assertEqual([row[1:] for row in table[1:]], printed)
        markdown = markdown_rows(self.good("matrix", SWITCH4, "--format", "markdown").out)
        self.assertEqual([row[1:] for row in markdown], printed)

    def test_absent_gpus_have_no_row(self):
        document = self.document("matrix", SWITCH4, "--set", "gpus.gpu1.present=false")
        self.assertEqual(document["gpus"], [0, 2, 3])
        self.assertEqual([len(row) for row in document["rows"]], [3, 3, 3])

    def test_refusals(self):
        self.refused("matrix", SWITCH2, "--kind", "d2d", says="--kind")
        self.refused("matrix", SWITCH2, "--engine", "dma", says="--engine")
        self.refused("matrix", says="MACHINE")


class Flows(CommandTest):
    def test_flows_at_once_share_what_they_cross(self):
        alone = self.document("matrix", BOX8, "--flows", "0>4")
        together = self.document("matrix", BOX8, "--flows", "0>4,1>5")
        self.assertEqual([(f["source"], f["destination"]) for f in together["flows"]], [(0, 4), (1, 5)])
        self.assertLess(together["flows"][0]["GBps"], alone["flows"][0]["GBps"])
        self.assertIn("uplink", together["flows"][0]["bottleneck"])
        self.assertAlmostEqual(together["total_GBps"], sum(f["GBps"] for f in together["flows"]), delta=1e-6)

    def test_a_single_flow_equals_its_cell_of_the_matrix(self):
        cell = self.document("matrix", SWITCH4)["rows"][0][2]
        flow = self.document("matrix", SWITCH4, "--flows", "0>2")["flows"][0]
        self.assertAlmostEqual(flow["GBps"] / cell, 1, delta=1e-6)

    def test_copies_that_the_driver_stages_are_warned_about(self):
        words = ["matrix", SWITCH2, "--profile", "generic", "--set", "p2p.enabled=false"]
        for flags in ([], ["--flows", "0>1"]):
            run = self.good(*words, *flags)
            self.assertIn("warning LC-TRANSPORT-01: ", run.err)
            codes = {w["code"] for w in self.document(*words, *flags)["warnings"]}
            self.assertEqual(codes, {"LC-TRANSPORT-01", "LC-PROFILE-01"})
        self.assertNotIn("LC-TRANSPORT-01", self.good("matrix", SWITCH2).err)

    def test_host_is_an_end(self):
        flows = self.document("matrix", SWITCH4, "--flows", "host>1,2>host")["flows"]
        self.assertEqual([(f["source"], f["destination"]) for f in flows], [("host", 1), (2, "host")])

    def test_refusals(self):
        for flows in "0 0> >1 0>1>2 a>b 0>1, 0>-1 0>99 99>0 0>0 host>host 0>9999999999".split():
            run = self.refused("matrix", SWITCH4, "--flows", flows)
            self.assertNotIn("please report", run.err)
        self.refused("matrix", SWITCH4, "--flows", "0>1", "--kind", "p2p", says="excludes")


if __name__ == "__main__":
    unittest.main()
