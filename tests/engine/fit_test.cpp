#include "engine/fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/byte_text.h"
#include "kernels/cpu/cache.h"
#include "model/model.h"

namespace tessera::engine {
namespace {

constexpr size_t kGiB = size_t{1} << 30;

model::ModelConfig config_35b() {
  model::ModelConfig config;
  for (int i = 0; i < 40; ++i) {
    config.layer_types.push_back(i % 4 == 3 ? model::LayerType::full_attention : model::LayerType::linear_attention);
  }
  config.attention = {.heads = 16, .kv_heads = 2, .head_dim = 256, .rotary_dim = 64};
  config.delta_net = {.key_heads = 16, .value_heads = 32, .key_dim = 128, .value_dim = 128};
  return config;
}

FitInput input_35b(DType kv_dtype = DType::bf16) {
  return {.available_bytes = 40 * kGiB,
          .weight_bytes = 23 * kGiB,
          .kv_dtype = kv_dtype,
          .cache_bytes = kernels::cpu::cache_bytes(model::cache_shape(config_35b(), kv_dtype, /*with_mtp=*/false))};
}

void expect_consistent(const FitReport& fit) {
  EXPECT_LE(fit.total_bytes() + fit.reserve_bytes, fit.available_bytes);
  EXPECT_GE(fit.max_num_seqs, 1);
  EXPECT_LE(fit.max_model_len, int64_t{64} * fit.kv_blocks);
  EXPECT_LE(fit.kv_blocks, fit.max_num_seqs * ((fit.max_model_len + 63) / 64));
  EXPECT_GE(fit.max_num_batched_tokens, fit.max_num_seqs + 64);
}

TEST(Fit, NumbersOfTheSpecification) {
  const auto fit = plan_fit(config_35b(), input_35b());
  ASSERT_TRUE(fit.ok()) << fit.status().message();
  EXPECT_EQ(fit->kv_block_bytes, 64U * 20480);  // 20,480 bytes a token in BF16
  EXPECT_EQ(fit->state_slot_bytes, 30U * (2 * 1024 * 1024 + 3 * 8192 * 4));
  EXPECT_EQ(fit->kv_cache_dtype, "bfloat16");
  EXPECT_EQ(fit->max_num_batched_tokens, 512);
  EXPECT_EQ(fit->max_model_len, 262144);
  expect_consistent(*fit);
}

TEST(Fit, AGpuCountsTokensOfEverySlot) {
  FitInput input = input_35b();
  input.gpu = 0;
  const auto fit = plan_fit(config_35b(), input);
  ASSERT_TRUE(fit.ok()) << fit.status().message();
  EXPECT_EQ(fit->state_slot_bytes, input.cache_bytes.state_slot + 248320U * 2);
  expect_consistent(*fit);
}

/// What stays free: a 20th of the memory and at least 256 MiB, 1.5 GiB of a GPU; to the last byte.
TEST(Fit, AReserveStaysFree) {
  EXPECT_EQ(plan_fit(config_35b(), input_35b())->reserve_bytes, 2 * kGiB);
  FitInput small = input_35b();
  small.available_bytes = 4 * kGiB;
  small.weight_bytes = kGiB / 2;
  small.max_num_seqs = 1;
  small.max_model_len = 2048;
  EXPECT_EQ(plan_fit(config_35b(), small)->reserve_bytes, kGiB / 4);
  FitInput gpu = input_35b();
  gpu.gpu = 0;
  EXPECT_EQ(plan_fit(config_35b(), gpu)->reserve_bytes, kGiB / 2 * 3);
  for (FitInput input : {input_35b(), small, gpu}) {
    input.max_num_seqs = 1;
    input.max_model_len = 2048;
    const auto fit = plan_fit(config_35b(), input);
    ASSERT_TRUE(fit.ok()) << fit.status().message();
    // Exactly what one sequence takes is given to states and KV, and the weights fill up the rest.
    input.memory_bytes = fit->state_slot_bytes + 32 * fit->kv_block_bytes;
    input.weight_bytes = input.available_bytes - fit->reserve_bytes - fit->workspace_bytes - input.memory_bytes;
    EXPECT_TRUE(plan_fit(config_35b(), input).ok());
    const auto refused = [&] {
      return plan_fit(config_35b(), input).status().code() == StatusCode::resource_exhausted;
    };
    --input.memory_bytes;
    EXPECT_TRUE(refused());
    ++input.memory_bytes;
    ++input.weight_bytes;
    EXPECT_TRUE(refused());
    input.weight_bytes += input.memory_bytes;
    EXPECT_TRUE(refused()) << "the workspace lacks a byte, whatever is given to the rest";
  }
}

/// The loader holds the largest matrix as it is stored beside the weights, and gives it back before the cache is made.
TEST(Fit, WeightsAreStagedBeforeTheRestIsTaken) {
  FitInput input = input_35b();
  input.gpu = 0;
  const auto without = plan_fit(config_35b(), input);
  ASSERT_TRUE(without.ok()) << without.status().message();
  const size_t left = input.available_bytes - without->reserve_bytes - input.weight_bytes;
  input.staging_bytes = left;
  const auto with = plan_fit(config_35b(), input);
  ASSERT_TRUE(with.ok()) << with.status().message();
  EXPECT_EQ(with->kv_blocks, without->kv_blocks);
  EXPECT_EQ(with->max_num_seqs, without->max_num_seqs);
  ++input.staging_bytes;
  const Status refused = plan_fit(config_35b(), input).status();
  EXPECT_EQ(refused.code(), StatusCode::resource_exhausted);
  EXPECT_THAT(refused.message(), testing::HasSubstr("while they are loaded, 16.6 GB for the largest matrix"));
}

TEST(Fit, TheTierInTheHostsMemoryIsOfTheHosts) {
  using testing::HasSubstr;
  FitInput input = input_35b();
  input.prefix_caching = true;
  const auto without = plan_fit(config_35b(), input);
  input.kv_offload_bytes = 4 * kGiB;
  const auto with = plan_fit(config_35b(), input);
  ASSERT_TRUE(without.ok() && with.ok()) << with.status().message();
  EXPECT_EQ(with->state_pages, 51);  // 65,863,680 bytes, in blocks of 1,310,720
  EXPECT_EQ(with->host_pages, 3276);
  EXPECT_LT(with->kv_blocks, without->kv_blocks);  // on the CPU it is the same memory
  EXPECT_LE(with->total_bytes() + with->host_bytes() + with->reserve_bytes, with->available_bytes);
  input.kv_offload_bytes = 16 * kGiB;
  EXPECT_THAT(plan_fit(config_35b(), input).status().message(), HasSubstr("kv_offload"));

  input.gpu = 0;
  input.host_available_bytes = 17 * kGiB;
  const auto on_gpu = plan_fit(config_35b(), input);
  ASSERT_TRUE(on_gpu.ok()) << on_gpu.status().message();
  EXPECT_EQ(on_gpu->host_pages, 13107);
  input.host_available_bytes = 16 * kGiB;
  const Status refused = plan_fit(config_35b(), input).status();
  EXPECT_EQ(refused.code(), StatusCode::resource_exhausted);
  EXPECT_THAT(refused.message(), HasSubstr("17.2 GB are wanted, and 17.2 GB of the host's memory are free"));

  input.kv_offload_bytes = size_t{51} * 1'310'720;
  EXPECT_THAT(plan_fit(config_35b(), input).status().message(),
              HasSubstr("the state and the KV of 64 tokens take 68.2 MB"));
  input.prefix_caching = false;
  EXPECT_THAT(plan_fit(config_35b(), input).status().message(), HasSubstr("prefix caching is off"));
}

TEST(Fit, EveryAmountOfMemoryFitsOrIsRefused) {
  int refused = 0;
  for (size_t gib = 20; gib < 80; ++gib) {
    for (const DType dtype : {DType::bf16, DType::f8_e4m3, DType::f32}) {
      FitInput input = input_35b(dtype);
      input.available_bytes = gib * kGiB;
      const auto fit = plan_fit(config_35b(), input);
      if (fit.ok()) {
        expect_consistent(*fit);
        EXPECT_GE(fit->max_model_len, 2048);
      } else {
        EXPECT_EQ(fit.status().code(), StatusCode::resource_exhausted);
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 9);
  EXPECT_LT(refused, 30);
}

/// However many sequences are asked for, what is kept for prompts that begin alike leaves the least of KV.
TEST(Fit, KeptStatesLeaveRoomForTheLeastKv) {
  FitInput input = input_35b();
  input.memory_bytes = 2 * kGiB;
  input.prefix_caching = true;
  for (input.max_num_seqs = 1; input.max_num_seqs < 40; ++input.max_num_seqs) {
    const auto fit = plan_fit(config_35b(), input);
    if (!fit.ok()) continue;
    EXPECT_GE(fit->max_model_len, 2048) << input.max_num_seqs;
    EXPECT_LE(fit->kv_bytes() + fit->state_bytes(), input.memory_bytes) << input.max_num_seqs;
  }
}

/// However much of the memory it takes.
TEST(Fit, StatesLeaveRoomForTheLengthThatIsAskedFor) {
  FitInput input = input_35b();
  input.memory_bytes = 2 * kGiB;
  int fitting = 0;
  for (input.max_model_len = 1024;; input.max_model_len += 1024) {
    const auto fit = plan_fit(config_35b(), input);
    if (!fit.ok()) break;
    ++fitting;
    EXPECT_GE(fit->kv_blocks * 64, input.max_model_len);
    EXPECT_LE(fit->kv_bytes() + fit->state_bytes(), input.memory_bytes) << input.max_model_len;
  }
  EXPECT_GT(fitting, 10);
}

TEST(Fit, WhatIsAskedForIsGivenOrRefused) {
  FitInput input = input_35b();
  input.max_model_len = 10000;
  input.max_num_seqs = 4;
  input.max_num_batched_tokens = 256;
  const auto fit = plan_fit(config_35b(), input);
  ASSERT_TRUE(fit.ok()) << fit.status().message();
  EXPECT_EQ(fit->max_model_len, 10000);
  EXPECT_EQ(fit->max_num_seqs, 4);
  EXPECT_EQ(fit->max_num_batched_tokens, 256);
  EXPECT_EQ(fit->kv_blocks, 4 * 157);  // more than four such sequences cannot use
  expect_consistent(*fit);

  input.max_num_seqs = 1000;  // 63 GB of states
  input.max_num_batched_tokens = 0;
  const Status status = plan_fit(config_35b(), input).status();
  EXPECT_EQ(status.code(), StatusCode::resource_exhausted);
  EXPECT_THAT(status.message(), testing::AllOf(testing::HasSubstr("42.9 GB are free"), testing::HasSubstr("24.7 GB"),
                                               testing::HasSubstr("max_num_seqs"), testing::HasSubstr("fp8")));
}

TEST(Fit, WeightsThatAreTooLargeForAGpuMayFitTheCpu) {
  FitInput input = input_35b();
  input.available_bytes = 8 * kGiB;
  const std::string on_cpu = plan_fit(config_35b(), input).status().message();
  EXPECT_THAT(on_cpu, testing::EndsWith("use a smaller model or free memory"));
  input.gpu = 0;
  const std::string on_gpu = plan_fit(config_35b(), input).status().message();
  EXPECT_THAT(on_gpu, testing::AllOf(testing::HasSubstr("gpu_memory_utilization"), testing::EndsWith("device cpu")));
}

TEST(Fit, MemoryGivenIsUsedAsGiven) {
  FitInput input = input_35b();
  input.memory_bytes = 2 * kGiB;
  const auto fit = plan_fit(config_35b(), input);
  ASSERT_TRUE(fit.ok()) << fit.status().message();
  EXPECT_LE(fit->kv_bytes() + fit->state_bytes(), 2 * kGiB);
  EXPECT_GT(fit->kv_bytes() + fit->state_bytes(), 2 * kGiB - (2 << 20));
  expect_consistent(*fit);
  for (const size_t memory : {size_t{1}, 64 * kGiB, ~size_t{0}}) {
    input.memory_bytes = memory;
    EXPECT_EQ(plan_fit(config_35b(), input).status().code(), StatusCode::resource_exhausted) << memory;
  }
}

TEST(Fit, OptionsAreRangeChecked) {
  const auto message = [](auto set) {
    FitInput input = input_35b();
    set(input);
    return plan_fit(config_35b(), input).status().message();
  };
  EXPECT_THAT(message([](FitInput& i) { i.max_model_len = 300000; }), testing::HasSubstr("max_model_len is 300000"));
  EXPECT_THAT(message([](FitInput& i) { i.max_model_len = -1; }), testing::HasSubstr("max_model_len is -1"));
  EXPECT_THAT(message([](FitInput& i) { i.max_model_len = 262145; }), testing::HasSubstr("between 1 and 262144"));
  EXPECT_THAT(message([](FitInput& i) { i.max_num_seqs = 1025; }), testing::HasSubstr("between 1 and 1024"));
  EXPECT_THAT(message([](FitInput& i) { i.max_num_batched_tokens = 65537; }),
              testing::HasSubstr("between 65 and 65536"));
  EXPECT_THAT(message([](FitInput& i) { i.max_num_seqs = -3; }), testing::HasSubstr("max_num_seqs"));
  EXPECT_THAT(message([](FitInput& i) { i.max_num_batched_tokens = 64; }),
              testing::HasSubstr("max_num_batched_tokens"));
  EXPECT_THAT(message([](FitInput& i) { i.max_num_seqs = 100, i.max_num_batched_tokens = 128; }),
              testing::HasSubstr("between 164"));
}

/// Activations of the widest kind of layer beside three of the hidden size, for every row, and logits, in fp32.
TEST(Fit, TheWorkspaceIsThatOfTheWidestLayer) {
  model::ModelConfig config;
  config.hidden_size = 17;
  config.vocab_size = 1000;
  config.is_moe = false;
  config.intermediate_size = 1;
  FitInput input{.available_bytes = kGiB,
                 .cache_bytes = {.kv_block = 64, .state_slot = 10, .state = 10},
                 .max_num_seqs = 2,
                 .max_num_batched_tokens = 128};
  const auto widest = [&](int64_t in_layer, int64_t kept = 0, int64_t decode_rows = 2) {
    return 4U * static_cast<size_t>(128 * (kept + 3 * 17 + in_layer) + (decode_rows + 64) * 1000);
  };
  const auto workspace = [&] { return plan_fit(config, input)->workspace_bytes; };
  config.attention = {.heads = 3, .kv_heads = 2, .head_dim = 5};
  EXPECT_EQ(workspace(), widest(3 * 15 + 2 * 10));
  config.delta_net = {.key_heads = 2, .value_heads = 4, .key_dim = 3, .value_dim = 7};
  EXPECT_EQ(workspace(), widest(2 * (12 + 28) + 3 * 28));
  config.intermediate_size = 100;
  EXPECT_EQ(workspace(), widest(3 * 100));
  config.is_moe = true;
  config.num_experts = 11;
  config.experts_per_token = 2;
  config.moe_intermediate_size = 13;
  config.shared_expert_intermediate_size = 19;
  EXPECT_EQ(workspace(), widest(11 + 2 * (3 * 13 + 17) + 3 * 19));
  input.max_num_seqs = 1;
  EXPECT_EQ(workspace(), widest(11 + 2 * (3 * 13 + 17) + 3 * 19, 0, 1));
  input.max_num_seqs = 2;
  input.drafts_max = 1;
  EXPECT_EQ(workspace(), widest(11 + 2 * (3 * 13 + 17) + 3 * 19, 17, 4));
  input.drafts_max = 3;  // the MTP head wants every row's hidden state, and drafts have logits
  EXPECT_EQ(workspace(), widest(11 + 2 * (3 * 13 + 17) + 3 * 19, 17, 8));
  EXPECT_EQ(plan_fit(config, input)->drafts_max, 3);
}

/// From a memory of 1000: a quarter for states, an eighth for those of the prefix cache, and the rest for KV.
TEST(Fit, MemoryIsSharedAsIsSaid) {
  model::ModelConfig config = config_35b();
  config.max_position_embeddings = 640;
  FitInput input{.available_bytes = 2 * kGiB,
                 .cache_bytes = {.kv_block = 10, .state_slot = 20, .state = 20},
                 .memory_bytes = 1000,
                 .prefix_caching = true};
  const FitReport fit = *plan_fit(config, input);
  EXPECT_EQ(fit.max_num_seqs, 12);  // of 250
  EXPECT_EQ(fit.kept_states, 6);    // of 125
  EXPECT_EQ(fit.kv_blocks, 64);     // of 640
  EXPECT_EQ(fit.max_model_len, 640);
  EXPECT_EQ(fit.device, "cpu");

  input.prefix_caching = false;
  EXPECT_EQ(plan_fit(config, input)->kept_states, 0);
  EXPECT_EQ(plan_fit(config, input)->kv_blocks, 76);  // of 760
  input.prefix_caching = true;
  input.max_num_seqs = 2;
  EXPECT_EQ(plan_fit(config, input)->kept_states, 2) << "no more than there are sequences";
  input.max_num_seqs = 30;
  EXPECT_EQ(plan_fit(config, input)->max_num_seqs, 30) << "what is asked for may take more than a quarter";
  // Without states only KV has to be shared.
  input.max_num_seqs = 0;
  input.cache_bytes = {.kv_block = 10};
  EXPECT_EQ(plan_fit(config, input)->max_num_seqs, 64);
  EXPECT_EQ(plan_fit(config, input)->kept_states, 0);
  EXPECT_EQ(plan_fit(config, input)->kv_blocks, 100);
  input.max_num_batched_tokens = 80;
  EXPECT_EQ(plan_fit(config, input)->max_num_seqs, 16);
}

TEST(Fit, DraftsHaveRowsOfAStepAsLongAsTheyAreFew) {
  for (const auto& [seqs, drafts, rows] : {std::tuple{1, 3, 4},
                                           {31, 3, 124},
                                           {32, 3, 128},
                                           {100, 3, 128},
                                           {127, 1, 128},
                                           {200, 3, 200},
                                           {64, 0, 64},
                                           {200, 0, 200}}) {
    EXPECT_EQ(decode_rows_max(seqs, drafts), rows) << seqs;
  }
}

TEST(Fit, RowsOfAStepThatAreNotAskedFor) {
  FitInput input = input_35b();
  input.available_bytes = 200 * kGiB;
  input.max_num_seqs = 448;
  EXPECT_EQ(plan_fit(config_35b(), input)->max_num_batched_tokens, 512);
  input.max_num_seqs = 449;
  EXPECT_EQ(plan_fit(config_35b(), input)->max_num_batched_tokens, 513);
  input.gpu = 3;
  EXPECT_EQ(plan_fit(config_35b(), input)->max_num_batched_tokens, 8192);
  EXPECT_EQ(plan_fit(config_35b(), input)->device, "cuda:3");
}

/// Only what was given, and would help, is to be changed.
TEST(Fit, AdviceIsOfWhatWasGiven) {
  using testing::EndsWith;
  using testing::HasSubstr;
  using testing::Not;
  const auto message = [](auto set) {
    FitInput input = input_35b();
    input.prefix_caching = true;
    input.max_num_seqs = 1000;
    set(input);
    return plan_fit(config_35b(), input).status().message();
  };
  const std::string plain = message([](FitInput&) {});
  EXPECT_THAT(plain, EndsWith("; lower max_num_seqs or max_model_len, use kv_cache_dtype fp8, or free memory"));
  EXPECT_THAT(plain, Not(HasSubstr("given to states and KV")));
  EXPECT_THAT(plain, Not(HasSubstr("kv_offload")));
  const std::string given = message([](FitInput& i) { i.memory_bytes = kGiB; });
  EXPECT_THAT(given, HasSubstr("kept in reserve, 1.07 GB given to states and KV)"));
  EXPECT_THAT(given, EndsWith("use kv_cache_dtype fp8, raise memory_bytes, or free memory"));
  const std::string tier = message([](FitInput& i) { i.kv_offload_bytes = kGiB; });
  EXPECT_THAT(tier, HasSubstr("1.07 GB for what the prefix cache gives up (kv_offload), "));
  EXPECT_THAT(tier, HasSubstr("; lower kv_offload, max_num_seqs or max_model_len"));
  EXPECT_THAT(message([](FitInput& i) { i.kv_offload_bytes = kGiB, i.memory_bytes = kGiB; }),
              HasSubstr("; lower max_num_seqs or max_model_len"));
  EXPECT_THAT(message([](FitInput& i) { i.kv_offload_bytes = kGiB, i.host_available_bytes = 2 * kGiB, i.gpu = 0; }),
              HasSubstr("; lower max_num_seqs or max_model_len"));
  EXPECT_THAT(message([](FitInput& i) { i.kv_dtype = DType::f8_e4m3; }), Not(HasSubstr("fp8")));
  EXPECT_THAT(message([](FitInput& i) { i.kv_offload_bytes = kGiB, i.weight_bytes = 50 * kGiB; }),
              EndsWith("lower kv_offload, use a smaller model or free memory"));
  EXPECT_THAT(message([](FitInput& i) { i.max_num_seqs = 0, i.memory_bytes = 1; }),
              AllOf(HasSubstr("for states of 1 sequences and KV of 2048 tokens"), HasSubstr("raise memory_bytes")));
  // Weights that fit as they are loaded, and leave the workspace no room.
  EXPECT_THAT(message([](FitInput& i) { i.weight_bytes = i.available_bytes - i.available_bytes / 20; }),
              EndsWith("KV of 2048 tokens; use a smaller model or free memory"));
}

/// Beside the tier a 20th of the host's memory stays free, and at least 256 MiB; to the last byte.
TEST(Fit, AReserveOfTheHostsMemoryStaysFree) {
  FitInput input = input_35b();
  input.gpu = 0;
  input.prefix_caching = true;
  for (const size_t host : {2 * kGiB, 40 * kGiB}) {
    const size_t reserve = host == 2 * kGiB ? kGiB / 4 : 2 * kGiB;
    input.host_available_bytes = host;
    input.kv_offload_bytes = host - reserve;
    EXPECT_TRUE(plan_fit(config_35b(), input).ok());
    ++input.kv_offload_bytes;
    const Status status = plan_fit(config_35b(), input).status();
    EXPECT_EQ(status.code(), StatusCode::resource_exhausted);
    EXPECT_THAT(status.message(), testing::HasSubstr(fmt::format("{} of the host's memory are free ({} of them kept",
                                                                 format_bytes(host), format_bytes(reserve))));
  }
  input.kv_offload_bytes = size_t{52} * 1'310'720;  // a state and one block
  EXPECT_EQ(plan_fit(config_35b(), input)->host_pages, 52);
}

TEST(Fit, SmallStepsLimitTheSequencesThatAreChosen) {
  FitInput input = input_35b();
  input.max_num_batched_tokens = 70;
  const auto fit = plan_fit(config_35b(), input);
  ASSERT_TRUE(fit.ok());
  EXPECT_EQ(fit->max_num_seqs, 6);
}

}  // namespace
}  // namespace tessera::engine
