#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "engine/choice_text.h"
#include "engine/event_channel.h"
#include "engine/guide_state.h"
#include "engine/sequence.h"
#include "engine/token_filter.h"
#include "kernels/sample.h"
#include "tessera/engine.h"
#include "text/tokenizer.h"

namespace tessera::engine {

/// A request from submit() to the last event of its last choice.
struct OpenRequest {
  /// What it is read against.
  struct Limits {
    const text::Tokenizer* tokenizer = nullptr;  // null: token ids only
    int64_t max_model_len = 0;
    int64_t vocab_size = 0;
    const std::vector<int32_t>& eos_token_ids;
  };
  static Expected<std::shared_ptr<OpenRequest>> create(Request request, const Limits& limits);

  std::shared_ptr<const std::vector<int32_t>> prompt;
  SamplingParams params;
  kernels::SampleParams sample;         // the same, as the sampler takes them
  kernels::SampleParams prompt_sample;  // for log-probabilities of the prompt
  Guide guide;
  TokenFilter filter;
  int64_t max_tokens = 0;  // resolved: what was asked for, or what the context leaves
  uint64_t noise_key = 0;
  std::vector<int32_t> bans;       // Guide::thinking_excludes, then the stop ids, sorted
  std::vector<int32_t> turn_ends;  // the model's own stop ids, unless they are ignored
  std::string cache_salt;
  std::vector<int64_t> likely_ends;
  std::vector<ChoiceText> texts;  // one for each choice, until it opens
  std::shared_ptr<EventChannel> channel;
  int open_choices = 0;

  [[nodiscard]] std::span<const int32_t> stop_ids() const { return std::span(bans).subspan(1); }
  [[nodiscard]] bool is_end_of_turn(int32_t token) const;
};

/// One answer of a request: what the scheduler sees of it, its text and its guide.
struct Choice : Sequence, std::enable_shared_from_this<Choice> {
  Choice(const std::shared_ptr<OpenRequest>& of_request, int number, int64_t vocab_size)
      : request(of_request),
        index(number),
        text(std::move(of_request->texts[static_cast<size_t>(number)])),
        guide(request->guide, vocab_size) {
    prompt = request->prompt;
    cache_salt = request->cache_salt;
    likely_ends = request->likely_ends;
    tokens_max = prompt_size() + request->max_tokens;
    update_needs(/*drafts_made=*/false);
    if (index == 0 && request->params.prompt_logprobs) {
      wants_prompt_logits = true;
      prompt_logprobs.resize(prompt->size());
    }
  }

  std::shared_ptr<OpenRequest> request;
  int index;
  ChoiceText text;
  GuideState guide;
  std::vector<std::vector<TokenLogprob>> prompt_logprobs;
  std::chrono::steady_clock::time_point scheduled = {};
  int64_t cached_tokens = 0, matched_tokens = 0, tier_tokens = 0;
  DraftStats draft_stats;
  /// What the guide says of each row of the next step, where there are drafts and it follows them.
  struct RowGuide {
    std::vector<uint32_t> allowed;
    bool excludes = false, must_go_on = false, settles = false;
  };
  std::vector<RowGuide> row_guides;
  std::vector<int32_t> made_drafts;  // the newest; of `drafts`, those that are model::draft_token() stand for them
  bool finished = false;             // what steps under way still bring for it is dropped

  /// What its next draws are drawn from depends on what its drafts are.
  [[nodiscard]] bool follows_drafts() const {
    return !guide.settled() || !request->filter.empty() || request->sample.has_penalty();
  }
  /// The guide's word on the next row and on those of drafts, which end before one that it does not allow.
  Status prepare_guide();
  void update_needs(bool drafts_made) {
    needs_token = guide.needs_token() || request->filter.needs_token(output);
    needs_host = drafts_made;
  }
  /// The draw of the token at `position`, behind so many drafts. It may be one behind tokens under way: all it needs of
  /// them is their number. Its lists are valid until the next step is built.
  [[nodiscard]] kernels::SampleRow draw_of(int64_t position, int32_t draft);

 private:
  /// What the guide says of a row behind so many drafts.
  struct GuideWord {
    std::span<const uint32_t> allowed;
    bool excludes, must_go_on, settles;
  };
  [[nodiscard]] GuideWord guide_word(int32_t draft) const;
  void filter_draw(int64_t position, int32_t draft, kernels::SampleRow& sample);

  /// What the request's filter leaves of a draw, behind so many drafts.
  struct FilteredDraw {
    std::vector<uint32_t> allowed;
    std::vector<int32_t> banned;
  };
  std::vector<FilteredDraw> filtered_;
};

}  // namespace tessera::engine
