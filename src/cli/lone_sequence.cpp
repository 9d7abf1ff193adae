#include "cli/lone_sequence.h"

#include <numeric>

#include "base/check.h"

namespace tessera::cli {
namespace {

std::vector<int32_t> first_blocks(int64_t tokens) {
  std::vector<int32_t> blocks(static_cast<size_t>((tokens + kernels::kBlockTokens - 1) / kernels::kBlockTokens));
  std::iota(blocks.begin(), blocks.end(), 0);
  return blocks;
}

}  // namespace

LoneSequence::LoneSequence(model::Model& model, DType kv_dtype, int64_t tokens_max)
    : model_(model),
      block_table_(first_blocks(tokens_max)),
      cache_(model.config(), kv_dtype, static_cast<int>(block_table_.size()), 1, false, model.k_scales(),
             model.v_scales()) {}

void LoneSequence::run(std::span<const int32_t> tokens, kernels::RowClass row_class, float* logits) {
  const auto rows = static_cast<int64_t>(tokens.size());
  TESSERA_CHECK_LE(position_ + rows, static_cast<int64_t>(block_table_.size()) * kernels::kBlockTokens);
  std::vector<int32_t> logit_rows(tokens.size());
  std::iota(logit_rows.begin(), logit_rows.end(), 0);
  const kernels::SequenceRows sequence{.first_row = 0,
                                       .rows = static_cast<int32_t>(rows),
                                       .first_position = static_cast<int32_t>(position_),
                                       .row_class = row_class,
                                       .state_slot = 0,
                                       .block_table = block_table_};
  model_.forward({.tokens = tokens, .sequences = {&sequence, 1}}, cache_, logit_rows, logits);
  position_ += rows;
}

}  // namespace tessera::cli
