// Bodies as bytes: what is JSON, within limits; and the text written back.

#include "server/request/json_body.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include "server/request/json_text.h"
#include "server/request/past_arguments.h"

namespace tessera::server::openai {
namespace {

using ::testing::HasSubstr;

TEST(OpenAiJson, ReadsWhatNlohmannReads) {
  for (const std::string text :
       {R"({"a": [1, -2, 3.5, true, false, null, "x\né"], "b": {"c": {}, "d": []}, "": 18446744073709551615})", "[]",
        "3", "\"s\"", "null", R"([[[1], {"z": 1, "y": 2}], -9223372036854775808])"}) {
    Json value;
    const auto error = parse_json(text, RequestLimits(), value);
    ASSERT_FALSE(error) << error->message;
    EXPECT_EQ(value.dump(), Json::parse(text).dump());
  }
}

TEST(OpenAiJson, TextsThatFitAreNotShortened) {
  EXPECT_EQ(shortened("abcd", 4), "abcd");
  EXPECT_EQ(shortened("abcde", 4), "abcd...");
  EXPECT_EQ(shortened("abc\u00e9", 4), "abc...");
}

TEST(PastArguments, EndBeforeAnEscapeThatIsNotWhole) {
  for (const char* cut : {"\\", "\\u", "\\u0", "\\u00", "\\u004"}) {
    std::string note;
    EXPECT_EQ(read_past_arguments(std::string(R"({"a": "x)") + cut, {}, note).dump(), R"({"a":"x"})") << cut;
    EXPECT_EQ(note, "break off, and were closed") << cut;
  }
  std::string note;
  EXPECT_EQ(read_past_arguments(R"({"a": "x\u0041)", {}, note).dump(), R"({"a":"xA"})");
}

/// The messages around them take the other half.
TEST(PastArguments, HaveHalfOfTheLevelsOfARequest) {
  const auto nested = [](size_t levels) {
    return R"({"a":)" + std::string(levels - 1, '[') + std::string(levels - 1, ']') + "}";
  };
  RequestLimits limits;
  limits.json_depth_max = 140;
  std::string note;
  EXPECT_EQ(read_past_arguments(nested(70), limits, note).dump(), nested(70));
  EXPECT_EQ(note, "");
  EXPECT_EQ(read_past_arguments(nested(71), limits, note), Json({{"arguments", nested(71)}}));
  EXPECT_EQ(note, "are not JSON, and are shown as text");
}

TEST(OpenAiJson, WhatIsNoJsonSaysWhere) {
  struct Case {
    std::string text;
    std::string says;
  };
  const std::vector<Case> cases = {
      {"{\"a\": }", "the request's body cannot be read as JSON: parse error at line 1, column 7"},
      {"{\"a\": 1", "unexpected end"},
      {"{\"a\": 1} x", "expected end of input"},
      {"{'a': 1}", "line 1, column 2"},
      {"{\"a\": NaN}", "invalid literal"},
      {"{\"a\": Infinity}", "invalid literal"},
      {"{\"a\": 01}", "column 8"},
      {"{\"a\": 1e400}", "too large for a double"},
      {"{\"a\": -1e999}", "too large for a double"},
      {"{\"a\": \"\xff\"}", "ill-formed UTF-8"},
      {"{\"a\": \"\xed\xa0\x80\"}", "ill-formed UTF-8"},
      {"{\"a\": \"\\ud8\"}", "hex digits"},
      {"{\"a\": \"\\ud800\", }", "column"},
      {"{\"a\": 1, \"b\": 2, \"a\": 3}", "\"a\" is given twice"},
      {"[1]", "expected a JSON object"},
      {"3", "expected a JSON object"},
      {" \n", "no body"},
      {"", "no body"},
  };
  for (const Case& c : cases) {
    Json value;
    const auto error = parse_body(c.text, RequestLimits(), value);
    ASSERT_TRUE(error) << c.text;
    EXPECT_EQ(error->http_status, 400);
    EXPECT_THAT(error->message, HasSubstr(c.says)) << c.text;
  }
}

TEST(OpenAiJson, HalvesOfSurrogatePairsAreReplaced) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"("\ud83d")", "\xef\xbf\xbd"},
      {R"("a\ud83db\uDC00")",
       "a\xef\xbf\xbd"
       "b\xef\xbf\xbd"},
      {R"("\ud83d\ud83d\ude00")", "\xef\xbf\xbd\xf0\x9f\x98\x80"},
      {R"("\\ud83d \ud83d\n")", "\\ud83d \xef\xbf\xbd\n"},
      {R"("\ud83d\u0041")",
       "\xef\xbf\xbd"
       "A"},
      {R"("\udc00\udc00")", "\xef\xbf\xbd\xef\xbf\xbd"},
      // The first and the last of each half and what is beside them, with one half that stands alone.
      {R"("\udfff\ud7ff\ue000\ud800\udc00\udbff\udfff")",
       "\xef\xbf\xbd\xed\x9f\xbf\xee\x80\x80\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"},
      {R"("\ud800\udbff\ue000")", "\xef\xbf\xbd\xef\xbf\xbd\xee\x80\x80"},
  };
  for (const auto& [text, means] : cases) {
    Json value;
    const auto error = parse_json(text, RequestLimits(), value);
    ASSERT_FALSE(error) << text << error->message;
    EXPECT_EQ(value, means) << text;
  }
  Json body;
  ASSERT_FALSE(parse_body(R"({"a": [1, "\ud83d", {"b": 2}]})", RequestLimits(), body));
  EXPECT_EQ(body["a"].size(), 3U);  // what was read before the fault is not there twice
}

TEST(OpenAiJson, LimitsHold) {
  RequestLimits limits;
  limits.json_depth_max = 5;
  limits.json_values_max = 10;
  limits.object_keys_max = 3;
  Json value;
  EXPECT_FALSE(parse_json("[[[[[]]]]]", limits, value));
  EXPECT_THAT(parse_json("[[[[[[]]]]]]", limits, value)->message, HasSubstr("more than 5 deep"));
  EXPECT_FALSE(parse_json("[1,2,3,4,5,6,7,8,9]", limits, value));
  EXPECT_THAT(parse_json("[1,2,3,4,5,6,7,8,9,0]", limits, value)->message, HasSubstr("more than 10 values"));
  EXPECT_FALSE(parse_json(R"({"a":1,"b":2,"c":3})", limits, value));
  EXPECT_THAT(parse_json(R"({"a":1,"b":2,"c":3,"d":4})", limits, value)->message, HasSubstr("more than 3 keys"));
  const auto error = parse_json("[", limits, value, "messages[0].x");
  EXPECT_EQ(error->param, "messages[0].x");
  EXPECT_THAT(error->message, HasSubstr("messages[0].x cannot be read as JSON: parse error"));
}

TEST(OpenAiJson, DeepAndLongBodiesEndInAnError) {
  Json value;
  EXPECT_TRUE(parse_body(std::string(1'000'000, '['), RequestLimits(), value));
  std::string keys = "{";
  for (int i = 0; i < 200'000; ++i) keys.append("\"").append(std::to_string(i)).append("\":0,");
  EXPECT_TRUE(parse_body(keys + "\"x\":0}", RequestLimits(), value));
}

RC_GTEST_PROP(OpenAiJson, WrittenStringsReadBack, (const std::string& bytes)) {
  std::string out;
  append_string(bytes, out);
  const auto value = nlohmann::json::parse(out, nullptr, false);
  RC_ASSERT(value.is_string());
  // The same bytes if they are UTF-8; nlohmann's replacement agrees on where U+FFFD goes.
  const std::string expected =
      nlohmann::json::parse(nlohmann::json(bytes).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  RC_ASSERT(value.get<std::string>() == expected);
}

TEST(OpenAiJson, EscapesWhatMustBe) {
  std::string out;
  append_string(std::string_view("\0\x01\b\t\n\f\r\x1f \"\\/\x7f h\xc3\xa9\xf0\x9f\x98\x80\n", 22), out);
  EXPECT_EQ(out, "\"\\u0000\\u0001\\u0008\\t\\n\\u000c\\r\\u001f \\\"\\\\/\x7f h\xc3\xa9\xf0\x9f\x98\x80\\n\"");
  out.clear();
  append_string("a\nb\xc3(\xff\"b\xe2\x82", out);
  EXPECT_EQ(out, "\"a\\nb\xef\xbf\xbd(\xef\xbf\xbd\\\"b\xef\xbf\xbd\"");
}

TEST(OpenAiJson, ShownValuesAreShort) {
  EXPECT_EQ(shown(Json("abc")), "\"abc\"");
  EXPECT_EQ(shown(Json::parse("[1,2]")), "[1,2]");
  EXPECT_EQ(shown(Json(std::vector<int>(100, 7))), "an array of 100 values");
  const std::string text = shown(Json(std::string(58, 'x') + "\xc3\xa9\xc3\xa9"));
  EXPECT_EQ(text, "\"" + std::string(58, 'x') + "...");
}

}  // namespace
}  // namespace tessera::server::openai
