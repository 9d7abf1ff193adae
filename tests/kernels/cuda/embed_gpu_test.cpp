#include "kernels/cuda/embed.h"

#include "kernels/cuda/dense_fixture.h"

// Embedding rows, on a GPU (label gpu) and in the simulator.
namespace tessera::kernels::cuda {
namespace {

constexpr int64_t kVocab = 250;

std::vector<uint16_t> run_embed(const EmbedTable& table, const std::vector<int32_t>& tokens, int64_t live_rows,
                                int64_t stride) {
  const OnDevice<int32_t> ids(tokens), live(std::vector<int32_t>{static_cast<int32_t>(live_rows)});
  const OnDevice<uint16_t> out(std::vector<uint16_t>(tokens.size() * static_cast<size_t>(stride), kUntouched));
  const EmbedArgs args{.table = table,
                       .tokens = ids.get(),
                       .live_rows = live.get(),
                       .rows_max = static_cast<int32_t>(tokens.size()),
                       .out = out.get(),
                       .out_stride = stride};
  run_on_stream([&](const device::Queue& queue) { return embed(args, queue); });
  return out.read();
}

/// Tokens of every row of a strip, some that no table has, and dead ones.
std::vector<int32_t> some_tokens() {
  std::vector<int32_t> tokens;
  for (int32_t i = 0; i < 33; ++i) tokens.push_back(i * 7 % static_cast<int32_t>(kVocab));
  for (const int32_t id : {249, 250, 255, -1, 2'000'000'000, -2'000'000'000}) tokens.push_back(id);
  tokens.insert(tokens.end(), {7, 1'000'000});  // dead
  return tokens;
}

void expect_embedded(const RandomMatrix& m, const EmbedTable& table, const std::string& what) {
  const auto tokens = some_tokens();
  const int64_t stride = m.cols + 8, live = static_cast<int64_t>(tokens.size()) - 2;
  const auto got = run_embed(table, tokens, live, stride);
  for (int64_t r = 0; r < static_cast<int64_t>(tokens.size()); ++r) {
    const int64_t token = tokens[static_cast<size_t>(r)];
    for (int64_t k = 0; k < stride; ++k) {
      uint16_t want = kUntouched;
      if (r < live && k < m.cols) {
        const bool exists = token >= 0 && token < kVocab;
        want = exists ? float_to_bf16(m.code(token, k) * m.block_scale(token, k) * m.alpha(token)) : uint16_t{0};
      }
      ASSERT_EQ(got[static_cast<size_t>(r * stride + k)], want) << what << ", token " << token << ", element " << k;
    }
  }
}

TEST(EmbedGpu, RowsAsStored) {
  const RandomMatrix m(WeightFormat::bf16, kVocab, 200, 1);
  const OnDevice<std::byte> data(std::vector<std::byte>(m.data.begin(), m.data.begin() + kVocab * 400));
  expect_embedded(m, {.data = data.get(), .vocab = kVocab, .hidden = 200}, "as stored");
}

TEST(EmbedGpu, RowsOfAtoms) {
  for (const WeightFormat format : kDenseFormats) {
    for (const int64_t hidden : {32, 192, 544}) {
      const RandomMatrix m = make_matrix(format, kVocab, hidden, 2);
      const format::MatrixView view = m.view();
      const AtomShape shape = *atom_shape({&view, 1});
      std::vector<std::byte> atoms(atom_matrix_bytes(shape));
      ASSERT_TRUE(kernels::pack_atoms({&view, 1}, atoms.data()).ok());
      std::vector<float> alpha(static_cast<size_t>(strips(shape) * kAtomRows));
      row_alphas({&view, 1}, shape, alpha);
      const OnDevice<std::byte> data(atoms);
      const OnDevice<float> row_alpha(alpha);
      expect_embedded(
          m, {.format = format, .data = data.get(), .row_alpha = row_alpha.get(), .vocab = kVocab, .hidden = hidden},
          std::string(format::name(format)));
    }
  }
}

TEST(EmbedGpu, WhatCannotBeIsRefused) {
  EmbedArgs args;
  EXPECT_EQ(embed(args, {}).code(), StatusCode::invalid_argument);
  std::byte table[16] = {};
  uint16_t out[8] = {};
  const int32_t token = 0;
  args = {.table = {.format = WeightFormat::nvfp4, .data = table, .vocab = 1, .hidden = 8},
          .tokens = &token,
          .rows_max = 1,
          .out = out,
          .out_stride = 8};
  EXPECT_NE(embed(args, {}).message().find("NVFP4 rows"), std::string::npos);
  args.table.format = WeightFormat::bf16;
  args.table.hidden = 12;
  EXPECT_NE(embed(args, {}).message().find("[1, 12]"), std::string::npos);
  const float factor = 1.0F;
  args.table = {.format = WeightFormat::mxfp4, .data = table, .row_alpha = &factor, .vocab = 1, .hidden = 48};
  EXPECT_NE(embed(args, {}).message().find("multiples of 32"), std::string::npos) << "a half of a group";
  for (const WeightFormat format : {WeightFormat::f16, WeightFormat::f32}) {
    args.table = {.format = format, .data = table, .row_alpha = &factor, .vocab = 1, .hidden = 64};
    EXPECT_NE(embed(args, {}).message().find(std::string(format::name(format)) + " atoms"), std::string::npos);
  }
}

}  // namespace
}  // namespace tessera::kernels::cuda
