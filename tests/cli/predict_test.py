"""`predict`: every flag, every refusal, and what must hold for any prediction."""

import unittest

from lanecast_command import BINARY, SWITCH2, SWITCH4, CommandTest, csv_rows

ONE = ["-b", "1M", "-e", "1M"]


class Flags(CommandTest):
    def only(self, *words):
        results = self.results(SWITCH4, *ONE, *words)
        self.assertEqual(len(results), 1)
        return results[0]

    def test_every_collective_and_its_names(self):
        for name in ("all_reduce", "reduce_scatter", "all_gather", "broadcast", "reduce"):
            document = self.document("predict", SWITCH4, *ONE, "--collective", name)
            self.assertEqual(document["collective"], name)
            result = document["results"][0]
            self.assertEqual(result["op"], None if name in ("all_gather", "broadcast") else "sum")
            self.assertEqual(result["root"], 0 if name in ("broadcast", "reduce") else None)

    def test_protocols(self):
        for name in ("simple", "ll", "ll128"):
            self.assertEqual(self.only("--algorithm", "ring", "--protocol", name)["protocol"], name)

    def test_transports(self):
        self.assertEqual(self.only("--transport", "p2p")["transport"], "p2p")
        self.assertEqual(self.only("--transport", "shm")["transport"], "shm")
        self.assertEqual(self.only("--transport", "auto")["transport"], "mixed")

    def test_geometry(self):
        result = self.only(
            "--protocol", "simple", "--channels", "3", "--threads", "256", "--buffsize", "2M", "--chunk", "64K"
        )
        self.assertEqual(result["channels"], 3)
        self.assertEqual(result["threads"], 256)
        self.assertEqual(result["buffsize_bytes"], 2 << 20)
        self.assertEqual(result["chunk_bytes"], 64 << 10)
        self.only("--channels", "auto", "--threads", "auto", "--chunk", "auto")

    def test_the_call(self):
        result = self.only("--launch", "stream", "--iterations", "7", "--in-place", "--register", "off", "--op", "max")
        self.assertEqual(
            [result[key] for key in ("launch", "iterations", "in_place", "register", "op")],
            ["stream", 7, True, "off", "max"],
        )
        for name in ("float", "half", "bfloat16", "double", "int32", "int64", "uint8"):
            self.assertEqual(self.only("-d", name)["datatype"], name)

    def test_ranks_and_their_order(self):
        self.assertEqual(self.only("--ranks", "2,0,1")["ring_order"], [0, 1, 2])
        self.assertEqual(self.only("--ranks", "2,0,1", "--order", "given")["ring_order"], [2, 0, 1])
        self.assertEqual(self.document("predict", SWITCH4, *ONE, "--ranks", "1,3")["ranks"], 2)

    def test_the_first_rank_is_the_root_unless_one_is_named(self):
        self.assertEqual(self.only("--collective", "broadcast", "--ranks", "3,1")["root"], 3)
        self.assertEqual(self.only("--collective", "reduce", "--root", "2")["root"], 2)
        self.refused("predict", SWITCH4, "--collective", "reduce", "--root", "9", says="takes no part")

    def test_flags_without_a_meaning_are_noted(self):
        self.assertIn("--root means nothing", self.good("predict", SWITCH4, *ONE, "--root", "1").err)
        run = self.good("predict", SWITCH4, *ONE, "--collective", "all_gather", "--op", "max")
        self.assertIn("--op means nothing", run.err)

    def test_implementations(self):
        names = {"nccl": "nccl-2.30", "nccl-2.28": "nccl-2.28", "lanecast": "lanecast", "rccl": "rccl"}
        names |= {"nccl-model": "nccl-model-2.30", "nccl-model-2.21": "nccl-model-2.21"}
        for given, name in names.items():
            document = self.document("predict", SWITCH4, *ONE, "--implementation", given)
            self.assertEqual(document["implementation"], name)
        self.refused("predict", SWITCH4, "--implementation", "mpi", says="mpi")

    def test_seed_exact_and_jobs(self):
        self.assertEqual(self.document("predict", SWITCH4, *ONE, "--seed", "18446744073709551615")["seed"], 2**64 - 1)
        self.assertIs(self.only("--exact")["folded"], False)
        self.assertEqual(self.only("--jobs", "1"), self.only("--jobs", "2"))

    def test_set_changes_the_machine_and_may_be_repeated(self):
        healthy = self.only("--protocol", "simple")["time_us"]
        halved = ["--set", "links.uplink0.width=x8", "--set", "links.uplink1.width=x8"]
        self.assertGreater(self.only("--protocol", "simple", *halved)["time_us"], healthy)
        warned = self.document("predict", SWITCH4, *ONE, *halved)["warnings"]
        self.assertEqual(len([w for w in warned if w["code"] == "LC-LINK-01"]), 2)
        self.assertEqual(self.only("--set", "gpus.gpu2.present=false")["ring_order"], [0, 1, 3])

    def test_global_flags_stand_before_and_after_the_command(self):
        sizes = ["-b", "1M", "-e", "1M"]
        self.assertEqual(self.good("-q", "predict", SWITCH2, *sizes).err, "")
        self.assertEqual(self.good("predict", SWITCH2, *sizes, "-q").err, "")
        self.assertEqual(self.good("predict", SWITCH2, *sizes, "--quiet").err, "")
        self.assertIn("assumed: ", self.good("predict", SWITCH2, *sizes, "-v").err)
        self.assertNotIn("assumed: ", self.good("predict", SWITCH2, *sizes).err)

    def test_warnings_go_to_stderr_once_and_into_the_document(self):
        run = self.good("predict", SWITCH4, "-b", "1M", "-e", "4M", "--profile", "generic")
        self.assertEqual(run.err.count("warning LC-PROFILE-01: "), 1)
        self.assertNotIn("LC-", run.out)
        document = self.document("predict", SWITCH4, *ONE, "--profile", "generic")
        self.assertIn("LC-PROFILE-01", [w["code"] for w in document["warnings"]])

    def test_many_warnings_of_a_code_are_shortened_on_stderr_only(self):
        words = ["predict", "rtx4090x8-2socket-nop2p", *ONE]
        self.assertEqual(self.good(*words).err.count("warning LC-TRANSPORT-01"), 4)
        codes = [w["code"] for w in self.document(*words)["warnings"]]
        self.assertEqual(codes.count("LC-TRANSPORT-01"), 8)


class Sizes(CommandTest):
    def sizes(self, *words):
        run = self.good("predict", SWITCH2, "--protocol", "ll", "--format", "csv", *words)
        return [int(row["size_bytes"]) for row in csv_rows(run.out)]

    def test_default_sweep_is_that_of_8_bytes_to_1_gib_by_2(self):
        self.assertEqual(self.sizes(), [8 << i for i in range(28)])

    def test_factor_may_be_a_decimal_and_the_step_a_size(self):
        self.assertEqual(self.sizes("-b", "64", "-e", "216", "-f", "1.5"), [64, 96, 144, 216])
        self.assertEqual(self.sizes("-b", "1K", "-e", "3K", "-i", "1K"), [1024, 2048, 3072])
        self.assertEqual(self.sizes("-b", "4096", "-e", "4K"), [4096])

    def test_sizes_are_rounded_down_to_whole_elements(self):
        self.assertEqual(self.sizes("-b", "1000", "-e", "1001", "-i", "1"), [1000])
        self.assertEqual(self.sizes("-b", "1001", "-e", "1001", "-d", "uint8"), [1001])
        self.assertEqual(self.sizes("-b", "1000", "-e", "1000", "-d", "double", "--collective", "all_gather"), [992])

    def test_empty_sizes_are_skipped_with_one_note(self):
        run = self.good("predict", SWITCH2, "-b", "1", "-e", "16")
        self.assertEqual(run.err.count("note: "), 1)
        self.assertEqual(self.sizes("-b", "1", "-e", "16"), [4, 8, 16])
        self.refused("predict", SWITCH2, "-b", "1", "-e", "3", says="no size is left")

    def test_eight_bytes_of_float_are_two_elements(self):
        self.assertEqual(self.results(SWITCH2, "-b", "8", "-e", "8")[0]["count"], 2)

    def test_a_sweep_has_at_most_10000_points(self):
        self.refused("predict", SWITCH2, "-b", "1K", "-e", "1G", "-i", "1K", says="more than 10000")
        self.refused("predict", SWITCH2, "-f", "1.0000000001", says="more than 10000")

    def test_what_is_no_sweep_is_refused(self):
        for words, text in (
            (["-b", "12Q"], "12Q"),
            (["-b", "2K", "-e", "1K"], "begins at 2K and ends at 1K"),
            (["-f", "1"], "`-f` is `1`"),
            (["-f", "0.5"], "`-f` is `0.5`"),
            (["-f", "-2"], "`-f` is `-2`"),
            (["-f", "nan"], "`-f` is `nan`"),
            (["-f", "two"], "`-f` is `two`"),
            (["-i", "0"], "`-i` is 0"),
            (["-b", "0"], "`-b` is 0"),
            (["-b", "-8"], "-8"),
            (["-e", "99999999999999999999999"], "-e"),
            (["-e", "2048T"], "1024T"),
            (["-e", "1e9999"], "-e"),
            (["-f", "2", "-i", "1K"], "excludes"),
        ):
            self.refused("predict", SWITCH2, *words, says=text)


class Refusals(CommandTest):
    def test_what_comes_later_is_refused_as_such(self):
        self.refused("predict", SWITCH2, "--trace", "x.json", says="later version")

    def test_values_that_are_none(self):
        for words in (
            ["--collective", "all_to_all"],
            ["--algorithm", "rings"],
            ["--protocol", "ll256"],
            ["--transport", "net"],
            ["--channels", "0"],
            ["--channels", "-1"],
            ["--channels", "99999999999999999999"],
            ["--channels", "two"],
            ["--threads", "7"],
            ["--threads", "1000000"],
            ["--buffsize", "12Q"],
            ["--buffsize", "0"],
            ["--chunk", "0"],
            ["--chunk", "1024T"],
            ["--order", "random"],
            ["--launch", "later"],
            ["--iterations", "0"],
            ["--iterations", "1e3"],
            ["--register", "maybe"],
            ["--datatype", "float8"],
            ["--op", "xor"],
            ["--root", "-1"],
            ["--seed", "-1"],
            ["--seed", "18446744073709551616"],
            ["--jobs", "-2"],
            ["--ranks", "0,0"],
            ["--ranks", "99"],
            ["--ranks", "0,"],
            ["--ranks", "0;1"],
            ["--ranks", "-1,0"],
            ["--ranks", "99999999999999999999"],
            ["--set", "nonsense"],
            ["--set", "links.gpu0.width"],
            ["--set", "links.gpu9.width=x8"],
            ["--set", "links.gpu0.width=x3"],
            ["--set", "gpus.gpu0.colour=red"],
        ):
            run = self.refused("predict", SWITCH2, *words)
            self.assertNotIn("please report", run.err)
            self.assertIn(words[0], run.err, "the message names the flag")

    def test_what_is_no_machine(self):
        self.refused("predict", says="MACHINE")
        self.refused("predict", "/", says="/")
        self.refused("predict", "no-such-machine", says="no-such-machine")
        self.refused("predict", "absent.yaml", says="absent.yaml")
        self.refused("predict", "/dev/null", says="/dev/null")
        self.refused("predict", "-", stdin="not: a machine\n", says="lanecast: 1")

    def test_a_binary_file_is_no_machine(self):
        self.refused("predict", BINARY)


class Invariants(CommandTest):
    """Physics that no prediction may break; the model's own tests go deeper."""

    def test_bigger_messages_are_never_faster_in_one_configuration(self):
        for protocol in ("simple", "ll", "ll128"):
            for machine in (SWITCH2, SWITCH4):
                words = [machine, "--algorithm", "ring", "--protocol", protocol, "--channels", "2", "--threads", "256", "-b", "8", "-e", "64M"]
                times = [result["time_us"] for result in self.results(*words)]
                for smaller, bigger in zip(times, times[1:]):
                    self.assertGreaterEqual(bigger, smaller * (1 - 1e-9), f"{machine} {protocol}")

    def test_the_band_holds_the_time_and_the_limit_is_kept(self):
        for words in (["--protocol", "simple"], ["--protocol", "ll"], ["--transport", "shm"]):
            for result in self.results(SWITCH4, "-b", "1K", "-e", "256M", "-f", "8", *words):
                self.assertLessEqual(result["time_us_low"], result["time_us"])
                self.assertGreaterEqual(result["time_us_high"], result["time_us"])
                self.assertLessEqual(result["busbw_GBps"], result["limit_busbw_GBps"] * (1 + 1e-9))
                self.assertGreaterEqual(result["bottleneck"]["utilization"], 0)
                self.assertLessEqual(result["bottleneck"]["utilization"], 1 + 1e-9)

    def test_algbw_and_busbw_follow_from_size_and_time(self):
        factors = {"all_reduce": 1.5, "all_gather": 0.75, "reduce_scatter": 0.75, "broadcast": 1, "reduce": 1}
        for collective, factor in factors.items():
            result = self.results(SWITCH4, *ONE, "--collective", collective)[0]
            algbw = result["size_bytes"] / result["time_us"] / 1e3
            self.assertAlmostEqual(result["algbw_GBps"] / algbw, 1, delta=1e-7)
            self.assertAlmostEqual(result["busbw_GBps"] / algbw, factor, delta=1e-7)

    def test_a_narrower_link_is_never_faster(self):
        for size in ("8K", "16M"):
            times = []
            for width in ("x16", "x8", "x4"):
                words = [SWITCH4, "-b", size, "-e", size, "--protocol", "simple"]
                times.append(self.results(*words, "--set", f"links.uplink0.width={width}")[0]["time_us"])
            self.assertEqual(times, sorted(times))

    def test_the_same_seed_gives_the_same_numbers(self):
        words = [SWITCH4, "-b", "1K", "-e", "16M", "-f", "8"]
        self.assertEqual(self.results(*words), self.results(*words))

    def test_folding_hardly_changes_a_time(self):
        words = [SWITCH2, "-b", "64M", "-e", "64M", "--protocol", "simple"]
        folded, exact = self.results(*words)[0], self.results(*words, "--exact")[0]
        self.assertIs(exact["folded"], False)
        self.assertAlmostEqual(folded["time_us"] / exact["time_us"], 1, delta=1e-3)


if __name__ == "__main__":
    unittest.main()
