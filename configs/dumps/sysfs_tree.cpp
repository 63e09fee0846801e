#include "configs/dumps/sysfs_tree.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <system_error>
#include <utility>

namespace lanecast {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostOfAFile = std::size_t{64} << 10;
constexpr std::size_t kMostNames = 16384;  // of a folder: PCI devices of a large server are some thousands
constexpr std::size_t kLongestPath = 1024;
constexpr std::size_t kMostParts = 64;  // of a path
constexpr int kMostLinks = 8;           // followed for one path

/// The parts of a path, without empty ones and `.`, and with `..` taken back.
std::vector<std::string> parts_of(const std::string& path) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (begin < path.size()) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string part = path.substr(begin, end - begin);
    if (part == "..") {
      if (!parts.empty()) parts.pop_back();
    } else if (!part.empty() && part != ".") {
      parts.push_back(part);
    }
    begin = end + 1;
  }
  return parts;
}

std::string joined(const std::vector<std::string>& parts, std::size_t begin = 0) {
  std::string path;
  for (std::size_t i = begin; i < parts.size(); ++i) path += "/" + parts[i];
  return path.empty() && begin == 0 ? "/" : path;
}

}  // namespace

LiveFiles::LiveFiles(const fs::path& root) {
  std::error_code failed;
  const fs::path canonical = fs::canonical(root, failed);
  root_ = failed ? root.string() : canonical.string();
  while (!root_.empty() && root_.back() == '/') root_.pop_back();
}

fs::path LiveFiles::real(const std::string& path) const { return root_ + path; }

std::optional<std::string> LiveFiles::resolve(const std::string& path) const {
  std::error_code failed;
  const std::string found = fs::canonical(real(path), failed).string();
  if (failed || found.compare(0, root_.size(), root_) != 0) return std::nullopt;
  const std::string inside = found.substr(root_.size());
  if (inside.empty()) return "/";
  return inside.front() == '/' ? std::optional(inside) : std::nullopt;
}

std::optional<std::string> LiveFiles::read(const std::string& path) const {
  const std::optional<std::string> resolved = root_.empty() ? path : resolve(path);
  if (!resolved) return std::nullopt;
  // Plain system calls: one read is one consistent sample of a sysfs file, and a FIFO must not block.
  const int file = ::open(real(*resolved).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return std::nullopt;
  std::string content;
  std::array<char, 4096> part{};
  ssize_t got = 0;
  while (content.size() < kMostOfAFile && (got = ::read(file, part.data(), part.size())) > 0) {
    content.append(part.data(), static_cast<std::size_t>(got));
  }
  ::close(file);
  if (got < 0 && content.empty()) return std::nullopt;
  return content;
}

std::optional<std::vector<std::string>> LiveFiles::list(const std::string& path) const {
  const std::optional<std::string> resolved = resolve(path);
  std::error_code failed;
  if (!resolved || !fs::is_directory(real(*resolved), failed)) return std::nullopt;
  std::vector<std::string> names;
  fs::directory_iterator each(real(*resolved), failed);
  for (; !failed && each != fs::directory_iterator() && names.size() < kMostNames; each.increment(failed)) {
    names.push_back(each->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

int LiveFiles::line_of(const std::string&) const { return 0; }

void ArchivedFiles::add(const std::string& path, Entry entry) {
  if (path.empty() || path.front() != '/' || path.size() > kLongestPath) return;
  const std::vector<std::string> parts = parts_of(path);
  if (!parts.empty() && parts.size() <= kMostParts) entries_[joined(parts)] = std::move(entry);
}

void ArchivedFiles::add_file(const std::string& path, std::string content, int line) {
  if (content.size() > kMostOfAFile) content.resize(kMostOfAFile);
  add(path, {Kind::file, std::move(content), line});
}

void ArchivedFiles::add_link(const std::string& path, const std::string& target, int line) {
  if (target.empty() || target.front() != '/' || target.size() > kLongestPath) return;
  add(path, {Kind::link, target, line});
  if (!holds(joined(parts_of(target)))) add_folder(target, line);
}

void ArchivedFiles::add_folder(const std::string& path, int line) { add(path, {Kind::folder, "", line}); }

bool ArchivedFiles::holds(const std::string& path) const {
  if (path == "/") return true;
  if (entries_.count(path) != 0) return true;
  const auto below = entries_.lower_bound(path + "/");
  return below != entries_.end() && below->first.compare(0, path.size() + 1, path + "/") == 0;
}

std::optional<std::string> ArchivedFiles::resolve(const std::string& path) const {
  if (path.size() > kLongestPath) return std::nullopt;
  std::vector<std::string> rest = parts_of(path);
  std::vector<std::string> done;
  int links = 0;
  for (std::size_t next = 0; next < rest.size(); ++next) {
    done.push_back(rest[next]);
    const auto entry = entries_.find(joined(done));
    if (entry == entries_.end() || entry->second.kind != Kind::link) continue;
    if (++links > kMostLinks) return std::nullopt;
    rest = parts_of(entry->second.content + joined(rest, next + 1));
    if (rest.size() > kMostParts) return std::nullopt;
    done.clear();
    next = static_cast<std::size_t>(-1);  // from the beginning: the target may lead through links itself
  }
  const std::string found = joined(done);
  return holds(found) ? std::optional(found) : std::nullopt;
}

std::optional<std::string> ArchivedFiles::read(const std::string& path) const {
  const std::optional<std::string> resolved = resolve(path);
  if (!resolved) return std::nullopt;
  const auto entry = entries_.find(*resolved);
  if (entry == entries_.end() || entry->second.kind != Kind::file) return std::nullopt;
  return entry->second.content;
}

std::optional<std::vector<std::string>> ArchivedFiles::list(const std::string& path) const {
  const std::optional<std::string> resolved = resolve(path);
  if (!resolved) return std::nullopt;
  const auto itself = entries_.find(*resolved);
  if (itself != entries_.end() && itself->second.kind == Kind::file) return std::nullopt;
  const std::string before = *resolved == "/" ? "/" : *resolved + "/";
  std::vector<std::string> names;
  for (auto each = entries_.lower_bound(before); each != entries_.end() &&
                                                 each->first.compare(0, before.size(), before) == 0 &&
                                                 names.size() < kMostNames;) {
    const std::string name =
        each->first.substr(before.size(), each->first.find('/', before.size()) - before.size());
    if (names.empty() || names.back() != name) names.push_back(name);
    // Past all that lies below this name, and no further: '0' follows '/' in ASCII.
    const auto below = entries_.upper_bound(each->first);
    const std::string folder = before + name + "/";
    each = below != entries_.end() && below->first.compare(0, folder.size(), folder) == 0
               ? entries_.lower_bound(before + name + "0")
               : below;
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

int ArchivedFiles::line_of(const std::string& path) const {
  const std::optional<std::string> resolved = resolve(path);
  if (!resolved) return 0;
  const auto entry = entries_.find(*resolved);
  return entry == entries_.end() ? 0 : entry->second.line;
}

}  // namespace lanecast
