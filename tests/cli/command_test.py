"""The command as a whole: exit codes, streams, help, names that come later."""

import os
import pty
import re
import subprocess
import unittest
from pathlib import Path

from lanecast_command import BINARY, SOURCE, SWITCH2, CommandTest, clean_environment

LATER = "sweep plan report".split()


class Command(CommandTest):
    def test_version_and_help_go_to_stdout_with_exit_code_0(self):
        self.assertRegex(self.good("--version").out, r"^lanecast \d+\.\d+\.\d+ \(\S+\)\n$")
        for words in ([], ["predict"], ["matrix"], ["config"], ["config", "explain"], ["help"], ["topo"], ["topo", "import"], ["doctor"], ["compare"]):
            run = self.good(*words, "--help")
            self.assertIn("Usage: lanecast", run.out)
            self.assertEqual(run.err, "")

    def test_without_a_command_it_is_bad_usage(self):
        self.refused(says="lanecast --help")

    def test_an_unknown_command_is_answered_with_the_nearest(self):
        self.refused("predcit", SWITCH2, says="did you mean `predict`")
        self.refused("-q", "xyzzy", says="there is no command `xyzzy`")

    def test_names_of_later_versions_are_refused_as_such(self):
        for name in LATER:
            self.refused(name, says="comes with a later version")
            self.refused(name, "-g", "2", "--unknown", "x", says="comes with a later version")

    def test_unknown_flags_name_the_help_of_their_command(self):
        self.refused("predict", SWITCH2, "--unknown", says=["--unknown", "lanecast predict --help"])
        self.refused("matrix", SWITCH2, "extra", says=["extra", "lanecast matrix --help"])

    def test_an_empty_value_is_refused_rather_than_ignored(self):
        for flag in "--ranks --set --op --root --algorithm --format -o -b -i --chunk --trace".split():
            self.refused("predict", SWITCH2, flag, "", says="is empty")
        self.refused("predict", "", says="is empty")
        self.refused("matrix", SWITCH2, "--flows", "", says="is empty")
        self.refused("config", "check", "", says="is empty")

    def test_errors_are_told_even_when_quiet(self):
        self.refused("-q", "predict", "no-such-machine", says="no-such-machine")

    def test_no_colours_where_stderr_is_no_terminal_or_they_are_refused(self):
        for words, environment in (([], {}), (["--no-color"], {}), ([], {"NO_COLOR": "1"})):
            run = self.refused(*words, "config", "explain", "no-such-machine", environment=environment)
            self.assertNotIn("\033", run.err)

    @unittest.skipUnless(os.path.exists("/dev/full"), "no /dev/full on this system")
    def test_a_result_that_cannot_be_written_is_a_failure(self):
        self.refused("config", "schema", "machine", "-o", "/dev/full", code=1, says="cannot write")


class Colours(CommandTest):
    """stderr as a terminal: a pseudo terminal stands in for it."""

    def stderr_on_a_terminal(self, *words, **environment):
        ours, theirs = pty.openpty()
        environment = {**clean_environment(), **environment}
        with subprocess.Popen(
            [BINARY, *words], stdout=subprocess.DEVNULL, stderr=theirs, env=environment
        ) as process:
            process.wait(timeout=60)
        os.close(theirs)
        text = os.read(ours, 65536).decode()
        os.close(ours)
        return text

    def test_the_word_error_is_red_on_a_terminal(self):
        self.assertIn("\033[31merror:\033[0m", self.stderr_on_a_terminal("predict", "no-such-machine"))

    def test_no_color_and_its_variable_switch_that_off(self):
        self.assertNotIn("\033", self.stderr_on_a_terminal("--no-color", "predict", "no-such-machine"))
        self.assertNotIn("\033", self.stderr_on_a_terminal("predict", "no-such-machine", NO_COLOR="1"))
        self.assertIn("\033", self.stderr_on_a_terminal("predict", "no-such-machine", NO_COLOR=""))


class Help(CommandTest):
    def test_lists_all_codes(self):
        lines = self.good("help").out.splitlines()
        self.assertGreaterEqual(len(lines), 9)
        for line in lines:
            self.assertRegex(line, r"^LC-[A-Z0-9]+-\d\d +\S")
        self.assertEqual(lines, sorted(lines))

    def test_explains_each_code_and_what_to_do(self):
        for line in self.good("help").out.splitlines():
            code = line.split()[0]
            text = self.good("help", code).out
            self.assertIn(code, text)
            self.assertIn("What to do: ", text)
            self.assertLessEqual(max(map(len, text.splitlines())), 100)
            self.assertEqual(self.good("help", code.lower()).out, text)

    def test_refuses_an_unknown_code_with_the_nearest(self):
        self.refused("help", "LC-LINK-09", says=["LC-LINK-09", "did you mean `LC-LINK-01`"])
        self.refused("help", "nonsense", says="no code")

    def test_knows_every_code_that_the_sources_emit(self):
        known = set(re.findall(r"LC-[A-Z]+-\d\d", self.good("help").out))
        emitted = set()
        for folder in ("model", "sim", "configs", "hw", "calibrate"):
            for path in Path(SOURCE, folder).rglob("*.[ch]*"):
                emitted |= set(re.findall(r'"(LC-[A-Z]+-\d+)"', path.read_text(encoding="utf-8", errors="replace")))
        self.assertNotEqual(emitted, set(), f"no codes found below {SOURCE}")
        self.assertEqual(emitted - known, set())


if __name__ == "__main__":
    unittest.main()
