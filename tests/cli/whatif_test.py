"""`whatif`: cases, causes, ranked links, and factors that follow from link arithmetic."""

import unittest

from lanecast_command import SWITCH2, SWITCH4, CommandTest, csv_rows, markdown_rows, table_rows

LARGE = ["-b", "256M", "-e", "256M"]
SWITCH_OF_4 = "sw:4xgpu[NVIDIA L40S]@gen4x16"
GEN1_RAW, GEN4_RAW = 2.5e9 * 16 / 8 * 8 / 10, 16e9 * 16 / 8 * 128 / 130  # bytes a second of x16, facts.md C1

PACKET_TIME = 152 / (8e9 * 16 / 8 * 128 / 130)  # of 128 B and 24 B around them, on Gen3 x16
REPLAY_TIME = 1e-6  # docs/model.md, facts.md C8


class Cases(CommandTest):
    def cases(self, *words):
        return {case["name"]: case for case in self.document("whatif", *words)["cases"]}

    def limit_factor(self, case, machine, *words):
        """How much less the links allow in `case`, and how much longer the call takes."""
        cases = self.cases(machine, "--case", f"changed_link:{case}", *LARGE, *words)
        before, after = (cases[name]["results"][0] for name in ("baseline", "changed_link"))
        return before["limit_busbw_GBps"] / after["limit_busbw_GBps"], after["time_us"] / before["time_us"]

    def test_the_first_case_is_the_baseline_and_is_what_predict_says(self):
        document = self.document("whatif", SWITCH2, "--set", "links.gpu1.width=x8", "-b", "1K", "-e", "1M")
        first, second = document["cases"]
        self.assertEqual((first["name"], first["set"], first["verdict"]), ("baseline", {}, None))
        self.assertEqual((second["name"], second["set"]), ("changed", {"links.gpu1.width": "x8"}))
        alone = self.document("predict", SWITCH2, "-b", "1K", "-e", "1M")["results"]
        for shown, predicted in zip(first["results"], alone, strict=True):
            self.assertEqual({key: shown[key] for key in predicted}, predicted)

    def test_changes_are_those_of_predict_with_the_same_set(self):
        changed = self.cases(SWITCH4, "--set", "links.uplink0.rate=gen1", *LARGE)["changed"]["results"][0]
        alone = self.document("predict", SWITCH4, "--set", "links.uplink0.rate=gen1", *LARGE)["results"][0]
        self.assertEqual(changed["time_us"], alone["time_us"])

    def test_shares_add_up_to_the_time(self):
        cases = self.cases(SWITCH4, "--case", "ll:call.protocol=ll", "--case", "shm:call.transport=shm", "-b", "64", "-e", "64M", "-f", "16")
        for case in cases.values():
            for result in case["results"]:
                self.assertAlmostEqual(sum(result["shares"].values()) / result["time_us"], 1, places=6)
                self.assertGreaterEqual(min(result["shares"].values()), 0)

    def test_half_the_lanes_halve_the_limit_and_nearly_double_the_time(self):
        for width, factor in (("x8", 2), ("x4", 4), ("x1", 16)):
            limit, time = self.limit_factor(f"links.gpu1.width={width}", SWITCH2)
            self.assertAlmostEqual(limit, factor, delta=1e-6 * factor)
            self.assertTrue(0.8 * factor < time < 1.2 * factor, (width, time))

    def test_generations_follow_their_line_codes(self):
        limit, time = self.limit_factor("links.gpu0.rate=gen3", SWITCH_OF_4)
        self.assertAlmostEqual(limit, 2, delta=1e-6)
        limit, time = self.limit_factor("links.gpu0.rate=gen1", SWITCH_OF_4)
        self.assertAlmostEqual(limit, GEN4_RAW / GEN1_RAW, delta=0.01)
        self.assertGreater(time, 5)

    def test_with_acs_the_uplink_carries_every_hop(self):
        cases = self.cases(SWITCH_OF_4, "--case", "acs:switches.sw0.acs=on", *LARGE)
        before, after = (cases[name]["results"][0] for name in ("baseline", "acs"))
        self.assertEqual(after["bottleneck"]["link"], "uplink0")
        # four hops up and four down share what one hop each way had; the uplink loses a little more in duplex
        self.assertTrue(3.9 < before["limit_busbw_GBps"] / after["limit_busbw_GBps"] < 4.3)

    def test_two_cards_that_share_an_uplink_get_half_of_it_each_through_host_memory(self):
        machine = "root(sw:gpu,sw:gpu)@gen4x16"
        cases = self.cases(machine, "--case", "shared:links.gpu1.from=sw0", *LARGE, "--nccl-env", "NCCL_P2P_DISABLE=1")
        own, shared = (cases[name]["results"][0] for name in ("baseline", "shared"))
        self.assertEqual(shared["bottleneck"]["link"], "uplink0")
        # own ports lose 9 % in duplex on the card's link, the uplink 3 % (facts.md C9): 2 x 0.91 / 0.97
        self.assertTrue(1.8 < own["limit_busbw_GBps"] / shared["limit_busbw_GBps"] < 2.01)
        self.assertGreater(shared["time_us"], own["time_us"])

    def test_peer_access_reaches_as_far_as_its_level(self):
        machine = "2xcpu(sw:2x(sw:2xgpu))@gen4x16"  # PIX below a leaf, PXB below a switch, SYS across
        levels = [f"--case={level}:p2p.level={level}" for level in ("LOC", "PIX", "PXB", "PHB", "SYS")]
        cases = self.cases(machine, *levels, "--ranks", "0,1,2,3,4,5,6,7", "--order", "given", *LARGE)
        found = {name: case["results"][0] for name, case in cases.items()}
        self.assertEqual(found["LOC"]["transport"], "shm")
        self.assertEqual([found[level]["transport"] for level in ("PIX", "PXB", "PHB", "SYS")], ["mixed", "mixed", "mixed", "p2p"])
        self.assertEqual(found["PXB"]["time_us"], found["PHB"]["time_us"])  # no two cards are a host bridge apart
        limits = [found[level]["limit_busbw_GBps"] for level in ("LOC", "PIX", "PXB", "PHB", "SYS")]
        self.assertEqual(limits, sorted(limits))

    def test_a_card_below_the_other_switch_makes_the_ring_cross_twice_as_often(self):
        machine = "2x(sw:4xgpu)@gen4x16"
        words = ("--nccl-env", "NCCL_P2P_LEVEL=SYS", "--ranks", "0,1,2,3,4,5,6,7", "--order", "given", *LARGE)
        cases = self.cases(machine, "--case", "moved:links.gpu2.from=sw1", "--case", "last:links.gpu3.from=sw1", *words)
        limits = {name: case["results"][0]["limit_busbw_GBps"] for name, case in cases.items()}
        # gpu2 stands between 1 and 3 of the other switch: four crossings instead of two; gpu3 beside gpu4: still two
        self.assertAlmostEqual(limits["baseline"] / limits["moved"], 2, delta=0.05)
        self.assertAlmostEqual(limits["baseline"] / limits["last"], 1, delta=1e-9)

    def test_each_replay_costs_its_time(self):
        for rate in (1e-9, 1e-6, 1e-4, 1e-3, 1e-2):
            limit, time = self.limit_factor(f"links.gpu1.replay_rate={rate:g}", SWITCH2)
            factor = 1 + rate * REPLAY_TIME / PACKET_TIME
            self.assertAlmostEqual(limit, factor, delta=1e-3 * (factor - 1) + 3e-7)
            self.assertLess(time, 1.02 * factor)

    def test_a_link_that_sleeps_costs_small_calls_its_exit_once(self):
        cases = self.cases(SWITCH2, "--case", "l1:links.gpu0.aspm=L1,links.gpu1.aspm=L1", "-b", "1K", "-e", "256M", "-f", "262144")
        gained = [after["time_us"] - before["time_us"] for before, after in zip(cases["baseline"]["results"], cases["l1"]["results"])]
        self.assertGreater(gained[0], 0.05)
        self.assertAlmostEqual(cases["l1"]["results"][-1]["change"]["factor"], 1, delta=0.01)

    def test_a_ring_that_crosses_sockets_at_every_hop_loads_the_socket_link_twice_as_much(self):
        cases = self.cases(SWITCH4, "--case", "a:p2p.level=SYS", "--case", "b:p2p.level=SYS,call.ranks=0,2,1,3,call.order=given", *LARGE)
        a, b = (cases[name]["results"][0]["limit_busbw_GBps"] for name in "ab")
        self.assertAlmostEqual(a / b, 2, delta=0.05)
        self.assertGreater(cases["b"]["results"][0]["time_us"], 1.5 * cases["a"]["results"][0]["time_us"])

    def test_a_card_that_is_gone_leaves_a_smaller_ring(self):
        gone = self.cases(SWITCH4, "--set", "gpus.gpu3.present=false", *LARGE)["changed"]
        self.assertEqual((gone["ranks"], gone["gpus"]), (3, [0, 1, 2]))
        self.assertIn({"what": "ranks", "before": "4", "after": "3"}, gone["results"][0]["change"]["choices"])

    def test_cases_of_other_ranks_or_types_share_the_baselines_sizes(self):
        cases = self.cases(SWITCH4, "--collective", "all_gather", "--case", "three:gpus.gpu3.present=false", "--case", "double:call.datatype=double", "-b", "8", "-e", "1M")
        sizes = {name: [result["size_bytes"] for result in case["results"]] for name, case in cases.items()}
        self.assertEqual(len({tuple(one) for one in sizes.values()}), 1)
        for size in sizes["baseline"]:
            self.assertEqual(size % (4 * 4 * 3 * 2), 0)
        self.refused("whatif", SWITCH4, "--collective", "all_gather", "--case", "three:gpus.gpu3.present=false", "-b", "8", "-e", "40", says="no size is left")

    def test_choices_that_change_are_named(self):
        case = self.cases(SWITCH4, "--set", "p2p.enabled=false", *LARGE)["changed"]
        self.assertIn({"what": "transport", "before": "mixed", "after": "shm"}, case["results"][0]["change"]["choices"])
        self.assertIn("mixed -> shm", case["verdict"])
        ll = self.cases(SWITCH4, "--set", "call.protocol=ll", *LARGE)["changed"]["results"][0]
        self.assertEqual(ll["protocol"], "ll")
        level = self.cases(SWITCH4, "--set", "env.NCCL_P2P_LEVEL=SYS", *LARGE)["changed"]["results"][0]
        self.assertEqual(level["transport"], "p2p")

    def test_what_changes_nothing_says_so(self):
        case = self.cases(SWITCH2, "--set", "gpus.gpu0.bdf=0000:99:00.0", *LARGE)["changed"]
        self.assertIn("no difference", case["verdict"])
        self.assertEqual(case["results"][0]["change"]["factor"], 1)

    def test_a_narrower_link_never_helps(self):
        cases = self.cases(SWITCH4, *(f"--case={link}-{width}:links.{link}.width={width}" for link in ("gpu0", "gpu3", "uplink1") for width in ("x8", "x2", "x1")), "-b", "8", "-e", "64M", "-f", "8")
        for name, case in cases.items():
            for result in case["results"]:
                if name != "baseline":
                    self.assertGreater(result["change"]["factor"], 0.999, (name, result["size_bytes"]))


class Links(CommandTest):
    def links(self, *words):
        return self.document("whatif", *words, "--rank-links", *LARGE)["links"]

    def test_worst_comes_first_and_is_what_predict_says_of_it(self):
        links = self.links(SWITCH4)["degraded"]
        factors = [link["factor"] for link in links]
        self.assertEqual(factors, sorted(factors, reverse=True))
        first = links[0]
        if first["link"].startswith("upi"):
            change = f"links.{first['link']}.rate={float(first['after'].split()[0])} GB/s"
        else:
            change = f"links.{first['link']}.width={first['after'].split()[1]}"
        alone = self.document("predict", SWITCH4, "--set", change, *LARGE)["results"][0]
        self.assertEqual(first["results"][0]["time_us"], alone["time_us"])

    def test_links_alike_stand_together_and_cover_the_machine_once(self):
        links = self.links("sw:4xgpu@gen4x16")["degraded"]
        self.assertEqual(sorted(name for link in links for name in link["alike"]), ["gpu0", "gpu1", "gpu2", "gpu3", "uplink0"])
        self.assertEqual(max(len(link["alike"]) for link in links), 4)

    def test_links_alike_hurt_alike(self):
        for machine in (SWITCH4, "rtxpro6000x8-2switch", "a100x8-pcie4-shared-port"):
            for link in self.links(machine)["degraded"]:
                if len(link["alike"]) == 1 or not link["after"].endswith("x8"):
                    continue
                for other in link["alike"][1:]:
                    alone = self.document("predict", machine, "--set", f"links.{other}.width=x8", *LARGE)["results"][0]
                    self.assertAlmostEqual(alone["time_us"] / link["results"][0]["time_us"], 1, delta=2e-3, msg=(machine, link["link"], other))

    def test_a_degraded_link_is_the_upgrade_that_gains_most(self):
        links = self.links("2x(sw:2xgpu[NVIDIA L40S])@gen4x16", "--nccl-env", "NCCL_P2P_LEVEL=SYS")
        self.assertGreater(links["degraded"][0]["factor"], 1.5)
        mended = self.links("2x(sw:2xgpu[NVIDIA L40S],sw@gen1x16/gen4x16:2xgpu[NVIDIA L40S])@gen4x16")["upgraded"][0]
        self.assertTrue(mended["link"].startswith("uplink"), mended["link"])
        self.assertEqual(mended["after"], "gen4 x16")

    def test_an_upgrade_that_makes_nccl_choose_worse_is_told(self):
        out = self.good("whatif", "dgx1-v100", "--rank-links", *LARGE, "-q").out
        self.assertIn("an upgrade that hurts", out)

    def test_a_single_card_crosses_no_link(self):
        self.assertIn("crosses no link", self.good("whatif", "root:gpu@gen4x16", "--rank-links", *LARGE, "-q").out)

    def test_nothing_to_gain_is_said(self):
        out = self.good("whatif", "4xgpu[sm90]@gen5 nvswitch18@26.5GB/s", "--rank-links", *LARGE, "-q").out
        self.assertIn("gains most: all 4 like nv0", out)


class Forms(CommandTest):
    WORDS = (SWITCH2, "--case", "x8:links.gpu1.width=x8", "--case", "ll:call.protocol=ll", "-b", "1K", "-e", "1M", "-f", "32")

    def test_all_forms_hold_the_same_rows(self):
        document = self.document("whatif", *self.WORDS)
        expected = [(c["name"], r["size_bytes"]) for c in document["cases"] for r in c["results"]]
        rows = csv_rows(self.good("whatif", *self.WORDS, "--format", "csv", "-q").out)
        self.assertEqual([(row["case"], int(row["size_bytes"])) for row in rows], expected)
        self.assertEqual(len(table_rows(self.good("whatif", *self.WORDS, "-q").out)), len(expected) - 3)
        markdown = self.good("whatif", *self.WORDS, "--format", "markdown", "-q").out
        self.assertEqual(len([row for row in markdown_rows(markdown) if row[0].isdigit()]), len(expected) - 3)

    def test_csv_of_ranked_links_has_the_same_columns_in_every_row(self):
        rows = csv_rows(self.good("whatif", SWITCH2, "--rank-links", "--format", "csv", *LARGE, "-q").out)
        self.assertEqual({row["case"] for row in rows}, {"baseline", "degraded", "upgraded"})
        for row in rows:
            self.assertNotIn(None, row)
            self.assertNotIn(None, row.values())


class Warnings(CommandTest):
    def test_those_of_a_case_name_it(self):
        run = self.good("whatif", SWITCH2, "--case", "narrow:links.gpu1.width=x8", *LARGE)
        self.assertIn("LC-LINK-01: case narrow: ", run.err)
        codes = {w["code"]: w["text"] for w in self.document("whatif", SWITCH2, "--case", "narrow:links.gpu1.width=x8", *LARGE)["warnings"]}
        self.assertTrue(codes["LC-LINK-01"].startswith("case narrow: "))


class Refusals(CommandTest):
    def test_mistakes_are_named(self):
        self.refused("whatif", SWITCH2, says="--rank-links")
        self.refused("whatif", SWITCH2, "--case", "links.gpu1.width=x8", says="NAME:PATH=VALUE")
        self.refused("whatif", SWITCH2, "--case", "a:links.gpu1.width", says="PATH=VALUE")
        self.refused("whatif", SWITCH2, "--case", "baseline:links.gpu1.width=x8", says="baseline")
        self.refused("whatif", SWITCH2, "--case", "a:links.gpu1.width=x8", "--case", "a:links.gpu1.width=x4", says="already")
        self.refused("whatif", SWITCH2, "--set", "call.protocl=ll", says="call.protocol")
        self.refused("whatif", SWITCH2, "--set", "call.protocol=lll", says="lll")
        self.refused("whatif", SWITCH2, "--set", "call.in-place=", says="empty")
        self.refused("whatif", SWITCH2, "--set", "env.NCCL_PROTOO=LL", says="NCCL_PROTO")
        self.refused("whatif", SWITCH2, "--set", "profile.nothing=1", says="nothing")
        self.refused("whatif", SWITCH2, "--set", "links.gpu9.width=x8", says="gpu1")
        self.refused("whatif", SWITCH2, "--set", "links.gpu1.width=x8", "--implementation", "nccl-model", says="NCCL's own estimates")

    def test_all_cases_are_checked_before_any_is_simulated(self):
        run = self.refused("whatif", SWITCH2, "--case", "a:links.gpu9.width=x8", "--case", "b:links.gpu1.width=x3", says="case `a`")
        self.assertIn("case `b`", run.err)


if __name__ == "__main__":
    unittest.main()
