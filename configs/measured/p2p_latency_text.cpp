#include <optional>
#include <string>
#include <utility>

#include "configs/measured/launcher_prefix.hpp"
#include "configs/measured/matrix_rows.hpp"
#include "configs/measured/readers.hpp"
#include "configs/reading.hpp"

namespace lanecast {
namespace {

bool holds(std::string_view line, std::string_view part) { return line.find(part) != std::string_view::npos; }

/// What a title announces; nothing for another line.
std::optional<PrintedMatrix> titled(std::string_view line) {
  const bool connectivity = holds(line, "P2P Connectivity Matrix");
  if (!connectivity && !(holds(line, "P2P=") && holds(line, "Matrix"))) return std::nullopt;
  PrintedMatrix table;
  table.name = printable(std::string(trimmed(line)));
  table.kind = connectivity                   ? "access"
               : holds(line, "Latency")       ? "latency"
               : holds(line, "Bidirectional") ? "bidir"
                                              : "p2p";
  table.engine = "ce";
  table.unit = table.kind == "latency" ? "us" : "GB/s";
  table.peer_access = holds(line, "P2P=Enabled");
  table.empty_diagonal = true;  // copies within a GPU, counted twice
  return table;
}

/// "NVIDIA H200" of "Device: 0, NVIDIA H200, pciBusID: 6, pciDeviceID: 0, pciDomainID:0".
std::string device_model(std::string_view line) {
  const std::size_t at = line.find("Device: "), end = line.find(", pciBusID");
  if (at == std::string_view::npos || end == std::string_view::npos || end < at) return "";
  const std::string_view text = line.substr(at, end - at);
  const std::size_t comma = text.find(", ");
  return comma == std::string_view::npos ? "" : printable(std::string(trimmed(text.substr(comma + 2))));
}

class P2pLatencyReader {
 public:
  explicit P2pLatencyReader(MeasuredReading& reading) : reading_(reading) {}

  void take(std::string_view line, int number);
  void close();
  void leave_title();  // says where a title has no table below it

 private:
  bool take_row(std::string_view line, int number);
  void take_access();
  void add_rates();

  MeasuredReading& reading_;
  std::optional<PrintedMatrix> title_;  // of the section
  int title_line_ = 0;
  bool tables_ = false;                 // it has one
  std::optional<PrintedMatrix> table_;  // below its header
  std::optional<bool> access_;          // of any pair; absent: no table of it
};

/// Which GPUs reach each other.
void P2pLatencyReader::take_access() {
  bool any = false, all = true;
  for (std::size_t row = 0; row < table_->cells.size(); ++row) {
    for (std::size_t column = 0; column < table_->cells[row].size(); ++column) {
      if (row == column) continue;
      const bool reaches = table_->cells[row][column] == "1";
      any = any || reaches;
      all = all && reaches;
    }
  }
  access_ = any;
  if (any && !all) {
    reading_.note(
        "some pairs have no peer access: where the table says P2P=Enabled, theirs went through the host",
        table_->line);
  }
}

void P2pLatencyReader::add_rates() {
  if (table_->peer_access && access_ == false) {
    table_->peer_access = false;
    reading_.note("no pair has peer access: what the table calls P2P=Enabled went through the host",
                  table_->line);
  }
  if (table_->kind == "latency") {
    reading_.note(
        "latencies of p2pBandwidthLatencyTest say how often small copies start, not how long data fly",
        table_->line);
  }
  add_matrix(*table_, reading_);
}

void P2pLatencyReader::close() {
  if (table_) table_->kind == "access" ? take_access() : add_rates();
  table_.reset();
}

void P2pLatencyReader::leave_title() {
  if (!title_ || tables_) return;
  reading_.problem(title_line_, "no table below `" + title_->name + "`",
                   "copy all of it, or leave the title out");
}

bool P2pLatencyReader::take_row(std::string_view line, int number) {
  std::vector<std::string_view> words = words_of(line);
  if (table_) {
    auto cells = numbered_row(words, static_cast<int>(table_->cells.size()));
    if (!cells) return false;
    table_->cells.push_back(std::move(*cells));
    table_->lines.push_back(number);
    return true;
  }
  const bool header = words.size() > 1 && (words[0] == "D\\D" || words[0] == "GPU" || words[0] == "CPU");
  if (!title_ || !header) return false;
  const bool host = words[0] == "CPU";  // the time that the host needs to issue
  words.erase(words.begin());
  if (!counts_up(words) || host) return true;
  tables_ = true;
  table_ = *title_;
  table_->line = number;
  table_->columns = words.size();
  return true;
}

void P2pLatencyReader::take(std::string_view whole, int number) {
  if (std::string model = device_model(whole); !model.empty()) {
    reading_.data.gpu_models.push_back(std::move(model));
    return;
  }
  const std::string_view line = without_launcher(whole);
  if (auto title = titled(line)) {
    close();
    leave_title();
    title_ = std::move(title);
    title_line_ = number;
    tables_ = false;
    return;
  }
  if (take_row(line, number)) return;
  if (!table_) return;
  close();
  take_row(line, number);  // a header may follow at once
}

}  // namespace

void read_p2p_latency_text(const TextLines& lines, MeasuredReading& reading) {
  P2pLatencyReader reader(reading);
  for (std::size_t i = 0; i < lines.size(); ++i) reader.take(lines[i], static_cast<int>(i) + 1);
  reader.close();
  reader.leave_title();
}

}  // namespace lanecast
