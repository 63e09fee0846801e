#include "tests/configs/dumps/fake_system.hpp"

#include <unistd.h>

#include <atomic>
#include <fstream>

namespace lanecast {

namespace fs = std::filesystem;

FakeSystem::FakeSystem() {
  static std::atomic<int> count{0};
  root_ = fs::temp_directory_path() /
          ("lanecast-fake-" + std::to_string(::getpid()) + "-" + std::to_string(++count));
  fs::remove_all(root_);
  fs::create_directories(root_);
  root_ = fs::canonical(root_);
}

FakeSystem::~FakeSystem() {
  std::error_code ignored;
  fs::remove_all(root_, ignored);
}

void FakeSystem::write(const std::string& path, const std::string& text) const {
  const fs::path file = root_.string() + path;
  fs::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << text;
}

void FakeSystem::link(const std::string& path, const std::string& target) const {
  const fs::path file = root_.string() + path;
  fs::create_directories(file.parent_path());
  fs::create_symlink(fs::path(root_.string() + target).lexically_relative(file.parent_path()), file);
}

void FakeSystem::folder(const std::string& path) const { fs::create_directories(root_.string() + path); }

void FakeSystem::remove(const std::string& path) const { fs::remove_all(root_.string() + path); }

std::string FakeSystem::function(const std::string& above, const std::string& address,
                                 const std::string& class_code, const std::string& vendor) const {
  const std::string folder = "/sys/devices/" + above + "/" + address;
  write(folder + "/class", class_code + "\n");
  write(folder + "/vendor", vendor + "\n");
  link("/sys/bus/pci/devices/" + address, folder);
  return folder;
}

FakeConfig& FakeConfig::put(std::size_t at, std::uint32_t value, int count) {
  for (int i = 0; i < count && at + static_cast<std::size_t>(i) < bytes_.size(); ++i) {
    bytes_[at + static_cast<std::size_t>(i)] = static_cast<char>(value >> (8 * i) & 0xff);
  }
  return *this;
}

FakeConfig& FakeConfig::word(std::size_t at, unsigned value) { return put(at, value, 2); }

FakeConfig& FakeConfig::dword(std::size_t at, std::uint32_t value) { return put(at, value, 4); }

FakeConfig& FakeConfig::express(unsigned port) {
  word(0x06, 0x10);  // status: there are capabilities
  word(0x34, 0x40);  // the first one
  word(0x40, 0x10);  // PCI Express, the last one
  return word(0x42, port << 4 | 2);
}

}  // namespace lanecast
