#include "configs/explain.hpp"

#include "configs/machine_fields.hpp"

namespace lanecast {
namespace {

/// Adds a row for each field of an element. `place` is its path in the file, `path` the one that `--set`
/// takes.
template <class T>
void explain_element(const MachineDocument& document, const NodeIndex& nodes, const std::string& place,
                     const std::string& path, const T& element, std::vector<Explanation>& rows) {
  for (const Field<T>& field : fields<T>()) {
    if (!applies(field.info, element)) continue;
    const std::string& key = field.info.key;
    const auto found = document.positions.find(place.empty() ? key : place + "." + key);
    const bool given = found != document.positions.end();
    std::string value = field.show(element, field.info.type, nodes);
    if (value.empty() && !given) value = field.info.default_text;
    rows.push_back({path.empty() ? key : path + "." + key, value,
                    given ? to_string(found->second, document.file) : "default", field.info.doc});
  }
}

}  // namespace

std::vector<Explanation> explain(const MachineDocument& document) {
  const Machine& machine = document.machine;
  const NodeIndex nodes(machine);
  std::vector<Explanation> rows;
  explain_element(document, nodes, "", "", machine, rows);
  for_each_list([&](const char* section, auto member) {
    const auto& list = machine.*member;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const std::string place = std::string(section) + "[" + std::to_string(i) + "]";
      explain_element(document, nodes, place, section + ("." + list[i].name), list[i], rows);
    }
  });
  explain_element(document, nodes, "p2p", "p2p", machine.p2p, rows);
  return rows;
}

}  // namespace lanecast
