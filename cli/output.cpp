#include "cli/output.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "cli/option_values.hpp"
#include "model/error.hpp"

namespace lanecast {
namespace {

namespace fs = std::filesystem;

Error exists_already(const std::string& path) {
  return {ErrorKind::usage, "`" + path + "` exists already", "-o " + path,
          "take another name, or add --force"};
}

Error cannot_write(const std::string& path, int reason) {
  return {ErrorKind::runtime, "cannot write `" + path + "`: " + std::strerror(reason), "-o " + path,
          "take a place that you may write to and that has room"};
}

void write_all(std::FILE* file, const std::string& text, const std::string& path) {
  const bool written =
      std::fwrite(text.data(), 1, text.size(), file) == text.size() && std::fflush(file) == 0;
  if (!written) throw cannot_write(path, errno);
}

/// A device or a pipe that is there is written to as it is: no data is lost.
bool is_device(const fs::path& path) {
  std::error_code unknown;
  return fs::exists(path, unknown) && !fs::is_regular_file(path, unknown);
}

}  // namespace

void add_output_options(CLI::App& command, OutputOptions& options) {
  command.add_option("--format", options.format, "table, json, csv or markdown")
      ->envname("LANECAST_FORMAT")
      ->capture_default_str()
      ->group("Output");
  command.add_option("-o,--output", options.path, "write the result to this file (- is stdout)")
      ->group("Output");
  command.add_flag("--force", options.force, "let -o overwrite a file")->group("Output");
}

Format checked_output(const OutputOptions& options) {
  const auto format = format_from_string(options.format);
  if (!format) throw unknown_choice(options.format, "--format", {"table", "json", "csv", "markdown"});
  if (options.path.empty() || options.path == "-") return *format;
  std::error_code unknown;
  if (fs::is_directory(options.path, unknown)) {
    throw Error(ErrorKind::usage, "`" + options.path + "` is a folder", "-o " + options.path,
                "name a file in it");
  }
  if (!options.force && fs::exists(options.path, unknown) && !is_device(options.path)) {
    throw exists_already(options.path);
  }
  const fs::path folder = fs::path(options.path).parent_path();
  if (!folder.empty() && !fs::is_directory(folder, unknown)) {
    throw Error(ErrorKind::usage, "there is no folder `" + folder.string() + "`", "-o " + options.path,
                "make the folder first");
  }
  return *format;
}

void write_output(const OutputOptions& options, const std::string& text) {
  if (options.path.empty() || options.path == "-") {
    write_all(stdout, text, "the standard output");
    return;
  }
  const char* mode = options.force || is_device(options.path) ? "w" : "wx";  // x: fails where it exists
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(options.path.c_str(), mode),
                                                             &std::fclose);
  if (!file && errno == EEXIST) throw exists_already(options.path);
  if (!file) throw cannot_write(options.path, errno);
  write_all(file.get(), text, options.path);
}

}  // namespace lanecast
