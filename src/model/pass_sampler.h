#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/status.h"
#include "kernels/cuda/memory.h"
#include "kernels/cuda/pass.h"
#include "kernels/cuda/sample_tables.h"

namespace tessera::model {

struct SamplerShape {
  int64_t vocab = 0;
  int64_t known_ids = 0;    // ids [known_ids, vocab) are never drawn
  int32_t slots = 0;        // of the cache's states: a sequence has one
  int32_t samples_max = 0;  // of a pass
  int64_t row_words = 0;    // of one sample's mask and lists, at most
};

/// The sampler behind a CUDA runner's passes: the tables of what they draw, the token counts of penalties, and draws
/// that come later than their step. All memory is taken at the beginning; what is enqueued goes to the pass's stream.
class PassSampler {
 public:
  Status take_memory(const SamplerShape& shape);

  /// Of the tables of a pass, at most.
  [[nodiscard]] size_t tables_bytes() const { return capacity_.bytes(); }
  [[nodiscard]] size_t results_bytes() const;

  /// Bytes in use. unsure: [samples], or none of them is.
  Expected<size_t> write_tables(std::span<const kernels::SampleRow> samples,
                                std::span<const kernels::cuda::UnsureDraw> unsure, std::span<std::byte> memory) const;
  /// By tables on the device, of samples_max samples at most, over the logits that the pass has.
  Status draw(const kernels::cuda::Pass& pass, const std::byte* tables, int32_t samples_max, std::byte* out) const;

  /// What penalties see of a slot's sequence from now on; sequences of a million tokens at most.
  Status set_histories(const kernels::cuda::Pass& pass, std::span<const kernels::TokenHistory> histories);
  /// The slot's penalties see these, too: draws of which it was not sure whether they hold. Of a slot again when the
  /// pass behind the one before has ended.
  Status count(const kernels::cuda::Pass& pass, int32_t slot, std::span<const int32_t> drawn);

  /// Over the logits of a pass whose draws come later. One such at a time.
  Status draw_later(const kernels::cuda::Pass& pass, std::span<const kernels::SampleRow> samples);
  Status wait_for_later() const;
  [[nodiscard]] const std::byte* later_results() const { return late_results_.host(); }

 private:
  SamplerShape shape_;
  kernels::cuda::SampleCapacity capacity_;
  kernels::cuda::DeviceBuffer counts_, workspace_;
  kernels::cuda::MappedBuffer history_;  // [2, kHistoryTokens]
  kernels::cuda::MappedBuffer held_;     // [slots, kRecordRowsMax]: draws that held, on their way to the counts
  // Of the step whose draws come later: sample tables, staged and as the sampler reads them, and what it writes.
  kernels::cuda::MappedBuffer late_staging_, late_results_;
  kernels::cuda::DeviceBuffer late_tables_;
  device::Event late_drawn_;
};

}  // namespace tessera::model
