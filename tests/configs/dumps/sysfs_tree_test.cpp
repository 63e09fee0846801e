#include "configs/dumps/sysfs_tree.hpp"

#include <gtest/gtest.h>

#include "tests/configs/dumps/fake_system.hpp"

namespace lanecast {
namespace {

using Names = std::vector<std::string>;

TEST(LiveFiles, ReadListAndResolveBelowTheirRootAsIfItWereTheSystem) {
  const FakeSystem system;
  const std::string folder = system.function("pci0000:20/0000:20:01.0", "0000:21:00.0", "0x030200", "0x10de");
  const LiveFiles files(system.root());
  EXPECT_EQ(files.read("/sys/bus/pci/devices/0000:21:00.0/class"), "0x030200\n");
  EXPECT_EQ(files.resolve("/sys/bus/pci/devices/0000:21:00.0"), folder);
  EXPECT_EQ(files.list("/sys/bus/pci/devices"), Names{"0000:21:00.0"});
  EXPECT_EQ(files.list(folder), (Names{"class", "vendor"}));
}

TEST(LiveFiles, SayNothingOfWhatIsAbsent) {
  const FakeSystem system;
  system.write("/proc/version", "x\n");
  const LiveFiles files(system.root());
  EXPECT_FALSE(files.read("/sys/nothing"));
  EXPECT_FALSE(files.read("/proc")) << "a folder";
  EXPECT_FALSE(files.list("/sys/nothing"));
  EXPECT_FALSE(files.list("/proc/version")) << "a file";
  EXPECT_FALSE(files.resolve("/sys/nothing"));
  EXPECT_FALSE(LiveFiles(system.root() / "nowhere").list("/sys"));
}

TEST(LiveFiles, DoNotFollowLinksOutOfTheirRoot) {
  const FakeSystem system;
  const FakeSystem other;
  other.write("/secret", "x\n");
  std::filesystem::create_symlink(other.root() / "secret", system.root() / "way-out");
  std::filesystem::create_symlink(other.root(), system.root() / "folder-out");
  const LiveFiles files(system.root());
  EXPECT_FALSE(files.read("/way-out"));
  EXPECT_FALSE(files.resolve("/way-out"));
  EXPECT_FALSE(files.list("/folder-out"));
  EXPECT_FALSE(files.read("/folder-out/secret"));
}

TEST(LiveFiles, ReadNoMoreThan64KiBOfAFile) {
  const FakeSystem system;
  system.write("/long", std::string(1 << 20, 'x'));
  EXPECT_EQ(LiveFiles(system.root()).read("/long").value_or("").size(), 64U << 10);
}

TEST(ArchivedFiles, ImplyTheFoldersAboveEachFile) {
  ArchivedFiles files;
  files.add_file("/sys/a/one", "1\n", 2);
  files.add_file("/sys/a/deep/two", "2\n", 4);
  files.add_file("/sys/b", "3\n", 6);
  EXPECT_EQ(files.list("/sys"), (Names{"a", "b"}));
  EXPECT_EQ(files.list("/sys/a"), (Names{"deep", "one"}));
  EXPECT_EQ(files.list("/"), Names{"sys"});
  EXPECT_FALSE(files.list("/sys/b")) << "a file";
  EXPECT_FALSE(files.list("/sys/c"));
  EXPECT_EQ(files.read("/sys/a/deep/two"), "2\n");
  EXPECT_FALSE(files.read("/sys/a"));
}

TEST(ArchivedFiles, ListNamesThatBeginAlikeOnce) {
  ArchivedFiles files;
  for (const char* path : {"/s/a/x", "/s/a-1/x", "/s/a0/x", "/s/a/y", "/s/a.b", "/s/a/z/deep"}) {
    files.add_file(path, "", 1);
  }
  EXPECT_EQ(files.list("/s"), (Names{"a", "a-1", "a.b", "a0"}));
}

TEST(ArchivedFiles, FollowLinksWithinThePath) {
  ArchivedFiles files;
  files.add_link("/sys/bus/pci/devices/0000:21:00.0", "/sys/devices/pci0000:20/0000:21:00.0", 1);
  files.add_file("/sys/devices/pci0000:20/0000:21:00.0/class", "0x030200\n", 2);
  EXPECT_EQ(files.read("/sys/bus/pci/devices/0000:21:00.0/class"), "0x030200\n");
  EXPECT_EQ(files.resolve("/sys/bus/pci/devices/0000:21:00.0/class"),
            "/sys/devices/pci0000:20/0000:21:00.0/class");
  EXPECT_EQ(files.line_of("/sys/bus/pci/devices/0000:21:00.0/class"), 2);
  EXPECT_EQ(files.list("/sys/bus/pci/devices/0000:21:00.0"), Names{"class"});
  EXPECT_EQ(files.resolve("/sys/devices/pci0000:20/../pci0000:20"), "/sys/devices/pci0000:20");
}

TEST(ArchivedFiles, GiveUpOnLinksThatLeadInACircle) {
  ArchivedFiles files;
  files.add_link("/a", "/b", 1);
  files.add_link("/b", "/a", 2);
  files.add_link("/c", "/c/c", 3);
  EXPECT_FALSE(files.resolve("/a"));
  EXPECT_FALSE(files.read("/c/x"));
}

TEST(ArchivedFiles, TakeTheLastOfAFileThatIsWrittenTwice) {
  ArchivedFiles files;
  files.add_file("/speed", "2.5 GT/s PCIe\n", 1);
  files.add_file("/speed", "16.0 GT/s PCIe\n", 9);
  EXPECT_EQ(files.read("/speed"), "16.0 GT/s PCIe\n");
  EXPECT_EQ(files.line_of("/speed"), 9);
}

TEST(ArchivedFiles, KnowEmptyFoldersAndTargetsOfLinks) {
  ArchivedFiles files;
  files.add_folder("/sys/kernel/iommu_groups", 1);
  files.add_link("/sys/class/net/eth0/device", "/sys/devices/pci0000:20/0000:21:00.0/virtio2", 2);
  EXPECT_EQ(files.list("/sys/kernel/iommu_groups"), Names{});
  EXPECT_EQ(files.resolve("/sys/class/net/eth0/device"), "/sys/devices/pci0000:20/0000:21:00.0/virtio2");
}

TEST(ArchivedFiles, LeaveOutPathsThatNoSystemHas) {
  ArchivedFiles files;
  files.add_file("relative", "x", 1);
  files.add_file("", "x", 1);
  files.add_file("/" + std::string(2000, 'x'), "x", 1);
  std::string deep;
  for (int i = 0; i < 200; ++i) deep += "/d";
  files.add_file(deep, "x", 1);
  files.add_link("/link", "relative", 1);
  EXPECT_EQ(files.list("/"), Names{});
}

}  // namespace
}  // namespace lanecast
