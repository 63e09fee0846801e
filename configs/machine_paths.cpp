#include "configs/machine_paths.hpp"

#include <optional>

#include "configs/machine_fields.hpp"
#include "configs/problem_list.hpp"
#include "model/error.hpp"

namespace lanecast {
namespace {

/// "links.gpu0.width=x8" taken apart; `name` is empty for "p2p.enabled=false".
struct Assignment {
  std::string text;
  std::string section;
  std::string name;
  std::string key;
  std::string value;

  std::string path() const { return section + (name.empty() ? "" : "." + name) + "." + key; }
};

[[noreturn]] void refuse(const std::string& assignment, const std::string& what, const std::string& mend) {
  throw Error(ErrorKind::usage, what, "--set " + printable(assignment), mend);
}

std::string suggestion(const std::string& text, const std::vector<std::string>& known,
                       const std::string& what) {
  const std::string near = nearest(text, known);
  const std::string list = known.empty() ? "there are no " + what : "the " + what + " are " + listed(known);
  return near.empty() ? list : "did you mean `" + printable(near) + "`? " + list;
}

std::vector<std::string> sections() {
  std::vector<std::string> names;
  for_each_list([&](const char* section, auto /*member*/) { names.emplace_back(section); });
  names.emplace_back("p2p");
  return names;
}

Assignment take_apart(const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::size_t first_dot = text.find('.');
  if (equals == std::string::npos || first_dot == std::string::npos || first_dot > equals) {
    refuse(text, "`" + printable(text) + "` is not PATH=VALUE",
           "write it like `links.gpu0.width=x8` or `p2p.enabled=false`");
  }
  Assignment made{text, text.substr(0, first_dot), "", "", text.substr(equals + 1)};
  const std::string rest = text.substr(first_dot + 1, equals - first_dot - 1);
  const std::size_t last_dot =
      rest.rfind('.');  // keys have no dots, so that all before the last one is the name
  made.key = last_dot == std::string::npos ? rest : rest.substr(last_dot + 1);
  if (last_dot != std::string::npos) made.name = rest.substr(0, last_dot);
  return made;
}

template <class T>
std::vector<std::string> settable_keys(const T& element) {
  std::vector<std::string> keys;
  for (const Field<T>& field : fields<T>()) {
    if (field.info.settable && applies(field.info, element)) keys.push_back(field.info.key);
  }
  return keys;
}

/// The field that `--set` means; `what` names the element in messages.
template <class T>
const Field<T>& find_field(const Assignment& set, const T& element, const std::string& what) {
  const Field<T>* elsewhere = nullptr;
  for (const Field<T>& field : fields<T>()) {
    if (field.info.key != set.key) continue;
    if (applies(field.info, element) && field.info.settable) return field;
    elsewhere = &field;
  }
  const std::string reason = elsewhere == nullptr        ? "there is no key `" + printable(set.key) + "`"
                             : !elsewhere->info.settable ? "`" + set.key + "` cannot be set"
                                                         : "a link of this kind has no `" + set.key + "`";
  const std::string typed = elsewhere == nullptr ? set.key : "";  // a key that exists was no slip
  refuse(set.text, reason + " (" + what + ")",
         suggestion(typed, settable_keys(element), "keys that can be set here"));
}

template <class T>
void guard(const Assignment& /*set*/, const T& /*changed*/) {}

/// A link never runs above what it can do; that is said here, because the order of two `--set` decides.
void guard(const Assignment& set, const Link& changed) {
  if (changed.kind != LinkKind::pcie) return;
  const std::string name = "links." + changed.name;
  if (set.key == "rate" && changed.rate > changed.max_rate) {
    refuse(set.text, "link `" + changed.name + "` can do " + to_string(changed.max_rate) + " only",
           "put `--set " + name + ".max_rate=" + to_string(changed.rate) + "` in front");
  }
  if (set.key == "width" && changed.width > changed.max_width) {
    refuse(set.text, "link `" + changed.name + "` has x" + std::to_string(changed.max_width) + " lanes only",
           "put `--set " + name + ".max_width=x" + std::to_string(changed.width) + "` in front");
  }
}

template <class T>
void assign(const Assignment& set, const Machine& machine, T& element, const std::string& what) {
  const Field<T>& field = find_field(set, element, what);
  T changed = element;
  const auto complaint = field.read(changed, field.info.type, {set.value, false}, NodeIndex(machine));
  if (complaint) {
    refuse(set.text, "`" + printable(set.path()) + "` is `" + printable(set.value) + "`: " + complaint->text,
           complaint->mend.empty() ? std::string("write ") + describe(field.info.type) : complaint->mend);
  }
  guard(set, changed);
  element = std::move(changed);
}

template <class T>
void assign_in_list(const Assignment& set, const Machine& machine, std::vector<T>& list) {
  std::vector<std::string> names;
  for (T& element : list) {
    if (!set.name.empty() && element.name == set.name) {
      return assign(set, machine, element, set.section + "." + printable(set.name));
    }
    names.push_back(element.name);
  }
  const std::string name = set.name.empty() ? set.key : set.name;
  refuse(set.text,
         set.name.empty() ? "`" + set.section + "` needs a name and a key"
                          : "`" + set.section + "` has no `" + printable(name) + "`",
         suggestion(name, names, "names in `" + set.section + "`"));
}

}  // namespace

void apply_set(Machine& machine, const std::string& assignment) {
  const Assignment set = take_apart(assignment);
  if (set.section == "nodes") {
    refuse(
        assignment,
        "`nodes.N.` addresses a node of a cluster, and `" + printable(machine.name) + "` is a single machine",
        "leave `nodes.N.` out; clusters come later");
  }
  if (set.section == "p2p") {
    if (!set.name.empty()) refuse(assignment, "`p2p` has no names", "write it like `p2p.enabled=false`");
    return assign(set, machine, machine.p2p, "p2p");
  }
  bool found = false;
  for_each_list([&](const char* section, auto member) {
    if (set.section != section) return;
    found = true;
    assign_in_list(set, machine, machine.*member);
  });
  if (!found) {
    refuse(assignment, "there is no section `" + printable(set.section) + "`",
           suggestion(set.section, sections(), "sections"));
  }
}

void apply_sets(Machine& machine, const std::vector<std::string>& assignments) {
  Machine changed = machine;
  std::string all;
  for (const std::string& assignment : assignments) {
    apply_set(changed, assignment);
    all += (all.empty() ? "--set " : " --set ") + assignment;
  }
  ProblemList problems(all.empty() ? machine.name : all);
  for (MachineProblem& problem : check_machine(changed)) {
    problems.add({{}, problem.path, problem.text, problem.mend});
  }
  problems.throw_if_any();
  machine = std::move(changed);
}

}  // namespace lanecast
