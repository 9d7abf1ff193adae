#include "engine/choice.h"

#include <algorithm>
#include <random>

#include "kernels/noise.h"

namespace tessera::engine {
namespace {

uint64_t random_seed() {
  std::random_device device;
  return (uint64_t{device()} << 32) | device();
}

/// Biases are sorted by id, addends of one id in the order given, so that no step has to.
kernels::SampleParams sample_params(const SamplingParams& params) {
  kernels::SampleParams sample = {.temperature = params.temperature,
                                  .top_k = params.top_k,
                                  .top_p = params.top_p,
                                  .min_p = params.min_p,
                                  .repetition_penalty = params.repetition_penalty,
                                  .presence_penalty = params.presence_penalty,
                                  .frequency_penalty = params.frequency_penalty,
                                  .logit_bias = params.logit_bias,
                                  .logprobs = params.logprobs};
  std::stable_sort(sample.logit_bias.begin(), sample.logit_bias.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  return sample;
}

std::vector<int32_t> sorted_stop_ids(const SamplingParams& params, const std::vector<int32_t>& eos) {
  std::vector<int32_t> ids = params.stop_token_ids;
  if (!params.ignore_eos) ids.insert(ids.end(), eos.begin(), eos.end());
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

}  // namespace

Expected<std::shared_ptr<OpenRequest>> OpenRequest::create(Request request, const Limits& limits) {
  SamplingParams& params = request.sampling;
  auto open = std::make_shared<OpenRequest>();
  const auto prompt_size = static_cast<int64_t>(request.prompt.size());
  const int64_t room = limits.max_model_len - prompt_size;
  open->max_tokens = params.max_tokens < 0 ? room : std::min(params.max_tokens, room);
  std::vector<std::vector<int32_t>> bad_words;
  if (!params.bad_words.empty()) {
    TESSERA_ASSIGN_OR_RETURN(bad_words, bad_word_tokens(params.bad_words, *limits.tokenizer));
  }
  open->filter = TokenFilter(params.allowed_token_ids, std::move(bad_words), limits.vocab_size);
  std::vector<int32_t>().swap(params.allowed_token_ids);  // the filter has them
  open->noise_key = kernels::noise_key(params.seed ? *params.seed : random_seed(), request.prompt);
  open->bans = sorted_stop_ids(params, limits.eos_token_ids);
  open->bans.insert(open->bans.begin(), request.guide.thinking_excludes);
  for (int i = 0; i < params.n; ++i) {
    TESSERA_ASSIGN_OR_RETURN(ChoiceText text, ChoiceText::create(limits.tokenizer, params, request.stop_scope));
    open->texts.push_back(std::move(text));
  }
  if (!params.ignore_eos) open->turn_ends = limits.eos_token_ids;
  open->channel = std::make_shared<EventChannel>(params.n);
  open->open_choices = params.n;
  open->prompt = std::make_shared<const std::vector<int32_t>>(std::move(request.prompt));
  open->sample = sample_params(params);
  open->prompt_sample.logprobs = params.prompt_logprobs;
  open->params = std::move(params);
  open->guide = std::move(request.guide);
  open->cache_salt = std::move(request.cache_salt);
  open->likely_ends = std::move(request.likely_ends);
  return open;
}

bool OpenRequest::is_end_of_turn(int32_t token) const {
  return std::find(turn_ends.begin(), turn_ends.end(), token) != turn_ends.end();
}

Status Choice::prepare_guide() {
  row_guides.clear();
  TESSERA_RETURN_IF_ERROR(guide.prepare());
  if (drafts.empty() || guide.settled()) return {};
  int64_t followed = 0;
  for (;;) {
    const std::span<const uint32_t> allowed = guide.allowed();
    row_guides.push_back({{allowed.begin(), allowed.end()}, guide.excludes(), guide.must_go_on(), guide.settles()});
    if (followed == static_cast<int64_t>(drafts.size())) break;
    const int32_t draft = drafts[static_cast<size_t>(followed)];
    if (!allowed.empty() && (allowed[static_cast<size_t>(draft) / 32] >> (draft % 32) & 1) == 0) break;
    guide.advance(draft);
    ++followed;
    TESSERA_RETURN_IF_ERROR(guide.prepare());
  }
  drafts.resize(static_cast<size_t>(followed));
  guide.rollback(followed);
  return {};
}

Choice::GuideWord Choice::guide_word(int32_t draft) const {
  if (row_guides.empty()) return {guide.allowed(), guide.excludes(), guide.must_go_on(), guide.settles()};
  const RowGuide& row = row_guides[static_cast<size_t>(draft)];
  return {row.allowed, row.excludes, row.must_go_on, row.settles};
}

kernels::SampleRow Choice::draw_of(int64_t position, int32_t draft) {
  const GuideWord word = guide_word(draft);
  kernels::SampleRow sample{.params = &request->sample,
                            .allowed = word.allowed,
                            .noise = {.key = request->noise_key,
                                      .choice = static_cast<uint32_t>(index),
                                      .position = static_cast<uint64_t>(position)}};
  const bool goes_on = position - prompt_size() < request->params.min_tokens || word.must_go_on;
  const size_t first = word.excludes ? 0 : 1, end = goes_on ? request->bans.size() : 1;
  sample.banned = std::span(request->bans).subspan(first, end - first);
  if (!request->filter.empty() && !word.settles) filter_draw(position, draft, sample);
  return sample;
}

/// A mask wins over banned tokens in the sampler: where there is one, it is to say all. What a grammar allows stands as
/// it does without a filter, stop tokens of a whole answer included; of the filter's own mask the bans are taken.
void Choice::filter_draw(int64_t position, int32_t draft, kernels::SampleRow& sample) {
  const TokenFilter& filter = request->filter;
  if (static_cast<size_t>(draft) >= filtered_.size()) filtered_.resize(static_cast<size_t>(draft) + 1);
  FilteredDraw& own = filtered_[static_cast<size_t>(draft)];
  own.banned.clear();
  if (sample.allowed.empty()) own.banned.assign(sample.banned.begin(), sample.banned.end());
  if (position <= size() + draft) {
    std::vector<int32_t> newest;
    const int64_t first = std::max(prompt_size(), position - static_cast<int64_t>(filter.reach()));
    for (int64_t at = first; at < position; ++at) newest.push_back(token(at));
    filter.append_banned(newest, own.banned);
  } else {
    filter.append_banned_alone(own.banned);
  }
  sample.banned = own.banned;
  if (sample.allowed.empty() && filter.allowed().empty()) return;
  const std::span<const uint32_t> mask = sample.allowed.empty() ? filter.allowed() : sample.allowed;
  own.allowed.assign(mask.begin(), mask.end());
  if (!sample.allowed.empty() && !filter.allowed().empty()) {
    for (size_t i = 0; i < own.allowed.size(); ++i) own.allowed[i] &= filter.allowed()[i];
  }
  for (const int32_t id : own.banned) {
    if (id >= 0) own.allowed[static_cast<size_t>(id) / 32] &= ~(uint32_t{1} << (id % 32));
  }
  sample.allowed = own.allowed;
}

}  // namespace tessera::engine
