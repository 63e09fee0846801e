#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <vector>

#include "configs/dumps/nvidia_smi_values.hpp"
#include "configs/dumps/paste_lines.hpp"
#include "configs/dumps/readers.hpp"
#include "configs/reading.hpp"

namespace lanecast {
namespace {

struct FieldRow {
  std::string_view field;
  SmiItem item;
};

/// Fields as `nvidia-smi --help-query-gpu` names them; aliases are printed under their first name.
constexpr std::array<FieldRow, 12> field_rows{{
    {"name", SmiItem::model},
    {"driver_version", SmiItem::driver},
    {"timestamp", SmiItem::timestamp},
    {"pcie.link.gen.max", SmiItem::link_max_generation},
    {"pcie.link.gen.current", SmiItem::link_generation},
    {"pcie.link.gen.gpumax", SmiItem::device_max_generation},
    {"pcie.link.gen.hostmax", SmiItem::host_max_generation},
    {"pcie.link.width.max", SmiItem::link_max_width},
    {"pcie.link.width.current", SmiItem::link_width},
    {"pstate", SmiItem::performance_state},
    {"memory.total", SmiItem::memory},
    {"compute_cap", SmiItem::compute_capability},
}};

struct Column {
  std::string name;       // without its unit
  std::string_view unit;  // "MiB"; "": none
  std::optional<SmiItem> item;
};

constexpr std::size_t most_fields = 400;  // there are about 150

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  while (fields.size() < most_fields) {
    const std::size_t end = line.find(',');
    fields.push_back(trimmed(line.substr(0, end)));
    if (end == std::string_view::npos) break;
    line.remove_prefix(end + 1);
  }
  return fields;
}

std::string_view without_unit(std::string_view field) { return trimmed(field.substr(0, field.find('['))); }

bool is_field_name(std::string_view name) {
  return !name.empty() && name[0] >= 'a' && name[0] <= 'z' &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
         });
}

/// The columns that a header names; empty: the line is no header of `--query-gpu` with the number or the
/// address of GPUs. (Without a header, `--format=csv,noheader`, nobody can tell which field is which.)
std::vector<Column> columns_of(const std::string& line) {
  const std::vector<std::string_view> fields = fields_of(line);
  if (fields.size() < 2) return {};
  std::vector<Column> columns;
  bool has_gpu = false;
  bool has_more = false;
  for (const std::string_view field : fields) {
    const std::string_view name = without_unit(field);
    if (!is_field_name(name)) return {};
    Column column{std::string(name), field.find("[MiB]") == std::string_view::npos ? "" : "MiB",
                  std::nullopt};
    const auto row = std::find_if(field_rows.begin(), field_rows.end(),
                                  [&](const FieldRow& each) { return each.field == name; });
    if (row != field_rows.end()) column.item = row->item;
    has_gpu = has_gpu || name == "index" || name == "pci.bus_id";
    has_more = has_more || column.item || name.find('.') != std::string_view::npos;
    columns.push_back(std::move(column));
  }
  return has_gpu && has_more ? columns : std::vector<Column>();
}

class CsvScanner {
 public:
  CsvScanner(const std::string& file, MachineFacts& facts) : file_(file), facts_(facts) {}

  /// @return  whether the line is the row of a GPU
  bool take(const PasteLines& line);
  void finish() const { gpus_.note_excess(file_, facts_); }

 private:
  bool take_row(const std::vector<std::string_view>& fields, const PasteLines& line);
  void take_field(const Column& column, SmiValue value, const std::string& address, int index);

  const std::string& file_;
  MachineFacts& facts_;
  std::vector<Column> columns_;
  SmiGpus gpus_;
  std::set<std::string> models_;  // whole names, which confirm a name that may be cut
};

bool CsvScanner::take(const PasteLines& line) {
  std::vector<Column> columns = columns_of(line.text());
  if (!columns.empty()) {
    columns_ = std::move(columns);
    return false;
  }
  if (columns_.empty()) return false;
  const std::vector<std::string_view> fields = fields_of(line.text());
  if (fields.size() < columns_.size() && fields.size() > 1 && line.unterminated())
    return take_row(fields, line);
  if (fields.size() != columns_.size()) {
    // A GPU that cannot be reached is told by a line of its own, between the rows of the others.
    if (line.text().find("Unable to determine") == std::string::npos) columns_.clear();
    return false;
  }
  return take_row(fields, line);
}

bool CsvScanner::take_row(const std::vector<std::string_view>& fields, const PasteLines& line) {
  std::string address;
  int index = -1;
  const auto is_cut = [&](std::size_t i) { return line.unterminated() && i + 1 == fields.size(); };
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (is_cut(i) && columns_[i].name == "index") continue;
    if (columns_[i].name == "index") index = small_number(fields[i]);
    if (columns_[i].name == "pci.bus_id")
      address = pci_address(std::string(fields[i].substr(0, 24))).value_or("");
  }
  if (address.empty() && (index < 0 || index >= static_cast<int>(most_gpus))) return false;
  const std::string place = file_ + ":" + std::to_string(line.number()) + " (";
  if (!address.empty()) {
    if (!gpus_.admit(address, place + "pci.bus_id)", facts_)) return false;
    add_smi_index(index, place + "index)", address, facts_);
  }
  for (std::size_t i = 0; i < fields.size(); ++i) {
    take_field(columns_[i], {fields[i], place + columns_[i].name + ")", is_cut(i)}, address, index);
  }
  return true;
}

void CsvScanner::take_field(const Column& column, SmiValue value, const std::string& address, int index) {
  if (!column.item) return;
  std::string with_unit;
  if (!column.unit.empty() && small_number(value.text) >= 0 && !value.may_be_cut) {  // --format=csv,nounits
    with_unit = std::string(value.text) + " " + std::string(column.unit);
    value.text = with_unit;
  }
  if (*column.item == SmiItem::model) {
    const std::string model(value.text);
    if (!value.may_be_cut && models_.size() < most_values) models_.insert(model);
    if (models_.count(model) > 0) value.may_be_cut = false;
    if (address.empty() && !value.may_be_cut && is_smi_value(model)) {
      add_smi_model(index, model, value.from, facts_);
    }
  }
  add_smi_value(*column.item, value, address, facts_);
}

}  // namespace

int read_nvidia_smi_csv(std::string_view text, const std::string& file, MachineFacts& facts) {
  CsvScanner scanner(file, facts);
  PasteLines lines(text);
  int gpus = 0;
  while (lines.next()) gpus += scanner.take(lines) ? 1 : 0;
  scanner.finish();
  return gpus;
}

}  // namespace lanecast
