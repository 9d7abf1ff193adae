// Loading onto the GPU: what comes through the ring of pinned memory is what is in the file, and what cannot be is
// named.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>

#include "damaged_weights.h"
#include "gpu_model.h"
#include "kernels/cuda/upload.h"
#include "kernels/source_matrices.h"
#include "model/model.h"

namespace tessera::model {
namespace {

using format::WeightFormat;
using kernels::MatrixSource;
using kernels::MatrixUse;
using test::TempDirectory;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::byte> read(const kernels::cuda::DeviceBuffer& buffer) {
  std::vector<std::byte> bytes(buffer.bytes);
  EXPECT_EQ(cudaMemcpy(bytes.data(), buffer.memory.get(), bytes.size(), cudaMemcpyDeviceToHost), cudaSuccess);
  return bytes;
}

/// Every matrix of a checkpoint, as atoms, in the order of loading; with the reader or from the mapping.
std::vector<std::vector<std::byte>> atoms_of(const format::Checkpoint& checkpoint, const ModelConfig& config,
                                             bool ahead) {
  std::vector<std::vector<std::byte>> atoms;
  const auto plan = plan_weights(checkpoint, config);
  EXPECT_TRUE(plan.ok()) << plan.status().message();
  auto uploader = kernels::cuda::Uploader::create();
  EXPECT_TRUE(uploader.ok()) << uploader.status().message();
  std::vector<const kernels::BlockSource*> sources;
  for (const auto& block : plan->blocks) sources.push_back(&block->source);
  if (ahead) {
    const Status status = uploader->read_ahead(checkpoint, sources);
    EXPECT_TRUE(status.ok()) << status.message();
  }
  for (const kernels::BlockSource* source : sources) {
    std::vector<kernels::cuda::DeviceMatrix> matrices;
    kernels::for_each_matrix(*source, [&](const MatrixSource& matrix, MatrixUse use) {
      auto uploaded = uploader->matrix(matrix, use.order);
      ASSERT_TRUE(uploaded.ok()) << uploaded.status().message();
      matrices.push_back(*std::move(uploaded));
    });
    const Status status = uploader->settle();
    EXPECT_TRUE(status.ok()) << status.message();
    for (const auto& matrix : matrices) atoms.push_back(read(matrix.weights));
  }
  return atoms;
}

TEST(Loading, BringsTheBytesOfTheFile) {
  SynthShape shape = test::damaged_shape();
  shape.vocab_size = 40'000;  // 10 MB: several pieces of one matrix
  shape.hidden_size = 128;
  for (const bool fused : {false, true}) {
    const TempDirectory directory;
    KindFormats formats = {{TensorKind::routed_expert, WeightFormat::nvfp4},
                           {TensorKind::attention, WeightFormat::fp8_e4m3},
                           {TensorKind::shared_expert, WeightFormat::mxfp4}};
    if (fused) formats.clear();
    test::synthesize(directory / "model",
                     {.shape = shape, .formats = formats, .fused_experts = fused, .shard_bytes_max = 6'000'000});
    const auto checkpoint = test::open(directory / "model");
    EXPECT_GT(checkpoint.shards().size(), 2U);
    const auto config = synth_config(shape);
    const auto mapped = atoms_of(checkpoint, *config, /*ahead=*/false);
    const auto ahead = atoms_of(checkpoint, *config, /*ahead=*/true);
    ASSERT_EQ(mapped.size(), ahead.size());
    for (size_t i = 0; i < mapped.size(); ++i) EXPECT_TRUE(mapped[i] == ahead[i]) << "matrix " << i;
  }
}

TEST(Loading, TakesWhatThePlanSays) {
  for (const bool is_moe : {true, false}) {
    const TempDirectory directory;
    SynthShape shape = test::small_shape(is_moe);
    shape.head_dim = 64;
    test::synthesize(directory / "model",
                     {.shape = shape, .formats = {{TensorKind::routed_expert, WeightFormat::nvfp4}}});
    const auto checkpoint = test::open(directory / "model");
    const auto config = synth_config(shape);
    for (const PlanOptions& options : {PlanOptions{}, {.with_mtp = true}, {.requantize_projections = true}}) {
      const auto backend = gpu();
      const auto plan = plan_weights(checkpoint, *config, options);
      ASSERT_TRUE(plan.ok()) << plan.status().message();
      const size_t planned = plan->placed_bytes(*backend);
      const auto model = Model::load(checkpoint, *config, *backend, {.plan = options});
      ASSERT_TRUE(model.ok()) << model.status().message();
      EXPECT_EQ(backend->weight_bytes(), planned);
    }
    const auto backend = gpu();
    const KindFormats formats = {{TensorKind::routed_expert, WeightFormat::nvfp4}};
    const size_t planned = plan_dummy_weights(*config, formats)->placed_bytes(*backend);
    const auto model = Model::dummy(*config, formats, *backend);
    ASSERT_TRUE(model.ok()) << model.status().message();
    EXPECT_EQ(backend->weight_bytes(), planned);
  }
}

TEST(Loading, NamesWhatCannotBe) {
  const auto config = synth_config(test::damaged_shape());
  const auto backend = gpu();  // one for all: a failure must not show in the next model
  for (const test::Damage& damage : test::damages()) {
    SCOPED_TRACE(damage.what);
    for (const bool sound : {false, true}) {
      const TempDirectory directory;
      test::write_damaged(directory / "model", damage, sound);
      const Status status = Model::load(test::open(directory / "model"), *config, *backend).status();
      EXPECT_EQ(status.ok(), sound) << status.message();
      if (sound) continue;
      EXPECT_EQ(status.code(), StatusCode::corrupt_data);
      EXPECT_THAT(status.message(), HasSubstr(damage.named));
      EXPECT_THAT(status.message(), Not(HasSubstr("was it changed?")));  // it is found in the file, too
    }
  }
}

TEST(Loading, SaysHowMuchMemoryThereIs) {
  const Status status = kernels::cuda::DeviceBuffer::create(size_t{1} << 50).status();
  EXPECT_EQ(status.code(), StatusCode::resource_exhausted);
  unsigned long long needed = 0, free = 0, all = 0;
  ASSERT_EQ(std::sscanf(status.message().c_str(), "%llu bytes of GPU memory are needed, and %llu of %llu are free",
                        &needed, &free, &all),
            3)
      << status.message();
  EXPECT_EQ(needed, 1ULL << 50);
  EXPECT_GT(free, 0U);
  EXPECT_LT(free, all);
}

}  // namespace
}  // namespace tessera::model
