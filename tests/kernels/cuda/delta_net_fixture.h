#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "device/cuda.h"
#include "kernels/cuda/delta_net.h"
#include "kernels/cuda/on_device.h"
#include "kernels/delta_net_inputs.h"

// Sequences that run through Gated DeltaNet step by step, on the GPU and on the CPU.
namespace tessera::kernels::cuda {

inline constexpr RowClass kPrefill = RowClass::prefill, kDecode = RowClass::decode;

inline std::vector<float> floats_of(std::span<const uint16_t> bits) {
  std::vector<float> out;
  for (const uint16_t b : bits) out.push_back(bf16_to_float(b));
  return out;
}

using DeltaSequence = DeltaSequenceOf<uint16_t>;

/// The next `rows` rows of a sequence. snapshot: to this slot after so many of its positions. held: so many of the rows
/// hold, the sequence goes on behind these; 0: all, and no records are kept.
struct DeltaPart {
  int sequence;
  int32_t rows;
  RowClass row_class;
  int32_t snapshot_slot = -1, snapshot_position = 0;
  int32_t held = 0;
};
/// Parts of class decode first.
using DeltaStep = std::vector<DeltaPart>;
using DeltaSteps = std::vector<DeltaStep>;

/// Of one sequence: all outputs so far; S; the last convolution inputs as the CPU keeps them.
struct DeltaResult {
  std::vector<float> out, state, window;
};

/// What the rows of a step are made of, in the order of its parts.
struct DeltaRows {
  std::vector<SequenceRows> sequences;
  std::vector<uint16_t> qkv, z, b, a;  // stacked, no padding
  int32_t rows = 0;

  DeltaRows(const DeltaNetShape& shape, const std::vector<DeltaSequence>& all, const DeltaStep& step,
            const std::vector<int32_t>& done, const std::vector<int32_t>& slots, const std::vector<int32_t>& held) {
    for (const DeltaPart& part : step) {
      const auto index = static_cast<size_t>(part.sequence);
      const auto take = [&](const std::vector<uint16_t>& from, int64_t width, std::vector<uint16_t>& to) {
        const auto begin = from.begin() + done[index] * width;
        to.insert(to.end(), begin, begin + part.rows * width);
      };
      take(all[index].qkv, shape.channels(), qkv);
      take(all[index].z, int64_t{shape.value_heads} * shape.value_dim, z);
      take(all[index].b, shape.value_heads, b);
      take(all[index].a, shape.value_heads, a);
      sequences.push_back({.first_row = rows,
                           .rows = part.rows,
                           .first_position = done[index],
                           .row_class = part.row_class,
                           .state_slot = slots[index],
                           .snapshot_slot = part.snapshot_slot,
                           .snapshot_position = part.snapshot_position,
                           .keeps_records = part.held > 0,
                           .held = held[index],
                           .block_table = {}});
      rows += part.rows;
    }
  }
};

/// Sequences with their places; `step` runs the next rows of some.
class DeltaRun {
 public:
  DeltaRun(const DeltaWeights& weights, std::vector<DeltaSequence> sequences, int slots)
      : weights_(weights),
        sequences_(std::move(sequences)),
        slots_count_(slots),
        done_(sequences_.size(), 0),
        held_(sequences_.size(), 0),
        slots_(sequences_.size()),
        results_(sequences_.size()) {
    for (size_t i = 0; i < slots_.size(); ++i) slots_[i] = static_cast<int32_t>(slots_.size() - 1 - i);
  }
  virtual ~DeltaRun() = default;
  DeltaRun(const DeltaRun&) = delete;
  DeltaRun& operator=(const DeltaRun&) = delete;

  void step(const DeltaStep& step) {
    const DeltaRows rows(weights_.shape, sequences_, step, done_, slots_, held_);
    const std::vector<float> out = compute(rows);
    const int64_t values = int64_t{weights_.shape.value_heads} * weights_.shape.value_dim;
    for (size_t i = 0; i < step.size(); ++i) {
      const auto index = static_cast<size_t>(step[i].sequence);
      const auto begin = out.begin() + rows.sequences[i].first_row * values;
      const int32_t held = step[i].held > 0 ? step[i].held : step[i].rows;
      results_[index].out.insert(results_[index].out.end(), begin, begin + held * values);
      done_[index] += held;
      held_[index] = step[i].held;
    }
  }
  /// The sequence goes on from another slot.
  void move(int sequence, int32_t slot) { slots_[static_cast<size_t>(sequence)] = slot; }
  /// The sequence goes on at another position, from what its slot holds; its outputs so far are dropped.
  void resume(int sequence, int32_t position) {
    done_[static_cast<size_t>(sequence)] = position;
    results_[static_cast<size_t>(sequence)].out.clear();
  }
  [[nodiscard]] DeltaResult result(int sequence) const {
    DeltaResult r = results_[static_cast<size_t>(sequence)];
    read_slot(slots_[static_cast<size_t>(sequence)], r);
    return r;
  }

 protected:
  virtual std::vector<float> compute(const DeltaRows& rows) = 0;
  virtual void read_slot(int32_t slot, DeltaResult& to) const = 0;

  const DeltaWeights& weights_;
  const std::vector<DeltaSequence> sequences_;
  const int slots_count_;

 private:
  std::vector<int32_t> done_, held_, slots_;
  std::vector<DeltaResult> results_;
};

class CpuDeltaRun : public DeltaRun {
 public:
  CpuDeltaRun(const DeltaWeights& weights, std::vector<DeltaSequence> sequences, Compute compute)
      : DeltaRun(weights, std::move(sequences), 8),
        test_(2, compute),
        states_(static_cast<size_t>(weights.shape.state_floats() * slots_count_), NAN) {}

 protected:
  std::vector<float> compute(const DeltaRows& rows) override {
    const std::vector<int32_t> tokens(static_cast<size_t>(rows.rows));
    const Batch batch{tokens, rows.sequences};
    const auto qkv = floats_of(rows.qkv), z = floats_of(rows.z), b = floats_of(rows.b), a = floats_of(rows.a);
    std::vector<float> out(z.size());
    gated_delta_net(test_.context, {.shape = weights_.shape,
                                    .batch = &batch,
                                    .qkv = qkv.data(),
                                    .z = z.data(),
                                    .b = b.data(),
                                    .a = a.data(),
                                    .conv_weight = weights_.conv_weight.data(),
                                    .a_log = weights_.a_log.data(),
                                    .dt_bias = weights_.dt_bias.data(),
                                    .norm_weight = weights_.norm_weight.data(),
                                    .states = states_.data(),
                                    .out = out.data()});
    return out;
  }
  void read_slot(int32_t slot, DeltaResult& to) const override {
    const auto* from = states_.data() + slot * weights_.shape.state_floats();
    const auto values = state_values(weights_.shape);
    to.state.assign(from, from + values);
    to.window.assign(from + values, from + weights_.shape.state_floats());
  }

 private:
  TestContext test_;
  std::vector<float> states_;
};

/// What a run on the GPU varies that must not change a bit.
struct DeltaOptions {
  int32_t dead_sequences = 0;  // and rows, of each class, that the bounds allow for and the step does not have
  int64_t stride_padding = 0;  // of the projections' rows, a multiple of 8
  bool pdl = true;
  int32_t record_rows = 0;  // 0: no memory for records
};

class GpuDeltaRun : public DeltaRun {
 public:
  /// Slots, and all memory that a step must not read, hold NaN.
  GpuDeltaRun(const DeltaWeights& weights, std::vector<DeltaSequence> sequences, DeltaOptions options = {})
      : DeltaRun(weights, std::move(sequences), std::max<int>(8, static_cast<int>(sequences.size()))),
        options_(options),
        conv_weight_(std::span<const float>(weights.conv_weight)),
        a_log_(std::span<const float>(weights.a_log)),
        dt_bias_(std::span<const float>(weights.dt_bias)),
        norm_weight_(std::span<const float>(weights.norm_weight)),
        states_(std::span<const float>(
            std::vector<float>(static_cast<size_t>(state_values(weights.shape) * slots_count_), NAN))),
        windows_(std::span<const uint16_t>(
            std::vector<uint16_t>(static_cast<size_t>(window_values(weights.shape) * slots_count_), 0xffff))),
        records_(
            std::vector<std::byte>(static_cast<size_t>(slots_count_ * weights.shape.value_heads * options.record_rows) *
                                       record_bytes(weights.shape),
                                   std::byte{0xff})) {}

  void copy(std::span<const StateCopy> copies) {
    run([&](const device::Queue& queue) {
      return copy_states({.shape = weights_.shape,
                          .layers = 1,
                          .states = states_.get(),
                          .windows = windows_.get(),
                          .slots = slots_count_,
                          .copies = copies},
                         queue);
    });
  }
  [[nodiscard]] std::vector<float> all_states() const { return states_.read(); }
  [[nodiscard]] std::vector<uint16_t> all_windows() const { return windows_.read(); }

 protected:
  std::vector<float> compute(const DeltaRows& rows) override;
  void read_slot(int32_t slot, DeltaResult& to) const override;

 private:
  template <typename Launches>
  void run(const Launches& launches) const {
    device::Stream stream;
    ASSERT_EQ(cudaStreamCreateWithFlags(stream.fill(), cudaStreamNonBlocking), cudaSuccess);
    const Status status = launches({.stream = stream.get(), .pdl = options_.pdl});
    ASSERT_TRUE(status.ok()) << status.message();
    ASSERT_EQ(cudaStreamSynchronize(stream.get()), cudaSuccess);
  }

  DeltaOptions options_;
  OnDevice<float> conv_weight_, a_log_, dt_bias_, norm_weight_;
  OnDevice<float> states_;
  OnDevice<uint16_t> windows_;
  OnDevice<std::byte> records_;
};

/// Rows `width` wide at a stride, among NaN; `dead` rows of NaN follow.
inline std::vector<uint16_t> spread(const std::vector<uint16_t>& values, int64_t width, int64_t stride, int32_t dead) {
  const int64_t rows = static_cast<int64_t>(values.size()) / width;
  std::vector<uint16_t> out(static_cast<size_t>((rows + dead) * stride), 0xffff);
  for (int64_t row = 0; row < rows; ++row) {
    std::copy_n(values.begin() + row * width, width, out.begin() + row * stride);
  }
  return out;
}

inline std::vector<float> GpuDeltaRun::compute(const DeltaRows& rows) {
  const DeltaNetShape& shape = weights_.shape;
  const int64_t values = int64_t{shape.value_heads} * shape.value_dim, padding = options_.stride_padding;
  const int32_t dead = options_.dead_sequences;
  StepCounts counts{.rows = rows.rows, .sequences = static_cast<int32_t>(rows.sequences.size())};
  std::vector<SequenceEntry> entries;
  for (const SequenceRows& s : rows.sequences) {
    entries.push_back({.first_row = s.first_row,
                       .rows = s.rows,
                       .first_position = s.first_position,
                       .slot = s.state_slot,
                       .row_class = s.row_class,
                       .keeps_records = s.keeps_records,
                       .snapshot_slot = s.snapshot_slot,
                       .snapshot_position = s.snapshot_position,
                       .held = s.held});
    if (s.row_class == RowClass::prefill) continue;
    counts.decode_rows += s.rows;
    ++counts.decode_sequences;
  }
  for (int32_t i = 0; i < 2 * dead; ++i) entries.push_back({.first_row = 1 << 30, .rows = 7, .slot = 1 << 20});
  const OnDevice<StepCounts> device_counts{std::span<const StepCounts>(&counts, 1)};
  const OnDevice<SequenceEntry> device_entries{std::span<const SequenceEntry>(entries)};
  const auto upload = [&](const std::vector<uint16_t>& from, int64_t width) {
    return OnDevice<uint16_t>{std::span<const uint16_t>(spread(from, width, width + padding, 2 * dead))};
  };
  const auto qkv = upload(rows.qkv, shape.channels()), z = upload(rows.z, values);
  const auto b = upload(rows.b, shape.value_heads), a = upload(rows.a, shape.value_heads);
  const OnDevice<uint16_t> out{
      std::span<const uint16_t>(std::vector<uint16_t>(static_cast<size_t>((rows.rows + 2 * dead) * values), 0xffff))};
  DeltaNetArgs args;
  args.shape = shape;
  args.tables = {.counts = device_counts.get(),
                 .sequences = device_entries.get(),
                 .rows_max = rows.rows + 2 * dead,
                 .decode_rows_max = counts.decode_rows + dead,
                 .sequences_max = counts.sequences + 2 * dead,
                 .decode_sequences_max = counts.decode_sequences + dead};
  args.qkv = qkv.get();
  args.z = z.get();
  args.b = b.get();
  args.a = a.get();
  args.qkv_stride = shape.channels() + padding;
  args.z_stride = values + padding;
  args.b_stride = args.a_stride = shape.value_heads + padding;
  args.conv_weight = conv_weight_.get();
  args.a_log = a_log_.get();
  args.dt_bias = dt_bias_.get();
  args.norm_weight = norm_weight_.get();
  args.states = states_.get();
  args.windows = windows_.get();
  args.records = options_.record_rows > 0 ? records_.get() : nullptr;
  args.record_rows = options_.record_rows;
  args.out = out.get();
  const OnDevice<std::byte> workspace{std::span<const std::byte>(
      std::vector<std::byte>(delta_net_workspace_bytes(shape, args.tables), std::byte{0xff}))};
  args.workspace = workspace.get();
  run([&](const device::Queue& queue) { return delta_net(args, queue); });
  const auto bits = out.read();
  for (size_t i = static_cast<size_t>(rows.rows * values); i < bits.size(); ++i) {
    EXPECT_EQ(bits[i], 0xffff) << "a dead row was written, element " << i;
    if (bits[i] != 0xffff) break;
  }
  return floats_of(std::span(bits).first(static_cast<size_t>(rows.rows * values)));
}

inline void GpuDeltaRun::read_slot(int32_t slot, DeltaResult& to) const {
  const DeltaNetShape& s = weights_.shape;
  const auto states = states_.read();
  const auto windows = windows_.read();
  const auto begin = states.begin() + slot * state_values(s);
  to.state.assign(begin, begin + state_values(s));
  const int64_t kept = s.conv_width - 1, width = 2 * s.key_dim + s.value_dim, group = s.value_heads / s.key_heads;
  to.window.assign(static_cast<size_t>(kept * s.channels()), NAN);
  for (int64_t head = 0; head < s.value_heads; ++head) {
    for (int64_t i = 0; i < kept; ++i) {
      for (int64_t c = 0; c < width; ++c) {
        const int64_t key_head = head / group;
        const int64_t channel = c < s.key_dim ? key_head * s.key_dim + c
                                : c < 2 * s.key_dim
                                    ? (s.key_heads + key_head) * s.key_dim + c - s.key_dim
                                    : 2 * s.key_heads * s.key_dim + head * s.value_dim + c - 2 * s.key_dim;
        const float value =
            bf16_to_float(windows[static_cast<size_t>(slot * window_values(s) + (head * kept + i) * width + c)]);
        float& place = to.window[static_cast<size_t>(i * s.channels() + channel)];
        // Copies of a key head's channels agree.
        if (head % group != 0 && c < 2 * s.key_dim && std::isfinite(value)) {
          EXPECT_EQ(place, value) << head << " " << c;
        }
        place = value;
      }
    }
  }
}

}  // namespace tessera::kernels::cuda
