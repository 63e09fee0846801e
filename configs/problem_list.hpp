#pragma once
#include <set>
#include <string>
#include <vector>

namespace lanecast {

/// Place in a text, counted from one; line 0 where it is unknown.
struct Position {
  int line = 0;
  int column = 0;
  bool operator==(const Position&) const = default;
};

/// "box.yaml:14:12"; without the numbers where the place is unknown.
std::string to_string(const Position& at, const std::string& file);

/// One thing wrong with a file. `path` addresses it: "links[2].width".
struct Problem {
  Position at;
  std::string path;
  std::string text;
  std::string mend;
};

/// Gathers all problems of one file and reports them together.
class ProblemList {
 public:
  explicit ProblemList(std::string file) : file_(std::move(file)) {}

  /// Throws as `throw_if_any` does once there are 100 problems.
  void add(Problem problem);
  bool empty() const { return problems_.empty(); }
  bool has(const std::string& path) const { return paths_.count(path) != 0; }

  /// Throws one Error (kind usage) that lists all problems by line, each as "...\n  at ...\n  mend: ...".
  ///
  /// From the second problem on each begins with "error: ": the command prints that before the first one.
  void throw_if_any() const;

 private:
  std::string file_;
  std::vector<Problem> problems_;
  std::set<std::string> paths_;
};

/// The candidate nearest to `text` by edit distance, or "" where none is near. Looks at the first 512 only.
std::string nearest(const std::string& text, const std::vector<std::string>& candidates);

/// "`a`, `b` and `c`"; at most 24 of them, then "and N more".
std::string listed(const std::vector<std::string>& names);

}  // namespace lanecast
