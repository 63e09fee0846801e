#include <string>
#include <utility>

#include "configs/measured/launcher_prefix.hpp"
#include "configs/measured/matrix_rows.hpp"
#include "configs/measured/nvbandwidth_test.hpp"
#include "configs/measured/readers.hpp"
#include "configs/reading.hpp"

namespace lanecast {
namespace {

/// "device_to_device_memcpy_write_ce" of "Running device_to_device_memcpy_write_ce."
std::string running_test(std::string_view line) {
  const std::vector<std::string_view> words = words_of(line);
  if (words.size() != 2 || words[0] != "Running" || words[1].size() < 2 || words[1].back() != '.') return "";
  return std::string(words[1].substr(0, words[1].size() - 1));
}

/// "NVIDIA H200" of "Device 0: NVIDIA H200 (00000000:00:06)".
std::string device_model(std::string_view line) {
  const std::string_view text = trimmed(line);
  const std::size_t colon = text.find(": ");
  const bool device = text.substr(0, 7) == "Device " && colon != std::string_view::npos && colon < 12;
  if (!device) return "";
  const std::string_view model = text.substr(colon + 2);
  return printable(std::string(trimmed(model.substr(0, model.rfind(" (")))));
}

class NvbandwidthReader {
 public:
  explicit NvbandwidthReader(MeasuredReading& reading) : reading_(reading) {}

  void take(std::string_view line, int number);
  void finish() {
    close();
    leave_test();
  }

 private:
  void close();
  void leave_test();

  MeasuredReading& reading_;
  int version_ = 0;
  std::string test_;
  int test_line_ = 0;
  bool tables_ = false;  // the test has one
  std::string description_;
  PrintedMatrix table_;
};

/// Adds the table that is open.
void NvbandwidthReader::close() {
  if (description_.empty()) return;
  table_.name = test_;
  tables_ = true;
  add_nvbandwidth_table(std::exchange(table_, {}), std::exchange(description_, ""), version_, reading_);
}

void NvbandwidthReader::leave_test() {
  if (!test_.empty() && !tables_) {
    reading_.leave_out("`" + printable(test_) + "` printed no table: it was waived, or it failed",
                       test_line_);
  }
}

void NvbandwidthReader::take(std::string_view line, int number) {
  const std::string_view text = without_launcher(line);
  if (std::string test = running_test(text); !test.empty()) {
    close();
    leave_test();
    test_ = std::move(test);
    test_line_ = number;
    tables_ = false;
    return;
  }
  if (text.find("nvbandwidth Version") != std::string_view::npos)
    version_ = nvbandwidth_version(std::string(text));
  if (std::string model = device_model(text); !model.empty())
    reading_.data.gpu_models.push_back(std::move(model));
  if (text.find("(row)") != std::string_view::npos) {
    close();
    description_ = std::string(trimmed(text));
    table_.line = number;
    if (test_.empty())
      reading_.problem(number, "a table without the name of its test",
                       "copy the line `Running ...` above it, too");
    return;
  }
  if (description_.empty()) return;
  const std::vector<std::string_view> words = words_of(text);
  if (table_.columns == 0 && counts_up(words)) {
    table_.columns = words.size();
  } else if (auto cells = numbered_row(words, static_cast<int>(table_.cells.size()))) {
    table_.cells.push_back(std::move(*cells));
    table_.lines.push_back(number);
  } else {
    close();
  }
}

}  // namespace

void read_nvbandwidth_text(const TextLines& lines, MeasuredReading& reading) {
  NvbandwidthReader reader(reading);
  for (std::size_t i = 0; i < lines.size(); ++i) reader.take(lines[i], static_cast<int>(i) + 1);
  reader.finish();
}

}  // namespace lanecast
