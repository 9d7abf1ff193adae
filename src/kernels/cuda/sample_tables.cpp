#include "kernels/cuda/sample_tables.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/status.h"
#include "kernels/sample_math.h"

namespace tessera::kernels::cuda {
namespace {

/// Words at the end of the tables. Runs dry rather than over.
class Pool {
 public:
  Pool(std::byte* memory, uint32_t words) : memory_(memory), words_(words) {}

  /// The offset of `count` words, or resource_exhausted.
  Expected<uint32_t> take(size_t count, const char* what, int32_t row) {
    if (count > words_ - used_) {
      return error(StatusCode::resource_exhausted,
                   "{} of sample row {} need {} words; the sample tables have room for {} and {} are taken", what, row,
                   count, words_, used_);
    }
    const uint32_t at = used_;
    used_ += static_cast<uint32_t>(count);
    return at;
  }
  void set(uint32_t at, uint32_t word) { std::memcpy(memory_ + size_t{4} * at, &word, sizeof word); }
  void set(uint32_t at, std::span<const uint32_t> words) {
    std::memcpy(memory_ + size_t{4} * at, words.data(), words.size_bytes());
  }
  [[nodiscard]] uint32_t used() const { return used_; }

 private:
  std::byte* memory_;
  uint32_t words_;
  uint32_t used_ = 0;
};

Status check_id(const char* what, int32_t row, int32_t id, int64_t vocab) {
  if (id >= 0 && id < vocab) return {};
  return error(StatusCode::invalid_argument, "{} of sample row {} is token {}; the vocabulary has {}", what, row, id,
               vocab);
}

Status check(const SampleRow& row, const SampleLimits& limits) {
  const SampleParams& p = *row.params;
  if (row.slot < 0 || row.slot >= limits.slots) {
    return error(StatusCode::invalid_argument, "sample row {} has slot {} of {}", row.row, row.slot, limits.slots);
  }
  if (row.target >= 0) TESSERA_RETURN_IF_ERROR(check_id("the target", row.row, row.target, limits.vocab));
  const int logprobs = p.logprobs.value_or(0);
  if (logprobs < 0 || logprobs > kLogprobsMax) {
    return error(StatusCode::invalid_argument, "sample row {} asks for {} logprobs; 0 to {} are possible", row.row,
                 logprobs, kLogprobsMax);
  }
  if (p.has_penalty() && row.target < 0 && !limits.has_counts) {
    return error(StatusCode::invalid_argument,
                 "sample row {} has penalties, but no memory for token counts was set aside", row.row);
  }
  if (!std::isfinite(p.temperature) || p.temperature < 0 || !(p.top_p > 0) || !(p.min_p >= 0 && p.min_p <= 1) ||
      p.top_k < 0) {
    return error(StatusCode::invalid_argument,
                 "sample row {} has temperature {}, top_k {}, top_p {} and min_p {}; see kernels/sample.h for their "
                 "ranges",
                 row.row, p.temperature, p.top_k, p.top_p, p.min_p);
  }
  if (row.draft < 0 || row.draft > kDraftsMax) {
    return error(StatusCode::invalid_argument, "sample row {} draws draft {} of its slot; there are {} at most",
                 row.row, row.draft, kDraftsMax);
  }
  const auto words = static_cast<size_t>(mask_words(limits.vocab));
  if (!row.allowed.empty() && row.allowed.size() != words) {
    return error(StatusCode::invalid_argument, "the mask of sample row {} has {} words; {} ids need {}", row.row,
                 row.allowed.size(), limits.vocab, words);
  }
  return {};
}

/// Sorted by id; addends of one id keep their order, in which they are added.
Status write_biases(const SampleRow& row, const SampleLimits& limits, Pool& pool, SampleEntry& entry) {
  std::span<const std::pair<int32_t, float>> biases = row.params->logit_bias;
  for (const auto& bias : biases) {
    TESSERA_RETURN_IF_ERROR(check_id("logit_bias", row.row, bias.first, limits.vocab));
  }
  const auto by_id = [](const auto& a, const auto& b) { return a.first < b.first; };
  std::vector<std::pair<int32_t, float>> sorted;
  if (!std::is_sorted(biases.begin(), biases.end(), by_id)) {  // the engine sorts them once, for all steps
    sorted.assign(biases.begin(), biases.end());
    std::stable_sort(sorted.begin(), sorted.end(), by_id);
    biases = sorted;
  }
  TESSERA_ASSIGN_OR_RETURN(entry.biases, pool.take(2 * biases.size(), "logit_bias entries", row.row));
  entry.bias_count = static_cast<uint32_t>(biases.size());
  uint32_t at = entry.biases;
  for (const auto& [id, addend] : biases) {
    pool.set(at++, static_cast<uint32_t>(id));
    pool.set(at++, std::bit_cast<uint32_t>(addend));
  }
  return {};
}

Status write_banned(const SampleRow& row, const SampleLimits& limits, Pool& pool, SampleEntry& entry) {
  std::vector<int32_t> ids(row.banned.begin(), row.banned.end());
  for (const int32_t id : ids) TESSERA_RETURN_IF_ERROR(check_id("a banned token", row.row, id, limits.vocab));
  std::sort(ids.begin(), ids.end());
  TESSERA_ASSIGN_OR_RETURN(entry.banned, pool.take(ids.size(), "banned tokens", row.row));
  entry.banned_count = static_cast<uint32_t>(ids.size());
  for (size_t i = 0; i < ids.size(); ++i) {
    pool.set(entry.banned + static_cast<uint32_t>(i), static_cast<uint32_t>(ids[i]));
  }
  return {};
}

Status write_allowed(const SampleRow& row, Pool& pool, SampleEntry& entry) {
  TESSERA_ASSIGN_OR_RETURN(entry.allowed, pool.take(row.allowed.size(), "the mask of allowed tokens", row.row));
  entry.has_allowed = 1;
  pool.set(entry.allowed, row.allowed);
  return {};
}

Status write_drafts(const SampleRow& row, std::span<const int32_t> drafts, const SampleLimits& limits, Pool& pool,
                    SampleEntry& entry) {
  for (const int32_t id : drafts) TESSERA_RETURN_IF_ERROR(check_id("a draft before", row.row, id, limits.vocab));
  TESSERA_ASSIGN_OR_RETURN(entry.drafts, pool.take(drafts.size(), "drafts", row.row));
  entry.draft_count = static_cast<uint16_t>(drafts.size());
  for (size_t i = 0; i < drafts.size(); ++i) {
    pool.set(entry.drafts + static_cast<uint32_t>(i), static_cast<uint32_t>(drafts[i]));
  }
  return {};
}

Expected<SampleEntry> write_row(const SampleRow& row, const UnsureDraw& unsure, const SampleLimits& limits,
                                Pool& pool) {
  TESSERA_RETURN_IF_ERROR(check(row, limits));
  const SampleParams& p = *row.params;
  SampleEntry entry;
  entry.slot = row.slot;
  entry.target = std::max(row.target, -1);
  entry.logprobs = p.logprobs.value_or(-1);
  if (!entry.draws()) {
    entry.logprobs = p.logprobs.value_or(0);
    return entry;
  }
  if (p.temperature > 0) {
    entry.inverse_temperature = spelt::inverse_temperature(p.temperature);
    entry.top_k = p.top_k;
    entry.top_p = p.top_p < 1 ? spelt::top_p_fraction(p.top_p) : 0;
    entry.deepest = spelt::min_p_depth(p.min_p);
  }
  entry.repetition_penalty = p.repetition_penalty;
  entry.presence_penalty = p.presence_penalty;
  entry.frequency_penalty = p.frequency_penalty;
  entry.has_penalty = p.has_penalty() ? 1 : 0;
  entry.is_counted = p.has_penalty() && !unsure.is_unsure ? 1 : 0;
  entry.draft = static_cast<uint8_t>(row.draft);
  entry.key = row.noise.key;
  entry.choice = row.noise.choice;
  entry.position = row.noise.position;
  TESSERA_RETURN_IF_ERROR(write_biases(row, limits, pool, entry));
  if (p.has_penalty()) TESSERA_RETURN_IF_ERROR(write_drafts(row, unsure.drafts, limits, pool, entry));
  TESSERA_RETURN_IF_ERROR(row.allowed.empty() ? write_banned(row, limits, pool, entry)
                                              : write_allowed(row, pool, entry));
  return entry;
}

}  // namespace

SampleTables SampleCapacity::tables(const std::byte* memory) const {
  return {.header = reinterpret_cast<const SampleHeader*>(memory),
          .entries = reinterpret_cast<const SampleEntry*>(memory + sizeof(SampleHeader)),
          .pool = reinterpret_cast<const uint32_t*>(memory + pool_offset()),
          .rows_max = rows_max};
}

Status write_sample_tables(std::span<const SampleRow> rows, const SampleLimits& limits, const SampleCapacity& capacity,
                           std::span<std::byte> memory, std::span<const UnsureDraw> unsure) {
  if (memory.size() < capacity.bytes()) {
    return error(StatusCode::invalid_argument, "sample tables for {} rows and {} words need {} bytes, not {}",
                 capacity.rows_max, capacity.pool_words, capacity.bytes(), memory.size());
  }
  SampleHeader header;
  std::memcpy(memory.data(), &header, sizeof header);
  if (rows.size() > static_cast<size_t>(capacity.rows_max)) {
    return error(StatusCode::resource_exhausted, "a step samples {} rows; the sample tables have room for {}",
                 rows.size(), capacity.rows_max);
  }
  Pool pool(memory.data() + capacity.pool_offset(), capacity.pool_words);
  std::byte* at = memory.data() + sizeof header;
  for (size_t i = 0; i < rows.size(); ++i) {
    TESSERA_ASSIGN_OR_RETURN(const SampleEntry entry,
                             write_row(rows[i], unsure.empty() ? UnsureDraw{} : unsure[i], limits, pool));
    std::memcpy(at, &entry, sizeof entry);
    at += sizeof entry;
  }
  header.rows = static_cast<int32_t>(rows.size());
  header.pool_words = pool.used();
  std::memcpy(memory.data(), &header, sizeof header);
  return {};
}

SampleResult sample_result(const SampleOutput& output, int64_t known_ids) {
  SampleResult result;
  switch (output.status) {
    case SampleStatus::ok: break;
    case SampleStatus::non_finite: result.status = non_finite_logits(); return result;
    case SampleStatus::none_left: result.status = no_token_left(known_ids); return result;
  }
  result.token = output.token;
  result.logprobs.assign(output.logprobs, output.logprobs + output.logprob_count);
  return result;
}

}  // namespace tessera::kernels::cuda
