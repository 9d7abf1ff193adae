#include "kernels/cuda/mtp_input.h"

#include "kernels/cuda/dense_fixture.h"
#include "kernels/cuda/norm.h"

// What the MTP head reads, on a GPU (label gpu) and in the simulator.
namespace tessera::kernels::cuda {
namespace {

constexpr int64_t kVocab = 40;
constexpr float kEps = 0.01F;  // large enough to be seen

std::vector<float> random_weight(int64_t hidden, uint32_t seed) {
  std::vector<float> weight(static_cast<size_t>(hidden));
  const auto values = random_bf16(weight.size(), seed);
  std::transform(values.begin(), values.end(), weight.begin(), bf16_to_float);
  return weight;
}

std::vector<uint16_t> normed(const uint16_t* rows, const float* weight, int32_t count, int64_t hidden) {
  const OnDevice<uint16_t> out(static_cast<size_t>(count * hidden));
  AddNormArgs args;
  args.norm = {.residual = rows, .weight = weight, .eps = kEps, .normed_out = out.get()};
  args.hidden = static_cast<int32_t>(hidden);
  args.rows_max = count;
  run_on_stream([&](const device::Queue& queue) { return add_norm(args, queue); });
  return out.read();
}

/// The bits of an embedding, and of two norms beside each other.
void expect_input(int64_t hidden, const std::vector<int32_t>& tokens, const std::vector<int32_t>& hidden_rows) {
  const auto count = static_cast<int32_t>(tokens.size());
  constexpr int64_t kHiddenRows = 9;
  const auto table_rows = random_bf16(static_cast<size_t>(kVocab * hidden), 3);
  const auto left = random_bf16(static_cast<size_t>(kHiddenRows * hidden), 4);
  const OnDevice<uint16_t> table_memory(table_rows), left_memory(left);
  const OnDevice<float> embedding_norm(random_weight(hidden, 5)), hidden_norm(random_weight(hidden, 6));
  const OnDevice<int32_t> ids(tokens), rows(hidden_rows), live(std::vector<int32_t>{count});
  const EmbedTable table{
      .data = reinterpret_cast<const std::byte*>(table_memory.get()), .vocab = kVocab, .hidden = hidden};

  const OnDevice<uint16_t> embedded(static_cast<size_t>(count * hidden));
  run_on_stream([&](const device::Queue& queue) {
    return embed({.table = table, .tokens = ids.get(), .rows_max = count, .out = embedded.get(), .out_stride = hidden},
                 queue);
  });
  const auto want_embedding = normed(embedded.get(), embedding_norm.get(), count, hidden);
  const auto want_hidden = normed(left_memory.get(), hidden_norm.get(), kHiddenRows, hidden);

  constexpr int32_t kDead = 2;
  const OnDevice<uint16_t> out(std::vector<uint16_t>(static_cast<size_t>((count + kDead) * 2 * hidden), kUntouched));
  const MtpInputArgs args{.table = table,
                          .tokens = ids.get(),
                          .hidden = left_memory.get(),
                          .hidden_rows = hidden_rows.empty() ? nullptr : rows.get(),
                          .embedding_norm = embedding_norm.get(),
                          .hidden_norm = hidden_norm.get(),
                          .eps = kEps,
                          .live_rows = live.get(),
                          .rows_max = count + kDead,
                          .out = out.get()};
  run_on_stream([&](const device::Queue& queue) { return mtp_input(args, queue); });
  const auto got = out.read();
  for (int64_t row = 0; row < count + kDead; ++row) {
    const int64_t from = row >= count || hidden_rows.empty() ? row : hidden_rows[static_cast<size_t>(row)];
    for (int64_t i = 0; i < 2 * hidden; ++i) {
      uint16_t want = kUntouched;
      if (row < count) {
        want = i < hidden ? want_embedding[static_cast<size_t>(row * hidden + i)]
                          : want_hidden[static_cast<size_t>(from * hidden + i - hidden)];
      }
      ASSERT_EQ(got[static_cast<size_t>(row * 2 * hidden + i)], want) << hidden << ", row " << row << ", element " << i;
    }
  }
}

TEST(MtpInputGpu, TheBitsOfAnEmbeddingAndTwoNorms) {
  for (const int64_t hidden : {8, 384, 2048, 4104}) {
    expect_input(hidden, {39}, {});
    expect_input(hidden, {0, 7, 39, 3, -1}, {});
    expect_input(hidden, {0, 7, 39, 3, 7, 40}, {2, 3, 4, 5, 7, 8});
  }
  expect_input(kNormHiddenMax, {7}, {});
}

TEST(MtpInputGpu, WhatCannotBeIsRefused) {
  EXPECT_EQ(mtp_input({}, {}).code(), StatusCode::invalid_argument);
  alignas(16) uint16_t row[16] = {};
  const int32_t token = 0;
  const float weight[16] = {};
  MtpInputArgs args{.table = {.data = reinterpret_cast<const std::byte*>(row), .vocab = 1, .hidden = 12},
                    .tokens = &token,
                    .hidden = row,
                    .embedding_norm = weight,
                    .hidden_norm = weight,
                    .out = row};
  EXPECT_NE(mtp_input(args, {}).message().find("[1, 12]"), std::string::npos);
  args.table.hidden = kNormHiddenMax + 8;
  EXPECT_NE(mtp_input(args, {}).message().find("24008 elements"), std::string::npos);
}

}  // namespace
}  // namespace tessera::kernels::cuda
