#include "engine/prefix_cache.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <utility>

#include "base/check.h"
#include "engine/kv_file.h"
#include "kernels/batch.h"

namespace tessera::engine {
namespace {

using kernels::blocks_for;
using kernels::kBlockTokens;

constexpr double kLate = 1.25;            // times as late as it was the last time, a point is not awaited any more
constexpr double kReuseMemory = 1 / 16.;  // that the newest reuse takes
constexpr double kNoPattern = 0.3;        // of surprise: when something was used says nothing of when it will be
constexpr int64_t kSoon = 8;              // sequences that may begin before the one that something was read for

/// Blocks at `place`, which is PrefixNode::block or PrefixNode::page, that lead to this point and to no other.
int64_t blocks_alone(const PrefixNode& point, int32_t PrefixNode::*place) {
  if (!point.children.empty()) return 0;
  int64_t blocks = 0;
  for (const PrefixNode* at = &point; at->*place >= 0; at = at->parent) {
    if (at != &point && (at->resumes || at->children.size() > 1)) break;
    ++blocks;
  }
  return blocks;
}

/// Pages of the tier that would be free without what it has of the point.
int64_t pages_held(const PrefixNode& point) {
  return static_cast<int64_t>(point.state_pages.size()) + blocks_alone(point, &PrefixNode::page);
}

/// The tokens of the prompt's block behind `depth` others.
std::span<const int32_t> block_tokens(const Sequence& sequence, int64_t depth) {
  return std::span(*sequence.prompt).subspan(static_cast<size_t>(depth * kBlockTokens), kBlockTokens);
}

}  // namespace

PrefixCache::Match PrefixCache::find(const Sequence& sequence) {
  Match match;
  if (!enabled_ || sequence.wants_prompt_logits) return match;
  PrefixNode* node = tree_.find_root(sequence.cache_salt);
  const int64_t blocks = sequence.prompt_size() / kBlockTokens;
  while (node != nullptr) {
    match.block_tokens = node->depth * kBlockTokens;
    if (node->resumes && match.block_tokens < sequence.size()) {
      match.point = node;
      match.tokens = match.block_tokens;
      if (node->block >= 0 && node->state_pages.empty()) match.device_tokens = match.tokens;
    }
    node = node->depth < blocks ? tree_.find_child(*node, block_tokens(sequence, node->depth)) : nullptr;
  }
  return match;
}

int64_t PrefixCache::common_tokens(const Sequence& sequence, const Sequence& other) const {
  if (!enabled_ || sequence.wants_prompt_logits || sequence.cache_salt != other.cache_salt) return 0;
  if (sequence.prompt == other.prompt) return sequence.prompt_size();
  return std::ranges::mismatch(*sequence.prompt, *other.prompt).in1 - sequence.prompt->begin();
}

std::vector<int64_t> PrefixCache::points_of(const Sequence& sequence, const Match& match) const {
  if (!enabled_) return {};
  const auto whole_blocks = [](int64_t tokens) { return tokens / kBlockTokens * kBlockTokens; };
  std::vector<int64_t> points;
  int64_t last = match.tokens;
  const auto place = [&](int64_t point, int64_t distance) {
    if (point - last < distance) return;
    points.push_back(point);
    last = point;
  };
  int64_t end = whole_blocks(sequence.prompt_size() - 1);
  std::vector<int64_t> others;
  for (const int64_t likely : sequence.likely_ends) {
    if (likely > 0 && likely < sequence.prompt_size()) others.push_back(whole_blocks(likely));
  }
  std::ranges::sort(others);
  const bool begins = others.empty() || match.tokens <= others.front();  // a conversation, for all that is known
  // Another prompt that goes on where the guess says has other tokens behind it.
  if (!others.empty() && others.back() > end - kLeastPointTokens) end = others.back();
  std::erase_if(others, [&](int64_t point) { return point >= end; });
  others.insert(std::ranges::lower_bound(others, match.block_tokens), match.block_tokens);
  for (const int64_t point : others) place(point, kLeastPointTokens);
  if (begins && end - last >= kTextTokens) end -= kQuestionTokens;
  place(end, points.empty() ? kBlockTokens : kLeastPointTokens);
  return points;
}

void PrefixCache::begin(Sequence& sequence, const Match& match) {
  TESSERA_CHECK(sequence.standing == nullptr && sequence.blocks.empty());
  sequence.resumed = sequence.submitted = sequence.confirmed = sequence.point_tokens = match.tokens;
  sequence.matched = match.block_tokens;
  sequence.from_tier = match.tokens - match.device_tokens;
  if (!enabled_) return;
  if (sequence.reuse_after < 0) count(sequence, match.point);
  sequence.standing = match.point != nullptr ? match.point : &tree_.root(sequence.cache_salt);
  tree_.pin(*sequence.standing);
  if (match.point == nullptr) return;
  const PrefixNode* node = match.point;
  while (node->parent != nullptr && node->block < 0) node = node->parent;
  sequence.blocks.resize(static_cast<size_t>(node->depth));
  for (; node->parent != nullptr; node = node->parent) {
    sequence.blocks[static_cast<size_t>(node->depth - 1)] = node->block;
    blocks_.share(node->block);
  }
  sequence.restore_slot = match.point->slot;
  if (sequence.restore_slot >= 0) slots_.share(sequence.restore_slot);
  touch(*match.point);
}

/// One more that begins, the first time that it does.
void PrefixCache::count(Sequence& sequence, PrefixNode* point) {
  sequence.reuse_after = 0;
  if (sequence.ahead) {
    if (point != nullptr) sequence.reuse_after = point->reuse_after;
    return;
  }
  ++begun_;
  if (has_tier()) {
    if (const auto use = last_use(sequence, point)) {
      sequence.reuse_after = begun_ - use->last;
      const auto reuse = static_cast<double>(sequence.reuse_after), before = static_cast<double>(use->reuse_after);
      if (before > 0) surprise_ += (std::abs(reuse - before) / std::max(reuse, before) - surprise_) * kReuseMemory;
    }
  }
  if (point == nullptr) return;
  point->reuse_after = point->just_read ? sequence.reuse_after : begun_ - point->last_use;
  point->just_read = false;
  ++point->continuations;
}

/// Of the conversation: of the newest point of its prompt that is there or was. One that others went on from does not
/// count: how often a system prompt is used says nothing of a conversation.
std::optional<LostPoints::Use> PrefixCache::last_use(const Sequence& sequence, const PrefixNode* point) const {
  std::optional<LostPoints::Use> found;
  if (point != nullptr && point->just_read) {
    found = lost_.find(point->key);
  } else if (point != nullptr && point->continuations == 0) {
    found = {.last = point->last_use, .reuse_after = point->reuse_after};
  }
  if (lost_.empty()) return found;
  int64_t depth = point != nullptr ? point->depth : 0;
  uint64_t key = point != nullptr ? point->key : kv_root_key(sequence.cache_salt);
  for (; depth < sequence.prompt_size() / kBlockTokens; ++depth) {
    key = kv_next_key(key, block_tokens(sequence, depth));
    if (const auto lost = lost_.find(key); lost && !lost->shared) found = lost;
  }
  return found;
}

void PrefixCache::bring_in(Sequence& sequence) {
  if (sequence.standing == nullptr) return;
  PrefixNode& point = *sequence.standing;
  for (PrefixNode* node = &point; node->parent != nullptr && node->block < 0; node = node->parent) {
    const int32_t block = sequence.blocks[static_cast<size_t>(node->depth - 1)];
    tier_.load_block(std::exchange(node->page, -1), block);
    blocks_.share(block);
    tree_.enter_device(*node, block);
  }
  tier_.load_state(point.state_pages, sequence.slot);
}

void PrefixCache::forget_restore(Sequence& sequence) {
  if (sequence.restore_slot >= 0) slots_.give_back(sequence.restore_slot);
  sequence.restore_slot = -1;
}

void PrefixCache::end(Sequence& sequence) {
  forget_restore(sequence);
  sequence.resumed = sequence.submitted = sequence.confirmed = sequence.point_tokens = 0;
  if (sequence.standing == nullptr) return;
  PrefixNode* const node = std::exchange(sequence.standing, nullptr);
  tree_.unpin(*node);
  trim(node);
}

void PrefixCache::extend(Sequence& sequence) {
  if (sequence.standing != nullptr) {
    extend_to(sequence, std::min(sequence.submitted, sequence.prompt_size()) / kBlockTokens);
  }
}

void PrefixCache::keep_answer(Sequence& sequence, int64_t tokens, int32_t slot) {
  extend_to(sequence, tokens / kBlockTokens);
  keep_state(sequence, tokens, slot);
}

void PrefixCache::extend_to(Sequence& sequence, int64_t depth) {
  std::array<int32_t, kBlockTokens> tokens;
  while (sequence.standing->depth < depth) {
    for (int64_t i = 0; i < kBlockTokens; ++i) {
      tokens[static_cast<size_t>(i)] = sequence.token(sequence.standing->depth * kBlockTokens + i);
    }
    int32_t& block = sequence.blocks[static_cast<size_t>(sequence.standing->depth)];
    PrefixNode* node = PrefixTree::find_child(*sequence.standing, tokens);
    if (node == nullptr) {
      node = &tree_.add_child(*sequence.standing, tokens, block);
      blocks_.share(block);
    } else if (node->block < 0) {
      tier_.give_back(std::exchange(node->page, -1));
      blocks_.share(block);
      tree_.enter_device(*node, block);
    } else if (node->block != block) {
      blocks_.give_back(std::exchange(block, node->block));
      blocks_.share(block);
    }
    tree_.pin_child(*node);
    sequence.standing = node;
  }
}

void PrefixCache::keep_state(Sequence& sequence, int64_t position, int32_t slot) {
  PrefixNode* node = sequence.standing;
  while (node->depth > position / kBlockTokens) node = node->parent;
  TESSERA_CHECK_EQ(node->depth * kBlockTokens, position);
  sequence.point_tokens = position;
  if (node->resumes && node->state_pages.empty()) {  // another sequence has left it meanwhile
    if (slot >= 0) slots_.give_back(slot);
    return;
  }
  if (!node->resumes) points_.push_back(node);
  for (const int32_t page : std::exchange(node->state_pages, {})) tier_.give_back(page);
  node->resumes = true;
  node->slot = slot;
  if (slot >= 0) ++kept_slots_;
  node->reuse_after = sequence.reuse_after;
  if (const auto lost = lost_.find(node->key)) node->reuse_after = begun_ - lost->last;
  supersede(sequence, *node);
  touch(*node);
}

/// What the sequence has passed and went on from, back to where another one went elsewhere.
void PrefixCache::supersede(const Sequence& sequence, const PrefixNode& newer) {
  if (sequence.ahead) return;
  for (PrefixNode* point = newer.parent; point->parent != nullptr && point->children.size() == 1;
       point = point->parent) {
    if (!point->resumes || point->depth * kBlockTokens > sequence.resumed) continue;
    point->saving = 0;
    point->worth = age_;
  }
}

std::optional<int32_t> PrefixCache::slot_for_state(const Sequence& sequence, int64_t position) {
  if (sequence.standing == nullptr) return std::nullopt;
  if (!has_states_) return -1;
  if (slots_.available() == 0) {
    PrefixNode* const other = cheapest(/*leaf=*/false);
    if (other == nullptr) return std::nullopt;
    const int64_t worth = age_ + position - sequence.point_tokens;
    if (worth <= other->worth && !has_tier()) {  // as if it had been kept, and given up again at once
      age_ = worth;
      return std::nullopt;
    }
    give_up(*other, /*with_block=*/false);
  }
  return slots_.take();
}

bool PrefixCache::make_blocks_available(int64_t count) {
  if (count > int64_t{blocks_.available()} + idle_blocks()) return false;
  while (blocks_.available() < count) {
    PrefixNode* const point = cheapest(/*leaf=*/true);
    TESSERA_CHECK(point != nullptr);  // every leaf that nobody stands on is one
    give_up(*point, /*with_block=*/true);
  }
  return true;
}

bool PrefixCache::make_block_available(int64_t worth) {
  return blocks_.available() > 0 || give_up_cheapest(/*with_block=*/true, worth);
}

bool PrefixCache::make_slot_available(int64_t worth) {
  return slots_.available() > 0 || give_up_cheapest(/*with_block=*/false, worth);
}

/// If it is worth less.
bool PrefixCache::give_up_cheapest(bool with_block, int64_t worth) {
  PrefixNode* const point = cheapest(/*leaf=*/with_block);
  if (point == nullptr || point->worth >= worth) return false;
  give_up(*point, with_block);
  return true;
}

void PrefixCache::clear() {
  while (PrefixNode* const point = cheapest_in_tier()) forget(*point);
  while (PrefixNode* const point = cheapest(/*leaf=*/false)) forget(*point);
}

/// Tokens that would have to be computed again without it, and without those before it whose work it does.
int64_t PrefixCache::saving_of(const PrefixNode& point) {
  const PrefixNode* before = point.parent;
  while (before->parent != nullptr && (!before->resumes || before->saving == 0)) before = before->parent;
  return (point.depth - before->depth) * kBlockTokens;
}

void PrefixCache::touch(PrefixNode& point) {
  point.saving = saving_of(point);
  point.worth = age_ + point.saving;
  point.last_use = begun_;
}

/// A sequence that it was read from the disk for has not begun yet.
bool PrefixCache::is_awaited(const PrefixNode& point) const {
  return point.just_read && begun_ - point.last_use < kSoon;
}

/// Tokens for each sequence that begins until it is used again. That is when it was the last time; when that has
/// passed, or tells nothing, or it never was, not for as long as it has not been.
double PrefixCache::saving_until_used(const PrefixNode& point) const {
  const auto unused = static_cast<double>(begun_ - point.last_use), usual = static_cast<double>(point.reuse_after);
  const bool in_time = surprise_ < kNoPattern && unused < kLate * usual;
  const double left = is_awaited(point) ? 0 : in_time ? std::max(usual - unused, 0.0) : unused;
  return static_cast<double>(point.saving) / (1 + left);
}

/// Of the tier, for what of the point is on the device; a block that leads to others goes there for these.
int64_t PrefixCache::pages_wanted(const PrefixNode& point, bool with_block) const {
  return (point.slot >= 0 ? tier_.state_pages() : 0) + (with_block ? blocks_alone(point, &PrefixNode::block) : 0);
}

/// Whether it fits, or saves more than all that would have to go. A disk behind the tier is to have all that passes it.
bool PrefixCache::may_enter_tier(const PrefixNode& point, bool with_block) const {
  if (disk_ != nullptr) return true;
  int64_t missing = pages_wanted(point, with_block) - tier_.pages().available();
  if (missing <= 0) return true;
  // Least first, as far as it takes: there may be thousands.
  const double saving = saving_until_used(point);
  std::vector<std::pair<double, const PrefixNode*>> others;
  for (const PrefixNode* const other : points_) {
    if (other == &point || other->pins > 0) continue;
    if (const double its = saving_until_used(*other); its <= saving) others.emplace_back(its, other);
  }
  std::ranges::make_heap(others, std::greater());
  for (double lost = 0; missing > 0; others.pop_back()) {
    if (others.empty()) return false;
    std::ranges::pop_heap(others, std::greater());
    const int64_t pages = pages_held(*others.back().second);
    if (pages > 0) lost += others.back().first;
    if (lost > saving) return false;
    missing -= pages;
  }
  return true;
}

/// The resume point on the device of least worth that may go: no sequence is about to go on from its state. `leaf`: one
/// with blocks that go with it.
PrefixNode* PrefixCache::cheapest(bool leaf) {
  PrefixNode* found = nullptr;
  for (PrefixNode* const point : points_) {
    const bool may_go = leaf          ? point->block >= 0 && point->pins == 0 && point->device_children == 0
                        : has_states_ ? point->slot >= 0 && slots_.holders(point->slot) == 1
                                      : point->block >= 0;
    if (!may_go) continue;
    if (found == nullptr || point->worth < found->worth) found = point;
  }
  return found;
}

/// The point in the tier that saves least of those with pages that may go; what the disk has goes first.
PrefixNode* PrefixCache::cheapest_in_tier() {
  PrefixNode* found = nullptr;
  std::pair<bool, double> least;
  for (PrefixNode* const point : points_) {
    const bool has_pages = !point->state_pages.empty() || (point->page >= 0 && point->children.empty());
    if (point->pins > 0 || point == entering_ || !has_pages) continue;
    const bool goes_later = !point->written || is_awaited(*point);
    const std::pair cost(goes_later, saving_until_used(*point));
    if (found != nullptr && cost >= least) continue;
    found = point;
    least = cost;
  }
  return found;
}

/// Its slot is wanted, or with_block, its block and those that lead to no other point of the device.
void PrefixCache::give_up(PrefixNode& point, bool with_block) {
  age_ = std::max(age_, point.worth);
  ++points_given_up_;
  if (point.saving > 0) point.saving = saving_of(point);
  const bool enters = has_tier() && may_enter_tier(point, with_block);
  entering_ = &point;
  if (point.slot >= 0 && enters && make_pages_available(tier_.state_pages(), point)) {
    point.state_pages = tier_.save_state(point.slot);
    slots_.give_back(std::exchange(point.slot, -1));
    --kept_slots_;
  }
  if (point.slot >= 0 || !enters) drop(point);
  trim(&point, with_block);
  entering_ = nullptr;
}

/// For good.
void PrefixCache::forget(PrefixNode& point) {
  drop(point);
  trim(&point);
}

/// It is no resume point any more.
void PrefixCache::drop(PrefixNode& point) {
  if (has_tier() && point.saving > 0) {
    lost_.add(point.key, {.last = point.last_use, .reuse_after = point.reuse_after, .shared = point.continuations > 1});
  }
  point.resumes = point.just_read = false;
  point.continuations = 0;
  if (point.slot >= 0) {
    slots_.give_back(std::exchange(point.slot, -1));
    --kept_slots_;
  }
  for (const int32_t page : std::exchange(point.state_pages, {})) tier_.give_back(page);
  std::erase(points_, &point);
}

/// For something of `node`, which stays where it is meanwhile.
bool PrefixCache::make_pages_available(int32_t count, PrefixNode& node) {
  if (count > tier_.pages().size()) return false;
  tree_.pin(node);
  while (tier_.pages().available() < count) {
    PrefixNode* const point = cheapest_in_tier();
    if (point == nullptr) break;
    forget(*point);
  }
  tree_.unpin(node);
  return tier_.pages().available() >= count;
}

/// All in the tier of `node` and behind it is gone. Behind it there is nothing else.
void PrefixCache::drop_tier_behind(PrefixNode& node) {
  for (PrefixNode* at = &node;;) {
    if (!at->children.empty()) {
      at = at->children.begin()->second.get();
      continue;
    }
    if (at->resumes) drop(*at);
    if (at == &node) return;
    tier_.give_back(at->page);
    at = tree_.remove(*at);
  }
}

/// `node` and then its parents leave the device as far as nobody stands on them and they lead to no resume point there:
/// to the tier if they lead to one there, or for good. `goes`: so does `node` if it is itself one.
void PrefixCache::trim(PrefixNode* node, bool goes) {
  for (; node != nullptr && node->pins == 0 && node->device_children == 0; goes = false) {
    const auto leads = [&] { return node->resumes || !node->children.empty(); };
    if (node->block < 0) {  // in the tier, or a root
      if (leads()) {
        node = node->parent;
        continue;
      }
      if (node->page >= 0) tier_.give_back(node->page);
    } else {
      if (node->resumes && !goes) return;
      if (leads() && !make_pages_available(1, *node)) drop_tier_behind(*node);
      blocks_.give_back(node->block);
      if (leads()) {
        node->page = tier_.save_block(node->block);
        tree_.leave_device(*node);
        node = node->parent;
        continue;
      }
    }
    node = tree_.remove(*node);
  }
}

}  // namespace tessera::engine
