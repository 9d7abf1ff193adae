#include "guide/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera::guide {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string prepared(const std::string& schema) {
  const auto result = prepare_schema(schema, {});
  return result ? *result : result.status().message();
}

TEST(PrepareSchema, LeavesWhatIsFollowedAlone) {
  for (const char* schema : {R"({"type":"object","properties":{"a":{"type":"string"}},"required":["a"]})",
                             R"({"enum":["a",1,null]})", R"({"type":["string","null"],"maxLength":3})",
                             R"({"anyOf":[{"type":"string"},{"$ref":"#/$defs/a"}],"$defs":{"a":{"type":"null"}}})"}) {
    EXPECT_EQ(prepared(schema), schema);
  }
}

TEST(PrepareSchema, WritesOutWhatWouldBePassedOver) {
  EXPECT_EQ(prepared(R"({"minLength":3})"), R"({"minLength":3,"type":"string"})");
  EXPECT_EQ(prepared(R"({"type":"object"})"), R"({"type":"object","additionalProperties":true})");
  EXPECT_EQ(prepared(R"({"type":"array","uniqueItems":false})"), R"({"type":"array","items":{}})");
  EXPECT_EQ(prepared(R"({"required":["a"]})"), R"({"required":["a"],"type":"object","properties":{"a":{}}})");
  EXPECT_EQ(
      prepared(R"({"required":["a"],"additionalProperties":{"type":"null"}})"),
      R"({"required":["a"],"additionalProperties":{"type":"null"},"type":"object","properties":{"a":{"type":"null"}}})");
  EXPECT_EQ(prepared(R"({"type":"string","enum":["a",1]})"), R"({"type":"string","enum":["a"]})");
  EXPECT_EQ(prepared("true"), "{}");
  // Behind a reference too, wherever that points.
  EXPECT_EQ(prepared(R"({"$ref":"#/$defs/a","$defs":{"a":{"minimum":1}}})"),
            R"({"$ref":"#/$defs/a","$defs":{"a":{"minimum":1,"type":"number"}}})");
}

TEST(PrepareSchema, NamesTheKeywordThatCannotBeFollowed) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"type":"object","properties":{"tags":{"type":"array","uniqueItems":true}}})",
       R"("uniqueItems" at #/properties/tags cannot)"},
      {R"({"not":{"type":"null"}})", R"("not" at # cannot)"},
      {R"({"if":{},"then":{}})", R"("if" at #)"},
      {R"({"items":{"contains":{}}})", R"("contains" at #/items)"},
      {R"({"allOf":[{"type":"object"},{"type":"object"}]})", R"("allOf" at #)"},
      {R"({"type":"object","anyOf":[{"required":["a"]}]})",
       R"("type" at # cannot be followed: it stands beside "anyOf")"},
      {R"({"$ref":"#/$defs/a","minLength":1,"$defs":{"a":{}}})", R"("minLength" at # )"},
      {R"({"$ref":"other.json"})", R"("$ref" at #)"},
      {R"({"$ref":"#/$defs/b"})", "which is not there"},
      {R"({"minLength":1,"minimum":1})", R"("minimum" at # )"},
      {R"({"properties":{"a":{}},"required":["b"],"additionalProperties":false})", R"("required" at #)"},
      {R"({"properties":{"a":{}},"patternProperties":{"^a":{}}})", R"("patternProperties" at #)"},
      {R"({"type":"string","const":1})", R"("const" at #)"},
      {R"({"properties":[]})", "#/properties is malformed"},
      {R"([1])", "# is malformed"},
      {R"({"$ref":"#"})", "leads back to itself"},
      {R"({"type":"object","properties":{"a":{"$ref":"#/$defs/b"}},"$defs":{"b":{"$ref":"#/$defs/c"},"c":{"$ref":"#/$defs/b"}}})",
       "leads back to itself"},
      {"false", "nothing satisfies"},
      {"{", "is not JSON"},
  };
  for (const auto& [schema, expected] : cases) {
    const auto result = prepare_schema(schema, {});
    ASSERT_FALSE(result.ok()) << schema << " became " << *result;
    EXPECT_THAT(result.status().message(), HasSubstr(expected)) << schema;
  }
}

TEST(PrepareStructuralTag, PreparesItsSchemas) {
  const auto tag = prepare_structural_tag(
      R"({"structures":[{"begin":"<a>","schema":{"minimum":1},"end":"</a>"}],"triggers":["<a"]})", {});
  ASSERT_TRUE(tag.ok()) << tag.status().message();
  EXPECT_THAT(*tag, AllOf(HasSubstr("triggered_tags"), HasSubstr(R"({"minimum":1,"type":"number"})")));
  const auto refused = prepare_structural_tag(
      R"({"type":"structural_tag","format":{"type":"sequence","elements":[{"type":"json_schema","json_schema":{"not":{}}}]}})",
      {});
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.status().message(), HasSubstr(R"("not" at #)"));
}

TEST(CheckSource, HasLimits) {
  using Kind = GrammarSource::Kind;
  const Limits limits;
  EXPECT_FALSE(check_source({.kind = Kind::json_schema, .text = std::string(65, '[')}, limits).ok());
  EXPECT_TRUE(check_source({.kind = Kind::json_schema, .text = '"' + std::string(65, '[') + '"'}, limits).ok());
  EXPECT_FALSE(check_source({.kind = Kind::regex, .text = std::string(65, '(')}, limits).ok());
  EXPECT_FALSE(check_source({.kind = Kind::regex, .text = std::string(70'000, 'a')}, limits).ok());
  EXPECT_FALSE(check_source({.kind = Kind::json_schema, .text = std::string(2'000'000, ' ')}, limits).ok());
  EXPECT_FALSE(check_source({.kind = Kind::choice}, limits).ok());
  EXPECT_FALSE(check_source({.kind = Kind::choice, .choices = {"a", ""}}, limits).ok());
  EXPECT_FALSE(check_source({.kind = Kind::choice, .choices = std::vector<std::string>(5000, "a")}, limits).ok());
  EXPECT_FALSE(check_source({.kind = Kind::regex}, limits).ok());
  EXPECT_TRUE(check_source({.kind = Kind::json_object}, limits).ok());
}

}  // namespace
}  // namespace tessera::guide
