#include <algorithm>
#include <utility>

#include <spdlog/spdlog.h>

#include "base/check.h"
#include "engine/disk_tier.h"
#include "engine/prefix_cache.h"
#include "kernels/batch.h"

// What the prefix cache writes to the disk and reads from it (disk_tier.h).
//
// Contract
//  - An entry of the disk is a resume point: the blocks behind the resume point before it, and the state behind them.
//    Points in the tier are written, the one that would go next first, and before it those that it stands behind,
//    wherever they are. So what is on the disk can be gone on from without anything else. While no sequence is there,
//    points that only the device has are written too, through copies in the tier.
//  - What a sequence can go on from on the disk is read to pages of the tier, and is then a part of the tree like any
//    other point there. The oldest waiting sequence is read for, once, and waits for it.
//  - The disk's thread knows nothing of steps. It is given pages when every step that may still write to them or read
//    them was collected; nobody else gets them before it is done.
namespace tessera::engine {
namespace {

using kernels::kBlockTokens;

/// A disk that is full may have room later; asked at each step it would be asked a hundred times a second.
constexpr std::chrono::seconds kWritePause(60);

/// Keys of the beginnings of 0, 1... blocks of the prompt.
std::vector<uint64_t> keys_of(const Sequence& sequence, int64_t blocks) {
  std::vector<uint64_t> keys = {kv_root_key(sequence.cache_salt)};
  for (int64_t i = 0; i < blocks; ++i) {
    keys.push_back(kv_next_key(
        keys.back(), std::span(*sequence.prompt).subspan(static_cast<size_t>(i * kBlockTokens), kBlockTokens)));
  }
  return keys;
}

/// Entries that lead from `there` blocks to the state behind `end`, in order; none: not all of them are on the disk.
std::vector<DiskJob::Piece> pieces_to(const KvDirectory& directory, std::span<const uint64_t> keys, int32_t end,
                                      int32_t there) {
  std::vector<DiskJob::Piece> pieces;
  for (int32_t at = end;;) {
    const uint64_t key = keys[static_cast<size_t>(at)];
    const auto known = directory.find(key);
    if (!known || known->end_block != at) return {};
    const int32_t first = std::min(std::max(known->first_block, there), at);
    pieces.push_back(
        {.key = key, .end_block = at, .first_block = first, .blocks = at - first, .state = pieces.empty()});
    if (known->first_block <= there) break;
    at = known->first_block;
  }
  std::ranges::reverse(pieces);
  return pieces;
}

const PrefixNode& root_of(const PrefixNode& node) {
  const PrefixNode* at = &node;
  while (at->parent != nullptr) at = at->parent;
  return *at;
}

/// The tokens of `node` and those before it.
KvEntry entry_of(const PrefixNode& node, int32_t first_block) {
  KvEntry entry{.salt = std::string(root_of(node).salt), .tokens = {}, .first_block = first_block};
  entry.tokens.resize(static_cast<size_t>(node.depth * kBlockTokens));
  for (const PrefixNode* at = &node; at->parent != nullptr; at = at->parent) {
    std::ranges::copy(at->tokens, entry.tokens.begin() + (at->depth - 1) * kBlockTokens);
  }
  return entry;
}

PrefixNode* point_before(const PrefixNode& node) {
  PrefixNode* at = node.parent;
  while (at != nullptr && !at->resumes) at = at->parent;
  return at;
}

}  // namespace

bool PrefixCache::waits_for_disk(Sequence& sequence, const Match& match) {
  if (disk_ == nullptr || !enabled_ || sequence.wants_prompt_logits) return false;
  if (!sequence.asked_disk && !reading_) {
    sequence.asked_disk = true;
    start_read(sequence, match);
  }
  return reading_ && (reading_->asker == &sequence || !sequence.asked_disk);
}

/// Reads the most of its prompt that is on the disk, if that is more than what `match` has.
void PrefixCache::start_read(const Sequence& sequence, const Match& match) {
  const int64_t blocks = std::min(sequence.prompt_size(), sequence.size() - 1) / kBlockTokens;
  if (blocks * kBlockTokens <= match.tokens) return;
  const std::vector<uint64_t> keys = keys_of(sequence, blocks);
  const auto there = static_cast<int32_t>(match.block_tokens / kBlockTokens);
  auto job = std::make_unique<DiskJob>();
  auto end = static_cast<int32_t>(blocks);
  const auto least = static_cast<int32_t>(has_states_ ? match.tokens / kBlockTokens : there);
  while (end > least && (job->pieces = pieces_to(disk_->directory(), keys, end, std::min(there, end))).empty()) --end;
  if (job->pieces.empty()) return;

  PrefixNode* from = &tree_.root(sequence.cache_salt);
  while (from->depth < std::min(there, end)) {
    from = PrefixTree::find_child(
        *from, std::span(*sequence.prompt).subspan(static_cast<size_t>(from->depth * kBlockTokens), kBlockTokens));
  }
  tree_.pin(*from);
  const int32_t count = end - static_cast<int32_t>(from->depth) + tier_.state_pages();
  if (!make_pages_available(count, *from)) {
    tree_.unpin(*from);
    trim(from);
    return;
  }
  job->entry.salt = sequence.cache_salt;
  job->entry.tokens.assign(sequence.prompt->begin(), sequence.prompt->begin() + int64_t{end} * kBlockTokens);
  for (int32_t i = 0; i < count; ++i) job->pages.push_back(tier_.take_page());
  reading_.emplace(DiskMove{.job = std::move(job),
                            .ready_after = next_ready(),
                            .asker = &sequence,
                            .from = from,
                            .tokens = int64_t{end} * kBlockTokens - match.tokens});
  start(*reading_);
}

/// Every step that may use pages that are given back by now was collected after this many.
uint64_t PrefixCache::next_ready() const { return steps_submitted_ + (tier_.has_moves() ? 1 : 0); }

bool PrefixCache::disk_wants_moves() const {
  const auto waits = [&](const std::optional<DiskMove>& move) {
    return move && move->job != nullptr && move->ready_after > steps_submitted_;
  };
  return waits(reading_) || waits(writing_);
}

void PrefixCache::follow_disk(bool is_idle, Time now) {
  if (disk_ == nullptr) return;
  while (const auto job = disk_->take_done()) {
    if (job->writes) {
      finish_write(*job, now);
    } else {
      finish_read(*job);
    }
  }
  choose_write(is_idle, now);
  if (reading_) start(*reading_);
  if (writing_) start(*writing_);
}

/// If it is time, and it was not.
void PrefixCache::start(DiskMove& move) {
  if (move.job != nullptr && steps_collected_ >= move.ready_after) disk_->submit(std::move(move.job));
}

/// Of what is in the tier, the point that goes first. While nobody computes, those follow that only the device has.
void PrefixCache::choose_write(bool is_idle, Time now) {
  if (writing_ || now < no_writes_before_) return;
  PrefixNode* found = nullptr;
  bool found_in_tier = false;
  for (PrefixNode* const point : points_) {
    const bool in_tier = has_states_ ? !point->state_pages.empty() : point->page >= 0;
    if (point->written || (!in_tier && (!is_idle || found_in_tier))) continue;
    const bool goes_first =
        found == nullptr || (in_tier && !found_in_tier) ||
        (in_tier ? saving_until_used(*point) < saving_until_used(*found) : point->worth < found->worth);
    if (!goes_first) continue;
    found = point;
    found_in_tier = in_tier;
  }
  if (found != nullptr) start_write(*found);
}

/// Of `point`, which was not written, or of the first before it that is not on the disk.
void PrefixCache::start_write(PrefixNode& point) {
  PrefixNode* wanted = &point;
  for (PrefixNode* at = point_before(point); at != nullptr; at = point_before(*at)) {
    if (!disk_->directory().find(at->key)) wanted = at;
  }
  const PrefixNode* const before = point_before(*wanted);
  auto job = std::make_unique<DiskJob>();
  job->writes = true;
  job->entry = entry_of(*wanted, before == nullptr ? 0 : static_cast<int32_t>(before->depth));
  const bool fits = job->entry.salt.size() <= kSaltMax && job->entry.tokens.size() <= kEntryTokensMax;
  wanted->written = true;  // or not to be tried again
  wanted->too_large |= !fits;
  if (wanted->too_large || disk_->directory().find(wanted->key)) {
    point.written = true;  // it is not to be had without what it stands behind
    return;
  }
  int32_t missing = wanted->slot >= 0 ? tier_.state_pages() : 0;
  for (const PrefixNode* at = wanted; at->depth > job->entry.first_block; at = at->parent) missing += at->block >= 0;
  if (!make_pages_available(missing, *wanted)) {
    point.written = true;
    return;
  }
  const auto keep = [&](int32_t page) {
    tier_.share(page);
    return page;
  };
  for (const PrefixNode* at = wanted; at->depth > job->entry.first_block; at = at->parent) {
    job->pages.push_back(at->block >= 0 ? tier_.save_block(at->block) : keep(at->page));
  }
  std::ranges::reverse(job->pages);
  if (wanted->slot >= 0) {
    for (const int32_t page : tier_.save_state(wanted->slot)) job->pages.push_back(page);
  } else {
    for (const int32_t page : wanted->state_pages) job->pages.push_back(keep(page));
  }
  writing_.emplace(DiskMove{.job = std::move(job), .ready_after = next_ready()});
}

void PrefixCache::finish_write(const DiskJob& job, Time now) {
  for (const int32_t page : job.pages) tier_.give_back(page);
  writing_.reset();
  if (job.status.ok()) {
    ++disk_counts_.writes;
    if (std::exchange(disk_fails_, false)) spdlog::info("the KV cache's directory is written to again");
    return;
  }
  if (job.status.code() == StatusCode::resource_exhausted) {  // it is larger than all of the disk's tier
    const uint64_t key = kv_key(job.entry);
    for (PrefixNode* const point : points_) point->too_large |= point->key == key;
    return;
  }
  if (!disk_fails_) {
    spdlog::warn("the KV cache's directory cannot be written to, which is tried again every {} s: {}",
                 kWritePause.count(), job.status.message());
  }
  ++disk_counts_.failures;
  disk_fails_ = true;
  no_writes_before_ = now + kWritePause;
  look_for_written();
}

/// Which points the disk has: not all of those that it was thought to have.
void PrefixCache::look_for_written() {
  for (PrefixNode* const point : points_) point->written = disk_->directory().find(point->key).has_value();
}

/// What was read is in the tier from here on, but for what came there meanwhile.
void PrefixCache::finish_read(const DiskJob& job) {
  PrefixNode* const from = reading_->from;
  const int64_t hits = reading_->tokens;
  reading_.reset();
  if (!job.status.ok()) {
    disk_counts_.failures += job.status.code() == StatusCode::not_found ? 0 : 1;
    for (const int32_t page : job.pages) tier_.give_back(page);
    look_for_written();
  } else {
    const int64_t end = job.entry.end_block();
    auto page = job.pages.begin();
    PrefixNode* node = from;
    while (node->depth < end) {
      const auto tokens =
          std::span(job.entry.tokens).subspan(static_cast<size_t>(node->depth * kBlockTokens), kBlockTokens);
      PrefixNode* child = PrefixTree::find_child(*node, tokens);
      if (child == nullptr) {
        child = &tree_.add_tier_child(*node, tokens, *page);
      } else {
        tier_.give_back(*page);
      }
      ++page;
      node = child;
    }
    node->written = true;
    const bool has_state = node->resumes && (node->slot >= 0 || !node->state_pages.empty() || !has_states_);
    if (has_state) {
      for (; page != job.pages.end(); ++page) tier_.give_back(*page);
    } else {
      if (!node->resumes) points_.push_back(node);
      node->resumes = true;
      node->state_pages.assign(page, job.pages.end());
      touch(*node);
      node->just_read = true;
    }
    disk_counts_.hits += static_cast<uint64_t>(hits);
  }
  tree_.unpin(*from);
  trim(from);
}

}  // namespace tessera::engine
