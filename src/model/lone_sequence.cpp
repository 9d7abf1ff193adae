#include "model/lone_sequence.h"

#include <numeric>

#include "base/aligned_buffer.h"
#include "base/check.h"

namespace tessera::model {

Expected<LoneSequence> LoneSequence::create(const Model& model, DType kv_dtype, int64_t tokens_max, int64_t rows_max,
                                            bool with_mtp) {
  LoneSequence sequence(model);
  sequence.block_table_.resize(static_cast<size_t>(kernels::blocks_for(tokens_max)));
  std::iota(sequence.block_table_.begin(), sequence.block_table_.end(), 0);
  const auto blocks = static_cast<int>(sequence.block_table_.size());
  const auto rows = static_cast<int32_t>(rows_max);
  TESSERA_ASSIGN_OR_RETURN(sequence.cache_, model.make_cache(kv_dtype, blocks, /*state_slots=*/1, with_mtp));
  TESSERA_ASSIGN_OR_RETURN(sequence.pass_, model.make_pass({.rows_max = rows,
                                                            .sequences_max = 1,
                                                            .logit_rows_max = rows,
                                                            .state_slots = 1,
                                                            .sequence_blocks_max = blocks,
                                                            .keeps_hidden = with_mtp}));
  return sequence;
}

Status LoneSequence::begin(std::span<const int32_t> tokens, int64_t first_position, kernels::RowClass row_class) {
  TESSERA_CHECK_LE(first_position + static_cast<int64_t>(tokens.size()),
                   static_cast<int64_t>(block_table_.size()) * kernels::kBlockTokens);
  tokens_.assign(tokens.begin(), tokens.end());
  logit_rows_.resize(tokens.size());
  std::iota(logit_rows_.begin(), logit_rows_.end(), 0);
  rows_ = {.rows = static_cast<int32_t>(tokens.size()),
           .first_position = static_cast<int32_t>(first_position),
           .row_class = row_class,
           .block_table = block_table_};
  return model_->backend().begin(*pass_, *cache_, {.tokens = tokens_, .sequences = {&rows_, 1}}, logit_rows_);
}

Status LoneSequence::run(std::span<const int32_t> tokens, kernels::RowClass row_class, std::span<float> logits) {
  TESSERA_RETURN_IF_ERROR(begin(tokens, position_, row_class));
  TESSERA_RETURN_IF_ERROR(model_->forward(*pass_));
  position_ += static_cast<int64_t>(tokens.size());
  return model_->backend().read_logits(*pass_, logits);
}

Status LoneSequence::try_step() {
  AlignedBuffer<float> logits(static_cast<size_t>(model_->config().vocab_size));
  const int32_t token = 0;
  TESSERA_RETURN_IF_ERROR(run({&token, 1}, kernels::RowClass::prefill, {logits.data(), logits.size()}));
  restart();
  return {};
}

Status LoneSequence::run_mtp(std::span<const int32_t> next_tokens, std::span<float> logits) {
  TESSERA_CHECK_EQ(static_cast<int32_t>(next_tokens.size()), rows_.rows);
  TESSERA_RETURN_IF_ERROR(begin(next_tokens, rows_.first_position, rows_.row_class));
  TESSERA_RETURN_IF_ERROR(model_->forward_mtp(*pass_));
  return model_->backend().read_logits(*pass_, logits);
}

}  // namespace tessera::model
