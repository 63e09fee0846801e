#include <algorithm>

#include "configs/dumps/nvidia_smi_matrix.hpp"
#include "configs/dumps/readers.hpp"
#include "configs/reading.hpp"

namespace lanecast {
namespace {

/// What a capability letter asks for: `r` and `w` peer access; `n` NVLink, `a` atomics, `p` a proprietary
/// way.
enum class Asked { access, other, unknown };

Asked asked_by(const std::string& capability) {
  if (capability.empty()) return Asked::unknown;
  return capability.find_first_of("rw") == std::string::npos ? Asked::other : Asked::access;
}

/// Whether a status grants peer access; nothing: it does not tell. NS says "not supported" of whatever was
/// asked for, so that it means nothing while that is unknown; the other refusals name a cause that bars all
/// access.
std::optional<bool> access_from(const std::string& status, Asked asked) {
  if (status == "OK") return true;
  if (status == "CNS" || status == "GNS" || status == "TNS" || status == "DR") return false;
  if (status == "NS" && asked == Asked::access) return false;
  return std::nullopt;
}

/// Access needs reads and writes: of two matrices that differ, the refusal holds.
void add_access(std::pair<int, int> pair, bool access, const std::string& from, MachineFacts& facts) {
  const auto [place, is_new] = facts.numbered_peer_access.insert({pair, {access, from}});
  if (!is_new && place->second.value && !access) place->second = {access, from};
}

void add_pairs(const SmiMatrix& matrix, Asked asked, const std::string& from, MachineFacts& facts) {
  for (std::size_t i = 0; i < matrix.names.size(); ++i) {
    for (std::size_t j = 0; j < matrix.names.size(); ++j) {
      const std::pair<int, int> pair(gpu_index_of(matrix.names[i]), gpu_index_of(matrix.names[j]));
      if (i == j || pair.first < 0 || pair.second < 0) continue;
      const std::optional<bool> access = access_from(matrix.cells[i][j], asked);
      if (access) add_access(pair, *access, from, facts);
    }
  }
}

}  // namespace

int read_nvidia_smi_p2p(std::string_view text, const std::string& file, MachineFacts& facts) {
  const SmiCellWords vocabulary{{"OK", "CNS", "GNS", "TNS", "NS", "DR", "U"}, false};
  int rows = 0;
  for (const SmiMatrix& matrix : smi_matrices(text, vocabulary).all) {
    const std::string place = file + ":" + std::to_string(matrix.line);
    const Asked asked = asked_by(matrix.p2p_capability);
    rows += static_cast<int>(std::count(matrix.has_row.begin(), matrix.has_row.end(), true));
    if (asked == Asked::other) {
      facts.notes.push_back(
          place + ": `nvidia-smi topo -p2p " + printable(matrix.p2p_capability) +
          "` does not tell who may access whose memory; mend: give `nvidia-smi topo -p2p r`, too");
      continue;
    }
    const std::string command =
        asked == Asked::access ? " -p2p " + printable(matrix.p2p_capability) : " -p2p";
    add_pairs(matrix, asked, place + " (nvidia-smi topo" + command + ")", facts);
    if (asked == Asked::unknown) {
      facts.notes.push_back(
          place +
          ": the matrix of `nvidia-smi topo -p2p` stands without its command line, and was taken as "
          "that of reads; mend: paste the command, too");
    }
  }
  return rows;
}

}  // namespace lanecast
