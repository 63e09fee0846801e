#include "configs/measured/read_predicted.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "configs/measured/predicted_row.hpp"
#include "configs/reading.hpp"
#include "model/error.hpp"

namespace lanecast {
namespace {

using Json = nlohmann::json;

std::string_view first_line(std::string_view text) {
  text = trimmed(text);
  return trimmed(text.substr(0, text.find('\n')));
}

bool is_csv(std::string_view text) {
  const std::string_view head = first_line(text);
  return !head.empty() && head.front() != '{' && head.find("size_bytes") != std::string_view::npos &&
         head.find("time_us_low") != std::string_view::npos;
}

/// An array of arrays under `rows`, beside the name of a kind: a matrix.
bool is_matrix(const Json& document) {
  const auto rows = document.find("rows");
  const auto kind = document.find("kind");
  return rows != document.end() && rows->is_array() && kind != document.end() && kind->is_string();
}

bool is_results(const Json& document) {
  const auto results = document.find("results");
  return results != document.end() && results->is_array() && document.find("runs") == document.end();
}

bool is_row(const Json& object) { return object.contains("size_bytes") && object.contains("time_us_low"); }

bool is_predicted_document(const Json& document) {
  return document.is_object() && document.contains("lanecast") &&
         (is_matrix(document) || is_results(document));
}

/// The fields of a line by RFC 4180; a quote that does not close takes the rest.
std::vector<std::string> csv_fields(std::string_view line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted && c == '"' && i + 1 < line.size() && line[i + 1] == '"') {
      fields.back() += line[++i];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

/// The value that a field of CSV stands for.
Json csv_value(const std::string& field) {
  if (field.empty()) return nullptr;
  if (field == "true" || field == "false") return field == "true";
  Json value = Json::parse(field, nullptr, false);
  return value.is_number() ? value : Json(field);
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(trimmed(text.substr(0, end)));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

class Reader {
 public:
  Reader(const std::string& text, const std::string& name) : text_(text), name_(name), problems_(name) {}

  PredictedData read() {
    if (is_csv(text_)) {
      read_csv();
    } else if (const Json whole = Json::parse(text_, nullptr, false); whole.is_object() && !is_row(whole)) {
      read_document(whole);
    } else {
      read_lines();
    }
    problems_.throw_if_any();
    return std::move(data_);
  }

 private:
  void read_csv() {
    const std::vector<std::string_view> lines = lines_of(text_);
    std::vector<std::string> names;
    int number = 0;
    for (const std::string_view line : lines) {
      ++number;
      if (line.empty()) continue;
      const std::vector<std::string> fields = csv_fields(line);
      if (names.empty()) {
        names = fields;
      } else if (fields.size() != names.size()) {
        problems_.add({{number, 1},
                       "line " + std::to_string(number),
                       "the line has " + std::to_string(fields.size()) + " fields, the head " +
                           std::to_string(names.size()),
                       "give every line a field for each name of the head"});
      } else {
        Json row = Json::object();
        for (std::size_t i = 0; i < names.size(); ++i) row[names[i]] = csv_value(fields[i]);
        add_row(row, Json::object(), {name_ + ":" + std::to_string(number), "", {number, 1}});
      }
    }
  }

  void read_lines() {
    int number = 0;
    for (const std::string_view line : lines_of(text_)) {
      ++number;
      if (line.empty()) continue;
      try {
        const Json row = Json::parse(line);
        if (is_predicted_document(row)) {
          read_document(row);
        } else {
          add_row(row, Json::object(), {name_ + ":" + std::to_string(number), "", {number, 1}});
        }
      } catch (const Json::parse_error&) {
        problems_.add({{number, 1},
                       "line " + std::to_string(number),
                       "the line is no JSON",
                       "give what `lanecast predict --format json` wrote, unchanged"});
      }
    }
  }

  void read_document(const Json& document) {
    const auto text = [&](const char* key, std::string& into) {
      const auto at = document.find(key);
      if (at != document.end() && at->is_string()) into = at->get<std::string>();
    };
    text("machine", data_.machine);
    text("profile", data_.profile);
    if (is_matrix(document)) {
      read_matrix(document);
      return;
    }
    const Json& results = document.at("results");
    for (std::size_t i = 0; i < results.size(); ++i) {
      const std::string path = "results[" + std::to_string(i) + "]";
      add_row(results[i], document, {name_ + " " + path, path, {}});
    }
  }

  void add_row(const Json& row, const Json& document, const RowPlace& place) {
    if (row.is_object()) {
      data_.calls.push_back(read_predicted_row(row, document, place, problems_));
    } else {
      problems_.add({place.at, place.path, "`" + place.where + "` is no object", "give each row its keys"});
    }
  }

  void read_matrix(const Json& document) {
    MeasuredMatrix matrix;
    matrix.kind = document.at("kind").get<std::string>();
    const auto word = [&](const char* key) {
      const auto at = document.find(key);
      return at != document.end() && at->is_string() ? at->get<std::string>() : std::string();
    };
    matrix.engine = word("engine");
    matrix.unit = word("unit");
    matrix.where = name_;
    const Json& rows = document.at("rows");
    for (std::size_t i = 0; i < rows.size(); ++i) {
      matrix.rows.emplace_back();
      if (!rows[i].is_array()) {
        add_bad_cell("rows[" + std::to_string(i) + "]", "an array of numbers");
        continue;
      }
      for (std::size_t j = 0; j < rows[i].size(); ++j)
        matrix.rows.back().push_back(
            cell(rows[i][j], "rows[" + std::to_string(i) + "][" + std::to_string(j) + "]"));
    }
    data_.matrices.push_back(std::move(matrix));
  }

  std::optional<double> cell(const Json& value, const std::string& path) {
    if (value.is_null()) return std::nullopt;
    if (value.is_number() && std::isfinite(value.get<double>()) && value.get<double>() > 0)
      return value.get<double>();
    add_bad_cell(path, "a number above 0, or null");
    return std::nullopt;
  }

  void add_bad_cell(const std::string& path, const std::string& wanted) {
    problems_.add({{}, path, "`" + path + "` is no cell of a matrix", "it must be " + wanted});
  }

  const std::string& text_;
  const std::string& name_;
  ProblemList problems_;
  PredictedData data_;
};

}  // namespace

bool is_prediction(std::string_view text) {
  if (is_csv(text)) return true;
  if (trimmed(text).substr(0, 1) != "{") return false;
  const Json whole = Json::parse(text, nullptr, false);
  if (is_predicted_document(whole)) return true;
  const Json line = Json::parse(first_line(text), nullptr, false);
  return line.is_object() && (is_row(line) || is_predicted_document(line));
}

PredictedData read_predicted(const std::string& text, const std::string& name) {
  return Reader(text, name).read();
}

}  // namespace lanecast
