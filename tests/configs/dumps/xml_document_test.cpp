#include "configs/dumps/xml_document.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/configs/refusal.hpp"

namespace lanecast {
namespace {

TEST(XmlDocument, NamesTheLineOfEveryElement) {
  const XmlDocument document(
      "<?xml version='1.0'?>\n<!DOCTYPE a SYSTEM 'a.dtd'>\n<a>\n\n  <b x='1'/>\n</a>\n", "f.xml");
  EXPECT_EQ(document.place(document.root().child("a")), "f.xml:3");
  EXPECT_EQ(document.place(document.root().child("a").child("b")), "f.xml:5");
  EXPECT_FALSE(document.problem().has_value());
}

TEST(XmlDocument, SkipsAPromptAByteOrderMarkAndWhatFollows) {
  const XmlDocument prompt("$ cat a.xml\n<a>\n<b/></a>\n$ exit\n", "f.xml");
  EXPECT_EQ(prompt.place(prompt.root().child("a").child("b")), "f.xml:3");
  const XmlDocument mark("\xef\xbb\xbf<a>\n<b/></a>", "f.xml");
  EXPECT_EQ(mark.place(mark.root().child("a").child("b")), "f.xml:2");
}

TEST(XmlDocument, KeepsWhatStandsBeforeAFault) {
  const XmlDocument document("<a>\n  <b x='1'></c>\n</a>", "f.xml");
  EXPECT_STREQ(document.root().child("a").child("b").attribute("x").value(), "1");
  ASSERT_TRUE(document.problem().has_value());
  EXPECT_EQ(document.problem()->find("f.xml:2:14: not well-formed XML: "), 0U) << *document.problem();
}

TEST(XmlDocument, NeverGivesTheBeginOfAValueForTheWhole) {
  const std::string text = "<a b='16' c=\"x8\"><d>1024</d><e>77</e></a>";
  for (std::size_t length = 3; length < text.size(); ++length) {
    SCOPED_TRACE(text.substr(0, length));
    const XmlDocument document(text.substr(0, length), "f.xml");
    const pugi::xml_node a = document.root().child("a");
    const std::string b = a.attribute("b").value();
    const std::string c = a.attribute("c").value();
    const std::string d = a.child("d").text().get();
    const std::string e = a.child("e").text().get();
    EXPECT_TRUE(b.empty() || b == "16") << b;
    EXPECT_TRUE(c.empty() || c == "x8") << c;
    EXPECT_TRUE(d.empty() || d == "1024") << d;
    EXPECT_TRUE(e.empty() || e == "77") << e;
    EXPECT_TRUE(document.problem().has_value());
  }
}

TEST(XmlDocument, RefusesATextWithoutElementsAndOneWithoutEnd) {
  for (const char* text : {"", "hello", "<", "<!-- only a comment -->", "<!DOCTYPE a ["}) {
    EXPECT_NE(refusal([&] { XmlDocument(text, "f.xml"); }).find("no element\n  at f.xml"), std::string::npos)
        << text;
  }
  std::string deep;
  for (std::size_t i = 0; i <= XmlDocument::most_parts; ++i) deep += "<a>";
  EXPECT_NE(refusal([&] { XmlDocument(deep, "f.xml"); }).find("more than 262144"), std::string::npos);
}

TEST(XmlDocument, DoesNotExpandEntities) {
  const XmlDocument document("<!DOCTYPE a [<!ENTITY e \"many\">]>\n<a>&e;&lt;</a>", "f.xml");
  EXPECT_STREQ(document.root().child("a").text().get(), "&e;<");
}

}  // namespace
}  // namespace lanecast
