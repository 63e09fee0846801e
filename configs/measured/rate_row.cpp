#include "configs/measured/call_row.hpp"
#include "configs/measured/cell_values.hpp"

namespace lanecast {

const std::vector<std::string>& rate_keys() {
  static const std::vector<std::string> kKeys{"name",    "source",     "destination", "threads",
                                              "blocks",  "size_bytes", "GBps",        "us",
                                              "session", "iterations", "repeats",     "spread"};
  return kKeys;
}

void add_rate_of_row(const DataRow& row, MeasuredReading& reading) {
  CellValues values(row, reading);
  MeasuredRate rate;
  rate.where = reading.at(row.at.line);
  rate.name = values.text({"name"}).value_or("");
  rate.source = values.text({"source"}).value_or("");
  rate.destination = values.text({"destination"}).value_or("");
  rate.threads = values.integer({"threads"}, 0, 1 << 20).value_or(0);
  rate.blocks = values.integer({"blocks"}, 0, 1 << 20).value_or(0);
  rate.size_bytes = values.bytes({"size_bytes"}).value_or(Bytes(0)).value();
  const DataCell* derived = values.stated({"repeats"});
  if (derived != nullptr && derived->text == "0" && values.text({"us"}) == "0") return;  // lost in the noise
  rate.GBps = values.positive({"GBps"});
  rate.us = values.positive({"us"});
  if (!values.good()) return;
  if (rate.name.empty() || (!rate.GBps && !rate.us)) {
    reading.problem(row.at, "a rate without a name, or without `GBps` and `us`",
                    "give both, or leave it out");
    return;
  }
  reading.data.rates.push_back(std::move(rate));
}

}  // namespace lanecast
