#include "kernels/source_matrices.h"

namespace tessera::kernels {
namespace {

struct Counter {
  size_t operator()(const EmbeddingSource&) const { return 0; }
  size_t operator()(const AttentionSource& s) const {
    return s.inv_freq.size() + s.input_norm.size() + s.q_norm.size() + s.k_norm.size();
  }
  size_t operator()(const DeltaNetSource& s) const {
    return s.input_norm.size() + s.conv.size() + s.a_log.size() + s.dt_bias.size() + s.norm.size();
  }
  size_t operator()(const MlpSource& s) const { return s.norm.size(); }
  size_t operator()(const MoeSource& s) const { return s.norm.size(); }
  size_t operator()(const HeadSource& s) const { return s.norm.size(); }
  size_t operator()(const MtpInputSource& s) const { return s.embedding_norm.size() + s.hidden_norm.size(); }
};

}  // namespace

size_t vector_values(const BlockSource& source) { return std::visit(Counter{}, source); }

}  // namespace tessera::kernels
