#include <gmock/gmock.h>

#include <iterator>
#include <set>
#include <sstream>

#include "loadgen/prompts.h"

// Prompts of a set whose sections have one item each: all but their codes is known.
namespace tessera::loadgen {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

const std::string kCode = "[A-HJ-NP-Z2-9]{4}-[A-HJ-NP-Z2-9]{4}";

std::string sections(const std::string& chat = "Any question?", const std::string& paragraph = "alpha alpha alpha.") {
  return "Any head.\n\n== list fruit\npear, plum\n== list one\nonly\n\n== chat\n" + chat +
         "\n== code task\nMend it.\n== code part\nint f();\n== agent system\nBe brief.\n== agent tool\n"
         "{\"name\": \"look_up\"}\n--\n{\"name\": \"other\"}\n== agent task\nDo it.\n== agent call\n{\"a\": 1}\n"
         "== agent result\nbeta beta.\n== agent thought\nHm.\n== heading\nA part\n== paragraph\n" +
         paragraph + "\n== question\nAnd so?\n";
}

PromptSet set_of(const std::string& text) {
  auto set = PromptSet::parse(text);
  EXPECT_TRUE(set.ok()) << set.status().message();
  return *std::move(set);
}

Prompt of_kind(PromptKind kind, int64_t context = 0, double shared = 0, int64_t index = 0) {
  static const PromptSet set = set_of(sections());
  return set.make({.seed = 4, .kinds = {kind}, .context_tokens = context, .shared = shared}, index);
}

std::string content(const Prompt& prompt, size_t message) { return prompt.messages.at(message).at("content"); }

/// The first of so many words is part of a code, which is left out.
std::string without_codes(std::string text) {
  for (size_t at = 0; at + 9 <= text.size(); ++at) {
    const std::string part = text.substr(at, 9);
    if (::testing::Matches(MatchesRegex(kCode))(part)) text.replace(at, 9, "CODE");
  }
  return text;
}

/// Bytes of all that a model reads of it.
size_t bytes_of(const Prompt& prompt) {
  size_t bytes = prompt.tools.is_null() ? 0 : prompt.tools.dump().size();
  for (const Json& message : prompt.messages) {
    bytes += message["content"].get<std::string>().size();
    if (!message.contains("tool_calls")) continue;
    const Json& function = message["tool_calls"][0]["function"];
    bytes += function["name"].get<std::string>().size() + function["arguments"].get<std::string>().size();
  }
  return bytes;
}

TEST(PromptForms, ByThemselves) {
  EXPECT_EQ(without_codes(of_kind(PromptKind::chat).messages.dump()),
            R"([{"role":"user","content":"Reference CODE.\n\nAny question?"}])");
  EXPECT_EQ(without_codes(of_kind(PromptKind::code).messages.dump()),
            R"([{"role":"user","content":"Reference CODE.\n\n```\nint f();\n```\n\nMend it."}])");
  const std::string document = content(of_kind(PromptKind::document), 0);
  EXPECT_THAT(without_codes(document),
              StartsWith("Reference CODE.\n\n## A part (CODE)\n\nalpha alpha alpha.\n\nalpha"));
  EXPECT_TRUE(document.ends_with("alpha\n\nAnd so?") || document.ends_with("alpha.\n\nAnd so?") ||
              document.ends_with("alpha.\n\n\nAnd so?"))
      << document;
  EXPECT_NEAR(static_cast<double>(document.size()), 2400 + 30, 42);
}

TEST(PromptForms, Agents) {
  std::set<size_t> rounds;
  for (int64_t index = 0; index < 30; ++index) {
    const Prompt prompt = of_kind(PromptKind::agent, 0, 0, index);
    const std::string name = prompt.tools.at(0).at("function").at("name");
    EXPECT_THAT(name, MatchesRegex("n[A-HJ-NP-Z2-9]{4}_[A-HJ-NP-Z2-9]{4}_look_up")) << "no other letters are allowed";
    EXPECT_EQ(prompt.tools.at(1).at("function").at("name"), "other");
    EXPECT_EQ(without_codes(content(prompt, 0)), "Reference CODE. Be brief.");
    EXPECT_EQ(content(prompt, 1), "Do it.");
    rounds.insert((prompt.messages.size() - 2) / 2);
    std::set<std::string> ids;
    for (size_t m = 2; m < prompt.messages.size(); m += 2) {
      EXPECT_EQ(content(prompt, m), m == 2 ? "" : "Hm.") << "who has seen a result may think of it";
      EXPECT_EQ(content(prompt, m + 1), "beta beta.\nbeta beta.");
      const Json& call = prompt.messages[m]["tool_calls"][0];
      EXPECT_EQ(call["function"]["name"], name);
      EXPECT_EQ(prompt.messages[m + 1]["tool_call_id"], call["id"]);
      EXPECT_TRUE(ids.insert(call["id"]).second) << "an id twice";
    }
    EXPECT_EQ(prompt.bytes, bytes_of(prompt));
  }
  EXPECT_THAT(rounds, ElementsAre(1, 2, 3));
}

/// As many bytes as asked for, less what the last word takes that does not fit.
TEST(PromptForms, FillTheirLength) {
  for (const PromptKind kind : all_kinds()) {
    for (const int64_t context : {700, 1000, 1333, 2000, 8000}) {
      for (const double shared : {0.0, 0.25}) {
        const Prompt prompt = of_kind(kind, context, shared);
        const auto budget = static_cast<size_t>(4 * context);
        EXPECT_EQ(prompt.bytes, bytes_of(prompt));
        EXPECT_LE(prompt.bytes, budget) << kPromptKindNames[static_cast<size_t>(kind)] << ", " << context;
        EXPECT_GT(prompt.bytes + 24, budget) << kPromptKindNames[static_cast<size_t>(kind)] << ", " << context;
      }
    }
  }
}

TEST(PromptForms, TextsEndWithAWord) {
  for (int64_t context = 300; context < 320; ++context) {
    const Prompt chat = of_kind(PromptKind::chat, context);
    ASSERT_EQ(chat.messages.size(), 3U);
    EXPECT_EQ(content(chat, 2), "Any question?");
    std::string pasted = content(chat, 0);
    EXPECT_THAT(without_codes(pasted),
                StartsWith("Reference CODE.\n\nKeep these notes in mind.\n\nalpha alpha alpha."));
    while (pasted.ends_with('\n')) pasted.pop_back();
    EXPECT_TRUE(pasted.ends_with(" alpha") || pasted.ends_with(" alpha.") || pasted.ends_with("\nalpha")) << pasted;
  }
  // One long word is cut all the same.
  const PromptSet set = set_of(sections("Any question?", std::string(5000, 'x')));
  const Prompt cut = set.make({.kinds = {PromptKind::chat}, .context_tokens = 500}, 0);
  EXPECT_EQ(cut.bytes, 2000U);
}

TEST(PromptForms, DocumentsHaveAHeadingForSixParagraphs) {
  std::string text = content(of_kind(PromptKind::document, 4000), 0);
  std::vector<size_t> headings;
  size_t block = 0;
  for (size_t at = 0; at != std::string::npos; ++block) {
    if (text.compare(at, 3, "## ") == 0) headings.push_back(block);
    at = text.find("\n\n", at);
    if (at != std::string::npos) at += 2;
  }
  ASSERT_GT(headings.size(), 10U);
  for (size_t i = 0; i < headings.size(); ++i) EXPECT_EQ(headings[i], 1 + 7 * i);
}

TEST(PromptForms, WithASharedBeginningTheRestIsTheirOwn) {
  for (const PromptKind kind : all_kinds()) {
    SCOPED_TRACE(kPromptKindNames[static_cast<size_t>(kind)]);
    const Prompt first = of_kind(kind, 2000, 0.25, 0), second = of_kind(kind, 2000, 0.25, 1);
    EXPECT_EQ(first.tools, second.tools);
    EXPECT_EQ(first.messages[0], second.messages[0]);
    EXPECT_EQ(first.messages[0]["role"], "system");
    EXPECT_NEAR(static_cast<double>(content(first, 0).size()), 2000, 24);
    EXPECT_THAT(without_codes(content(first, 0)), HasSubstr("\n\n## A part (CODE)\n\nalpha"));
    EXPECT_THAT(without_codes(content(first, 1)), StartsWith("Reference CODE.\n\n"));
    EXPECT_NE(content(first, 1).substr(0, 20), content(second, 1).substr(0, 20));
    // A share that is less than what every prompt begins with adds nothing.
    EXPECT_LT(content(of_kind(kind, 2000, 1e-9), 0).size(), 40U);
  }
}

TEST(PromptForms, SlotsOfOneTextAreOneItem) {
  const PromptSet set =
      set_of(sections("@fruit@ @fruit@ @fruit2@ @fruit2@ @one@ @one2@ @n@ @m@ @k@ @id@ @n@ @k@ @id@ end"));
  std::set<std::string> fruits, numbers;
  for (int64_t index = 0; index < 40; ++index) {
    const Prompt prompt = set.make({.kinds = {PromptKind::chat}}, index);
    std::istringstream words(content(prompt, 0).substr(22));
    const std::vector<std::string> w(std::istream_iterator<std::string>(words), {});
    ASSERT_EQ(w.size(), 14U);
    EXPECT_EQ(w[0], w[1]);
    EXPECT_EQ(w[2], w[3]);
    EXPECT_NE(w[0], w[2]) << "another one of the list";
    EXPECT_EQ(w[4], "only");
    EXPECT_EQ(w[5], "only") << "where there is no other";
    EXPECT_THAT(std::stoi(w[6]), ::testing::AllOf(::testing::Ge(12), ::testing::Lt(92)));
    EXPECT_THAT(std::stoi(w[7]), ::testing::AllOf(::testing::Ge(120), ::testing::Lt(920)));
    EXPECT_THAT(std::stoi(w[8]), ::testing::AllOf(::testing::Ge(2), ::testing::Lt(10)));
    EXPECT_THAT(w[9], MatchesRegex(kCode));
    EXPECT_EQ(w[10], w[6]);
    EXPECT_EQ(w[12], w[9]);
    fruits.insert(w[0]);
    numbers.insert(w[6]);
  }
  EXPECT_THAT(fruits, ElementsAre("pear", "plum"));
  EXPECT_GT(numbers.size(), 10U);
}

TEST(PromptForms, FaultsOfASetAreNamed) {
  const auto fault = [](const std::string& text) { return PromptSet::parse(text).status().message(); };
  EXPECT_EQ(fault(sections("@fruit2@ of @id@")), "");
  EXPECT_THAT(fault(sections("an @open slot")), HasSubstr("\"== chat\" has @open slot@, which has no list"));
  EXPECT_THAT(fault(sections("at @n@ and @id")), HasSubstr("has @id@")) << "a known slot that is not closed";
  EXPECT_THAT(fault(sections("@none@")), HasSubstr("@none@"));
  EXPECT_THAT(fault(sections("@pear@")), HasSubstr("@pear@"));
  EXPECT_THAT(fault(sections("one\n--\n\n--\ntwo")), HasSubstr("\"== chat\" has an empty item"));
  EXPECT_EQ(fault(sections("one\n--\ntwo, and more")), "");
}

}  // namespace
}  // namespace tessera::loadgen
