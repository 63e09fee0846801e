#include "configs/dumps/import.hpp"

#include <algorithm>
#include <filesystem>

#include "configs/dumps/readers.hpp"
#include "configs/dumps/recognition.hpp"
#include "configs/machine_reader.hpp"
#include "configs/plain_text.hpp"
#include "configs/problem_list.hpp"
#include "configs/reading.hpp"
#include "model/error.hpp"

namespace lanecast {
namespace {

constexpr std::uint64_t most_bytes = std::uint64_t{16} << 20;  // the largest dumps known have 1 MiB

using Reader = int (*)(std::string_view, const std::string&, MachineFacts&);

Reader reader_of(DumpKind kind) {
  switch (kind) {
    case DumpKind::lspci_tree:
      return &read_lspci_tree;
    case DumpKind::lspci_verbose:
      return &read_lspci_verbose;
    case DumpKind::nvidia_smi_topo:
      return &read_nvidia_smi_topo;
    case DumpKind::nvidia_smi_p2p:
      return &read_nvidia_smi_p2p;
    case DumpKind::nvidia_smi_query:
      return &read_nvidia_smi_query;
    case DumpKind::nvidia_smi_xml:
      return &read_nvidia_smi_xml;
    case DumpKind::nvidia_smi_csv:
      return &read_nvidia_smi_csv;
    case DumpKind::nvidia_smi_table:
      return &read_nvidia_smi_table;
    case DumpKind::nccl_topology:
      return &read_nccl_topology;
    case DumpKind::nccl_graph:
      return &read_nccl_graph;
    case DumpKind::nccl_log:
      return &read_nccl_log_facts;
    case DumpKind::hwloc_xml:
      return &read_hwloc_xml;
    case DumpKind::collected:
      return &read_collected;
    case DumpKind::machine_file:
      break;
  }
  return nullptr;
}

std::string kinds_with_commands() {
  std::vector<std::string> kinds;
  for (const DumpKind kind : dump_kinds())
    kinds.push_back(std::string(to_string(kind)) + "` (" + made_by(kind) + ")");
  std::string text;
  for (const std::string& kind : kinds) text += (text.empty() ? "`" : ", `") + kind;
  return text;
}

/// Reads one file into the facts. @return what was found in it
std::vector<FoundDump> read_dump(const DumpText& file, const RecognisedText& text, std::optional<DumpKind> as,
                                 MachineFacts& facts) {
  const std::string name = printable(file.file);
  expect_plain_text(file.text, name, "lanecast topo import -");
  if (text.kinds.empty() && !text.xml_root.empty()) {
    throw Error(ErrorKind::usage,
                "XML with the root element `" + printable(text.xml_root) + "` is of no known kind", name,
                "the kinds are " + kinds_with_commands());
  }
  std::vector<FoundDump> found;
  for (const DumpKind kind : text.kinds) {
    const int items = reader_of(kind)(text.body, name, facts);
    if (items > 0) found.push_back({name, kind, items});
  }
  if (!found.empty()) return found;
  if (as) {
    throw Error(ErrorKind::usage,
                std::string("nothing of the kind `") + to_string(*as) + "` is in `" + name + "`", name,
                std::string("give what `") + made_by(*as) + "` prints, or leave out --as");
  }
  throw Error(ErrorKind::usage, "`" + name + "` holds nothing that describes a machine", name,
              "the kinds are " + kinds_with_commands());
}

ImportedMachine read_machine(const DumpText& file) {
  ImportedMachine imported;
  imported.machine = read_machine_text(file.text, printable(file.file));
  imported.found = {{printable(file.file), DumpKind::machine_file, 1}};
  return imported;
}

/// "box" of "dumps/box.txt": letters, digits, `_`, `.` and `-` only.
std::string machine_name(const std::string& file) {
  constexpr std::size_t longest = 64;
  std::string name;
  for (const char c : std::filesystem::path(file).stem().string().substr(0, longest)) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '_' || c == '.' || c == '-';
    name += plain ? c : '-';
  }
  return name.empty() || file == "-" ? "imported" : name;
}

/// A file without its folders, which would fill the lines; with them where another file has the same name.
std::string short_name(const std::string& path, const std::vector<std::string>& paths) {
  if (path == "-") return "standard input";
  const auto name_of = [](const std::string& each) {
    return std::filesystem::path(each).filename().string();
  };
  const auto same = std::count_if(paths.begin(), paths.end(),
                                  [&](const std::string& other) { return name_of(other) == name_of(path); });
  return same > 1 || name_of(path).empty() ? path : name_of(path);
}

}  // namespace

ImportedMachine import_dumps(const std::vector<DumpText>& files, std::optional<DumpKind> as,
                             const std::string& name) {
  std::vector<RecognisedText> texts;
  for (const DumpText& file : files) {
    texts.push_back(recognised(file.text, as));
    if (texts.back().kinds != std::vector<DumpKind>{DumpKind::machine_file}) continue;
    if (files.size() == 1) return read_machine(file);
    throw Error(ErrorKind::usage,
                "`" + printable(file.file) + "` is a machine file, which merges with nothing",
                printable(file.file), "import the dumps alone; `lanecast topo diff` compares two machines");
  }
  MachineFacts facts;
  std::vector<FoundDump> found;
  std::string problems;  // of all files, so that one run tells all
  for (std::size_t i = 0; i < files.size(); ++i) {
    try {
      for (FoundDump& dump : read_dump(files[i], texts[i], as, facts)) found.push_back(std::move(dump));
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::usage) throw;
      problems += (problems.empty() ? "" : "\nerror: ") + std::string(error.what());
    }
  }
  if (!problems.empty()) throw Error(ErrorKind::usage, problems);
  ImportedMachine imported = machine_from_facts(facts, name);
  imported.found = std::move(found);
  return imported;
}

ImportedMachine import_files(const std::vector<std::string>& paths, std::optional<DumpKind> as,
                             const std::string& name) {
  std::vector<DumpText> files;
  for (const std::string& path : paths)
    files.push_back({short_name(path, paths), read_plain_text(path, most_bytes, "lanecast topo import -")});
  const std::string given = paths.empty() ? "" : paths.front();
  return import_dumps(files, as, name.empty() ? machine_name(given) : name);
}

}  // namespace lanecast
