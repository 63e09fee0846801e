#include "configs/measured/measured_reading.hpp"

#include <utility>

#include "configs/reading.hpp"

namespace lanecast {

std::string MeasuredReading::at(int line) const {
  return line == 0 ? printable(name_) : printable(name_) + ":" + std::to_string(line);
}

void MeasuredReading::problem(const Position& at, const std::string& text, const std::string& mend,
                              const std::string& path) {
  problems_.add({at, path, text, mend});
}

void MeasuredReading::add_warnings(const char* code, const std::map<std::string, std::vector<int>>& lines) {
  constexpr std::size_t most_shown = 3;
  for (const auto& [text, where] : lines) {
    std::string places;
    for (std::size_t i = 0; i < where.size() && i < most_shown; ++i) {
      places += (i == 0 ? "" : ", ") + at(where[i]);
    }
    if (where.size() > most_shown) places += " and " + std::to_string(where.size() - most_shown) + " more";
    data.warnings.push_back({code, text + " (" + places + ")"});
  }
}

MeasuredData MeasuredReading::finish() && {
  problems_.throw_if_any();
  add_warnings("LC-DATA-01", left_out_);
  add_warnings("LC-DATA-02", noted_);
  return std::move(data);
}

}  // namespace lanecast
