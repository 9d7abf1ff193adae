#pragma once

#include <span>
#include <variant>
#include <vector>

#include "kernels/atom.h"
#include "kernels/backend.h"

namespace tessera::kernels {

/// What a matrix of a block is to a backend.
struct MatrixUse {
  RowOrder order = RowOrder::stacked;  // interleaved: gate and up
  bool routed = false;                 // of a routed expert
};

namespace internal {

template <typename Visit>
struct MatrixVisitor {
  Visit& visit;

  void one(const MatrixSource& matrix, bool routed = false) const {
    if (!matrix.parts.empty()) visit(matrix, MatrixUse{RowOrder::stacked, routed});
  }
  void swiglu(const SwigluSource& source, bool routed = false) const {
    visit(source.gate_up, MatrixUse{RowOrder::interleaved, routed});
    one(source.down, routed);
  }

  void operator()(const EmbeddingSource& s) const {
    one(s.table);
    one(s.lm_head);
  }
  void operator()(const AttentionSource& s) const {
    for (const MatrixSource* matrix : {&s.q_gate, &s.k, &s.v, &s.o}) one(*matrix);
  }
  void operator()(const DeltaNetSource& s) const {
    for (const MatrixSource* matrix : {&s.qkv, &s.z, &s.b, &s.a, &s.out}) one(*matrix);
  }
  void operator()(const MlpSource& s) const { swiglu(s.mlp); }
  void operator()(const MoeSource& s) const {
    one(s.router);
    for (const SwigluSource& expert : s.experts) swiglu(expert, /*routed=*/true);
    if (!s.shared) return;
    swiglu(*s.shared);
    one(s.shared_gate);
  }
  void operator()(const HeadSource& s) const { one(s.lm_head); }
  void operator()(const MtpInputSource& s) const { one(s.fc); }
};

}  // namespace internal

/// visit(matrix, use) for every matrix of a block, in the order in which backends load them.
template <typename Visit>
void for_each_matrix(const BlockSource& source, Visit visit) {
  std::visit(internal::MatrixVisitor<Visit>{visit}, source);
}

/// Numbers in the vectors of a block: norms, convolutions, decays, rotation.
size_t vector_values(const BlockSource& source);

}  // namespace tessera::kernels
