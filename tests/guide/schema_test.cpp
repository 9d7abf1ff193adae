#include "guide/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera::guide {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string prepared(const std::string& schema) {
  const auto result = prepare_schema(schema, {});
  return result ? *result : result.status().message();
}

TEST(PrepareSchema, LeavesWhatIsFollowedAlone) {
  for (const char* schema :
       {R"({"type":"object","properties":{"a":{"type":"string"}},"required":["a"]})", R"({"enum":["a",1,null]})",
        R"({"type":"string","const":"a"})", R"({"type":["string","null"],"maxLength":3})",
        R"({"anyOf":[{"type":"string"},{"$ref":"#/$defs/a"}],"$defs":{"a":{"type":"null"}}})",
        R"({"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/c"},"c":{"$ref":"#/$defs/d"},)"
        R"("d":{"$ref":"#/$defs/e"},"e":{"type":"null"}}})"}) {
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

TEST(PrepareSchema, ReadsKeywordsOfOneTypeAsThatType) {
  const std::pair<const char*, const char*> cases[] = {
      {R"("patternProperties":{"^a":{}})", "object"},
      {R"("propertyNames":{"maxLength":3,"type":"string"})", "object"},
      {R"("minProperties":1)", "object"},
      {R"("unevaluatedProperties":false)", "object"},
      {R"("additionalProperties":false)", "object"},
      {R"("prefixItems":[{}])", "array"},
      {R"("maxItems":3)", "array"},
      {R"("unevaluatedItems":false)", "array"},
      {R"("pattern":"a")", "string"},
      {R"("maxLength":3)", "string"},
      {R"("maxProperties":1)", "object"},
      {R"("required":[])", "object"},
      {R"("properties":{})", "object"},
      {R"("items":{})", "array"},
      {R"("minItems":1)", "array"},
      {R"("minLength":1)", "string"},
      {R"("minimum":1)", "number"},
      {R"("maximum":1)", "number"},
      {R"("multipleOf":1)", "number"},
      {R"("exclusiveMinimum":3)", "number"},
      {R"("exclusiveMaximum":3)", "number"},
  };
  for (const auto& [keyword, type] : cases) {
    EXPECT_THAT(prepared(fmt::format("{{{}}}", keyword)), HasSubstr(fmt::format(R"("type":"{}")", type))) << keyword;
  }
}

TEST(PrepareSchema, RefusesWhatNothingFollows) {
  for (const char* keyword : {"not", "if", "then", "else", "dependentRequired", "dependentSchemas", "dependencies",
                              "contains", "minContains", "maxContains", "$dynamicRef", "$recursiveRef"}) {
    EXPECT_EQ(prepared(fmt::format(R"({{"type":"array","{}":{{}}}})", keyword)),
              fmt::format(R"("{}" at # cannot be followed: leave it out)", keyword));
  }
}

TEST(PrepareSchema, TakesNotesBesideWhatDecides) {
  for (const char* note : {"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly",
                           "$comment", "nullable", "format", "strict"}) {
    const std::string schema = fmt::format(R"({{"anyOf":[{{"type":"null"}}],"{}":true}})", note);
    EXPECT_EQ(prepared(schema), schema);
  }
}

TEST(PrepareSchema, ReachesEverySchemaInside) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"type":"object","additionalProperties":{"not":{}}})", "#/additionalProperties "},
      {R"({"type":"object","unevaluatedProperties":{"not":{}}})", "#/unevaluatedProperties "},
      {R"({"type":"object","propertyNames":{"not":{}}})", "#/propertyNames "},
      {R"({"type":"object","patternProperties":{"^a":{"not":{}}}})", "#/patternProperties/^a "},
      {R"({"type":"array","items":{"not":{}}})", "#/items "},
      {R"({"type":"array","unevaluatedItems":{"not":{}}})", "#/unevaluatedItems "},
      {R"({"type":"array","prefixItems":[{},{"not":{}}]})", "#/prefixItems/1 "},
      {R"({"type":["object","array"],"items":{"not":{}}})", "#/items "},
      {R"({"anyOf":[{},{"not":{}}]})", "#/anyOf/1 "},
      {R"({"type":"null","$defs":{"a":{"not":{}}}})", "#/$defs/a "},
      {R"({"type":"null","definitions":{"a":{"not":{}}}})", "#/definitions/a "},
      // Where no schema is looked for, but a reference points to one.
      {R"({"type":"object","properties":{"a":{"$ref":"#/parts/b"}},"parts":{"b":{"not":{}}}})", "#/parts/b "},
      {R"({"type":"object","properties":{"a/b~c":{"not":{}}}})", "#/properties/a~1b~0c "},
  };
  for (const auto& [schema, place] : cases) {
    EXPECT_THAT(prepared(schema), HasSubstr(fmt::format(R"("not" at {}cannot be followed)", place))) << schema;
  }
}

TEST(PrepareSchema, KeepsWhatObjectsAndArraysSayOfTheirContents) {
  for (const char* schema : {R"({"type":"object","patternProperties":{"^a":{"type":"null"}}})",
                             R"({"type":"object","propertyNames":{"type":"string","maxLength":3}})",
                             R"({"type":"object","unevaluatedProperties":{"type":"null"}})",
                             R"({"type":"array","prefixItems":[{"type":"null"}]})",
                             R"({"type":"array","unevaluatedItems":{"type":"null"}})"}) {
    EXPECT_EQ(prepared(schema), schema);
  }
  EXPECT_EQ(prepared(R"({"type":["object","array"]})"),
            R"({"type":["object","array"],"additionalProperties":true,"items":{}})");
}

/// Where no "additionalProperties" stands, "unevaluatedProperties" says the same: what might evaluate others is
/// refused.
TEST(PrepareSchema, UnevaluatedPropertiesAreTheAdditionalOnes) {
  EXPECT_EQ(
      prepared(R"({"type":"object","required":["a"],"unevaluatedProperties":{"type":"null"}})"),
      R"({"type":"object","required":["a"],"unevaluatedProperties":{"type":"null"},"properties":{"a":{"type":"null"}}})");
  EXPECT_THAT(prepared(R"({"type":"object","properties":{},"required":["a"],"unevaluatedProperties":false})"),
              HasSubstr(R"("required" at # cannot be followed: "a" is not in "properties")"));
  for (const char* open : {"true", "{}", R"({"type":"null"})"}) {
    EXPECT_THAT(prepared(fmt::format(R"({{"type":"object","minProperties":2,"unevaluatedProperties":{}}})", open)),
                HasSubstr(R"("minProperties" at # cannot be followed: names that are not listed)"));
  }
}

TEST(PrepareSchema, NamesByPatternStandAlone) {
  const char* const closed = R"({"type":"object","patternProperties":{"^a":{}},"additionalProperties":false})";
  EXPECT_EQ(prepared(closed), closed);
  for (const char* other : {R"("properties":{"a":{}})", R"("required":["a"])", R"("minProperties":1)",
                            R"("additionalProperties":true)", R"("additionalProperties":{"type":"null"})"}) {
    for (const char* names : {R"("patternProperties":{"^a":{}})", R"("propertyNames":{"maxLength":3})"}) {
      EXPECT_THAT(prepared(fmt::format(R"({{"type":"object",{},{}}})", names, other)),
                  HasSubstr("it stands beside other properties"))
          << names << " beside " << other;
    }
  }
}

TEST(PrepareSchema, TakesOneOfAnyNamesAsTheLeast) {
  EXPECT_EQ(prepared(R"({"type":"object","minProperties":1})"),
            R"({"type":"object","minProperties":1,"additionalProperties":true})");
  EXPECT_THAT(prepared(R"({"type":"object","minProperties":2})"), HasSubstr(R"("minProperties" at # cannot)"));
  // Of listed names so many can be asked for, but not where others may stand beside them.
  const auto listed = [](const char* others) {
    return prepared(
        fmt::format(R"({{"type":"object","properties":{{"a":{{}},"b":{{}}}},{}"minProperties":2}})", others));
  };
  for (const char* closed : {"", R"("additionalProperties":false,)"}) {
    EXPECT_THAT(listed(closed), Not(HasSubstr("cannot"))) << closed;
  }
  EXPECT_THAT(listed(R"("additionalProperties":true,)"), HasSubstr(R"("minProperties" at # cannot)"));
}

TEST(PrepareSchema, KeepsTheValuesThatATypeAllows) {
  const std::pair<const char*, const char*> cases[] = {
      {"\"integer\"", R"([1,2.0])"},  {"\"number\"", R"([1,2.0,2.5])"},
      {"\"string\"", R"(["a"])"},     {"\"boolean\"", R"([true])"},
      {"\"null\"", R"([null])"},      {"\"array\"", R"([[1]])"},
      {"\"object\"", R"([{"b":1}])"}, {R"(["null","string"])", R"(["a",null])"},
  };
  for (const auto& [type, kept] : cases) {
    EXPECT_EQ(prepared(fmt::format(R"({{"type":{},"enum":[1,2.0,2.5,"a",true,null,[1],{{"b":1}}]}})", type)),
              fmt::format(R"({{"type":{},"enum":{}}})", type, kept));
  }
  EXPECT_THAT(prepared(R"({"type":"string","enum":[1,null]})"), HasSubstr("rules out every value"));
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
      {R"({"$ref":"#/"})", "points to #/, which is not there"},
      {R"({"minLength":1,"minimum":1})", R"("minimum" at # )"},
      {R"({"properties":{"a":{}},"required":["b"],"additionalProperties":false})", R"("required" at #)"},
      {R"({"properties":{"a":{}},"patternProperties":{"^a":{}}})", R"("patternProperties" at #)"},
      {R"({"type":"string","const":1})", R"("const" at #)"},
      {R"({"const":1,"$ref":"#/$defs/a","$defs":{"a":{}}})",
       R"("const" at # cannot be followed: it stands beside "$ref")"},
      {R"({"$ref":"#a"})", R"("$ref" at # cannot be followed: it is "#a")"},
      {R"({"$ref":1})", "#/$ref is malformed"},
      {R"({"anyOf":[]})", "#/anyOf is malformed"},
      {R"({"oneOf":{}})", "#/oneOf is malformed"},
      {R"({"enum":[]})", "#/enum is malformed"},
      {R"({"enum":1})", "#/enum is malformed"},
      {R"({"required":"a"})", "#/required is malformed"},
      {R"({"required":["a",1]})", "#/required is malformed"},
      {R"({"items":[{},{}]})", R"("items" at # cannot be followed: a list of schemas is written "prefixItems")"},
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

TEST(PrepareStructuralTag, SaysWhatIsMalformed) {
  const auto prepare = [](const char* text) {
    const auto tag = prepare_structural_tag(text, {});
    return tag ? *tag : tag.status().message();
  };
  EXPECT_THAT(prepare("{"), HasSubstr("the structural tag is not JSON"));
  EXPECT_THAT(prepare("[1]"), HasSubstr("the structural tag is malformed"));
  EXPECT_THAT(prepare(R"({"structures":{},"triggers":[]})"), HasSubstr("expected \"structures\" and \"triggers\""));
  EXPECT_THAT(prepare(R"({"structures":[]})"), HasSubstr("expected \"structures\" and \"triggers\""));
  EXPECT_THAT(prepare(R"({"structures":[],"triggers":"<a"})"), HasSubstr("two lists"));
  EXPECT_THAT(prepare(R"({"structures":[{"begin":"<a>"}],"triggers":["<a"]})"), HasSubstr("structures is malformed"));
  EXPECT_THAT(prepare(R"({"structures":[{"end":"</a>"}],"triggers":["<a"]})"), HasSubstr("structures is malformed"));
}

TEST(PrepareStructuralTag, AStructureMayHaveAnySchemaOrNone) {
  const auto tag = prepare_structural_tag(R"({"structures":[{"begin":"<a>","end":"</a>"}],"triggers":["<a"]})", {});
  ASSERT_TRUE(tag.ok()) << tag.status().message();
  EXPECT_THAT(*tag, AllOf(HasSubstr(R"("json_schema":{})"), HasSubstr(R"("begin":"<a>")"), HasSubstr(R"("end":"</a>")"),
                          HasSubstr(R"("triggers":["<a"])")));
}

TEST(PrepareStructuralTag, BoundsWhiteSpaceUnlessTheTagDoes) {
  const auto prepare = [](const char* bound) {
    const auto tag = prepare_structural_tag(
        fmt::format(R"({{"type":"structural_tag","format":{{"type":"json_schema","json_schema":{{}}{}}}}})", bound),
        {});
    return tag ? *tag : tag.status().message();
  };
  EXPECT_THAT(prepare(""), HasSubstr(fmt::format(R"("max_whitespace_cnt":{})", kWhiteSpaceMax)));
  EXPECT_THAT(prepare(R"(,"max_whitespace_cnt":7)"), HasSubstr(R"("max_whitespace_cnt":7)"));
  const auto text = prepare_structural_tag(R"({"type":"structural_tag","format":{"type":"any_text"}})", {});
  EXPECT_THAT(*text, Not(HasSubstr("max_whitespace_cnt")));
}

TEST(CheckSource, TakesWhatIsAtALimit) {
  using Kind = GrammarSource::Kind;
  const Limits limits;
  const auto check = [&](const GrammarSource& source) { return check_source(source, limits).message(); };
  const auto brackets = [&](int more) { return std::string(static_cast<size_t>(limits.depth_max + more), '['); };
  EXPECT_EQ(check({.kind = Kind::json_schema, .text = brackets(0)}), "");
  EXPECT_THAT(check({.kind = Kind::json_schema, .text = brackets(1)}), HasSubstr("deeper than 64 levels"));
  EXPECT_EQ(check({.kind = Kind::regex, .text = std::string(limits.regex_bytes_max, 'a')}), "");
  EXPECT_THAT(check({.kind = Kind::regex, .text = std::string(limits.regex_bytes_max + 1, 'a')}), HasSubstr("bytes"));
  EXPECT_EQ(check({.kind = Kind::grammar, .text = std::string(limits.source_bytes_max, 'a')}), "");
  EXPECT_THAT(check({.kind = Kind::grammar, .text = std::string(limits.source_bytes_max + 1, 'a')}),
              HasSubstr("bytes"));
  EXPECT_EQ(check({.kind = Kind::choice, .choices = std::vector<std::string>(limits.choices_max, "a")}), "");
  EXPECT_THAT(check({.kind = Kind::choice, .choices = std::vector<std::string>(limits.choices_max + 1, "a")}),
              HasSubstr("4097 choices"));
  // All choices together.
  const std::string half(limits.source_bytes_max / 2, 'a');
  EXPECT_EQ(check({.kind = Kind::choice, .choices = {half, half}}), "");
  EXPECT_THAT(check({.kind = Kind::choice, .choices = {half, half, "a"}}), HasSubstr("1048577 bytes"));
}

TEST(CheckSource, CountsBracketsThatNest) {
  using Kind = GrammarSource::Kind;
  const std::string many(100, '(');
  std::string escaped, quotes;
  for (int i = 0; i < 100; ++i) {
    escaped += "\\(";
    quotes += "\\\"[";
  }
  EXPECT_TRUE(check_source({.kind = Kind::regex, .text = escaped}, {}).ok());
  EXPECT_TRUE(check_source({.kind = Kind::json_schema, .text = '"' + quotes + '"'}, {}).ok());
  // In a class, which ends at the first bracket that is not escaped.
  std::string classes;
  for (int i = 0; i < 100; ++i) classes += "[[({\\](]";
  EXPECT_TRUE(check_source({.kind = Kind::regex, .text = classes}, {}).ok());
  EXPECT_FALSE(check_source({.kind = Kind::regex, .text = "[(]" + many}, {}).ok());
  EXPECT_FALSE(check_source({.kind = Kind::grammar, .text = '[' + many}, {}).ok());
  std::string closing;  // what closes in a class does not close a group
  for (int i = 0; i < 100; ++i) closing += "([)]";
  EXPECT_FALSE(check_source({.kind = Kind::regex, .text = closing}, {}).ok());
  // Quotes hide them in JSON alone.
  EXPECT_TRUE(check_source({.kind = Kind::json_schema, .text = '"' + many + '"'}, {}).ok());
  EXPECT_TRUE(check_source({.kind = Kind::structural_tag, .text = '"' + many + '"'}, {}).ok());
  EXPECT_FALSE(check_source({.kind = Kind::structural_tag, .text = many}, {}).ok());
  EXPECT_FALSE(check_source({.kind = Kind::regex, .text = '"' + many + '"'}, {}).ok());
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
