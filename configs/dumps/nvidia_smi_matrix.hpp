#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "configs/dumps/paste_lines.hpp"

namespace lanecast {

/// A matrix that `nvidia-smi topo` prints, as text: `-m` (distances) and `-p2p` (peer access) share the
/// layout.
struct SmiMatrix {
  std::vector<std::string> names;  // of the columns: "GPU0", "NIC0", "mlx5_0"
  std::vector<std::vector<std::string>>
      cells;  // names x names; "" unknown. Row: the first device of the pair
  std::vector<std::vector<std::string>> after;  // what stands behind a row's cells: affinities; may hold ""
  std::vector<bool> has_row;                    // one a name
  int line = 0;                                 // of the header; without one, of the first row
  int last_line = 0;
  int unnamed_columns = 0;  // were left out: neither header nor row names them
  std::string
      p2p_capability;  // of the command line right above: "r" of `nvidia-smi topo -p2p r`; may be empty
};

/// Words that a matrix's cells may hold, beside `X`.
struct SmiCellWords {
  std::vector<std::string_view> words;
  bool nvlinks = false;  // "NV4", too
};

/// What was found in a text. Bounded: see `most_matrices` and `most_names`.
struct SmiMatrices {
  std::vector<SmiMatrix> all;
  std::vector<int> too_large;  // first lines of matrices that were left out: above `most_names`
  bool more = false;           // there are more than `most_matrices`
};

constexpr int most_names =
    128;  // GPUs and network adapters of one matrix; the largest machines have about 40
constexpr int most_matrices = 64;  // of one text

/// All matrices whose cells are of these words, however they were pasted: by tabs or blanks, without a
/// header, with rows missing at either end, with rows that a terminal or a mail wrapped (also inside of a
/// word), in markdown. A column's name is that of the row whose `X` stands in it; where that row is missing,
/// the header tells, and without a header the order of GPUs does (`GPU2` in the third column: the two before
/// are GPUs 0 and 1). Linear in the text. Source: facts.md F4, and the forms that issues and forums hold.
SmiMatrices smi_matrices(std::string_view text, const SmiCellWords& words);

/// The index of "GPU12"; -1 for other texts.
int gpu_index_of(std::string_view name);

}  // namespace lanecast
