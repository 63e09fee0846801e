#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lanecast {

/// Files of a Linux system, read-only, of this machine or as somebody wrote them down. Paths are absolute, as
/// on the system itself: "/sys/bus/pci/devices". None throws for what it finds.
class SystemFiles {
 public:
  virtual ~SystemFiles() = default;

  /// The first 64 KiB of a file, links followed. Nothing where it is absent, a folder or not readable.
  virtual std::optional<std::string> read(const std::string& path) const = 0;

  /// Names in a folder, sorted, links followed. Nothing where there is no such folder.
  virtual std::optional<std::vector<std::string>> list(const std::string& path) const = 0;

  /// The path without links, "/sys/devices/pci0000:00/0000:00:01.0". Nothing where it ends nowhere.
  virtual std::optional<std::string> resolve(const std::string& path) const = 0;

  /// The line where the file is written down; 0 on a live system.
  virtual int line_of(const std::string& path) const = 0;
};

/// The files below a folder, which stands for `/`. What links lead out of that folder is not there.
class LiveFiles final : public SystemFiles {
 public:
  explicit LiveFiles(const std::filesystem::path& root = "/");

  std::optional<std::string> read(const std::string& path) const override;
  std::optional<std::vector<std::string>> list(const std::string& path) const override;
  std::optional<std::string> resolve(const std::string& path) const override;
  int line_of(const std::string& path) const override;

 private:
  std::filesystem::path real(const std::string& path) const;

  std::string root_;  // canonical, without a slash at its end: "" for `/`
};

/// The files that the script of `topo collect` wrote down (docs/import.md has the format). A text that ends
/// early holds what there is.
class ArchivedFiles final : public SystemFiles {
 public:
  /// A file that is written down more than once counts as it was last.
  void add_file(const std::string& path, std::string content, int line);
  /// @param target  an absolute path, which is taken to exist
  void add_link(const std::string& path, const std::string& target, int line);
  void add_folder(const std::string& path, int line);

  std::optional<std::string> read(const std::string& path) const override;
  std::optional<std::vector<std::string>> list(const std::string& path) const override;
  std::optional<std::string> resolve(const std::string& path) const override;
  int line_of(const std::string& path) const override;

 private:
  enum class Kind { file, link, folder };
  struct Entry {
    Kind kind = Kind::file;
    std::string content;  // of a link: its target
    int line = 0;
  };

  void add(const std::string& path, Entry entry);
  bool holds(const std::string& path) const;

  std::map<std::string, Entry> entries_;
};

}  // namespace lanecast
