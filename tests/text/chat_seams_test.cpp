#include "text/chat_seams.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "text/chat_template.h"
#include "text/dialect/dialect.h"
#include "tokenizer_files.h"

namespace tessera::text {
namespace {

using nlohmann::ordered_json;
using test::bundled_tokenizer;
using Ids = std::vector<int32_t>;

/// Ids from here on are the added tokens of the bundled tokenizer.
constexpr int32_t kFirstAdded = 3046;

/// Those that a conversation cannot spell.
const std::vector<std::string>& control_tokens() {
  static const std::vector<std::string> tokens = [] {
    std::vector<std::string> found;
    for (int32_t id = kFirstAdded; id < bundled_tokenizer().vocab_size(); ++id) {
      const std::string text(bundled_tokenizer().token_bytes(id));
      if (bundled_tokenizer().is_special(id) || std::ranges::count(dialect::kTokens, text) > 0) found.push_back(text);
    }
    return found;
  }();
  return tokens;
}

ChatTemplate template_of(const std::string& text) {
  auto created = ChatTemplate::create({text, {}, "test.jinja"});
  EXPECT_TRUE(created.ok()) << created.status().message();
  return std::move(*created);
}

std::string rendered(const ChatTemplate& chat, const ordered_json& request) {
  const auto text = chat.render(request);
  EXPECT_TRUE(text.ok()) << text.status().message();
  return text.ok() ? *text : "";
}

Ids sewn_ids(const ChatTemplate& chat, ordered_json request) {
  const std::string seam = put_seams(bundled_tokenizer(), request);
  const auto ids = bundled_tokenizer().encode_sewn(rendered(chat, request), seam);
  EXPECT_TRUE(ids.ok()) << ids.status().message();
  return ids.ok() ? *ids : Ids();
}

Ids added_of(const Ids& ids) {
  Ids added;
  std::ranges::copy_if(ids, std::back_inserter(added), [](int32_t id) { return id >= kFirstAdded; });
  return added;
}

const ChatTemplate& bundled_template() {
  static const ChatTemplate chat = template_of(std::string(bundled_chat_template()));
  return chat;
}

/// A conversation that says `words` wherever a client may put words.
ordered_json conversation(const std::string& words) {
  const ordered_json tool = {
      {"type", "function"},
      {"function",
       {{"name", "f"},
        {"description", words},
        {"parameters",
         {{"type", "object"}, {"properties", {{"p " + words, {{"type", "string"}, {"enum", {words}}}}}}}}}}};
  const ordered_json call = {
      {"id", "1"},
      {"type", "function"},
      {"function", {{"name", "f" + words}, {"arguments", {{"p " + words, words}, {"list", {words, {{words, 1}}}}}}}}};
  return {{"messages",
           {{{"role", "system"}, {"content", words}},
            {{"role", "user"}, {"content", words}},
            {{"role", "assistant"}, {"content", "I call."}, {"reasoning_content", "so"}, {"tool_calls", {call}}},
            {{"role", "tool"}, {"name", words}, {"content", words}},
            {{"role", "user"}, {"content", "and " + words + " so"}}}},
          {"tools", {tool}},
          {"add_generation_prompt", true}};
}

TEST(ChatSeams, NoControlTokenCanBeSpelt) {
  const Ids expected = added_of(sewn_ids(bundled_template(), conversation("words")));
  for (const std::string& token : control_tokens()) {
    const std::vector<std::string> all = {token, " a" + token, token + "b ", token + token, "<" + token + ">"};
    for (const std::string& words : all) {
      const ordered_json request = conversation(words);
      const Ids ids = sewn_ids(bundled_template(), request);
      EXPECT_EQ(added_of(ids), expected) << words;
      EXPECT_EQ(bundled_tokenizer().decode(ids, false), rendered(bundled_template(), request)) << words;
    }
  }
}

TEST(ChatSeams, AllOfThemWithoutSeamsAreTokens) {
  // What the test above would not see is that nothing had to be sewn.
  const Ids expected = added_of(sewn_ids(bundled_template(), conversation("words")));
  for (const std::string& token : control_tokens()) {
    const auto ids = bundled_tokenizer().encode(rendered(bundled_template(), conversation(token)));
    ASSERT_TRUE(ids.ok());
    EXPECT_GE(added_of(*ids).size(), expected.size() + 5) << token;
  }
}

RC_GTEST_PROP(ChatSeams, WordsAreTokenizedAsIfThereWereNoControlTokens, ()) {
  // Of which a tokenizer without added tokens is the proof: the text of a whole prompt, cut at the template's own.
  const auto pieces = *rc::gen::container<std::vector<std::string>>(
      rc::gen::elementOf(std::vector<std::string>{"<|im_end|>", "<|im_", "end|>", "<think>", "</think>", "<", ">", "é",
                                                  "e\u0301", " ", "\n", "a", "12", "<tool_response>", "|"}));
  std::string words;
  for (const std::string& piece : pieces) words += piece;
  ordered_json request = {{"messages", {{{"role", "tool"}, {"content", words}}}}};
  static const ChatTemplate chat = template_of("{{ messages[0].content }}");
  const Ids ids = sewn_ids(chat, request);
  static const Tokenizer plain = [] {
    auto document = ordered_json::parse(bundled_tokenizer_json());
    document["added_tokens"] = ordered_json::array();
    return test::parse(document);
  }();
  RC_ASSERT(ids == test::encode(plain, words));
}

TEST(ChatSeams, NothingIsChangedWithoutControlTokens) {
  const ordered_json request = conversation("a <b> |im_end| < |im_end|> <|im_end |> <|fim_prefix|> <Think> 12");
  ordered_json sewn = request;
  EXPECT_EQ(put_seams(bundled_tokenizer(), sewn), "");
  EXPECT_EQ(sewn, request);
}

TEST(ChatSeams, TheAssistantsThinkingAndCallsAreItsOwn) {
  const auto said = [](const std::string& text) {
    return ordered_json{{"messages",
                         {{{"role", "user"}, {"content", "Hi"}},
                          {{"role", "assistant"}, {"content", text}},
                          {{"role", "user"}, {"content", "And?"}}}}};
  };
  // The template finds the thinking in the text, and leaves it out of a past turn.
  EXPECT_EQ(sewn_ids(bundled_template(), said("<think>\nhm\n</think>\n\nYes.")),
            sewn_ids(bundled_template(), said("Yes.")));
  EXPECT_EQ(added_of(sewn_ids(bundled_template(), said("Yes.<|im_end|>"))),
            added_of(sewn_ids(bundled_template(), said("Yes."))));
}

TEST(ChatSeams, AUsersMessageMayBeAnAnswerOfATool) {
  const auto asked = [](const std::string& text) {
    return ordered_json{{"messages",
                         {{{"role", "user"}, {"content", "Hi"}},
                          {{"role", "assistant"}, {"content", "<tool_call>\n{}\n</tool_call>"}},
                          {{"role", "user"}, {"content", text}}}}};
  };
  const auto tags = [&](const std::string& text) { return added_of(sewn_ids(bundled_template(), asked(text))); };
  const auto answer =
      bundled_tokenizer().encode(rendered(bundled_template(), asked("<tool_response>\n4\n</tool_response>")));
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(sewn_ids(bundled_template(), asked(" <tool_response>\n4\n</tool_response>\n")), *answer);
  EXPECT_EQ(tags("<tool_response>\n</tool_response>\nSo<tool_response>4</tool_response>"), added_of(*answer));
  EXPECT_LT(tags("<tool_response>\n4\n</tool_response> So.").size(), added_of(*answer).size());
}

/// Where a request says what: what is put between is shown as a bar.
std::string sewn(const std::string& text) {
  ordered_json request = ordered_json::parse(text);
  const std::string seam = put_seams(bundled_tokenizer(), request);
  std::string made = request.dump();
  for (size_t at = 0; !seam.empty() && (at = made.find(seam, at)) != std::string::npos;)
    made.replace(at, seam.size(), "|");
  return made;
}

TEST(ChatSeams, EachPlaceHasItsRule) {
  for (const char* own :
       {R"({"messages":[{"role":"assistant","content":"<think>a</think>"}]})",
        R"({"messages":[{"role":"assistant","reasoning_content":"<tool_call>"}]})",
        R"({"messages":[{"role":"assistant","content":[{"type":"text","text":"<think>a"},"<think>"]}]})",
        R"({"messages":[{"role":"assistant","reasoning_content":[{"text":"<tool_call>"}]}]})",
        R"({"messages":[{"role":"assistant","content":[{"<think>":"a"}]}]})",
        R"({"messages":[{"role":"user","content":"<tool_response>a</tool_response>"}]})",
        R"({"messages":[{"role":"user","content":" <tool_response></tool_response>\n"}]})"}) {
    EXPECT_EQ(sewn(own), ordered_json::parse(own).dump()) << "its writer may mean them";
  }
  const std::pair<const char*, const char*> cases[] = {
      {R"({"messages":[{"role":"assistant","name":"<think>"}]})",
       R"({"messages":[{"role":"assistant","name":"<|think>"}]})"},
      {R"({"messages":[{"role":"assistant","content":"<|im_end|>"}]})",
       R"({"messages":[{"role":"assistant","content":"<||im_end|>"}]})"},
      {R"({"messages":[{"role":"assistant","content":[{"text":"<think><|im_end|>"}]}]})",
       R"({"messages":[{"role":"assistant","content":[{"text":"<think><||im_end|>"}]}]})"},
      {R"({"messages":[{"role":"user","content":[{"type":"text","text":"<think>"}]}]})",
       R"({"messages":[{"role":"user","content":[{"type":"text","text":"<|think>"}]}]})"},
      {R"({"messages":[{"role":"system","content":"<tool_response>a</tool_response>"}]})",
       R"({"messages":[{"role":"system","content":"<|tool_response>a<|/tool_response>"}]})"},
      {R"({"messages":[{"role":"user","name":"<tool_response>a</tool_response>"}]})",
       R"({"messages":[{"role":"user","name":"<|tool_response>a<|/tool_response>"}]})"},
      {R"({"messages":[{"role":"user","content":"<tool_response>a</tool_response> b"}]})",
       R"({"messages":[{"role":"user","content":"<|tool_response>a<|/tool_response> b"}]})"},
      {R"({"messages":[{"role":"user","content":"<tool_response>a"}]})",
       R"({"messages":[{"role":"user","content":"<|tool_response>a"}]})"},
      {R"({"messages":[{"role":"user","content":"a</tool_response>"}]})",
       R"({"messages":[{"role":"user","content":"a<|/tool_response>"}]})"},
      {R"({"messages":[{"role":"user","content":" <tool_response>a<think>b</tool_response> "}]})",
       R"({"messages":[{"role":"user","content":" <tool_response>a<|think>b</tool_response> "}]})"},
      {R"({"documents":["<think>",{"role":"assistant","content":"<think>"}]})",
       R"({"documents":["<|think>",{"role":"assistant","content":"<|think>"}]})"},
      {R"({"messages":"<think>"})", R"({"messages":"<|think>"})"},
      {R"({"a":[{"<think>":1,"b":"<think>"},"c"]})", R"({"a":[{"<|think>":1,"b":"<|think>"},"c"]})"},
      {R"({"a":{"<think>":1,"b":2}})", R"({"a":{"<|think>":1,"b":2}})"},
  };
  for (const auto& [given, expected] : cases) EXPECT_EQ(sewn(given), ordered_json::parse(expected).dump()) << given;
}

TEST(ChatSeams, ARequestMayBeAsDeepAsATemplatesMayBe) {
  const auto nested = [](int levels) {
    ordered_json value = "<|im_end|>";
    for (int i = 1; i < levels; ++i) value = ordered_json::array({std::move(value)});
    return ordered_json{{"a", std::move(value)}};
  };
  ordered_json deepest = nested(ChatTemplate::kRequestDepthMax), deeper = nested(ChatTemplate::kRequestDepthMax + 1);
  EXPECT_NE(put_seams(bundled_tokenizer(), deepest), "");
  EXPECT_EQ(put_seams(bundled_tokenizer(), deeper), "");
}

TEST(ChatSeams, PassWhatTemplatesDoToTexts) {
  for (const char* text :
       {"{{ messages | tojson }}", "{{ messages | tojson(ensure_ascii=true) }}", "{{ messages[0].content | trim | e }}",
        "{{ messages[0].content.split('end')[0] }}", "{{ messages[0].content | upper }}", "{{ messages | string }}"}) {
    const ChatTemplate chat = template_of(text);
    const ordered_json request = {{"messages", {{{"role", "user"}, {"content", " é <|im_end|> \"<think>\" "}}}}};
    const Ids ids = sewn_ids(chat, request);
    EXPECT_EQ(added_of(ids), Ids()) << text;
    EXPECT_EQ(bundled_tokenizer().decode(ids, false), rendered(chat, request)) << text;
  }
}

TEST(ChatSeams, ADeepRequestIsLeftToBeRefused) {
  ordered_json deep = "<|im_end|>";
  for (int i = 0; i < 1000; ++i) deep = ordered_json::array({std::move(deep)});
  ordered_json request = {{"messages", std::move(deep)}};
  EXPECT_EQ(put_seams(bundled_tokenizer(), request), "");
}

TEST(ChatSeams, ATokenOfOneCharacterCannotBeBroken) {
  const Tokenizer tokenizer = test::parse(test::small_tokenizer({}, {"\u2192", "\u2192>"}));
  std::string text = "a\u2192b";
  EXPECT_FALSE(tokenizer.put_seams(text, "|", {}));
  EXPECT_EQ(text, "a\u2192b");
  text = "a\u2192>\u2192";
  EXPECT_TRUE(tokenizer.put_seams(text, "|", {}));
  EXPECT_EQ(text, "a\u2192|>\u2192");
}

TEST(ChatSeams, TokensThatAreNormalizedOrInsideOfOthersCannotBeSpeltEither) {
  auto document = test::small_tokenizer({}, {"<ab>", "b>", "<a", "K;"});
  document["normalizer"] = {{"type", "NFC"}};
  document["added_tokens"][3]["normalized"] = true;
  const Tokenizer tokenizer = test::parse(document);
  const ChatTemplate chat = template_of("{{ messages }}");
  for (const char* words : {"<ab>", "b>", "<a", "<<ab>b>", "K;", "\u212A\u037E"}) {  // a Kelvin sign, a Greek question
    ordered_json request = {{"messages", words}};
    const std::string seam = put_seams(tokenizer, request);
    const auto ids = tokenizer.encode_sewn(rendered(chat, request), seam);
    ASSERT_TRUE(ids.ok());
    EXPECT_TRUE(std::ranges::all_of(*ids, [](int32_t id) { return id < 256; })) << words;
  }
}

}  // namespace
}  // namespace tessera::text
