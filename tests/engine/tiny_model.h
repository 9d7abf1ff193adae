#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/temp_directory.h"
#include "model/synth.h"
#include "text/bundled.h"

namespace tessera::engine {

enum class TinyKind { moe, dense };

/// A directory with a random NVFP4 checkpoint of a few hundred kilobytes and the bundled tokenizer, removed when it
/// goes out of scope.
class TinyModel {
 public:
  explicit TinyModel(TinyKind kind, uint64_t seed = 1, const std::string& generation_config = "{}") {
    model::SynthOptions options;
    options.shape.is_moe = kind == TinyKind::moe;
    options.shape.hidden_size = 64;
    options.shape.num_hidden_layers = 4;
    options.shape.full_attention_interval = 2;
    options.shape.num_attention_heads = 4;
    options.shape.num_key_value_heads = 2;
    options.shape.head_dim = 32;
    options.shape.linear_num_key_heads = 2;
    options.shape.linear_num_value_heads = 4;
    options.shape.linear_key_head_dim = 16;
    options.shape.linear_value_head_dim = 16;
    options.shape.num_experts = 8;
    options.shape.num_experts_per_tok = 2;
    options.shape.moe_intermediate_size = 32;
    options.shape.shared_expert_intermediate_size = 32;
    options.shape.intermediate_size = 96;
    options.shape.vocab_size = 3200;  // the bundled tokenizer knows 3072
    options.shape.max_position_embeddings = 4096;
    for (const model::TensorKind part : {model::TensorKind::routed_expert, model::TensorKind::shared_expert,
                                         model::TensorKind::mlp, model::TensorKind::attention}) {
      options.formats[part] = format::WeightFormat::nvfp4;
    }
    options.dialect = kind == TinyKind::moe ? format::Dialect::modelopt : format::Dialect::compressed_tensors;
    options.files = {{"tokenizer.json", std::string(text::bundled_tokenizer_json())},
                     {"tokenizer_config.json", std::string(text::bundled_tokenizer_config_json())},
                     {"generation_config.json", generation_config}};
    options.seed = seed;
    const Status status = model::write_random_checkpoint(directory(), options);
    EXPECT_TRUE(status.ok()) << status.message();
  }

  [[nodiscard]] const std::filesystem::path& directory() const { return directory_.path(); }

 private:
  test::TempDirectory directory_;
};

}  // namespace tessera::engine
