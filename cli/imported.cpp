#include "cli/imported.hpp"

#include <algorithm>

#include "cli/config_digest.hpp"
#include "configs/explain.hpp"
#include "configs/machine_writer.hpp"

namespace lanecast {
namespace {

std::string origin_text(const Origin& origin) { return (origin.assumed ? "assumed: " : "") + origin.from; }

std::string as_comment(const std::string& text) {
  std::string line = "# ";
  for (const char c : text) line += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  return line + "\n";
}

std::vector<ImportReport::Contradiction> contradictions_of(const ImportedMachine& imported) {
  std::vector<ImportReport::Contradiction> rows;
  for (const Contradiction& each : imported.contradictions)
    rows.push_back({each.what, each.taken, each.taken_from, each.other, each.other_from});
  return rows;
}

std::string joined(const std::vector<int>& numbers) {
  std::string text;
  for (const int number : numbers) text += (text.empty() ? "" : " ") + std::to_string(number);
  return text;
}

/// What NCCL did on the machine, in a sentence; "" where no dump says so.
std::string nccl_text(const NcclFacts& nccl) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (!nccl.version.empty()) add("NCCL " + nccl.version.all().front().value);
  if (!nccl.ring.empty()) add("ring of GPUs " + joined(nccl.ring.all().front().value));
  if (!nccl.channels.empty()) add(std::to_string(nccl.channels.all().front().value) + " channels");
  if (!nccl.transport.empty()) add("transport " + nccl.transport.all().front().value);
  for (const auto& [name, value] : nccl.environment) add(name + "=" + value.value);
  return text.empty() ? "" : "the dumps show how NCCL ran there: " + text;
}

std::vector<std::string> notes_of(const ImportedMachine& imported) {
  std::vector<std::string> notes = imported.notes;
  const std::string nccl = nccl_text(imported.nccl);
  if (!nccl.empty()) notes.push_back(nccl + " (`lanecast predict ... --nccl-log LOG` follows a log)");
  return notes;
}

std::size_t assumed_count(const ImportedMachine& imported) {
  return static_cast<std::size_t>(std::count_if(imported.origins.begin(), imported.origins.end(),
                                                [](const auto& each) { return each.second.assumed; }));
}

}  // namespace

std::string imported_yaml(const ImportedMachine& imported, const Session& session) {
  std::string text = as_comment("Written by `" + session.command_line() + "`.");
  text += as_comment("Behind each value stands where it comes from; `assumed` names the rule that chose it.");
  for (const ImportReport::Contradiction& each : contradictions_of(imported))
    text += as_comment("contradiction: " + contradiction_text(each));
  for (const std::string& unknown : imported.unknown) text += as_comment("unknown: " + unknown);
  for (const std::string& note : notes_of(imported)) text += as_comment("note: " + note);
  std::map<std::string, std::string> comments;
  for (const auto& [path, origin] : imported.origins) comments[path] = origin_text(origin);
  return text + write_machine(imported.machine, comments);
}

ImportReport import_report(const ImportedMachine& imported, const Session& session) {
  ImportReport report;
  report.run = session.run_info(config_digest(imported.machine));
  report.machine = imported.machine.name;
  for (const FoundDump& found : imported.found)
    report.found.push_back({found.file, to_string(found.kind), found.items});
  for (const Explanation& row : explain({imported.machine, imported.machine.name, {}})) {
    const auto origin = imported.origins.find(row.path);
    if (origin == imported.origins.end()) continue;
    report.values.push_back({row.path, row.value, origin->second.from, origin->second.assumed});
  }
  report.unknown = imported.unknown;
  report.contradictions = contradictions_of(imported);
  report.notes = notes_of(imported);
  return report;
}

void tell_import(const ImportedMachine& imported, const Session& session) {
  for (const FoundDump& found : imported.found) {
    session.note("read " + found.file + ": " + to_string(found.kind) + ", " + std::to_string(found.items) +
                 (found.items == 1 ? " item" : " items"));
  }
  for (const ImportReport::Contradiction& each : contradictions_of(imported))
    session.note("contradiction: " + contradiction_text(each));
  for (const std::string& unknown : imported.unknown) session.note("unknown: " + unknown);
  for (const std::string& note : notes_of(imported)) session.note(note);
  const std::size_t assumed = assumed_count(imported);
  if (assumed > 0) session.note(std::to_string(assumed) + " values are assumed by rule and marked so");
}

void tell_import_in_short(const ImportedMachine& imported, const Session& session) {
  for (const ImportReport::Contradiction& each : contradictions_of(imported))
    session.note("contradiction: " + contradiction_text(each));
  session.note("machine imported: " + std::to_string(imported.machine.gpus.size()) + " GPUs, " +
               std::to_string(assumed_count(imported)) + " values assumed by rule, " +
               std::to_string(imported.unknown.size()) +
               " things unknown; `lanecast topo import` on the same files shows them");
}

}  // namespace lanecast
