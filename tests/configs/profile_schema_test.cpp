#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "configs/profile_fields.hpp"
#include "configs/profile_reader.hpp"
#include "configs/schema.hpp"
#include "configs/yaml_document.hpp"
#include "tests/configs/refusal.hpp"

namespace lanecast {
namespace {

const std::filesystem::path source_root = LANECAST_TEST_SOURCE_ROOT;

TEST(ProfileSchema, EqualsTheCommittedFile) {
  const std::string path = (source_root / "configs/schema/profile.schema.json").string();
  EXPECT_EQ(profile_schema(), read_text_file(path))
      << "the keys or parameters have changed; write it with `lanecast config schema profile`";
}

TEST(ProfileKeys, NoneIsThereTwiceAndEachIsExplained) {
  std::set<std::string> seen;
  for (const ProfileKey& key : profile_keys()) {
    EXPECT_TRUE(seen.insert(key.section + "." + key.key).second) << key.section << "." << key.key;
    EXPECT_FALSE(key.doc.empty()) << key.key;
  }
}

TEST(ProfileFilePage, HasARowForEachKeyWithItsMeaning) {
  const std::string page = read_text_file((source_root / "docs/profile-file.md").string());
  for (const ProfileKey& key : profile_keys()) {
    const std::string row = "| `" + key.key + "` | " + describe(key.type) + " | " +
                            (key.required ? "yes" : "no") + " | " + key.doc + " |";
    EXPECT_NE(page.find(row), std::string::npos) << "section `" << key.section << "` lacks the row\n" << row;
  }
}

/// The text between two marks, from the first `open` on.
std::string between(const std::string& page, const std::string& open, const std::string& close) {
  const std::size_t begin = page.find(open);
  if (begin == std::string::npos) return "";
  const std::size_t inner = begin + open.size();
  return page.substr(inner, page.find(close, inner) - inner);
}

TEST(ProfileFilePage, ItsExampleIsAProfile) {
  const std::string page = read_text_file((source_root / "docs/profile-file.md").string());
  EXPECT_EQ(read_profile_file(between(page, "```yaml\n", "```"), "example.yaml").name, "small-box");
}

TEST(ProfileFilePage, ItsFaultyExampleGivesItsErrors) {
  const std::string page = read_text_file((source_root / "docs/profile-file.md").string());
  const std::string part = page.substr(page.find("## When something is wrong"));
  const std::string faulty = between(part, "```yaml\n", "```");
  EXPECT_EQ("error: " + refusal([&] { read_profile_file(faulty, "box.yaml"); }) + "\n",
            between(part, "```text\n", "```"));
}

}  // namespace
}  // namespace lanecast
