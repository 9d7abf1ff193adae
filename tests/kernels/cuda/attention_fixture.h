#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "device/cuda.h"
#include "format/e4m3.h"
#include "kernels/cuda/attention.h"
#include "kernels/cuda/attention_shape.h"
#include "kernels/cuda/on_device.h"
#include "kernels/matrix_fixture.h"

// Random attention layers and sequences, run on the GPU in any steps, and by the CPU's operation as the reference.
namespace tessera::kernels::cuda {

struct AttentionLayer {
  AttentionShape shape;
  DType dtype;
  std::vector<float> q_norm, k_norm, inv_freq;
  float rope_scale = 1.25F, k_scale = 0.03F, v_scale = 0.017F;

  AttentionLayer(int heads, int kv_heads, int head_dim, int rotary_dim, DType kv)
      : shape{heads, kv_heads, head_dim, rotary_dim, 0.01F}, dtype(kv) {
    for (auto* norm : {&q_norm, &k_norm}) {
      *norm = random_floats(static_cast<size_t>(head_dim), norm == &q_norm ? 91 : 92);
      for (float& w : *norm) w *= 0.25F;
    }
    for (int i = 0; i < rotary_dim / 2; ++i) {
      inv_freq.push_back(static_cast<float>(std::pow(1e4, -2.0 * i / rotary_dim)));
    }
    if (dtype == DType::bf16) k_scale = v_scale = 1.0F;
  }

  [[nodiscard]] size_t q_width() const { return static_cast<size_t>(shape.heads * shape.head_dim); }
  [[nodiscard]] size_t kv_width() const { return static_cast<size_t>(shape.kv_heads * shape.head_dim); }
  [[nodiscard]] std::string describe() const {
    return std::to_string(shape.heads) + "/" + std::to_string(shape.kv_heads) + "x" + std::to_string(shape.head_dim) +
           " rotary " + std::to_string(shape.rotary_dim) + " " + std::string(name(dtype));
  }
};

/// One sequence: what is stored of its first positions, and the projections of the rows that follow.
struct AttentionSequence {
  int32_t start, rows;
  std::vector<uint16_t> stored_keys, stored_values;  // [start, kv_heads, head_dim], before the KV scales
  std::vector<uint16_t> query_gate, key, value;      // [rows, ...]

  AttentionSequence(const AttentionLayer& layer, int32_t stored, int32_t row_count, uint32_t seed)
      : start(stored),
        rows(row_count),
        stored_keys(random_bf16(static_cast<size_t>(stored) * layer.kv_width(), seed)),
        stored_values(random_bf16(static_cast<size_t>(stored) * layer.kv_width(), seed + 1)),
        query_gate(random_bf16(static_cast<size_t>(row_count) * 2 * layer.q_width(), seed + 2)),
        key(random_bf16(static_cast<size_t>(row_count) * layer.kv_width(), seed + 3)),
        value(random_bf16(static_cast<size_t>(row_count) * layer.kv_width(), seed + 4)) {}

  [[nodiscard]] int32_t end() const { return start + rows; }
};

inline uint8_t e4m3_code(uint16_t value, float scale) { return format::encode_e4m3(bf16_to_float(value) / scale); }

/// The CPU's outputs of all rows, [rows, heads * head_dim].
inline std::vector<float> cpu_attention(const AttentionLayer& layer, const AttentionSequence& s, Compute compute) {
  TestContext test(2, compute);
  const DType dtype = compute == Compute::f32 ? DType::f32 : layer.dtype;
  const AttentionShape& shape = layer.shape;
  const auto dim = static_cast<size_t>(shape.head_dim), kv_heads = static_cast<size_t>(shape.kv_heads);
  std::vector<int32_t> table(static_cast<size_t>((s.end() + kBlockTokens - 1) / kBlockTokens));
  std::iota(table.begin(), table.end(), 0);
  const size_t bytes = table.size() * kernels::kv_block_bytes(dtype, shape.kv_heads, shape.head_dim);
  std::vector<std::byte> keys(bytes, std::byte{0xff}), values(bytes, std::byte{0xff});
  const auto put = [&](std::vector<std::byte>& to, size_t index, uint16_t value, float scale) {
    if (dtype == DType::bf16) {
      std::memcpy(to.data() + index * 2, &value, 2);
    } else if (dtype == DType::f8_e4m3) {
      to[index] = static_cast<std::byte>(e4m3_code(value, scale));
    } else {
      const float v =
          layer.dtype == DType::f8_e4m3 ? format::decode_e4m3(e4m3_code(value, scale)) * scale : bf16_to_float(value);
      std::memcpy(to.data() + index * 4, &v, 4);
    }
  };
  for (size_t p = 0; p < static_cast<size_t>(s.start); ++p) {
    for (size_t h = 0; h < kv_heads; ++h) {
      for (size_t d = 0; d < dim; ++d) {
        const size_t base = (p / 64 * kv_heads + h) * 64 * dim, token = p % 64, group = d / 16 * 16;
        const size_t width = std::min<size_t>(16, dim - group), from = (p * kv_heads + h) * dim + d;
        put(keys, base + (token / 16 * dim + d) * 16 + token % 16, s.stored_keys[from], layer.k_scale);
        put(values, base + group * 64 + token * width + d % 16, s.stored_values[from], layer.v_scale);
      }
    }
  }
  const auto floats = [](const std::vector<uint16_t>& from) {
    std::vector<float> out(from.size());
    std::transform(from.begin(), from.end(), out.begin(), bf16_to_float);
    return out;
  };
  const auto query_gate = floats(s.query_gate), key = floats(s.key), value = floats(s.value);
  const SequenceRows rows[] = {{.first_row = 0, .rows = s.rows, .first_position = s.start, .block_table = table}};
  const std::vector<int32_t> tokens(static_cast<size_t>(s.rows));
  const Batch batch{tokens, rows};
  std::vector<float> out(static_cast<size_t>(s.rows) * layer.q_width());
  gated_attention(test.context, {.shape = shape,
                                 .batch = &batch,
                                 .query_gate = query_gate.data(),
                                 .key = key.data(),
                                 .value = value.data(),
                                 .q_norm = layer.q_norm.data(),
                                 .k_norm = layer.k_norm.data(),
                                 .inv_freq = layer.inv_freq.data(),
                                 .rope_scale = layer.rope_scale,
                                 .kv = {dtype, keys.data(), values.data(), layer.k_scale, layer.v_scale},
                                 .out = out.data()});
  return out;
}

/// The next rows of a sequence in a step.
struct StepPart {
  int sequence;
  int32_t rows;
  RowClass row_class = RowClass::decode;
};
using AttentionStep = std::vector<StepPart>;

/// How the GPU runs it: nothing of this may change a bit.
struct AttentionRun {
  uint32_t block_seed = 1;  // which blocks of the cache sequences get
  int spare_rows = 0;       // bounds beyond the counts, entries there garbage
  int sm_count = 3;
  int decode_row_blocks = 0, decode_slots = 0, prefill_slots = 0;  // 0: as planned
  bool pdl = true;
};

struct AttentionOutcome {
  std::vector<std::vector<uint16_t>> out;      // of each sequence's rows
  std::vector<std::vector<std::byte>> stored;  // of each sequence: keys, then values, of its positions
};

class AttentionOnGpu {
 public:
  static constexpr size_t kWorkspaceBytes = size_t{48} << 20;
  AttentionOnGpu(const AttentionLayer& layer, std::span<const AttentionSequence> sequences, const AttentionRun& run);
  AttentionOutcome steps(const std::vector<AttentionStep>& steps);

 private:
  struct Batch {
    StepCounts counts;
    std::vector<SequenceEntry> entries;
    std::vector<int32_t> row_sequence, row_position;
    std::vector<uint16_t> projections;  // [rows, query_gate | key | 8 more | value]
    std::vector<const StepPart*> parts;
  };
  [[nodiscard]] size_t row_width() const { return 2 * layer_.q_width() + 2 * layer_.kv_width() + 8; }
  [[nodiscard]] size_t row_bytes() const {
    return size_bytes(layer_.dtype) * static_cast<size_t>(padded_head_dim(layer_.shape.head_dim));
  }
  [[nodiscard]] size_t row_offset(int sequence, int32_t position, int kv_head) const {
    const auto block = static_cast<size_t>(
        tables_[static_cast<size_t>(sequence) * stride_ + static_cast<size_t>(position / kBlockTokens)]);
    return ((block * static_cast<size_t>(layer_.shape.kv_heads) + static_cast<size_t>(kv_head)) * kBlockTokens +
            static_cast<size_t>(position % kBlockTokens)) *
           row_bytes();
  }
  std::vector<std::byte> initial_cache(bool keys) const;
  [[nodiscard]] Batch make_batch(const AttentionStep& step) const;
  void run_step(const AttentionStep& step, AttentionOutcome& outcome);
  void expect_no_states_behind(const AttentionArgs& args);

  const AttentionLayer& layer_;
  std::span<const AttentionSequence> sequences_;
  AttentionRun run_;
  size_t stride_ = 0;
  std::vector<int32_t> tables_;  // [sequences, stride]: slot i is sequence i
  std::vector<int32_t> done_;
  device::Stream stream_;
  std::vector<OnDevice<std::byte>> cache_;  // keys, values
  std::vector<OnDevice<float>> constants_;  // q_norm, k_norm, inv_freq
  std::vector<OnDevice<std::byte>> workspace_;
  size_t workspace_bytes_ = 0;
  int64_t states_end_ = 0;  // bytes of states that steps so far may have in it
};

inline AttentionOnGpu::AttentionOnGpu(const AttentionLayer& layer, std::span<const AttentionSequence> sequences,
                                      const AttentionRun& run)
    : layer_(layer), sequences_(sequences), run_(run), done_(sequences.size(), 0) {
  EXPECT_EQ(cudaStreamCreateWithFlags(stream_.fill(), cudaStreamNonBlocking), cudaSuccess);
  size_t blocks = 0;
  for (const auto& s : sequences) {
    const auto count = static_cast<size_t>((s.end() + kBlockTokens - 1) / kBlockTokens);
    blocks += count;
    stride_ = std::max(stride_, count + 1);
  }
  std::vector<int32_t> ids(blocks);
  std::iota(ids.begin(), ids.end(), 0);
  std::shuffle(ids.begin(), ids.end(), std::mt19937(run.block_seed));
  tables_.assign(sequences.size() * stride_, int32_t{1} << 30);  // entries behind a sequence's end must not be used
  size_t used = 0;
  for (size_t i = 0; i < sequences.size(); ++i) {
    const auto count = static_cast<size_t>((sequences[i].end() + kBlockTokens - 1) / kBlockTokens);
    std::copy_n(ids.begin() + static_cast<long>(used), count, tables_.begin() + static_cast<long>(i * stride_));
    used += count;
  }
  cache_.emplace_back(initial_cache(true));
  cache_.emplace_back(initial_cache(false));
  for (const auto* v : {&layer.q_norm, &layer.k_norm, &layer.inv_freq}) constants_.emplace_back(*v);
}

/// What is not stored is NaN, in BF16 every other value an infinity.
inline std::vector<std::byte> AttentionOnGpu::initial_cache(bool keys) const {
  const auto blocks = static_cast<size_t>(
      std::count_if(tables_.begin(), tables_.end(), [](int32_t id) { return id < int32_t{1} << 30; }));
  std::vector<std::byte> bytes(std::max<size_t>(blocks, 1) * kv_block_bytes(layer_.dtype, layer_.shape),
                               std::byte{0xff});
  if (layer_.dtype == DType::bf16) {
    for (size_t at = 0; at < bytes.size(); at += 4) bytes[at] = std::byte{0x80}, bytes[at + 1] = std::byte{0x7f};
  }
  const int dim = layer_.shape.head_dim;
  for (size_t i = 0; i < sequences_.size(); ++i) {
    const AttentionSequence& s = sequences_[i];
    for (int32_t p = 0; p < s.start; ++p) {
      for (int h = 0; h < layer_.shape.kv_heads; ++h) {
        std::byte* row = bytes.data() + row_offset(static_cast<int>(i), p, h);
        std::memset(row, 0, row_bytes());
        for (int d = 0; d < dim; ++d) {
          const auto at = static_cast<size_t>((int64_t{p} * layer_.shape.kv_heads + h) * dim + d);
          const uint16_t v = keys ? s.stored_keys[at] : s.stored_values[at];
          if (layer_.dtype == DType::bf16) {
            std::memcpy(row + 2 * d, &v, 2);
          } else {
            row[d] = static_cast<std::byte>(e4m3_code(v, keys ? layer_.k_scale : layer_.v_scale));
          }
        }
      }
    }
  }
  return bytes;
}

inline AttentionOnGpu::Batch AttentionOnGpu::make_batch(const AttentionStep& step) const {
  Batch batch;
  for (const RowClass row_class : {RowClass::decode, RowClass::prefill}) {
    for (const StepPart& part : step) {
      if (part.row_class != row_class) continue;
      const auto i = static_cast<size_t>(part.sequence);
      const AttentionSequence& s = sequences_[i];
      const auto first = static_cast<size_t>(done_[i]);
      const int32_t position = s.start + done_[i];
      for (int32_t r = 0; r < part.rows; ++r) {
        batch.row_sequence.push_back(static_cast<int32_t>(batch.entries.size()));
        batch.row_position.push_back(position + r);
        const auto take = [&](const std::vector<uint16_t>& from, size_t width, size_t gap) {
          const auto at = from.begin() + static_cast<long>((first + static_cast<size_t>(r)) * width);
          batch.projections.insert(batch.projections.end(), at, at + static_cast<long>(width));
          batch.projections.insert(batch.projections.end(), gap, 0xffff);
        };
        take(s.query_gate, 2 * layer_.q_width(), 0);
        take(s.key, layer_.kv_width(), 8);
        take(s.value, layer_.kv_width(), 0);
      }
      batch.entries.push_back({.first_row = batch.counts.rows,
                               .rows = part.rows,
                               .first_position = position,
                               .slot = part.sequence,
                               .row_class = row_class});
      batch.parts.push_back(&part);
      batch.counts.rows += part.rows;
      ++batch.counts.sequences;
      if (row_class == RowClass::decode) {
        batch.counts.decode_rows = batch.counts.rows;
        batch.counts.decode_sequences = batch.counts.sequences;
      }
    }
  }
  return batch;
}

inline void AttentionOnGpu::run_step(const AttentionStep& step, AttentionOutcome& outcome) {
  Batch batch = make_batch(step);
  const StepCounts counts = batch.counts;
  const auto rows = static_cast<size_t>(counts.rows), spare = static_cast<size_t>(run_.spare_rows);
  // Entries behind the counts: garbage that would be noticed.
  batch.entries.resize(batch.entries.size() + spare + 1, {.first_row = 1 << 28, .rows = 1 << 20, .slot = 1 << 28});
  batch.row_sequence.resize(rows + spare + 1, 1 << 28);
  batch.row_position.resize(rows + spare + 1, 1 << 28);
  batch.projections.resize((rows + spare) * row_width() + 8, 0xffff);
  const OnDevice<StepCounts> on_counts(std::span<const StepCounts>(&counts, 1));
  const OnDevice<SequenceEntry> entries(batch.entries);
  const OnDevice<int32_t> row_sequence(batch.row_sequence), row_position(batch.row_position), tables(tables_);
  const OnDevice<uint16_t> projections(batch.projections);
  const OnDevice<uint16_t> out(std::vector<uint16_t>((rows + spare) * layer_.q_width() + 8, 0xabcd));

  AttentionArgs args;
  args.tables.counts = on_counts.get();
  args.tables.row_sequence = row_sequence.get();
  args.tables.row_position = row_position.get();
  args.tables.sequences = entries.get();
  args.tables.block_tables = tables.get();
  args.tables.block_table_stride = static_cast<int64_t>(stride_);
  const bool decodes = counts.decode_rows > 0, prefills = counts.rows > counts.decode_rows;
  args.tables.decode_rows_max = decodes ? counts.decode_rows + run_.spare_rows : 0;
  args.tables.decode_sequences_max = decodes ? counts.decode_sequences + run_.spare_rows : 0;
  args.tables.rows_max = prefills ? counts.rows + run_.spare_rows : args.tables.decode_rows_max;
  args.tables.sequences_max = counts.sequences + run_.spare_rows;
  auto plan = plan_attention(layer_.shape, layer_.dtype, args.tables, run_.sm_count);
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  args.plan = *plan;
  if (run_.decode_row_blocks > 0 && padded_head_dim(layer_.shape.head_dim) >= 128) {
    args.plan.decode_row_blocks = run_.decode_row_blocks;
  }
  if (run_.decode_slots > 0) args.plan.decode_slots = run_.decode_slots;
  if (run_.prefill_slots > 0) args.plan.prefill_slots = run_.prefill_slots;
  if (workspace_.empty()) {  // enough for later steps too, and for what was forced
    std::vector<std::byte> garbage(std::max(2 * args.plan.workspace_bytes, kWorkspaceBytes), std::byte{0xff});
    std::fill_n(garbage.begin(), kAttentionCounterBytes, std::byte{0});
    workspace_.emplace_back(garbage);
    workspace_bytes_ = garbage.size();
  }
  args.kv = {layer_.dtype, cache_[0].get(), cache_[1].get(), layer_.k_scale, layer_.v_scale};
  args.query_gate = projections.get();
  args.key = projections.get() + 2 * layer_.q_width();
  args.value = args.key + layer_.kv_width() + 8;
  args.query_gate_stride = args.key_stride = args.value_stride = static_cast<int64_t>(row_width());
  args.q_norm = constants_[0].get();
  args.k_norm = constants_[1].get();
  args.inv_freq = constants_[2].get();
  args.rope_scale = layer_.rope_scale;
  args.out = out.get();
  args.workspace = workspace_[0].get();
  const Status status = attention(args, {.stream = stream_.get(), .pdl = run_.pdl});
  ASSERT_TRUE(status.ok()) << status.message();
  ASSERT_EQ(cudaStreamSynchronize(stream_.get()), cudaSuccess);

  const auto got = out.read();
  for (size_t i = rows * layer_.q_width(); i < got.size(); ++i) ASSERT_EQ(got[i], 0xabcd) << "a dead row was written";
  std::vector<std::byte> counters(kAttentionCounterBytes);
  ASSERT_EQ(cudaMemcpy(counters.data(), args.workspace, counters.size(), cudaMemcpyDeviceToHost), cudaSuccess);
  ASSERT_TRUE(std::all_of(counters.begin(), counters.end(), [](std::byte b) { return b == std::byte{0}; }))
      << "counters are not zero again";
  expect_no_states_behind(args);
  size_t row = 0;
  for (const StepPart* part : batch.parts) {
    const auto i = static_cast<size_t>(part->sequence);
    const size_t length = static_cast<size_t>(part->rows) * layer_.q_width();
    outcome.out[i].insert(outcome.out[i].end(), got.begin() + static_cast<long>(row * layer_.q_width()),
                          got.begin() + static_cast<long>(row * layer_.q_width() + length));
    row += static_cast<size_t>(part->rows);
    done_[i] += part->rows;
  }
}

/// Behind those that this step, or one before it, may have. A block that takes all splits in turn has two, whatever
/// slots are allowed.
inline void AttentionOnGpu::expect_no_states_behind(const AttentionArgs& args) {
  const AttentionPlan& plan = args.plan;
  const int dim = padded_head_dim(layer_.shape.head_dim);
  states_end_ = std::max(
      {states_end_,
       std::max(plan.decode_slots, 2 * plan.decode_blocks) * attn::decode_slot_bytes(dim, plan.decode_row_blocks),
       std::max(plan.prefill_slots, 2 * plan.prefill_blocks) * attn::prefill_slot_bytes(dim)});
  std::vector<std::byte> behind(4096);
  const size_t end = kAttentionCounterBytes + static_cast<size_t>(states_end_);
  if (end + behind.size() > workspace_bytes_) return;  // of a step larger than the first
  ASSERT_EQ(cudaMemcpy(behind.data(), args.workspace + end, behind.size(), cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_TRUE(std::all_of(behind.begin(), behind.end(), [](std::byte b) { return b == std::byte{0xff}; }))
      << "a state lies behind the last slot";
}

inline AttentionOutcome AttentionOnGpu::steps(const std::vector<AttentionStep>& steps) {
  AttentionOutcome outcome;
  outcome.out.resize(sequences_.size());
  for (const AttentionStep& step : steps) {
    run_step(step, outcome);
    if (testing::Test::HasFatalFailure()) return outcome;
  }
  for (size_t i = 0; i < sequences_.size(); ++i) {
    std::vector<std::byte> stored;
    for (const auto& memory : cache_) {
      const auto bytes = memory.read();
      for (int32_t p = 0; p < sequences_[i].start + done_[i]; ++p) {
        for (int h = 0; h < layer_.shape.kv_heads; ++h) {
          const auto at = bytes.begin() + static_cast<long>(row_offset(static_cast<int>(i), p, h));
          stored.insert(stored.end(), at, at + static_cast<long>(row_bytes()));
        }
      }
    }
    outcome.stored.push_back(std::move(stored));
  }
  return outcome;
}

}  // namespace tessera::kernels::cuda
