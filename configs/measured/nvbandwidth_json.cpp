#include <string>
#include <utility>

#include "configs/measured/matrix_rows.hpp"
#include "configs/measured/nvbandwidth_test.hpp"
#include "configs/measured/readers.hpp"
#include "configs/reading.hpp"

namespace lanecast {
namespace {

std::string text_of(const JsonNode& map, const std::string& key) {
  const JsonNode* value = map.find(key);
  return value == nullptr || value->is(JsonNode::Kind::null) ? "" : std::string(trimmed(value->text));
}

/// Rows of cells, which are texts or numbers. @return  whether all of it is that
bool take_cells(const JsonNode& matrix, PrintedMatrix& table, MeasuredReading& reading) {
  for (const JsonNode& row : matrix.items) {
    std::vector<std::string> cells;
    for (const JsonNode& cell : row.items) {
      const bool scalar = cell.is(JsonNode::Kind::text) || cell.is(JsonNode::Kind::number);
      cells.push_back(scalar ? std::string(trimmed(cell.text)) : std::string("N/A"));
    }
    if (!row.is(JsonNode::Kind::list) || cells.empty()) {
      reading.problem(row.at, std::string("a row of `bandwidth_matrix` is ") + describe(row.kind),
                      "it must be a list of values");
      return false;
    }
    table.cells.push_back(std::move(cells));
    table.lines.push_back(row.at.line);
  }
  return true;
}

/// Tests of both directions write three tables into one: each half, then the total.
void keep_total(PrintedMatrix& table) {
  const std::size_t rows = table.cells.size(), columns = rows == 0 ? 0 : table.cells.front().size();
  if (columns == 0 || rows != 3 * columns) return;
  const auto begin = static_cast<std::ptrdiff_t>(2 * columns);
  table.cells.erase(table.cells.begin(), table.cells.begin() + begin);
  table.lines.erase(table.lines.begin(), table.lines.begin() + begin);
}

void add_test(const JsonNode& test, int version, MeasuredReading& reading) {
  PrintedMatrix table;
  table.name = text_of(test, "name");
  table.line = test.at.line;
  const std::string status = text_of(test, "status");
  const JsonNode* matrix = test.find("bandwidth_matrix");
  if (matrix == nullptr || matrix->items.empty() || (!status.empty() && status != "Passed")) {
    const std::string error = text_of(test, "error");
    reading.leave_out("`" + printable(table.name) +
                          "` has no table: " + (status.empty() ? "no status" : printable(status)) +
                          (error.empty() ? "" : ", " + printable(error)),
                      test.at.line);
    return;
  }
  if (!take_cells(*matrix, table, reading)) return;
  const std::string description = text_of(test, "bandwidth_description");
  if (description.find("Total") != std::string::npos) keep_total(table);
  add_nvbandwidth_table(std::move(table), description, version, reading);
}

}  // namespace

void read_nvbandwidth_json(const JsonNode& document, MeasuredReading& reading) {
  const JsonNode& root = *document.find("nvbandwidth");
  const int version = nvbandwidth_version(text_of(root, "version"));
  const std::string error = text_of(root, "error");
  if (!error.empty()) reading.note("nvbandwidth failed: " + printable(error), root.at.line);
  const JsonNode* devices = root.find("GPU Device list");
  for (std::size_t i = 0; devices != nullptr && i < devices->items.size(); ++i) {
    std::string model =
        devices->items[i].text;  // "0: NVIDIA H200 (00000000:00:06): (vm)", or the model alone
    if (const std::size_t colon = model.find(": "); colon != std::string::npos && colon < 12)
      model.erase(0, colon + 2);
    model = model.substr(0, model.find(" ("));
    if (!model.empty()) reading.data.gpu_models.push_back(printable(model));
  }
  const JsonNode* tests = root.find("testcases");
  if (tests == nullptr || !tests->is(JsonNode::Kind::list)) {
    reading.problem(root.at, "there is no list `testcases`", "give the whole output of `nvbandwidth -j`");
    return;
  }
  for (const JsonNode& test : tests->items) {
    if (test.is(JsonNode::Kind::map)) {
      add_test(test, version, reading);
    } else {
      reading.problem(test.at, std::string("a test is ") + describe(test.kind), "it must be a mapping");
    }
  }
}

}  // namespace lanecast
