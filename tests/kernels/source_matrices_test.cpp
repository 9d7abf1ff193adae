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

/// What is read ahead is read in this order, and what is routed is laid out by itself.
TEST(SourceMatrices, EveryMatrixIsVisitedInTheOrderOfLoading) {
  const auto matrix = [](const char* name) { return MatrixSource{name, {format::MatrixView{}}}; };
  const auto swiglu = [&](const char* gate_up, const char* down) {
    return SwigluSource{.gate_up = matrix(gate_up), .down = matrix(down)};
  };
  AttentionSource attention;
  attention.q_gate = matrix("q"), attention.k = matrix("k"), attention.v = matrix("v"), attention.o = matrix("o");
  DeltaNetSource delta_net;
  delta_net.qkv = matrix("qkv"), delta_net.z = matrix("z"), delta_net.b = matrix("b"), delta_net.a = matrix("a");
  delta_net.out = matrix("out");
  MlpSource mlp;
  mlp.mlp = swiglu("gate_up", "down");
  MoeSource moe;
  moe.router = matrix("router"), moe.shared_gate = matrix("shared_gate");
  moe.experts = {swiglu("gate_up0", "down0"), swiglu("gate_up1", "down1")};
  moe.shared = swiglu("shared_gate_up", "shared_down");
  EmbeddingSource embedding;
  embedding.table = matrix("table"), embedding.lm_head = matrix("lm_head");
  MtpInputSource mtp;
  mtp.fc = matrix("fc");
  const std::pair<BlockSource, const char*> blocks[] = {
      {attention, "q k v o "},
      {delta_net, "qkv z b a out "},
      {mlp, "gate_up* down "},
      {moe,
       "router routed:gate_up0* routed:down0 routed:gate_up1* routed:down1 shared_gate_up* shared_down shared_gate "},
      {embedding, "table lm_head "},
      {HeadSource(), ""},
      {mtp, "fc "}};
  for (const auto& [source, want] : blocks) {
    std::string visited;
    for_each_matrix(source, [&](const MatrixSource& visit, MatrixUse use) {
      visited += (use.routed ? "routed:" : "") + visit.name + (use.order == RowOrder::interleaved ? "* " : " ");
    });
    EXPECT_EQ(visited, want);
  }
}

}  // namespace
}  // namespace tessera::kernels
