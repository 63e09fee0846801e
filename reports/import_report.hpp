#pragma once
#include <string>
#include <vector>

#include "reports/document.hpp"
#include "reports/format.hpp"

namespace lanecast {

/// What an import read, chose and missed, for people and for scripts.
struct ImportReport {
  struct Value {
    std::string path;   // "links.gpu0.width"
    std::string value;  // as the machine file writes it
    std::string from;   // "box.txt:41 (LnkSta)", or the rule that chose it
    bool assumed = false;
  };
  struct Contradiction {
    std::string what;
    std::string taken, taken_from;
    std::string other, other_from;
  };
  struct Found {
    std::string file;
    std::string kind;  // "nvidia-smi-topo"
    int items = 0;
  };
  RunInfo run;
  std::string machine;
  std::vector<Found> found;
  std::vector<Value> values;
  std::vector<std::string> unknown;  // and how to find out
  std::vector<Contradiction> contradictions;
  std::vector<std::string> notes;
};

/// "links.gpu0.width is x16 (a.txt:3), but x8 (b.txt:7); taken: x16".
std::string contradiction_text(const ImportReport::Contradiction& contradiction);

/// `{"machine", "found": [...], "values": [{"path", "value", "from", "assumed"}], "unknown",
/// "contradictions", "notes"}`; CSV has a line a value.
std::string import_text(const ImportReport& report, Format format);

}  // namespace lanecast
