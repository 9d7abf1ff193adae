#include "loadgen/prompts.h"

#include <gmock/gmock.h>

#include <set>

#include "loadgen/embedded.h"

namespace tessera::loadgen {
namespace {

using ::testing::HasSubstr;

/// The text that a template would put first: tools, then messages.
std::string text_of(const Prompt& prompt) {
  return (prompt.tools.is_null() ? "" : prompt.tools.dump()) + prompt.messages.dump();
}

size_t common(const std::string& a, const std::string& b) {
  size_t size = 0;
  while (size < std::min(a.size(), b.size()) && a[size] == b[size]) ++size;
  return size;
}

TEST(Prompts, TheBuiltInSetIsWhole) {
  const auto parsed = PromptSet::parse(prompts_text());
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
}

TEST(Prompts, FaultsOfASetAreTold) {
  const auto fault = [](const std::string& from, const std::string& to) {
    std::string text(prompts_text());
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return PromptSet::parse(text.replace(at, from.size(), to)).status().message();
  };
  EXPECT_THAT(fault("== question", "== quest"), HasSubstr("question"));
  EXPECT_THAT(fault("@thing@ in a", "@thong@ in a"), HasSubstr("@thong@"));
  EXPECT_THAT(fault("{\"name\": \"run_tests\"", "{\"name\" \"run_tests\""), HasSubstr("no JSON"));
}

TEST(Prompts, AreAFunctionOfSeedAndIndex) {
  const PromptSet set = PromptSet::built_in();
  for (const int64_t context : {0, 2000}) {
    PromptPlan plan{.seed = 5, .context_tokens = context};
    PromptPlan other = plan;
    other.seed = 6;
    for (int64_t i = 0; i < 20; ++i) {
      EXPECT_EQ(text_of(set.make(plan, i)), text_of(set.make(plan, i)));
      EXPECT_NE(text_of(set.make(plan, i)), text_of(set.make(other, i)));
    }
  }
}

/// No two begin alike, so that a prefix cache has nothing: what differs comes before a block of 16 tokens is full.
TEST(Prompts, NoTwoBeginAlike) {
  const PromptSet set = PromptSet::built_in();
  for (const int64_t context : {0, 3000}) {
    const PromptPlan plan{.seed = 1, .context_tokens = context};
    std::vector<std::string> texts;
    std::set<PromptKind> kinds;
    for (int64_t i = 0; i < 300; ++i) {
      const Prompt prompt = set.make(plan, i);
      kinds.insert(prompt.kind);
      texts.push_back(text_of(prompt));
    }
    EXPECT_EQ(kinds.size(), kPromptKinds);
    std::sort(texts.begin(), texts.end());
    const std::string head = R"([{"type":"function","function":{"name":"nXXXX)";  // the form's own, then the code
    for (size_t i = 1; i < texts.size(); ++i)
      EXPECT_LE(common(texts[i - 1], texts[i]), head.size() + 1) << texts[i].substr(0, 80);
  }
}

TEST(Prompts, SlotsAreFilled) {
  const PromptSet set = PromptSet::built_in();
  for (const int64_t context : {0, 4000}) {
    for (int64_t i = 0; i < 200; ++i) {
      const std::string text = text_of(set.make({.seed = 2, .context_tokens = context}, i));
      EXPECT_EQ(text.find('@'), std::string::npos) << text.substr(text.find('@') - 40, 80);
    }
  }
}

TEST(Prompts, AreAsLongAsAsked) {
  const PromptSet set = PromptSet::built_in();
  for (const int64_t context : {1000, 8000, 100000}) {
    const PromptPlan plan{.seed = 3, .context_tokens = context, .bytes_per_token = {4, 3, 2.5, 4.5}};
    for (int64_t i = 0; i < 12; ++i) {
      const Prompt prompt = set.make(plan, i);
      const double wanted = static_cast<double>(context) * plan.bytes_per_token[static_cast<size_t>(prompt.kind)];
      EXPECT_NEAR(static_cast<double>(prompt.bytes) / wanted, 1, context < 8000 ? 0.15 : 0.03)
          << kPromptKindNames[static_cast<size_t>(prompt.kind)];
    }
  }
}

TEST(Prompts, ConversationsAreInOrder) {
  const PromptSet set = PromptSet::built_in();
  for (int64_t i = 0; i < 50; ++i) {
    const Prompt prompt = set.make({.seed = 4, .kinds = {PromptKind::agent}, .context_tokens = i % 2 * 3000}, i);
    std::set<std::string> tools;
    for (const Json& tool : prompt.tools) tools.insert(tool["function"]["name"]);
    EXPECT_EQ(prompt.messages.front()["role"], "system");
    EXPECT_EQ(prompt.messages.back()["role"], "tool");
    for (size_t m = 2; m < prompt.messages.size(); m += 2) {
      const Json& call = prompt.messages[m]["tool_calls"][0];
      EXPECT_TRUE(tools.contains(call["function"]["name"]));
      EXPECT_TRUE(Json::accept(call["function"]["arguments"].get<std::string>()));
      EXPECT_EQ(prompt.messages[m + 1]["tool_call_id"], call["id"]);
    }
  }
}

TEST(Prompts, SharedBeginningsAreSharedOnPurpose) {
  const PromptSet set = PromptSet::built_in();
  const PromptPlan plan{
      .seed = 1, .kinds = {PromptKind::chat, PromptKind::document}, .context_tokens = 2000, .shared = 0.5, .groups = 2};
  std::set<std::string> beginnings, wholes;
  for (int64_t i = 0; i < 40; ++i) {
    const Prompt prompt = set.make(plan, i);
    const std::string beginning = prompt.messages[0]["content"];
    EXPECT_NEAR(static_cast<double>(beginning.size()), 4000, 60);
    beginnings.insert(beginning);
    wholes.insert(text_of(prompt));
  }
  EXPECT_EQ(beginnings.size(), 2U);
  EXPECT_EQ(wholes.size(), 40U);
}

}  // namespace
}  // namespace tessera::loadgen
