#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace tessera::engine {

struct PrefixNode;

/// One choice of a request as the scheduler sees it: its tokens, and what of them is computed and where.
///
/// Steps are submitted ahead of their results, so a sequence may have rows under way whose tokens the host does not
/// know yet. While it runs, submitting the row of its last token draws the next one: length() is one more than what is
/// submitted, and size() follows as tokens come back.
struct Sequence {
  std::shared_ptr<const std::vector<int32_t>> prompt;        // not empty; shared by the choices of a request
  std::vector<int32_t> output;                               // the tokens that have come back
  int64_t tokens_max = std::numeric_limits<int64_t>::max();  // of prompt and output; at least the prompt
  bool wants_prompt_logits = false;                          // until the whole prompt's were delivered
  bool needs_token = false;     // the draw after the next one depends on the token that the next one gives
  bool needs_host = false;      // so do its rows: drafts come with the token
  std::vector<int32_t> drafts;  // proposals for the tokens behind the last one, while no step is under way; or what
                                // stands for them until they are known
  int32_t drafts_wanted = 0;    // behind each step with a draw of it

  int64_t submitted = 0;        // positions [0, submitted) are in the KV blocks and the state for the next step
  int64_t confirmed = 0;        // positions [0, confirmed) are of steps that were collected
  int32_t steps_under_way = 0;  // steps with rows of it, submitted and not collected; survives a preemption
  bool keeps_records = false;   // its newest step's rows are records beside its state
  int32_t held = 0;             // of these, rows that hold and are not yet in the state
  std::vector<int32_t> blocks;  // KV block of positions [64 i, 64 i + 64)
  int32_t slot = -1;            // state slot; -1: waiting, or nothing is left to compute

  // What it shares with others (prefix_cache.h).
  std::string cache_salt;            // only what has the same is shared
  std::vector<int64_t> likely_ends;  // tokens of the prompt behind which others may go elsewhere
  PrefixNode* standing = nullptr;    // the newest block of its prompt that is kept
  bool has_begun = false;            // it was admitted before; survives a preemption
  int64_t resumed = 0;               // positions [0, resumed) were there when it was admitted
  int64_t matched = 0;               // and these positions' keys and values
  bool asked_disk = false;           // what of its prompt is on the disk was read, or is being read
  int64_t from_tier = 0;             // of resumed, what only the host's tier had
  int32_t restore_slot = -1;         // the state before `resumed`, until its first rows are submitted
  bool ahead = false;                // it is an idle prefill: a guess
  int64_t reuse_after = -1;  // sequences that began since its beginning was used; 0: it was not; -1: not counted
  int64_t point_tokens = 0;  // up to the newest resume point on its way
  std::vector<int64_t> next_points;  // where it is to leave states, ascending
  int64_t answer_tokens = 0;         // up to where its answer could be gone on from, with the state
  int32_t answer_slot = -1;          // in this slot (SchedulerLimits::keeps_answers)

  [[nodiscard]] int64_t prompt_size() const { return static_cast<int64_t>(prompt->size()); }
  [[nodiscard]] int64_t size() const { return prompt_size() + static_cast<int64_t>(output.size()); }
  /// With the tokens under way.
  [[nodiscard]] int64_t length() const { return std::max(size(), submitted + 1); }
  /// Of a position below size(), or of a draft behind.
  [[nodiscard]] int32_t token(int64_t position) const {
    if (position < prompt_size()) return (*prompt)[static_cast<size_t>(position)];
    return position < size() ? output[static_cast<size_t>(position - prompt_size())]
                             : drafts[static_cast<size_t>(position - size())];
  }
  /// Only the newest token is missing, and it was drawn: the next row is an ordinary decode row.
  [[nodiscard]] bool decoding() const { return submitted >= prompt_size() && submitted == length() - 1; }
};

}  // namespace tessera::engine
