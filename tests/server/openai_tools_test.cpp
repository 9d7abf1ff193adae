// JSON schemas as types of parameters, and what a guide makes of the tools.

#include "openai_json.h"
#include "server/openai/tool_fields.h"
#include "server/request/guide.h"

namespace tessera::server::openai {
namespace {

using ::testing::ElementsAre;
using text::ParameterType;

struct SchemaCase {
  const char* schema;
  ParameterType type;
  bool nullable = false;
};

TEST(OpenAiTools, TypesOfSchemas) {
  const Json root = Json::parse(R"({"$defs": {"Color": {"enum": ["red"]}, "Loop": {"$ref": "#/$defs/Loop"},
    "Twice": {"anyOf": [{"$ref": "#/$defs/Twice"}, {"$ref": "#/$defs/Twice"}]}, "Point": {"type": "object"}}})");
  const std::vector<SchemaCase> cases = {
      {R"({"type": "string"})", ParameterType::string},
      {R"({"type": "integer"})", ParameterType::integer},
      {R"({"type": "number"})", ParameterType::number},
      {R"({"type": "boolean"})", ParameterType::boolean},
      {R"({"type": "object"})", ParameterType::json},
      {R"({"type": "array"})", ParameterType::json},
      {R"({"type": "int"})", ParameterType::integer},
      {R"({"type": "float"})", ParameterType::number},
      {R"({"type": "dict"})", ParameterType::json},
      {R"({"type": "made up"})", ParameterType::string},
      {R"({"type": ["string", "null"]})", ParameterType::string, true},
      {R"({"type": ["integer", "number"]})", ParameterType::number},
      {R"({"type": ["string", "integer"]})", ParameterType::json},
      {R"({"type": "str"})", ParameterType::string},
      {R"({"type": "double"})", ParameterType::number},
      {R"({"type": "list"})", ParameterType::json},
      {R"({"type": "integer", "nullable": true})", ParameterType::integer, true},
      {R"({"type": "integer", "nullable": false})", ParameterType::integer},
      {R"({"nullable": true})", ParameterType::string, true},
      {R"({"nullable": true, "enum": [1]})", ParameterType::integer, true},
      {R"({"type": "null", "const": 2.5})", ParameterType::number, true},
      {R"({"nullable": true, "anyOf": [{"type": "boolean"}]})", ParameterType::boolean, true},
      {R"({"nullable": true, "$ref": "#/$defs/Point"})", ParameterType::json, true},
      {R"({"nullable": true, "properties": {}})", ParameterType::json, true},
      {R"({"enum": ["a", "b"]})", ParameterType::string},
      {R"({"enum": [1, 2, null]})", ParameterType::integer, true},
      {R"({"enum": [1, 2.5]})", ParameterType::number},
      {R"({"enum": [1, "a"]})", ParameterType::json},
      {R"({"const": true})", ParameterType::boolean},
      {R"({"const": null})", ParameterType::string, true},
      {R"({"anyOf": [{"type": "integer"}, {"type": "null"}]})", ParameterType::integer, true},
      {R"({"oneOf": [{"type": "string"}, {"type": "object"}]})", ParameterType::json},
      {R"({"allOf": [{"$ref": "#/$defs/Color"}]})", ParameterType::string},
      {R"({"$ref": "#/$defs/Color"})", ParameterType::string},
      {R"({"$ref": "#/$defs/Point"})", ParameterType::json},
      {R"({"$ref": "#/$defs/Absent"})", ParameterType::json},
      {R"({"$ref": "#/$defs/Loop"})", ParameterType::json},
      {R"({"$ref": "#/$defs/Twice"})", ParameterType::json},
      {R"({"$ref": "http://elsewhere"})", ParameterType::json},
      {R"({"$ref": "#"})", ParameterType::json},
      {R"({"$ref": 5})", ParameterType::json},
      {R"({"properties": {}})", ParameterType::json},
      {R"({"items": {}})", ParameterType::json},
      {R"({"description": "anything"})", ParameterType::string},
      {R"({"anyOf": 5, "enum": "x", "type": {}})", ParameterType::string},
      {"true", ParameterType::string},
  };
  for (const SchemaCase& c : cases) {
    const auto parameter = parameter_of_schema("p", Json::parse(c.schema), root);
    EXPECT_EQ(parameter.name, "p");
    EXPECT_EQ(parameter.type, c.type) << c.schema;
    EXPECT_EQ(parameter.nullable, c.nullable) << c.schema;
  }
}

/// One token per byte, but for the tags that are tokens.
Expected<std::vector<int32_t>> tokenise(const std::string& text) {
  std::vector<int32_t> tokens;
  for (size_t i = 0; i < text.size();) {
    if (text.compare(i, 8, "</think>") == 0) {
      tokens.push_back(1000);
      i += 8;
    } else {
      tokens.push_back(static_cast<unsigned char>(text[i++]));
    }
  }
  return tokens;
}

std::vector<int32_t> ids(const std::string& text) { return *tokenise(text); }

TEST(OpenAiTools, NamesHaveAtMost128Bytes) {
  const auto error_of = [](size_t bytes) {
    std::string name;
    return read_tool_name(Json{{"name", std::string(bytes, 'n')}}, "tools[0]", name);
  };
  EXPECT_FALSE(error_of(1));
  EXPECT_FALSE(error_of(128));
  ASSERT_TRUE(error_of(129));
  EXPECT_EQ(error_of(129)->param, "tools[0].name");
  EXPECT_TRUE(error_of(0));
}

TEST(OpenAiGuide, NothingToGuide) {
  for (const bool thinking : {false, true}) {
    const auto guide = make_guide(thinking, std::nullopt, AnswerStart::unguided, tokenise);
    ASSERT_TRUE(guide.ok());
    EXPECT_EQ(guide->thinking_end, -1);
    EXPECT_EQ(guide->thinking_tokens_max, -1);
    EXPECT_TRUE(guide->beginnings.empty());
  }
  // A budget for thinking that the prompt does not open.
  EXPECT_EQ(make_guide(false, 5, AnswerStart::unguided, tokenise)->thinking_tokens_max, -1);
}

TEST(OpenAiGuide, ABudgetHasACloser) {
  const auto guide = make_guide(true, 0, AnswerStart::unguided, tokenise);
  ASSERT_TRUE(guide.ok());
  EXPECT_EQ(guide->thinking_end, 1000);
  EXPECT_EQ(guide->thinking_tokens_max, 0);
  EXPECT_THAT(guide->thinking_closer, ElementsAre('\n', 1000));
  EXPECT_TRUE(guide->beginnings.empty());
}

TEST(OpenAiGuide, AGuidedAnswerComesBehindThinkingAndABlankLine) {
  const auto plain = make_guide(false, std::nullopt, AnswerStart::guided, tokenise);
  EXPECT_EQ(plain->thinking_end, -1);
  EXPECT_TRUE(plain->beginnings.empty());
  const auto thinking = make_guide(true, std::nullopt, AnswerStart::guided, tokenise);
  EXPECT_EQ(thinking->thinking_end, 1000);
  EXPECT_EQ(thinking->thinking_tokens_max, -1);
  EXPECT_THAT(thinking->beginnings, ElementsAre(ids("\n\n")));
  const auto text = make_guide(true, std::nullopt, AnswerStart::freely, tokenise);
  EXPECT_EQ(text->thinking_end, 1000);
  EXPECT_TRUE(text->beginnings.empty());
}

TEST(OpenAiGuide, NoCallBeginsInsideThinkingThatAGuidedAnswerFollows) {
  const Tokenise with_calls = [](const std::string& text) {
    return text == "<tool_call>" ? Expected<std::vector<int32_t>>({1001}) : tokenise(text);
  };
  EXPECT_EQ(make_guide(true, {}, AnswerStart::guided, with_calls)->thinking_excludes, 1001);
  EXPECT_EQ(make_guide(true, {}, AnswerStart::freely, with_calls)->thinking_excludes, 1001);
  EXPECT_EQ(make_guide(true, 5, AnswerStart::unguided, with_calls)->thinking_excludes, -1);
  EXPECT_EQ(make_guide(true, {}, AnswerStart::guided, tokenise)->thinking_excludes, -1);  // no token for it
}

TEST(OpenAiGuide, NeedsOneTokenForTheEndOfThinking) {
  const Tokenise bytes = [](const std::string& text) {
    return Expected<std::vector<int32_t>>(std::vector<int32_t>(text.begin(), text.end()));
  };
  EXPECT_EQ(make_guide(true, 5, AnswerStart::unguided, bytes).status().code(), StatusCode::unsupported);
  EXPECT_EQ(make_guide(true, {}, AnswerStart::guided, bytes).status().code(), StatusCode::unsupported);
  EXPECT_TRUE(make_guide(false, 5, AnswerStart::guided, bytes).ok());
  const Tokenise broken = [](const std::string&) {
    return Expected<std::vector<int32_t>>(Status(StatusCode::not_found, "no tokenizer"));
  };
  EXPECT_EQ(make_guide(true, {}, AnswerStart::guided, broken).status().code(), StatusCode::not_found);
}

}  // namespace
}  // namespace tessera::server::openai
