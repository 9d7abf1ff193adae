#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/disk_tier.h"
#include "engine/host_tier.h"
#include "engine/id_pool.h"
#include "engine/lost_points.h"
#include "engine/prefix_tree.h"
#include "engine/sequence.h"

// Beginnings of prompts whose keys, values and states are kept, so that a prompt that begins alike does not compute
// them again.
//
// Contract
//  - What is kept are blocks of 64 tokens of prompts, computed as prefill: a row's bits then depend on the tokens up to
//    it and on nothing else. (Of answers, too, where that is asked for: keep_answer().) Tokens are compared, not hashes
//    of them, within one salt: no prompt ever goes on from what was computed for another.
//  - A sequence can go on only behind a resume point: a block with the Gated DeltaNet state behind it, in a state slot.
//    (Models without such states have points without slots.)
//  - Sequences and the tree share blocks by the counts of the pool. A block that two sequences computed is kept once:
//    the second one gives its own back, for the bits are the same.
//  - What a running sequence stands on stays. Everything else is given up when blocks or slots are wanted: first the
//    point that saves least (GreedyDual: what would have to be computed again without it, aged by what has been given
//    up since it was last used), and with it the blocks that led to no other point.
//  - With a tier in the host's memory (host_tier.h), what is given up on the device moves there, as far as it is a
//    resume point or leads to one; a sequence that begins behind such a point brings it back. A block is in one of the
//    two places. A state stays in the tier once it is there, and is copied into the slot of each sequence that goes on
//    from it. The tier gives up for good, or does not take in, what saves least until it is likely to be used again,
//    and nothing that a sequence stands on. When that is, is told by how many others came between its last uses, as
//    long as that tells anything. So of conversations that take turns and do not all fit, some stay, where the newest
//    ones would all be gone again when they are asked for.
//  - A point that one conversation alone has passed, and left another behind it, goes first: a conversation grows at
//  its
//    end. What it saved, the newer one saves.
//  - With a directory on disk behind the tier, resume points outlive the tier and the program: prefix_disk.cpp.
//  - Steps run in the order in which they are submitted. So what rows compute is kept as soon as they are submitted,
//    and what is given up may be used for others at once.
namespace tessera::engine {

/// Between a resume point and the one before it, but for the one near a prompt's end: a state takes the memory of
/// thousands of tokens, and two of them cut a prompt in two steps.
inline constexpr int64_t kLeastPointTokens = 256;
/// Behind a resume point, within a long prompt, another one is worth its memory.
inline constexpr int64_t kMostPointTokens = 8192;
/// So much that is new where a conversation begins is likely a text with a question behind it; the next one is another.
inline constexpr int64_t kTextTokens = 4096, kQuestionTokens = 256;

class PrefixCache {
 public:
  /// What is kept of a prompt.
  struct Match {
    PrefixNode* point = nullptr;  // where it can go on; null: nowhere
    int64_t tokens = 0;           // up to there
    int64_t device_tokens = 0;    // up to where it could without the tier
    int64_t block_tokens = 0;     // whose blocks are kept: at least `tokens`
  };

  /// Both pools outlive it. Not enabled: keeps and finds nothing.
  PrefixCache(IdPool& blocks, IdPool& slots, bool enabled, bool has_states, HostTier tier = {0, 0})
      : blocks_(blocks), slots_(slots), enabled_(enabled), has_states_(has_states), tier_(std::move(tier)) {}

  /// What `sequence` can go on from, with a row or more left to compute; nothing where all logits of its prompt are
  /// wanted.
  [[nodiscard]] Match find(const Sequence& sequence);

  /// What of `sequence`, from its first token on, `other` computes too, so that it could go on from there.
  [[nodiscard]] int64_t common_tokens(const Sequence& sequence, const Sequence& other) const;
  /// Where a sequence that begins behind `match` should leave states, ascending: where others are likely to go
  /// elsewhere, where one did, and near its prompt's end.
  [[nodiscard]] std::vector<int64_t> points_of(const Sequence& sequence, const Match& match) const;

  /// Lets a sequence that holds nothing begin behind `match`: it has the blocks up to there that are on the device,
  /// what is computed is submitted and confirmed, and its first rows need a copy of the state in
  /// Sequence::restore_slot, if there is one.
  void begin(Sequence& sequence, const Match& match);
  /// Then, when it has blocks for the rest and a slot: moves what it begins behind from the tier into them.
  void bring_in(Sequence& sequence);
  /// Undoes begin() and what followed, but for the sequence's share in blocks. What only it stood on and leads to no
  /// point is gone.
  void end(Sequence& sequence);
  /// Rows of the sequence were submitted: keeps the blocks of its prompt that they completed.
  void extend(Sequence& sequence);
  /// The same of its answer, up to `tokens`, a multiple of 64: rows of its own, as they were decoded, and as long as it
  /// is known that they hold. The state behind them is in `slot`, as in keep_state().
  void keep_answer(Sequence& sequence, int64_t tokens, int32_t slot);
  /// The state of the sequence before `position`, which its submitted rows have reached, is in `slot` (-1 without
  /// states), which is the cache's from here on.
  void keep_state(Sequence& sequence, int64_t position, int32_t slot);
  /// The rows that need the copy were submitted.
  void forget_restore(Sequence& sequence);

  /// A slot for the state of `sequence` before `position`: a free one, or that of a point that saves less.
  std::optional<int32_t> slot_for_state(const Sequence& sequence, int64_t position);
  /// Makes `count` blocks available, or changes nothing and returns false.
  bool make_blocks_available(int64_t count);
  /// The same of one, which nothing of so much worth is given up for; and of one slot.
  bool make_block_available(int64_t worth);
  bool make_slot_available(int64_t worth = std::numeric_limits<int64_t>::max());
  /// Of a point from now on that saves so many tokens.
  [[nodiscard]] int64_t worth_of(int64_t tokens) const { return age_ + tokens; }
  /// Gives up all that no sequence stands on, for good.
  void clear();
  /// What the next step that is submitted has to move first.
  [[nodiscard]] std::vector<kernels::PageMove> take_moves() { return tier_.take_moves(); }

  /// Entries on disk, behind the tier; it outlives this. Without a tier, or null: none.
  void use_disk(DiskTier* disk) { disk_ = has_tier() ? disk : nullptr; }
  /// Whether `sequence`, the oldest that waits, waits for what is read from the disk, for it or for one that is gone.
  bool waits_for_disk(Sequence& sequence, const Match& match);
  using Time = std::chrono::steady_clock::time_point;
  /// Takes what the disk's thread has done, and gives it what is to be done next. is_idle: no sequence is there. For a
  /// minute after a write that failed there is no other.
  void follow_disk(bool is_idle, Time now);
  /// What failed is tried again now.
  void retry_disk() { no_writes_before_ = {}; }
  /// A read is under way, or planned; the same of a write.
  [[nodiscard]] bool reads_disk() const { return reading_.has_value(); }
  [[nodiscard]] bool writes_disk() const { return writing_.has_value(); }
  /// Either waits for moves of a step that was not submitted yet.
  [[nodiscard]] bool disk_wants_moves() const;
  struct DiskCounts {
    uint64_t hits = 0;  // tokens that were read, and not in memory
    uint64_t writes = 0, failures = 0;
  };
  [[nodiscard]] const DiskCounts& disk_counts() const { return disk_counts_; }
  void step_submitted() { ++steps_submitted_; }
  void step_collected() { ++steps_collected_; }

  /// Blocks that are kept and would be given up for others.
  [[nodiscard]] int32_t idle_blocks() const { return tree_.idle_nodes(); }
  [[nodiscard]] const HostTier& tier() const { return tier_; }
  /// Slots with states of points.
  [[nodiscard]] int32_t kept_slots() const { return kept_slots_; }
  [[nodiscard]] uint64_t points_given_up() const { return points_given_up_; }

 private:
  [[nodiscard]] static int64_t saving_of(const PrefixNode& point);
  [[nodiscard]] std::optional<LostPoints::Use> last_use(const Sequence& sequence, const PrefixNode* point) const;
  [[nodiscard]] bool is_awaited(const PrefixNode& point) const;
  [[nodiscard]] double saving_until_used(const PrefixNode& point) const;
  [[nodiscard]] bool has_tier() const { return tier_.pages().size() > 0; }
  void count(Sequence& sequence, PrefixNode* point);
  void extend_to(Sequence& sequence, int64_t depth);
  void touch(PrefixNode& point);
  void supersede(const Sequence& sequence, const PrefixNode& newer);
  PrefixNode* cheapest(bool leaf);
  PrefixNode* cheapest_in_tier();
  [[nodiscard]] bool may_enter_tier(const PrefixNode& point, bool with_block) const;
  [[nodiscard]] int64_t pages_wanted(const PrefixNode& point, bool with_block) const;
  void give_up(PrefixNode& point, bool with_block);
  bool give_up_cheapest(bool with_block, int64_t worth);
  void forget(PrefixNode& point);
  void drop(PrefixNode& point);
  bool make_pages_available(int32_t count, PrefixNode& node);
  void drop_tier_behind(PrefixNode& node);
  void trim(PrefixNode* node, bool goes = false);

  /// What the disk's thread does, or will once `ready_after` steps were collected.
  struct DiskMove {
    std::unique_ptr<DiskJob> job;  // null: it was started
    uint64_t ready_after = 0;
    const Sequence* asker = nullptr;  // of what is read
    PrefixNode* from = nullptr;       // the node that it goes on from, pinned
    int64_t tokens = 0;               // that the asker could not go on from without it
  };
  void start_read(const Sequence& sequence, const Match& match);
  void start(DiskMove& move);
  void choose_write(bool is_idle, Time now);
  void start_write(PrefixNode& point);
  void finish_read(const DiskJob& job);
  void finish_write(const DiskJob& job, Time now);
  void look_for_written();
  [[nodiscard]] uint64_t next_ready() const;

  IdPool& blocks_;
  IdPool& slots_;
  bool enabled_, has_states_;
  HostTier tier_;
  PrefixTree tree_;
  std::vector<PrefixNode*> points_;
  int64_t age_ = 0;      // the worth of what was given up last
  int64_t begun_ = 0;    // sequences, PrefixNode::reuse_after counts them
  double surprise_ = 0;  // by what share that of the newest ones that went on differs from the time before
  LostPoints lost_;
  const PrefixNode* entering_ = nullptr;  // the tier: it is not given up for itself
  int32_t kept_slots_ = 0;
  uint64_t points_given_up_ = 0;

  DiskTier* disk_ = nullptr;
  std::optional<DiskMove> reading_, writing_;
  bool disk_fails_ = false;  // the last write did
  Time no_writes_before_ = {};
  uint64_t steps_submitted_ = 0, steps_collected_ = 0;
  DiskCounts disk_counts_;
};

}  // namespace tessera::engine
