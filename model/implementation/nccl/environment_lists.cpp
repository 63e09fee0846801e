#include "model/implementation/nccl/environment_lists.hpp"

#include <utility>

#include "model/predict/call.hpp"

namespace lanecast {
namespace {

template <class T>
struct Named {
  std::string name;  // lower case
  T value;
};
template <class T>
using Names = std::vector<Named<T>>;

std::string lower(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

Names<NcclAlgorithm> algorithm_names(const NcclRules& rules) {
  Names<NcclAlgorithm> names;
  for (std::size_t i = 0; i < kNcclAlgorithms; ++i) {
    const auto algorithm = static_cast<NcclAlgorithm>(i);
    if (algorithm == NcclAlgorithm::pat && !rules.cost.pat) continue;
    names.push_back({lower(to_string(algorithm)), algorithm});
  }
  return names;
}

Names<Protocol> protocol_names() {
  Names<Protocol> names;
  for (const Protocol protocol : {Protocol::ll, Protocol::ll128, Protocol::simple}) {
    names.push_back({to_string(protocol), protocol});
  }
  return names;
}

/// NCCL's names are ours without the underscore.
Names<Collective> collective_names() {
  Names<Collective> names;
  for (const Collective collective : {Collective::broadcast, Collective::reduce, Collective::all_gather,
                                      Collective::reduce_scatter, Collective::all_reduce}) {
    std::string name = to_string(collective);
    std::erase(name, '_');
    names.push_back({name, collective});
  }
  return names;
}

/// Pieces between separators without the empty ones, as strtok gives them.
std::vector<std::string> tokens(const std::string& text, char separator) {
  std::vector<std::string> pieces;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    if (end > begin) pieces.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return pieces;
}

template <class T>
std::optional<T> find_name(const Names<T>& names, const std::string& word) {
  for (const auto& [name, value] : names) {
    if (name == lower(word)) return value;
  }
  return std::nullopt;
}

template <class T>
NcclValueProblem unknown_word(const std::string& word, const Names<T>& names, const NearestWord& nearest) {
  std::vector<std::string> words;
  std::string mend = "take some of";
  for (const auto& [name, value] : names) {
    mend += std::string(words.empty() ? " `" : ", `") + name + "`";
    words.emplace_back(name);
  }
  const std::string near = nearest ? nearest(word, words) : "";
  if (!near.empty()) mend += "; did you mean `" + near + "`?";
  const bool blank = is_blank(word.front()) || is_blank(word.back());
  return {"NCCL knows no `" + word + "`" + (blank ? ", and blanks count" : ""), mend};
}

/// Reads `a,b` or `^a,b`: what it leaves allowed.
template <class T>
std::vector<T> read_list(const std::string& text, const Names<T>& names, const NearestWord& nearest,
                         NcclValueReport& report) {
  const bool inverted = !text.empty() && text.front() == '^';
  std::vector<T> listed;
  for (const std::string& word : tokens(inverted ? text.substr(1) : text, ',')) {
    if (const auto choice = find_name(names, word)) {
      listed.push_back(*choice);
    } else {
      report.problems.push_back(unknown_word(word, names, nearest));
    }
  }
  std::vector<T> allowed;
  for (const auto& [name, choice] : names) {
    const bool in_list = std::find(listed.begin(), listed.end(), choice) != listed.end();
    if (in_list != inverted) allowed.push_back(choice);
  }
  return allowed;
}

template <class T>
NcclChoices<T> read_choices(const std::string& text, const NcclRules& rules, const Names<T>& names,
                            const NearestWord& nearest, NcclValueReport& report) {
  NcclChoices<T> choices;
  if (!rules.lists_by_collective && text.find_first_of(":;") != std::string::npos) {
    report.problems.push_back(
        {"lists for each collective came with NCCL 2.24, and an older release is predicted",
         "give one list for all, or predict with a later release"});
    return choices;
  }
  const Names<Collective> collectives = collective_names();
  const std::vector<std::string> entries = tokens(text, ';');
  for (const std::string& entry : entries) {
    const std::vector<std::string> parts = tokens(entry, ':');
    if (&entry == &entries.front() && entry.find(':') == std::string::npos) {
      const std::vector<T> allowed = read_list(entry, names, nearest, report);
      for (const auto& [name, collective] : collectives) choices.stated[collective] = allowed;
    } else if (parts.size() != 2) {
      report.problems.push_back(
          {"`" + entry + "` is not a collective, a colon and a list",
           "write it like `allreduce:ring`; only the first list may go without a collective"});
    } else if (const auto collective = find_name(collectives, parts[0])) {
      choices.stated[*collective] = read_list(parts[1], names, nearest, report);
    } else {
      report.problems.push_back(unknown_word(parts[0], collectives, nearest));
    }
  }
  return choices;
}

}  // namespace

NcclChoices<NcclAlgorithm> read_algorithm_list(const std::string& text, const NcclRules& rules,
                                               const NearestWord& nearest, NcclValueReport& report) {
  return read_choices(text, rules, algorithm_names(rules), nearest, report);
}

NcclChoices<Protocol> read_protocol_list(const std::string& text, const NcclRules& rules,
                                         const NearestWord& nearest, NcclValueReport& report) {
  return read_choices(text, rules, protocol_names(), nearest, report);
}

}  // namespace lanecast
