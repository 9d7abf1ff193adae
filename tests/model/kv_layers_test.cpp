#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "kernels/cpu/backend.h"
#include "kernels/cpu/cache.h"
#include "model/checkpoint_files.h"
#include "model/model.h"

// Which layer's keys and values go where, and by which scales: four attention layers between others, and the MTP head's
// two.
namespace tessera::model {
namespace {

using kernels::cpu::Cache;
using test::TempDirectory;

constexpr int kMainLayers = 4, kLayers = 6;  // of attention, the MTP head's last
constexpr int kBlocks = 2;

float k_scale(int layer) { return 0.5F + 0.25F * static_cast<float>(layer); }
float v_scale(int layer) { return 3.0F + 0.125F * static_cast<float>(layer); }

/// A checkpoint where no two scales are the same.
class KvLayers : public testing::Test {
 protected:
  void SetUp() override {
    SynthShape shape = test::small_shape();
    shape.num_hidden_layers = 8;
    shape.full_attention_interval = 2;
    shape.mtp_num_hidden_layers = kLayers - kMainLayers;
    test::synthesize(directory_.path(), {.shape = shape});
    test::rewrite(directory_.path(), [](auto& tensors) {
      const auto add = [&](const std::string& layer, int number) {
        const auto put = [&](const std::string& name, float scale) {
          tensors[name] = {name, "F32", {}, format::test::bytes_of(std::vector{scale})};
        };
        put(layer + ".self_attn.k_proj.k_scale", k_scale(number));
        put(layer + ".self_attn.v_proj.v_scale", v_scale(number));
      };
      for (int i = 0; i < kMainLayers; ++i) add("model.language_model.layers." + std::to_string(2 * i + 1), i);
      for (int i = kMainLayers; i < kLayers; ++i) add("mtp.layers." + std::to_string(i - kMainLayers), i);
    });
    const format::Checkpoint checkpoint = test::open(directory_.path());
    const auto config = parse_config(**checkpoint.read_text("config.json"), "config.json");
    ASSERT_TRUE(config.ok()) << config.status().message();
    auto loaded = Model::load(checkpoint, *config, *backend_, {.plan = {.with_mtp = true}});
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    model_ = std::move(*loaded);
  }

  std::unique_ptr<kernels::Cache> make_cache() {
    return *model_->make_cache(DType::f8_e4m3, kBlocks, /*state_slots=*/1, /*with_mtp=*/true);
  }

  TempDirectory directory_;
  ThreadPool pool_{1};
  kernels::Workspace workspace_;
  std::unique_ptr<kernels::Backend> backend_ =
      kernels::cpu::make_backend({kernels::Compute::bf16, &pool_, &workspace_, nullptr});
  std::unique_ptr<Model> model_;
};

TEST_F(KvLayers, EachHasTheScalesThatItsCheckpointSays) {
  const auto cache = make_cache();
  for (int layer = 0; layer < kLayers; ++layer) {
    const kernels::KvLayer kv = static_cast<Cache&>(*cache).kv_layer(layer);
    EXPECT_EQ(kv.k_scale, k_scale(layer)) << "layer " << layer;
    EXPECT_EQ(kv.v_scale, v_scale(layer)) << "layer " << layer;
  }
}

/// Only who drafts has layers of the MTP head, and records to go back to: of each draft's row and one more.
TEST_F(KvLayers, AreAsManyAsAreUsed) {
  for (const auto& [drafts_max, record_rows] : {std::pair(0, 0), {1, 2}, {5, 6}}) {
    const bool drafts = drafts_max > 0;
    const auto shape = cache_shape(model_->config(), DType::bf16, /*with_mtp=*/drafts, {}, drafts_max);
    EXPECT_EQ(shape.record_rows, record_rows);
    EXPECT_EQ(shape.attention_layers, drafts ? kLayers : kMainLayers);
    EXPECT_EQ(shape.linear_layers, 4);
  }
}

TEST_F(KvLayers, TheMtpHeadsLayersWriteTheirOwnAndNoOther) {
  const auto cache = make_cache();
  const auto pass = *model_->make_pass({.rows_max = 64,
                                        .sequences_max = 1,
                                        .logit_rows_max = 64,
                                        .state_slots = 1,
                                        .sequence_blocks_max = kBlocks,
                                        .keeps_hidden = true});
  const std::vector<int32_t> table = {1, 0};
  std::vector<int32_t> tokens(40), logit_rows = {39};
  std::iota(tokens.begin(), tokens.end(), 3);
  const kernels::SequenceRows rows = {.rows = 40, .row_class = kernels::RowClass::prefill, .block_table = table};
  const auto begin = [&] {
    ASSERT_TRUE(backend_->begin(*pass, *cache, {.tokens = tokens, .sequences = {&rows, 1}}, logit_rows).ok());
  };
  const auto bytes = [&](int layer) {
    const kernels::KvLayer kv = static_cast<Cache&>(*cache).kv_layer(layer);
    const size_t all = kBlocks * kernels::kv_block_bytes(kv.dtype, model_->config().attention.kv_heads,
                                                         model_->config().attention.head_dim);
    return std::string(reinterpret_cast<const char*>(kv.keys), all) +
           std::string(reinterpret_cast<const char*>(kv.values), all);
  };
  const std::string nothing(bytes(0).size(), '\0');

  begin();
  ASSERT_TRUE(model_->forward(*pass).ok());
  std::vector<std::string> written;
  for (int layer = 0; layer < kLayers; ++layer) written.push_back(bytes(layer));
  for (int layer = 0; layer < kMainLayers; ++layer) {
    EXPECT_NE(written[static_cast<size_t>(layer)], nothing) << "layer " << layer;
    for (int other = 0; other < layer; ++other) {
      EXPECT_NE(written[static_cast<size_t>(layer)], written[static_cast<size_t>(other)]);
    }
  }
  for (int own = kMainLayers; own < kLayers; ++own) {
    EXPECT_EQ(bytes(own), nothing) << "of the MTP head, which did not run";
    begin();
    ASSERT_TRUE(model_->forward_mtp(*pass, own - kMainLayers).ok());
    EXPECT_NE(bytes(own), nothing);
    written[static_cast<size_t>(own)] = bytes(own);
    for (int layer = 0; layer < kLayers; ++layer) {
      EXPECT_EQ(bytes(layer), written[static_cast<size_t>(layer)]) << "layer " << layer << " behind layer " << own;
    }
  }
}

}  // namespace
}  // namespace tessera::model
