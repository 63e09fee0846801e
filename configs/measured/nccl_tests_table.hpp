#pragma once
#include <optional>
#include <string>
#include <vector>

#include "configs/measured/measured_reading.hpp"
#include "configs/measured/nccl_tests_row.hpp"
#include "configs/measured/nccl_tests_run.hpp"

namespace lanecast {

/// One of the two measurements of a row, as printed. Empty: it is not there.
struct NcclTestsCell {
  std::string time;
  std::string algbw;
  std::string busbw;
  std::string wrong;
  std::string min;
  std::string p99;
};

struct NcclTestsRow {
  int line = 0;
  std::string size, count, type, op, root;
  NcclTestsCell places[2];  // out of place, in place
};

/// A row from its fields. There must be as many as there are columns, at least.
NcclTestsRow row_of_fields(const std::vector<std::string>& fields, const NcclTestsColumns& columns, int line);

/// The rows of one run; what they say about each other.
///
/// Time, size and algbw must fit each other, and the ratio of busbw to algbw the number of ranks: that finds
/// columns that were mixed up. Where the head is not there, the ratio tells how many ranks there were, and
/// operation, root and count which collective it was.
class NcclTestsTable {
 public:
  explicit NcclTestsTable(MeasuredReading& reading) : reading_(reading) {}

  void add(NcclTestsRow row) { rows_.push_back(std::move(row)); }
  bool empty() const { return rows_.empty(); }

  /// The footer says that results were wrong; older tools don't say where.
  void failed(int line) { failed_line_ = line; }
  void ended() { ended_ = true; }

  /// Adds the calls of the run to the reading.
  void finish(NcclTestsRun run, bool milliseconds, bool cpu_time, bool counts_wrong);

 private:
  struct Timed {
    int line = 0;
    Bytes size{0};
    double time_us = 0;
    double precision_us = 0;  // half of the last digit that is printed
    double algbw = 0;
    double busbw = 0;
    MeasuredCall call;
  };

  bool refuses(const NcclTestsRun& run, bool cpu_time, bool counts_wrong);
  void read_row(const NcclTestsRow& row, const MeasuredCall& base, double unit_us);
  void read_place(const NcclTestsRow& row, bool in_place, MeasuredCall call, double unit_us);
  bool put_question(const NcclTestsRow& row, MeasuredCall& call);
  void infer_collective(const NcclTestsRow& row, MeasuredCall& call);
  double unit_of(bool milliseconds) const;
  void check_rates();
  void check_order();
  void check_ranks();
  void check_end(const NcclTestsRun& run);

  MeasuredReading& reading_;
  std::vector<NcclTestsRow> rows_;
  std::vector<Timed> timed_;
  int failed_line_ = 0;
  bool ended_ = false;
};

}  // namespace lanecast
