#include <gtest/gtest.h>

#include "format/row_copy.h"
#include "kernels/cuda/dense_fixture.h"
#include "kernels/cuda_backend.h"

// What the backend makes of blocks in an order of ours, on a GPU (label gpu) and in the simulator.
namespace tessera::kernels::cuda {
namespace {

constexpr int64_t kHidden = 256, kVocab = 64, kInner = 64;
constexpr int32_t kRows = 3;

MatrixSource dummy(WeightFormat format, int64_t rows, int64_t cols) {
  return {.name = "m", .parts = {{.format = format, .rows = rows, .cols = cols, .row_scales = {}}}};
}
SwigluSource swiglu(WeightFormat format) {
  return {.inner = kInner, .gate_up = dummy(format, 2 * kInner, kHidden), .down = dummy(format, kHidden, kInner)};
}

/// A block of each kind between the embedding and the head, which is tied to it.
struct Blocks {
  RandomMatrix table = make_matrix(WeightFormat::bf16, kVocab, kHidden, 1);
  std::unique_ptr<Embedding> embedding;
  std::unique_ptr<MlpBlock> mlp;
  std::unique_ptr<MoeBlock> moe;
  std::unique_ptr<Head> head;

  /// The head has rows [head_first, kVocab).
  explicit Blocks(Backend& backend, int64_t head_first = 0) {
    const std::vector<float> norm(kHidden);
    EmbeddingSource source{.table = {"table", {table.view()}}, .lm_head = {}};
    if (head_first > 0) {
      source.lm_head = {"lm_head", {format::rows_of(table.view(), head_first, kVocab - head_first)}};
      source.head_first = head_first;
    }
    embedding = *backend.load(source);
    mlp =
        *backend.load(MlpSource{.hidden = kHidden, .norm_eps = 1e-6F, .norm = norm, .mlp = swiglu(WeightFormat::bf16)});
    MoeSource experts{.hidden = kHidden, .norm_eps = 1e-6F, .experts_per_token = 2, .norm = norm};
    experts.router = dummy(WeightFormat::bf16, 8, kHidden);
    experts.experts.assign(8, swiglu(WeightFormat::nvfp4));
    moe = *backend.load(experts);
    head = *backend.load(HeadSource{.norm_eps = 1e-6F, .norm = norm, .lm_head = {}});
  }
};

/// Steps of a row for each of kRows sequences.
class Steps {
 public:
  explicit Steps(Backend& backend, const Blocks& blocks) : backend_(backend), blocks_(blocks) {
    cache_ = *backend.make_cache({});
    pass_ = *backend.make_pass({.rows_max = kRows,
                                .sequences_max = kRows,
                                .logit_rows_max = kRows,
                                .state_slots = kRows,
                                .sequence_blocks_max = 1,
                                .hidden = kHidden,
                                .vocab = kVocab});
    for (int32_t i = 0; i < kRows; ++i) {
      sequences_.push_back({.first_row = i, .rows = 1, .state_slot = i, .block_table = block_});
    }
  }
  void begin(std::span<const int32_t> logit_rows) {
    logit_rows_.assign(logit_rows.begin(), logit_rows.end());
    ok(backend_.begin(*pass_, *cache_, {.tokens = tokens_, .sequences = sequences_}, logit_rows_));
    ok(backend_.embed(*pass_, *blocks_.embedding));
  }
  void mlp() { ok(backend_.mlp(*pass_, *blocks_.mlp)); }
  void moe() { ok(backend_.moe(*pass_, *blocks_.moe)); }
  void head() { ok(backend_.head(*pass_, *blocks_.head, *blocks_.embedding)); }
  std::vector<float> logits() {
    std::vector<float> all(logit_rows_.size() * kVocab);
    ok(backend_.read_logits(*pass_, all));
    return all;
  }

 private:
  static void ok(const Status& status) { EXPECT_TRUE(status.ok()) << status.message(); }

  Backend& backend_;
  const Blocks& blocks_;
  std::unique_ptr<kernels::Cache> cache_;
  std::unique_ptr<kernels::Pass> pass_;
  std::vector<int32_t> block_ = {0}, tokens_ = {5, 60, 33}, logit_rows_;
  std::vector<SequenceRows> sequences_;
};

std::vector<float> row_of(const std::vector<float>& logits, size_t row) {
  const auto begin = logits.begin() + static_cast<std::ptrdiff_t>(row * kVocab);
  return {begin, begin + kVocab};
}

const std::vector<int32_t> kAllRows = {0, 1, 2};

TEST(BackendGpu, LogitsAreOfTheRowsThatWantThem) {
  const auto backend = *make_cuda_backend({});
  const Blocks blocks(*backend);
  Steps steps(*backend, blocks);
  const auto run = [&](const std::vector<int32_t>& rows) {
    steps.begin(rows);
    steps.mlp();
    steps.moe();
    steps.head();
    return steps.logits();
  };
  const std::vector<float> all = run(kAllRows);
  EXPECT_NE(row_of(all, 0), row_of(all, 1));
  EXPECT_EQ(run({2}), row_of(all, 2));
  const std::vector<float> two = run({0, 2});
  EXPECT_EQ(row_of(two, 0), row_of(all, 0));
  EXPECT_EQ(row_of(two, 1), row_of(all, 2));
}

TEST(BackendGpu, AHeadsOwnMatrixTakesThePlaceOfTheEmbeddings) {
  const auto backend = *make_cuda_backend({});
  Blocks blocks(*backend);
  const RandomMatrix other = make_matrix(WeightFormat::bf16, kVocab, kHidden, 9);
  const auto run = [&](std::unique_ptr<Head> head) {
    blocks.head = std::move(head);
    Steps steps(*backend, blocks);
    steps.begin(kAllRows);
    steps.head();
    return steps.logits();
  };
  HeadSource source{.norm_eps = 1e-6F, .norm = std::vector<float>(kHidden), .lm_head = {}};
  const std::vector<float> tied = run(*backend->load(source));
  source.lm_head = {"lm_head", {blocks.table.view()}};
  EXPECT_EQ(run(*backend->load(source)), tied);
  source.lm_head = {"lm_head", {other.view()}};
  EXPECT_NE(run(*backend->load(source)), tied);
}

/// What a block of it left for the next norm is not the next step's.
TEST(BackendGpu, AStepThatWasLeftOffLeavesNothing) {
  const auto backend = *make_cuda_backend({});
  const Blocks blocks(*backend);
  const auto run = [](Steps& steps) {
    steps.begin(kAllRows);
    steps.head();
    return steps.logits();
  };
  Steps fresh(*backend, blocks);
  const std::vector<float> want = run(fresh);
  for (const bool experts : {false, true}) {
    Steps left_off(*backend, blocks);
    left_off.begin(kAllRows);
    experts ? left_off.moe() : left_off.mlp();
    EXPECT_EQ(run(left_off), want) << (experts ? "experts" : "rows");
  }
}

/// A rank whose other one says nothing.
class NotedComm final : public Comm {
 public:
  struct Call {
    CommRows rows;
    bool gathers = false, rounds = false;
  };
  [[nodiscard]] Rank rank() const override { return {.index = 1, .world = 2}; }
  Status all_reduce(const CommRows& rows, bool round) override {
    calls.push_back({.rows = rows, .rounds = round});
    return {};
  }
  Status all_gather(const CommRows& rows) override {
    calls.push_back({.rows = rows, .gathers = true});
    return {};
  }
  std::vector<Call> calls;
};

TEST(BackendGpu, RanksSumWhatABlockLeftBeforeTheNextNorm) {
  NotedComm comm;
  const auto backend = *make_cuda_backend({.comm = &comm});
  EXPECT_EQ(backend->rank(), (Rank{.index = 1, .world = 2}));
  const Blocks blocks(*backend);
  Steps steps(*backend, blocks);
  const auto expect_sums = [&](size_t count, const char* when) {
    ASSERT_EQ(comm.calls.size(), count) << when;
    if (count == 0) return;
    const auto& [rows, gathers, rounds] = comm.calls.back();
    EXPECT_FALSE(gathers) << when;
    EXPECT_TRUE(rounds) << when;
    EXPECT_EQ(rows.dtype, DType::bf16) << when;
    EXPECT_EQ(rows.rows, kRows) << when;
    EXPECT_EQ(rows.columns, kHidden) << when;
    EXPECT_EQ(rows.stride, kHidden) << when;
  };
  steps.begin(std::vector<int32_t>{1, 2});
  steps.mlp();
  expect_sums(0, "nothing is left by the embedding");
  steps.moe();
  expect_sums(1, "rows of the MLP");
  steps.moe();
  expect_sums(2, "rows of experts");
  steps.mlp();
  expect_sums(3, "rows of experts, again");
  steps.head();
  ASSERT_EQ(comm.calls.size(), 5U);
  EXPECT_FALSE(comm.calls[3].gathers);
  const auto& [rows, gathers, rounds] = comm.calls[4];
  EXPECT_TRUE(gathers);
  EXPECT_EQ(rows.dtype, DType::f32);
  EXPECT_EQ(rows.rows, 2);
  EXPECT_EQ(rows.columns, kVocab);
  EXPECT_EQ(rows.stride, kVocab);
  steps.begin({});
  steps.head();
  EXPECT_EQ(comm.calls.size(), 5U) << "without logits there is nothing to gather";
}

TEST(BackendGpu, ARanksLogitsGoToItsOwnColumns) {
  constexpr size_t kFirst = 32;
  const auto whole = *make_cuda_backend({});
  const Blocks all_blocks(*whole);
  Steps all(*whole, all_blocks);
  NotedComm comm;
  const auto half = *make_cuda_backend({.comm = &comm});
  const Blocks own_blocks(*half, kFirst);
  Steps own(*half, own_blocks);
  for (Steps* steps : {&all, &own}) {
    steps->begin(kAllRows);
    steps->head();
  }
  const std::vector<float> want = all.logits(), got = own.logits();
  for (size_t i = 0; i < want.size(); ++i) EXPECT_EQ(got[i], i % kVocab < kFirst ? 0 : want[i]) << i;
}

}  // namespace
}  // namespace tessera::kernels::cuda
