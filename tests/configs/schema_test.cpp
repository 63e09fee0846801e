#include "configs/schema.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "configs/machine_fields.hpp"
#include "configs/machine_reader.hpp"
#include "configs/yaml_document.hpp"
#include "tests/configs/refusal.hpp"

namespace lanecast {
namespace {

const std::filesystem::path source_root = LANECAST_TEST_SOURCE_ROOT;

TEST(MachineSchema, EqualsTheCommittedFile) {
  const std::string path = (source_root / "configs/schema/machine.schema.json").string();
  EXPECT_EQ(machine_schema(), read_text_file(path))
      << "the table of fields has changed; write the new schema with `lanecast config schema machine`";
}

TEST(MachineFields, NoKeyIsThereTwice) {
  std::set<std::string> seen;
  for (const FieldInfo& field : all_fields()) {
    for (const LinkKind kind : {LinkKind::pcie, LinkKind::nvlink, LinkKind::socket}) {
      if ((field.kinds & kinds_of(kind)) == 0 || (field.section != "links" && kind != LinkKind::pcie))
        continue;
      const std::string path = field.section + "." + to_string(kind) + "." + field.key;
      EXPECT_TRUE(seen.insert(path).second) << path;
    }
  }
}

TEST(MachineFields, EachIsDocumentedAndSaysItsDefault) {
  for (const FieldInfo& field : all_fields()) {
    EXPECT_FALSE(field.doc.empty()) << field.key;
    EXPECT_EQ(field.required, field.default_text.empty()) << field.section << "." << field.key;
  }
}

/// The rows of a section of docs/machine-file.md, from its heading to the next one.
std::string section_of_page(const std::string& page, const std::string& section) {
  const std::string heading =
      "\n## " + (section.empty() ? "The top of the file" : "`" + section + "`") + "\n";
  const std::size_t begin = page.find(heading);
  if (begin == std::string::npos) return "";
  return page.substr(begin, page.find("\n## ", begin + 1) - begin);
}

TEST(MachineFilePage, HasARowForEachKeyWithItsDefaultAndMeaning) {
  const std::string page = read_text_file((source_root / "docs/machine-file.md").string());
  for (const FieldInfo& field : all_fields()) {
    const std::string type = describe(field.type);
    const std::string default_text = field.required ? "required" : field.default_text;
    const std::string row =
        "| `" + field.key + "` | " + type + " | " + default_text + " | " + field.doc + " |";
    EXPECT_NE(section_of_page(page, field.section).find(row), std::string::npos)
        << "section `" << field.section << "` lacks the row\n"
        << row;
  }
}

/// The text between two marks, at their first place.
std::string between(const std::string& page, const std::string& open, const std::string& close) {
  const std::size_t begin = page.find(open);
  return begin == std::string::npos
             ? ""
             : page.substr(begin + open.size(), page.find(close, begin + open.size()) - begin - open.size());
}

TEST(MachineFilePage, ItsExampleIsAMachine) {
  const std::string page = read_text_file((source_root / "docs/machine-file.md").string());
  EXPECT_EQ(read_machine_text(between(page, "```yaml\n", "```"), "example.yaml").name, "small-box");
}

TEST(MachineFilePage, ItsFaultyExampleGivesItsErrors) {
  const std::string page = read_text_file((source_root / "docs/machine-file.md").string());
  const std::string faulty =
      between(page.substr(page.find("## When something is wrong")), "```yaml\n", "```");
  const std::string errors =
      between(page.substr(page.find("## When something is wrong")), "```text\n", "```");
  EXPECT_EQ("error: " + refusal([&] { read_machine_text(faulty, "box.yaml"); }) + "\n", errors);
}

}  // namespace
}  // namespace lanecast
