#include "configs/dumps/origin_book.hpp"

#include <gtest/gtest.h>

namespace lanecast {
namespace {

TEST(OriginBook, ListsNamesAsRuns) {
  EXPECT_EQ(name_list({"gpu0", "gpu1", "gpu2", "gpu3", "nic0"}), "gpu0 to gpu3, nic0");
  EXPECT_EQ(name_list({"gpu0", "gpu1", "gpu5"}), "gpu0, gpu1, gpu5");
  EXPECT_EQ(name_list({"gpu9", "gpu8"}), "gpu9, gpu8");
  EXPECT_EQ(name_list({""}), "");
}

TEST(OriginBook, TrustsTheKernelMoreThanToolsAndTheseMoreThanNcclsFiles) {
  EXPECT_EQ(distrust("box.txt:41 (LnkSta)"), 0);
  EXPECT_EQ(distrust("run.txt:9 (/sys/bus/pci/devices/0000:01:00.0/current_link_speed)"), 0);
  EXPECT_EQ(distrust("nvidia-smi.txt:41 (LnkSta)"), 0) << "a file's name says nothing";
  EXPECT_EQ(distrust("box.txt:41 (Link Width: Current)"), 1);
  EXPECT_EQ(distrust("dir/topo.xml:4 (link_speed)"), 2);
}

}  // namespace
}  // namespace lanecast
