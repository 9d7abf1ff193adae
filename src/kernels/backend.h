#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/dtype.h"
#include "base/status.h"
#include "format/checkpoint.h"
#include "format/matrix.h"
#include "kernels/batch.h"
#include "kernels/comm.h"
#include "kernels/gated_attention.h"
#include "kernels/gated_delta_net.h"

// The seam between a model and what computes it. A model is a list of blocks of layers, written once (model/model.cpp);
// a backend runs them, and may fuse within a block as it likes. Weights, caches and activations are opaque above this
// line.
//
// Between blocks the hidden rows are residual + delta: a block adds the delta that the block before left to the
// residual (rounded once), norms the sum, and leaves its own output as the new delta. With tensor parallelism a rank's
// blocks have a share of the heads, channels and experts' columns (model/shard.h), and a delta is a part of a sum until
// the next block's norm: there, and before the final norm, the backend has the ranks' parts added (comm.h). A backend
// may leave the sum over a token's experts to that norm too. A delta is the same bits whenever it is summed: in BF16,
// rounded before it is added.
namespace tessera::kernels {

// ---- what a checkpoint holds, as a backend takes it ----

/// Matrices stacked by rows, of one depth and format. Views need to live only until the call returns. One without bytes
/// stands for random weights of order `scale`, of a model without a checkpoint.
struct MatrixSource {
  std::string name;  // for messages: "model.layers.0.self_attn.q_proj"
  std::vector<format::MatrixView> parts;
};

struct AttentionSource {
  AttentionShape shape;
  int64_t hidden = 0;
  std::vector<float> inv_freq;  // [rotary_dim / 2]
  float rope_scale = 1.0F;
  std::vector<float> input_norm;      // [hidden], zero-centred
  std::vector<float> q_norm, k_norm;  // [head_dim], zero-centred
  MatrixSource q_gate;                // [heads * 2 * head_dim, hidden], per head query then gate
  MatrixSource k, v;                  // [kv_heads * head_dim, hidden]
  MatrixSource o;                     // [hidden, heads * head_dim]
};

struct DeltaNetSource {
  DeltaNetShape shape;
  int64_t hidden = 0;
  std::vector<float> input_norm;      // [hidden], zero-centred
  std::vector<float> conv;            // [channels, conv_width]
  std::vector<float> a_log, dt_bias;  // [value_heads]
  std::vector<float> norm;            // [value_dim], not zero-centred
  MatrixSource qkv;                   // [channels, hidden]
  MatrixSource z;                     // [value_heads * value_dim, hidden]
  MatrixSource b, a;                  // [value_heads, hidden]
  MatrixSource out;                   // [hidden, value_heads * value_dim]
};

/// down(silu(gate x) * (up x)).
struct SwigluSource {
  int64_t inner = 0;
  MatrixSource gate_up;  // [2 * inner, hidden]: gate, then up, as two parts or as one
  MatrixSource down;     // [hidden, inner]
};

struct MlpSource {
  int64_t hidden = 0;
  float norm_eps = 0;
  std::vector<float> norm;  // [hidden], zero-centred
  SwigluSource mlp;
};

struct MoeSource {
  int64_t hidden = 0;
  float norm_eps = 0;
  int experts_per_token = 0;
  std::vector<float> norm;            // [hidden], zero-centred
  MatrixSource router;                // [experts, hidden]
  std::vector<SwigluSource> experts;  // of one format and inner size
  std::optional<SwigluSource> shared;
  MatrixSource shared_gate;  // [1, hidden]; with `shared` only
};

/// What stands before and behind the layers.
struct EmbeddingSource {
  MatrixSource table;      // [vocab, hidden]
  MatrixSource lm_head;    // [vocab / world, hidden]; no parts: the table
  int64_t head_first = 0;  // the id that lm_head's first row is for
};

struct HeadSource {
  float norm_eps = 0;
  std::vector<float> norm;  // [hidden], zero-centred
  MatrixSource lm_head;     // in place of the embedding's, of the same rows; no parts: that one
};

/// What turns embedding and hidden rows into the input of a multi-token-prediction layer.
struct MtpInputSource {
  float norm_eps = 0;
  std::vector<float> embedding_norm, hidden_norm;  // [hidden], zero-centred
  MatrixSource fc;                                 // [hidden, 2 * hidden]: embedding half, then hidden half
};

using BlockSource =
    std::variant<EmbeddingSource, AttentionSource, DeltaNetSource, MlpSource, MoeSource, HeadSource, MtpInputSource>;

// ---- what a backend makes of it; only it looks inside ----

struct AttentionBlock {
  virtual ~AttentionBlock() = default;
};
struct DeltaNetBlock {
  virtual ~DeltaNetBlock() = default;
};
struct MlpBlock {
  virtual ~MlpBlock() = default;
};
struct MoeBlock {
  virtual ~MoeBlock() = default;
};
struct Embedding {
  virtual ~Embedding() = default;
};
struct Head {
  virtual ~Head() = default;
};
struct MtpInput {
  virtual ~MtpInput() = default;
};

/// The objects of a cache, declared: what a KV block (64 tokens) and a state slot hold over all layers.
struct CacheShape {
  DType kv_dtype = DType::bf16;
  AttentionShape attention;
  int attention_layers = 0;               // MTP layers included, last
  std::vector<float> k_scales, v_scales;  // [attention_layers], of f8_e4m3; empty: 1
  DeltaNetShape delta_net;
  int linear_layers = 0;
  int record_rows = 0;  // rows of one step that a slot can keep as records: drafts and one; 0: none
  int blocks = 0;
  int state_slots = 0;
};

struct CacheBytes {
  size_t kv_block = 0;
  size_t state_slot = 0;
  size_t state = 0;  // of a slot: what it is without records
};

/// The memory behind block tables and state slots, taken once at start. Who owns which block or slot is the engine's
/// business; here they are numbers.
class Cache {
 public:
  virtual ~Cache() = default;
  [[nodiscard]] virtual const CacheShape& shape() const = 0;
};

/// Memory of the host that blocks and states of a cache move to and come back from (page_move.h), taken once at start:
/// pages, each as large as a KV block. Who owns which page is the engine's business.
class HostPages {
 public:
  HostPages(std::byte* data, size_t page_bytes, int32_t count) : data_(data), page_bytes_(page_bytes), count_(count) {}
  virtual ~HostPages() = default;

  [[nodiscard]] size_t page_bytes() const { return page_bytes_; }
  [[nodiscard]] int32_t count() const { return count_; }
  [[nodiscard]] std::byte* page(int32_t page) const { return data_ + static_cast<size_t>(page) * page_bytes_; }

 private:
  std::byte* data_;
  size_t page_bytes_;
  int32_t count_;
};

/// One forward pass: its batch, its activations, and the logits and hidden rows that it leaves. Used again from step to
/// step; takes its memory once.
class Pass {
 public:
  virtual ~Pass() = default;
};

/// What the largest step of a pass may hold.
struct PassShape {
  int32_t rows_max = 0;
  int32_t sequences_max = 0;
  int32_t logit_rows_max = 0;
  int32_t state_slots = 0;          // of the cache
  int32_t sequence_blocks_max = 0;  // KV blocks of one sequence
  int64_t hidden = 0;
  int64_t vocab = 0;
  bool keeps_hidden = false;  // final-normed rows stay, for mtp_input and read_hidden
};

class Backend {
 public:
  virtual ~Backend() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;
  /// Whose share of a model this backend runs.
  [[nodiscard]] virtual Rank rank() const = 0;

  // Loading. Errors name the matrix, what was found and what was expected; `unsupported` what this backend cannot run.
  virtual Expected<std::unique_ptr<AttentionBlock>> load(const AttentionSource& source) = 0;
  virtual Expected<std::unique_ptr<DeltaNetBlock>> load(const DeltaNetSource& source) = 0;
  virtual Expected<std::unique_ptr<MlpBlock>> load(const MlpSource& source) = 0;
  virtual Expected<std::unique_ptr<MoeBlock>> load(const MoeSource& source) = 0;
  virtual Expected<std::unique_ptr<Embedding>> load(const EmbeddingSource& source) = 0;
  virtual Expected<std::unique_ptr<Head>> load(const HeadSource& source) = 0;
  virtual Expected<std::unique_ptr<MtpInput>> load(const MtpInputSource& source) = 0;
  /// Bytes that the weights loaded so far take.
  [[nodiscard]] virtual size_t weight_bytes() const = 0;
  /// Bytes that a block will take. Formats and sizes are all that is looked at, of vectors their sizes.
  [[nodiscard]] virtual size_t weight_bytes(const BlockSource& source) const = 0;
  /// Bytes of the device's memory that loading a block of a checkpoint takes besides, and keeps until make_cache.
  [[nodiscard]] virtual size_t staging_bytes(const BlockSource& source) const = 0;
  /// Says what will be loaded next, in this order, so that a backend may read before it is told to; `checkpoint` has
  /// their bytes. Both must live until all of it is loaded. Matrices without bytes, or with other bytes, may be among
  /// them. Without sources, what is still being read is given up: for a model that will not be.
  virtual Status read_ahead(const format::Checkpoint& checkpoint, std::span<const BlockSource* const> sources) = 0;

  [[nodiscard]] virtual CacheBytes cache_bytes(const CacheShape& shape) const = 0;
  /// Zero-filled, so that no stale NaN can ever be read.
  virtual Expected<std::unique_ptr<Cache>> make_cache(const CacheShape& shape) = 0;
  /// Beside a cache of this shape, where the device can copy to and from it without help of the host.
  virtual Expected<std::unique_ptr<HostPages>> make_host_pages(const CacheShape& shape, int32_t pages) = 0;
  virtual Expected<std::unique_ptr<Pass>> make_pass(const PassShape& shape) = 0;

  // A pass: begin, then the model's blocks, then the results. Everything that `batch` and logit_rows (rows of the
  // batch, ascending) point to stays until the results are read.
  virtual Status begin(Pass& pass, Cache& cache, const Batch& batch, std::span<const int32_t> logit_rows) = 0;

  /// residual = table[tokens], rounded to BF16; no delta.
  virtual Status embed(Pass& pass, const Embedding& embedding) = 0;
  /// delta = o(gated_attention(projections(norm(residual)))), K and V written to attention layer `layer` of the cache.
  virtual Status attention(Pass& pass, const AttentionBlock& block, int layer) = 0;
  /// delta = out(gated_delta_net(projections(norm(residual)))), states written to linear layer `layer` of the cache.
  virtual Status delta_net(Pass& pass, const DeltaNetBlock& block, int layer) = 0;
  virtual Status mlp(Pass& pass, const MlpBlock& block) = 0;
  virtual Status moe(Pass& pass, const MoeBlock& block) = 0;
  /// Final norm, and logits (fp32, not rounded) of the logit rows, on every rank all of them. The normed rows stay if
  /// the pass keeps them.
  virtual Status head(Pass& pass, const Head& head, const Embedding& embedding) = 0;
  /// Hidden row i of the pass is from now on what row rows[i], ascending, was.
  virtual Status select_hidden(Pass& pass, std::span<const int32_t> rows) = 0;
  /// residual = fc(norm(table[tokens]) | norm(hidden rows of the pass before)); no delta.
  virtual Status mtp_input(Pass& pass, const MtpInput& input, const Embedding& embedding) = 0;

  /// Waits for the pass and copies its logits, [logit rows, vocab], or its hidden rows, [rows, hidden], to the host:
  /// for scoring and tests.
  virtual Status read_logits(Pass& pass, std::span<float> logits) = 0;
  virtual Status read_hidden(Pass& pass, std::span<float> hidden) = 0;
};

}  // namespace tessera::kernels
