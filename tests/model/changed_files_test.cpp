// What becomes of a load whose files are cut short or written while it goes on.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/thread_pool.h"
#include "checkpoint_files.h"
#include "format/row_copy.h"
#include "kernels/cpu/backend.h"
#include "model/model.h"
#include "model/quantize.h"
#include "model/requantize.h"
#include "thread_ranks.h"

namespace tessera::model {
namespace {

using test::TempDirectory;
using ::testing::HasSubstr;

/// Matrices of every format that is stored, in one file.
void write_model(const std::filesystem::path& directory) {
  const KindFormats formats = {{TensorKind::routed_expert, format::WeightFormat::nvfp4},
                               {TensorKind::shared_expert, format::WeightFormat::mxfp4},
                               {TensorKind::attention, format::WeightFormat::fp8_e4m3}};
  SynthShape shape = test::small_shape();
  shape.shared_expert_intermediate_size = 64;  // two ranks can share it
  test::synthesize(directory, {.shape = shape, .formats = formats});
}

class ChangedFilesTest : public ::testing::Test {
 protected:
  ChangedFilesTest() {
    write_model(model_);
    checkpoint_.emplace(test::open(model_));
    config_ = *parse_config(test::read_file(model_ / "config.json"), "config.json");
  }

  Status load(const PlanOptions& plan = {.with_mtp = true}) {
    const auto backend = kernels::cpu::make_backend({kernels::Compute::bf16, &pool_, &workspace_});
    return Model::load(*checkpoint_, config_, *backend, {.plan = plan}).status();
  }

  TempDirectory directory_;
  const std::filesystem::path model_ = directory_ / "model";
  const std::filesystem::path shard_ = model_ / "model.safetensors";
  std::optional<format::Checkpoint> checkpoint_;
  ModelConfig config_;
  ThreadPool pool_{2};
  kernels::Workspace workspace_;
};

/// Whatever is read first behind the new end: norms, codes, scales of blocks, rows and matrices.
TEST_F(ChangedFilesTest, AShardThatIsCutShortIsAnErrorThatNamesIt) {
  ASSERT_TRUE(load().ok());
  for (auto left = std::filesystem::file_size(shard_); left > 0;) {
    left = left > 50'000 ? left - 50'000 : 0;
    std::filesystem::resize_file(shard_, left);
    const Status status = load();
    EXPECT_EQ(status.code(), StatusCode::unavailable) << left;
    EXPECT_THAT(status.message(), HasSubstr(shard_.string())) << left;
    EXPECT_THAT(status.message(), HasSubstr("the file has become shorter")) << left;
  }
}

/// A rank's columns are copied by the loader, not by its backend.
TEST_F(ChangedFilesTest, SharesOfARank) {
  test::ThreadRanks ranks(2);
  const auto load_share = [&](int rank) {
    const auto backend = kernels::cpu::make_backend({kernels::Compute::bf16, &pool_, &workspace_, &ranks.comm(rank)});
    return Model::load(*checkpoint_, config_, *backend, {.plan = {.rank = {rank, 2}}}).status();
  };
  ASSERT_TRUE(load_share(1).ok()) << load_share(1).message();
  for (auto left = std::filesystem::file_size(shard_); left > 0;) {
    left = left > 10'000 ? left - 10'000 : 0;
    std::filesystem::resize_file(shard_, left);
    const Status status = load_share(1);
    EXPECT_EQ(status.code(), StatusCode::unavailable) << left;
    EXPECT_THAT(status.message(), HasSubstr("the file has become shorter")) << left;
  }
}

TEST_F(ChangedFilesTest, ToFp8) {
  std::filesystem::resize_file(shard_, 4096);
  EXPECT_THAT(load({.requantize_projections = true}).message(), HasSubstr("the file has become shorter"));
}

/// Of a matrix whose last rows are gone, or all of them.
TEST_F(ChangedFilesTest, RequantizingAMatrix) {
  const auto head = *checkpoint_->matrix("lm_head");
  const size_t bytes = format::element_bytes(head);
  const auto begin = checkpoint_->place({head.data, bytes})->offset;
  for (const size_t gone : {size_t{1}, bytes / 2, bytes}) {
    std::filesystem::resize_file(shard_, begin + bytes - gone);
    for (const auto format : {format::WeightFormat::fp8_e4m3, format::WeightFormat::nvfp4}) {
      Requantizer requantizer(&pool_);
      const Status status = requantizer.requantize(head, format).status();
      EXPECT_EQ(status.code(), StatusCode::unavailable) << format::name(format) << ", " << gone << " bytes are gone";
      EXPECT_THAT(status.message(), HasSubstr(shard_.string()));
    }
  }
}

TEST_F(ChangedFilesTest, Quantizing) {
  for (const uintmax_t left : {std::filesystem::file_size(shard_) / 2, uintmax_t{4096}}) {
    std::filesystem::resize_file(shard_, left);
    const auto report = quantize_checkpoint(*checkpoint_, directory_ / "out",
                                            {.formats = *quantize_recipe("all", format::WeightFormat::mxfp4)}, pool_);
    EXPECT_EQ(report.status().code(), StatusCode::unavailable);
    EXPECT_THAT(report.status().message(), HasSubstr(shard_.string()));
    EXPECT_FALSE(std::filesystem::exists(directory_ / "out"));
    EXPECT_FALSE(std::filesystem::exists(directory_ / "out.partial"));
  }
}

}  // namespace
}  // namespace tessera::model
