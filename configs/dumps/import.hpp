#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "configs/dumps/dump_kind.hpp"
#include "configs/dumps/facts.hpp"
#include "model/topology/machine.hpp"

namespace lanecast {

/// Where a value of an imported machine comes from.
struct Origin {
  std::string from;      // "box.txt:41 (LnkSta)", or the rule: "as most servers"
  bool assumed = false;  // no dump states it: a rule chose it
};

/// Two dumps, or two places of one, that state different values.
struct Contradiction {
  std::string what;  // "links.gpu0.width", "device 0000:3b:00.0: NUMA node"
  std::string taken;
  std::string taken_from;
  std::string other;
  std::string other_from;
};

/// One kind of dump within a file, and how much of it was understood.
struct FoundDump {
  std::string file;
  DumpKind kind = DumpKind::lspci_tree;
  int items = 0;
};

/// A machine that dumps describe.
struct ImportedMachine {
  Machine machine;                        // check_machine accepts it
  std::map<std::string, Origin> origins;  // by path: "links.gpu0.width", "gpus.gpu0.model", "p2p.iommu"
  std::vector<std::string> unknown;       // what could not be known, and which command would tell
  std::vector<Contradiction> contradictions;
  std::vector<std::string> notes;  // what else a reader should know
  std::vector<FoundDump> found;
  NcclFacts nccl;
};

/// The machine that facts describe, by the rules of docs/import.md.
///
/// @param name  of the machine
/// @throws Error  kind usage: no GPU is among the facts, naming what was found and what would help
ImportedMachine machine_from_facts(const MachineFacts& facts, const std::string& name);

/// A file of the command line.
struct DumpText {
  std::string file;  // as messages name it; "standard input"
  std::string text;
};

/// Reads files of one machine and merges what they say.
///
/// @param as  the kind of all files; nothing: recognised by content
/// @throws Error  kind usage: a file of no known kind (the message names the kinds), binary or UTF-16, not
/// well-formed, or above 16 MiB; no GPU among them
ImportedMachine import_dumps(const std::vector<DumpText>& files, std::optional<DumpKind> as,
                             const std::string& name);

/// The same from paths; "-" is standard input.
ImportedMachine import_files(const std::vector<std::string>& paths, std::optional<DumpKind> as,
                             const std::string& name);

}  // namespace lanecast
