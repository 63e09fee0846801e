// Tables of rates with one row for each kernel shape (sm-rates.csv) or each set of GPUs (copy-engine.csv).
#include <algorithm>
#include <array>
#include <string>

#include "configs/measured/call_row.hpp"
#include "configs/measured/cell_values.hpp"
#include "configs/measured/readers.hpp"
#include "configs/reading.hpp"

namespace lanecast {
namespace {

/// What a row of such a table moves. `to_host` and `from_host` flows are seen from one GPU.
struct Operation {
  const char* column;  // as the table names it
  const char* alone;   // docs/micro-benchmarks.md, one GPU at work
  const char* all;     // all at once
  bool out = false;    // from the GPU to host memory or the peer
  bool in = false;     // the other way
  bool peer = false;   // the other end is the other GPU; else host memory
};

constexpr std::array<Operation, 10> kOperations{{
    {"store_host", "sm_push", "sm_to_host_all", true, false, false},
    {"load_host", "sm_pull", "sm_from_host_all", false, true, false},
    {"duplex_host", "sm_duplex", "sm_duplex_all", true, true, false},
    {"store_peer", "sm_push", "sm_pair", true, false, true},
    {"load_peer", "sm_pull", "sm_pair_pull", false, true, true},
    {"copy_local", "sm_copy", "sm_copy", false, false, false},
    {"reduce_local", "sm_reduce", "sm_reduce", false, false, false},
    {"d2h", "ce_copy", "ce_to_host_all", true, false, false},
    {"h2d", "ce_copy", "ce_from_host_all", false, true, false},
    {"duplex", "ce_duplex", "ce_duplex_all", true, true, false},
}};

const Operation* operation_of(const DataRow& row, CellValues& values, MeasuredReading& reading) {
  const std::string text = values.text({"operation"}).value_or("");
  const std::string name = text.substr(0, text.find('('));
  for (const Operation& operation : kOperations) {
    if (name == operation.column) return &operation;
  }
  reading.problem(row.at, "`operation` is `" + printable(text) + "`, which is not known",
                  "known are store_host, load_host, duplex_host, store_peer, load_peer, copy_local, "
                  "reduce_local, d2h, h2d and duplex");
  return nullptr;
}

/// Adds the flows of one GPU.
void add_flows(const Operation& operation, bool all, int gpu, const MeasuredRate& shape,
               MeasuredReading& reading) {
  const std::string own = "gpu" + std::to_string(gpu);
  const std::string other = operation.peer ? "gpu" + std::to_string(1 - gpu) : "host";
  const auto add = [&](const std::string& source, const std::string& destination) {
    MeasuredRate rate = shape;
    rate.name = all ? operation.all : operation.alone;
    rate.source = source;
    rate.destination = destination;
    reading.data.rates.push_back(std::move(rate));
  };
  if (operation.out) add(own, other);
  if (operation.in) add(other, own);
  if (!operation.out && !operation.in) add(own, own);
}

void add_kernel_rates(const Operation& operation, const DataRow& row, CellValues& values,
                      MeasuredReading& reading) {
  MeasuredRate rate;
  rate.where = reading.at(row.at.line);
  rate.threads = values.integer({"threads_per_block"}, 1, 1024).value_or(0);
  rate.blocks = values.integer({"blocks"}, 1, 1 << 20).value_or(0);
  const bool all = values.text({"gpus"}) == "both";
  for (int gpu = 0; gpu < 2; ++gpu) {
    rate.GBps = values.positive({gpu == 0 ? "GBps_gpu0" : "GBps_gpu1"});
    if (rate.GBps && values.good()) add_flows(operation, all, gpu, rate, reading);
  }
}

void add_copy_rates(const Operation& operation, const DataRow& row, CellValues& values,
                    MeasuredReading& reading) {
  MeasuredRate rate;
  rate.where = reading.at(row.at.line);
  rate.GBps = values.positive({"GBps_each_direction_each_gpu"});
  if (!rate.GBps) return;
  const std::string gpus = values.text({"gpus"}).value_or("");
  const bool listed_right = gpus == "0" || gpus == "1" || gpus == "0+1";
  if (!listed_right) {
    reading.problem(row.at, "`gpus` is `" + printable(gpus) + "`", "give 0, 1 or 0+1");
    return;
  }
  for (int gpu = 0; gpu < 2; ++gpu) {
    const bool works = gpus.find(static_cast<char>('0' + gpu)) != std::string::npos;
    if (works) add_flows(operation, gpus == "0+1", gpu, rate, reading);
  }
}

}  // namespace

bool has_rate_columns(const DataRow& header) {
  const bool kernels = header.has("threads_per_block") && header.has("blocks") && header.has("GBps_gpu0");
  return header.has("operation") && (kernels || header.has("GBps_each_direction_each_gpu"));
}

void add_table_rates(const DataRow& row, MeasuredReading& reading) {
  CellValues values(row, reading);
  const Operation* operation = operation_of(row, values, reading);
  if (operation == nullptr) return;
  if (row.has("GBps_each_direction_each_gpu")) {
    add_copy_rates(*operation, row, values, reading);
  } else {
    add_kernel_rates(*operation, row, values, reading);
  }
}

}  // namespace lanecast
