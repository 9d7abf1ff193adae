#include "engine/choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>
#include <vector>

#include "text/tokenizer_files.h"

// What a request asks of its draws, behind any tokens and any drafts, against a model that knows sets of ids alone.
namespace tessera::engine {
namespace {

using testing::ElementsAre;
using testing::Pair;

constexpr int64_t kVocabSize = 300;
constexpr int32_t kStop = 101, kExcluded = 98;

/// The id of a byte is its value.
const text::Tokenizer& tokenizer() {
  static const text::Tokenizer made = text::test::parse(text::test::small_tokenizer());
  return made;
}

std::shared_ptr<OpenRequest> open(const Request& request, const std::vector<int32_t>& eos = {0, kStop}) {
  auto made = OpenRequest::create(
      request, {.tokenizer = &tokenizer(), .max_model_len = 1000, .vocab_size = kVocabSize, .eos_token_ids = eos});
  EXPECT_TRUE(made.ok()) << made.status().message();
  return *made;
}

/// What the tokens of an answer leave for the next one.
class Draws {
 public:
  explicit Draws(const Request& request) : request_(request) {}

  [[nodiscard]] std::set<int32_t> permitted(const std::vector<int32_t>& answer) const {
    const Guide& guide = request_.guide;
    GuideState state(guide, kVocabSize);
    for (const int32_t token : answer) state.advance(token);
    EXPECT_TRUE(state.prepare().ok());
    const auto end = std::ranges::find(answer, guide.thinking_end);
    const bool thinks = guide.thinking_end >= 0 && end == answer.end();
    const bool is_begun = !thinks || (guide.thinking_tokens_max >= 0 && ssize(answer) >= guide.thinking_tokens_max);
    const std::span<const uint32_t> mask = state.allowed();
    const bool is_settled = is_begun && !mask.empty() && state.settles();
    const bool goes_on = ssize(answer) < request_.sampling.min_tokens ||
                         (thinks && (!guide.beginnings.empty() || guide.grammar != nullptr));
    std::set<int32_t> ids;
    for (int32_t id = 0; id < kVocabSize; ++id) {
      bool may = mask.empty() || (mask[static_cast<size_t>(id) / 32] >> (id % 32) & 1U) != 0;
      if (mask.empty() && goes_on && (id == 0 || id == kStop)) may = false;
      if (mask.empty() && thinks && id == guide.thinking_excludes) may = false;
      if (!is_settled && !passes_filter(answer, id)) may = false;
      if (may) ids.insert(id);
    }
    return ids;
  }

 private:
  [[nodiscard]] bool passes_filter(const std::vector<int32_t>& answer, int32_t id) const {
    const auto& allowed = request_.sampling.allowed_token_ids;
    if (!allowed.empty() && std::ranges::find(allowed, id) == allowed.end()) return false;
    std::string text;
    for (const int32_t token : answer) text += static_cast<char>(token);
    text += static_cast<char>(id);
    return std::ranges::none_of(request_.sampling.bad_words,
                                [&](const std::string& word) { return id < 256 && text.ends_with(word); });
  }

  const Request& request_;
};

/// The same as the sampler reads it: a mask wins over banned tokens.
std::set<int32_t> permitted(const kernels::SampleRow& sample) {
  std::set<int32_t> ids;
  for (int32_t id = 0; id < kVocabSize; ++id) {
    const bool may = sample.allowed.empty() ? std::ranges::find(sample.banned, id) == sample.banned.end()
                                            : (sample.allowed[static_cast<size_t>(id) / 32] >> (id % 32) & 1U) != 0;
    if (may) ids.insert(id);
  }
  return ids;
}

/// Of up to nine letters from a to d, in which a stop token may follow any.
CompiledGrammar letters() {
  static guide::Compiler compiler([] {
    guide::Vocabulary vocabulary{.tokens = std::vector<std::string>(kVocabSize), .stop_ids = {0, kStop}};
    for (char c = 'a'; c <= 'd'; ++c) vocabulary.tokens[static_cast<size_t>(c)] = c;
    return vocabulary;
  });
  auto grammar = compiler.compile({.kind = GrammarSource::Kind::regex, .text = "[a-d]{0,9}"});
  EXPECT_TRUE(grammar.ok()) << grammar.status().message();
  return *grammar;
}

std::vector<Request> requests() {
  const std::vector<std::vector<int32_t>> beginnings = {{97, 98}, {97, 99, 100}};
  const std::vector<Guide> guides = {{},
                                     {.thinking_end = 100, .thinking_excludes = kExcluded},
                                     {.thinking_end = 100, .beginnings = beginnings},
                                     {.thinking_end = 100, .thinking_tokens_max = 3, .thinking_closer = {99, 100}},
                                     {.thinking_end = 100,
                                      .thinking_tokens_max = 2,
                                      .thinking_closer = {99, 100},
                                      .thinking_excludes = kExcluded,
                                      .beginnings = beginnings},
                                     {.grammar = letters()},
                                     {.thinking_end = 100, .beginnings = {{99}}, .grammar = letters()}};
  std::vector<Request> all;
  for (const Guide& guide : guides) {
    for (const bool filtered : {false, true}) {
      for (const bool masked : {false, true}) {
        for (const int64_t min_tokens : {0, 4}) {
          Request& request = all.emplace_back(Request{.prompt = {99, 97, 98}, .guide = guide});
          request.sampling.seed = 5;
          request.sampling.min_tokens = min_tokens;
          request.sampling.n = 2;
          request.sampling.max_tokens = 50;
          if (filtered) request.sampling.bad_words = {"aa", "abc", "cd", "dab"};
          if (masked) request.sampling.allowed_token_ids = {0, 97, 98, 99, 100, kStop, 299};
        }
      }
    }
  }
  return all;
}

TEST(Choice, ADrawIsOfWhatTheGuideTheFilterAndTheStopTokensLeave) {
  std::mt19937 random(1);
  const auto any = [&] { return 97 + static_cast<int32_t>(random() % 4); };
  for (const Request& request : requests()) {
    const Draws model(request);
    for (int repeat = 0; repeat < 20; ++repeat) {
      const auto opened = open(request);
      const int index = static_cast<int>(random() % 2);
      const auto choice = std::make_shared<Choice>(opened, index, kVocabSize);
      const auto noise = [&](const kernels::SampleRow& sample, int64_t position) {
        EXPECT_EQ(sample.noise.key, opened->noise_key);
        EXPECT_EQ(sample.noise.choice, static_cast<uint32_t>(index));
        EXPECT_EQ(sample.noise.position, static_cast<uint64_t>(position));
      };
      for (int turn = 0; turn < 8; ++turn) {
        // Of drafts, those up to the first that the guide does not allow are drawn behind.
        std::vector<int32_t> drafts;
        for (size_t count = random() % 4; drafts.size() < count;) drafts.push_back(any());
        choice->drafts = drafts;
        ASSERT_TRUE(choice->prepare_guide().ok());
        ASSERT_LE(choice->drafts.size(), drafts.size());
        std::vector<int32_t> answer = choice->output;
        for (size_t draft = 0;; ++draft) {
          const auto position = choice->size() + static_cast<int64_t>(draft);
          const kernels::SampleRow sample = choice->draw_of(position, static_cast<int32_t>(draft));
          ASSERT_EQ(permitted(sample), model.permitted(answer));
          noise(sample, position);
          if (draft == choice->drafts.size()) break;
          EXPECT_EQ(choice->drafts[draft], drafts[draft]);
          answer.push_back(drafts[draft]);
        }
        if (choice->drafts.size() < drafts.size()) {
          GuideState state(request.guide, kVocabSize);
          for (const int32_t token : answer) state.advance(token);
          EXPECT_TRUE(state.prepare().ok());
          const auto next = static_cast<size_t>(drafts[choice->drafts.size()]);
          ASSERT_FALSE(state.allowed().empty());
          EXPECT_EQ(state.allowed()[next / 32] >> (next % 32) & 1U, 0U) << "it was dropped for nothing";
        }
        // Where no token is needed, the draw behind the next one is known.
        choice->drafts.clear();
        choice->row_guides.clear();
        choice->update_needs(/*drafts_made=*/false);
        std::vector<int32_t> possible;
        for (const int32_t id : model.permitted(choice->output)) possible.push_back(id);
        ASSERT_FALSE(possible.empty());
        int32_t token = any();
        if (std::ranges::find(possible, token) == possible.end()) token = possible[random() % possible.size()];
        std::vector<int32_t> then = choice->output;
        then.push_back(token);
        if (!choice->needs_token) {
          const kernels::SampleRow ahead = choice->draw_of(choice->size() + 1, 0);
          ASSERT_EQ(permitted(ahead), model.permitted(then));
          noise(ahead, choice->size() + 1);
        }
        choice->output.push_back(token);
        choice->guide.advance(token);
      }
    }
  }
}

TEST(Choice, FollowsDraftsWhileSomethingDependsOnTokens) {
  const auto follows = [](const Request& request, const std::vector<int32_t>& answer) {
    Choice choice(open(request), 0, kVocabSize);
    for (const int32_t token : answer) choice.guide.advance(token);
    return choice.follows_drafts();
  };
  Request request{.prompt = {1}};
  EXPECT_FALSE(follows(request, {}));
  request.guide = {.thinking_end = 100, .beginnings = {{97}}};
  EXPECT_TRUE(follows(request, {}));
  EXPECT_TRUE(follows(request, {1, 100}));
  EXPECT_FALSE(follows(request, {1, 100, 97}));
  request.guide = {};
  request.sampling.bad_words = {"ab"};
  EXPECT_TRUE(follows(request, {}));
  request.sampling.bad_words = {};
  request.sampling.frequency_penalty = 0.5F;
  EXPECT_TRUE(follows(request, {}));
}

TEST(OpenRequest, HasWhatTheSamplerTakes) {
  Request request{.prompt = {1, 2, 3}, .cache_salt = "salt", .likely_ends = {2}};
  request.sampling.temperature = 0.25F;
  request.sampling.top_k = 7;
  request.sampling.top_p = 0.5F;
  request.sampling.min_p = 0.125F;
  request.sampling.repetition_penalty = 1.5F;
  request.sampling.presence_penalty = 0.75F;
  request.sampling.frequency_penalty = -0.5F;
  request.sampling.logit_bias = {{9, 1}, {3, 2}, {9, -4}, {1, 5}};
  request.sampling.logprobs = 4;
  request.sampling.prompt_logprobs = 2;
  request.sampling.stop_token_ids = {50, 9, 50};
  request.sampling.max_tokens = 5000;
  const auto opened = open(request, {kStop, 9, 0});
  EXPECT_EQ(opened->sample.temperature, 0.25F);
  EXPECT_EQ(opened->sample.top_k, 7);
  EXPECT_EQ(opened->sample.top_p, 0.5F);
  EXPECT_EQ(opened->sample.min_p, 0.125F);
  EXPECT_EQ(opened->sample.repetition_penalty, 1.5F);
  EXPECT_EQ(opened->sample.presence_penalty, 0.75F);
  EXPECT_EQ(opened->sample.frequency_penalty, -0.5F);
  EXPECT_THAT(opened->sample.logit_bias, ElementsAre(Pair(1, 5), Pair(3, 2), Pair(9, 1), Pair(9, -4)));
  EXPECT_EQ(opened->sample.logprobs, 4);
  // Of a prompt the log-probabilities are the model's own.
  EXPECT_EQ(opened->prompt_sample.logprobs, 2);
  EXPECT_EQ(opened->prompt_sample.temperature, kernels::SampleParams().temperature);
  EXPECT_TRUE(opened->prompt_sample.logit_bias.empty() && !opened->prompt_sample.has_penalty());
  EXPECT_THAT(opened->stop_ids(), ElementsAre(0, 9, 50, kStop));
  EXPECT_TRUE(opened->is_end_of_turn(9));
  EXPECT_FALSE(opened->is_end_of_turn(50));
  EXPECT_EQ(opened->max_tokens, 997) << "what the context leaves";
  request.sampling.max_tokens = -1;
  EXPECT_EQ(open(request)->max_tokens, 997);
  request.sampling.max_tokens = 12;
  request.sampling.ignore_eos = true;
  const auto ignoring = open(request);
  EXPECT_EQ(ignoring->max_tokens, 12);
  EXPECT_THAT(ignoring->stop_ids(), ElementsAre(9, 50));
  EXPECT_FALSE(ignoring->is_end_of_turn(kStop));
  const Choice choice(ignoring, 0, kVocabSize);
  EXPECT_EQ(choice.tokens_max, 15);
  EXPECT_EQ(choice.cache_salt, "salt");
  EXPECT_THAT(choice.likely_ends, ElementsAre(2));
}

/// Text of an answer whose tokens are the bytes of `bytes`, and the stop string that ended it.
std::pair<std::string, std::string> text_of(const std::string& bytes, const SamplingParams& params,
                                            const std::optional<StopScope>& scope, int64_t min_tokens = 0) {
  auto text = ChoiceText::create(&tokenizer(), params, scope);
  EXPECT_TRUE(text.ok()) << text.status().message();
  std::string shown;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const auto token = static_cast<int32_t>(static_cast<unsigned char>(bytes[i]));
    const auto stop = text->feed(token, static_cast<int64_t>(i) >= min_tokens, shown);
    if (stop) return {shown, *stop};
  }
  const auto stop = text->flush(static_cast<int64_t>(bytes.size()) > min_tokens, shown);
  return {shown, stop.value_or("")};
}

TEST(ChoiceText, ControlTokensAreShownWhereTheyAreNotSkipped) {
  const text::Tokenizer& bundled = text::test::bundled_tokenizer();
  for (const bool skips : {true, false}) {
    SamplingParams params;
    params.skip_special_tokens = skips;
    auto text = ChoiceText::create(&bundled, params, {});
    ASSERT_TRUE(text.ok());
    std::string shown;
    text->feed(*bundled.id_of("<|im_end|>"), true, shown);
    EXPECT_EQ(text->flush(true, shown), std::nullopt);
    EXPECT_EQ(shown, skips ? "" : "<|im_end|>");
  }
}

/// What looked like a call's beginning is text of the answer once nothing follows.
TEST(ChoiceText, AStopStringMayBeCompleteOnlyAtTheEnd) {
  SamplingParams params;
  params.stop = {"a<"};
  const StopScope scope{.opens_thinking = false, .tools = {"f"}};
  EXPECT_THAT(text_of("xa<tool_c", params, scope), Pair("x", "a<"));
  EXPECT_THAT(text_of("xa<tool_c", params, scope, /*min_tokens=*/9), Pair("xa<tool_c", ""));
  params.include_stop_str_in_output = true;
  EXPECT_THAT(text_of("xa<tool_c", params, scope), Pair("xa<", "a<"));
}

/// Wherever an answer ends, in a mark or in what may become a stop string.
TEST(ChoiceText, WithoutAStopStringAllOfItIsShown) {
  SamplingParams params;
  params.stop = {"ab", "\n\nz"};
  const std::string call = "<tool_call>\n<function=f>\n<parameter=x>\n1a\n</parameter>\n</function>\n</tool_call>";
  const std::string all = "xa</think>\n\nya" + call + "\n\n" + call + "a\n\n";
  for (const bool opens_thinking : {false, true}) {
    for (size_t size = 0; size <= all.size(); ++size) {
      const std::string text = (opens_thinking ? all : all.substr(12)).substr(0, size);
      const StopScope scope{.opens_thinking = opens_thinking, .tools = {"f"}};
      EXPECT_THAT(text_of(text, params, scope), Pair(text, ""));
    }
  }
}

TEST(ChoiceText, StopStringsEndItWhereTheyAreLookedFor) {
  SamplingParams params;
  params.stop = {"zz", "ab"};
  EXPECT_THAT(text_of("xya", params, {}), Pair("xya", "")) << "what was held back is shown at the end";
  EXPECT_THAT(text_of("xyab", params, {}), Pair("xy", "ab"));
  EXPECT_THAT(text_of("xyabab", params, {}, 3), Pair("xyab", "ab")) << "what begins before may not end it";
  const StopScope answer{}, thinking{.opens_thinking = true}, calls{.tools = {"f"}};
  EXPECT_THAT(text_of("xyabz", params, answer), Pair("xy", "ab"));
  EXPECT_THAT(text_of("xya", params, answer), Pair("xya", ""));
  EXPECT_THAT(text_of("xaby", params, thinking), Pair("xaby", ""));
  EXPECT_THAT(text_of("xab</think>yab", params, thinking), Pair("xab</think>y", "ab"));
  EXPECT_THAT(text_of("xab</think>ya", params, thinking), Pair("xab</think>ya", ""));
  EXPECT_THAT(text_of("xab</thi", params, thinking), Pair("xab</thi", "")) << "it might have been the end";
  EXPECT_THAT(text_of("ya<tool_call>b", params, calls), Pair("ya<tool_call>b", ""))
      << "it does not reach into another stretch";
  EXPECT_THAT(text_of("y<tool_ca", params, calls), Pair("y<tool_ca", ""));
  const std::string call = "y<tool_call>\n<function=f>\n<parameter=x>\n";
  EXPECT_THAT(text_of(call + "ab\n", params, calls), Pair(call + "ab\n", ""));
  EXPECT_THAT(text_of(call + "ab\n", params, answer), Pair(call, "ab")) << "there are no tools";
  const std::string replacement = "\xEF\xBF\xBD";
  EXPECT_THAT(text_of("xya\xC3", params, {}), Pair("xya" + replacement, "")) << "half of a letter";
  EXPECT_THAT(text_of("xya\xC3", params, answer), Pair("xya" + replacement, ""));
  params.include_stop_str_in_output = true;
  EXPECT_THAT(text_of("xyabz", params, {}), Pair("xyab", "ab"));
  EXPECT_THAT(text_of("xab</think>yabz", params, thinking), Pair("xab</think>yab", "ab"));
}

}  // namespace
}  // namespace tessera::engine
