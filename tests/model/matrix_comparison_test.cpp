#include "model/measured/matrix_comparison.hpp"

#include <gtest/gtest.h>

namespace lanecast {
namespace {

MeasuredMatrix table(const std::string& kind, std::vector<std::vector<std::optional<double>>> rows) {
  MeasuredMatrix matrix;
  matrix.kind = kind;
  matrix.engine = "ce";
  matrix.unit = "GB/s";
  matrix.rows = std::move(rows);
  matrix.where = "p2p.txt:3";
  return matrix;
}

TEST(MatrixComparison, CellsOffTheDiagonalAreComparedByTheirEnds) {
  std::vector<LeftOutRows> left_out;
  const auto compared =
      compare_matrices({table("p2p", {{800.0, 20.0}, {25.0, 800.0}})},
                       {table("p2p", {{std::nullopt, 22.0}, {20.0, std::nullopt}})}, left_out);
  ASSERT_EQ(compared.size(), 1U);
  ASSERT_EQ(compared[0].cells.size(), 2U);
  EXPECT_EQ(compared[0].cells[0].source + ">" + compared[0].cells[0].destination, "0>1");
  EXPECT_DOUBLE_EQ(compared[0].cells[0].error(), 22.0 / 20 - 1);
  EXPECT_DOUBLE_EQ(compared[0].cells[1].error(), 20.0 / 25 - 1);
  EXPECT_DOUBLE_EQ(compared[0].summary().max_abs_error, 0.2);
  EXPECT_TRUE(left_out.empty());
}

TEST(MatrixComparison, TablesOfHostCopiesHaveNoDiagonal) {
  std::vector<LeftOutRows> left_out;
  const auto compared =
      compare_matrices({table("h2d", {{20.0, 20.0}}), table("d2h", {{20.0, std::nullopt}})},
                       {table("h2d", {{20.0, 20.0}}), table("d2h", {{20.0, 20.0}})}, left_out);
  ASSERT_EQ(compared.size(), 2U);
  EXPECT_EQ(compared[0].cells.size(), 2U);
  EXPECT_EQ(compared[0].cells[0].source, "host");
  ASSERT_EQ(compared[1].cells.size(), 1U);  // an absent cell is not compared
  EXPECT_EQ(compared[1].cells[0].destination, "host");
}

TEST(MatrixComparison, OtherKindsEnginesAndPeerAccessAreOtherTables) {
  const MeasuredMatrix predicted = table("p2p", {{std::nullopt, 20.0}, {20.0, std::nullopt}});
  const auto joins = [&](auto change) {
    MeasuredMatrix matrix = predicted;
    change(matrix);
    std::vector<LeftOutRows> left_out;
    const bool joined = compare_matrices({matrix}, {predicted}, left_out).size() == 1;
    EXPECT_NE(joined, left_out.size() == 1);
    return joined;
  };
  EXPECT_TRUE(joins([](MeasuredMatrix&) {}));
  EXPECT_TRUE(joins([](MeasuredMatrix& m) { m.engine = ""; }));
  EXPECT_FALSE(joins([](MeasuredMatrix& m) { m.engine = "sm"; }));
  EXPECT_FALSE(joins([](MeasuredMatrix& m) { m.kind = "bidir"; }));
  EXPECT_FALSE(joins([](MeasuredMatrix& m) { m.peer_access = false; }));
}

}  // namespace
}  // namespace lanecast
