#include "kernels/source_matrices.h"

#include <gtest/gtest.h>

#include "kernels/cuda/device_bytes.h"

namespace tessera::kernels {
namespace {

std::vector<float> values(size_t count) { return std::vector<float>(count); }

/// Vectors of different powers of two: the sum says which are in it.
TEST(SourceMatrices, EveryVectorOfABlockIsCounted) {
  AttentionSource attention;
  attention.inv_freq = values(1);
  attention.input_norm = values(2);
  attention.q_norm = values(4);
  attention.k_norm = values(8);
  DeltaNetSource delta_net;
  delta_net.input_norm = values(1);
  delta_net.conv = values(2);
  delta_net.a_log = values(4);
  delta_net.dt_bias = values(8);
  delta_net.norm = values(16);
  MlpSource mlp;
  mlp.norm = values(1);
  MoeSource moe;
  moe.norm = values(2);
  HeadSource head;
  head.norm = values(4);
  MtpInputSource mtp;
  mtp.embedding_norm = values(1);
  mtp.hidden_norm = values(2);
  const std::pair<BlockSource, size_t> blocks[] = {
      {EmbeddingSource(), 0}, {attention, 15}, {delta_net, 31}, {mlp, 1}, {moe, 2}, {head, 4}, {mtp, 3}};
  for (const auto& [source, count] : blocks) {
    EXPECT_EQ(vector_values(source), count) << "block " << source.index();
    EXPECT_EQ(cuda::device_bytes(source), count * sizeof(float)) << "block " << source.index() << " without matrices";
  }
}

/// A strip has 16 rows, of weights and of factors, whatever the matrix has.
TEST(SourceMatrices, RowsOfAStripAreCountedWhole) {
  for (const int64_t rows : {1, 16, 17}) {
    HeadSource head;
    head.lm_head.parts = {{.format = format::WeightFormat::bf16, .rows = rows, .cols = 64}};
    const size_t padded = rows > 16 ? 32 : 16;
    EXPECT_EQ(cuda::device_bytes(head), padded * (64 * sizeof(uint16_t) + sizeof(float))) << rows << " rows";
  }
}

}  // namespace
}  // namespace tessera::kernels
