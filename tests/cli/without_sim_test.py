"""A build without SimGrid: what predicts refuses, the rest works."""

import unittest

from lanecast_command import SWITCH2, CommandTest


class WithoutSimulator(CommandTest):
    def test_predict_and_matrix_refuse_and_name_the_package(self):
        self.refused("predict", SWITCH2, code=1, says="libsimgrid-dev")
        self.refused("matrix", SWITCH2, code=1, says="libsimgrid-dev")
        self.refused("whatif", SWITCH2, "--set", "links.gpu1.width=x8", code=1, says="libsimgrid-dev")
        self.refused("tune", SWITCH2, code=1, says="libsimgrid-dev")

    def test_bad_usage_is_still_told_apart(self):
        self.refused("predict", SWITCH2, "-b", "12Q", says="12Q")


if __name__ == "__main__":
    unittest.main()
