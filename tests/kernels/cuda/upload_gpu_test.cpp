#include "kernels/cuda/upload.h"

#include <gtest/gtest.h>

#include "format/row_copy.h"
#include "kernels/cuda/dense_fixture.h"

// Matrices on their way to a GPU, on one (label gpu) and in the simulator.
namespace tessera::kernels::cuda {
namespace {

template <typename T>
std::vector<T> read(const DeviceBuffer& buffer, size_t count) {
  EXPECT_LE(count * sizeof(T), buffer.bytes);
  std::vector<T> values(count);
  EXPECT_EQ(cudaMemcpy(values.data(), buffer.memory.get(), count * sizeof(T), cudaMemcpyDeviceToHost), cudaSuccess);
  return values;
}

std::vector<std::byte> atoms_of(std::span<const format::MatrixView> parts, RowOrder order) {
  std::vector<std::byte> atoms(atom_matrix_bytes(*atom_shape(parts, order)));
  EXPECT_TRUE(kernels::pack_atoms(parts, atoms.data(), order).ok());
  return atoms;
}

TEST(UploadGpu, GateAndUpAreThoseOfTheCpuAsTwoMatricesOrAsOne) {
  auto uploader = *Uploader::create();
  for (const WeightFormat format : kDenseFormats) {
    const RandomMatrix both = make_matrix(format, 96, 320, 1);
    const std::vector<format::MatrixView> parts = {format::rows_of(both.view(), 0, 48),
                                                   format::rows_of(both.view(), 48, 48)};
    const auto want = atoms_of(parts, RowOrder::interleaved);
    std::vector<float> alphas(96);
    row_alphas(parts, *atom_shape(parts, RowOrder::interleaved), alphas);
    for (const bool as_one : {false, true}) {
      SCOPED_TRACE(std::string(format::name(format)) + (as_one ? " as one" : " as two"));
      const SwigluSource source{.inner = 48, .gate_up = {"m", as_one ? std::vector{both.view()} : parts}};
      const auto matrix = uploader.gate_up(source);
      ASSERT_TRUE(matrix.ok()) << matrix.status().message();
      ASSERT_TRUE(uploader.settle().ok());
      EXPECT_EQ(matrix->rows, 96);
      EXPECT_EQ(matrix->depth, 320);
      EXPECT_TRUE(read<std::byte>(matrix->weights, want.size()) == want);
      EXPECT_EQ(read<float>(matrix->row_alpha, 96), alphas);
    }
  }
}

/// Experts of a layer, with scales of their own each.
class ExpertsGpu : public testing::Test {
 protected:
  static constexpr int64_t kHidden = 64, kInner = 32;

  explicit ExpertsGpu(WeightFormat format = WeightFormat::nvfp4) {
    for (uint32_t e = 0; e < 3; ++e) {
      add(make_matrix(format, kInner, kHidden, 10 * e), make_matrix(format, kInner, kHidden, 10 * e + 3),
          make_matrix(format, kHidden, kInner, 10 * e + 6));
    }
  }
  void add(RandomMatrix gate, RandomMatrix up, RandomMatrix down) {
    for (RandomMatrix* m : {&gate, &up, &down}) {
      m->scale = 0.125F * static_cast<float>(matrices_.size() + 1);
      matrices_.push_back(std::make_unique<RandomMatrix>(std::move(*m)));
    }
  }
  [[nodiscard]] std::vector<SwigluSource> sources() const {
    std::vector<SwigluSource> all;
    for (size_t i = 0; i < matrices_.size(); i += 3) {
      all.push_back({.inner = matrices_[i]->rows,
                     .gate_up = {"gate_up " + std::to_string(i / 3), {matrices_[i]->view(), matrices_[i + 1]->view()}},
                     .down = {"down " + std::to_string(i / 3), {matrices_[i + 2]->view()}}});
    }
    return all;
  }
  Status refusal() {
    const auto all = sources();
    return uploader_.experts(all, kHidden).status();
  }

  std::vector<std::unique_ptr<RandomMatrix>> matrices_;
  Uploader uploader_ = *Uploader::create();
};

TEST_F(ExpertsGpu, LieBehindEachOtherWithTheFactorsOfEach) {
  const auto all = sources();
  const auto experts = uploader_.experts(all, kHidden);
  ASSERT_TRUE(experts.ok()) << experts.status().message();
  ASSERT_TRUE(uploader_.settle().ok());
  EXPECT_EQ(experts->experts, 3);
  EXPECT_EQ(experts->inner, kInner);
  std::vector<std::byte> gate_up, down;
  std::vector<float> gate_up_alpha, down_alpha;
  const auto factor = [&](size_t i) { return atom_alpha(WeightFormat::nvfp4, matrices_[i]->scale); };
  for (size_t e = 0; e < 3; ++e) {
    const auto up_atoms = atoms_of(all[e].gate_up.parts, RowOrder::interleaved);
    const auto down_atoms = atoms_of(all[e].down.parts, RowOrder::stacked);
    gate_up.insert(gate_up.end(), up_atoms.begin(), up_atoms.end());
    down.insert(down.end(), down_atoms.begin(), down_atoms.end());
    gate_up_alpha.insert(gate_up_alpha.end(), {factor(3 * e), factor(3 * e + 1)});
    down_alpha.insert(down_alpha.end(), {factor(3 * e + 2), factor(3 * e + 2)});
  }
  EXPECT_TRUE(read<std::byte>(experts->gate_up, gate_up.size()) == gate_up);
  EXPECT_TRUE(read<std::byte>(experts->down, down.size()) == down);
  EXPECT_EQ(read<float>(experts->gate_up_alpha, 6), gate_up_alpha);
  EXPECT_EQ(read<float>(experts->down_alpha, 6), down_alpha);
}

TEST_F(ExpertsGpu, AreOfOneFormatAndSize) {
  ASSERT_TRUE(refusal().ok());
  const auto last = matrices_.back()->rows;
  add(make_matrix(WeightFormat::mxfp4, kInner, kHidden, 1), make_matrix(WeightFormat::mxfp4, kInner, kHidden, 2),
      make_matrix(WeightFormat::mxfp4, last, kInner, 3));
  const Status format = refusal();
  EXPECT_EQ(format.code(), StatusCode::unsupported);
  EXPECT_NE(format.message().find("gate_up 3 is MXFP4"), std::string::npos) << format.message();
  matrices_.resize(9);
  add(make_matrix(WeightFormat::nvfp4, kInner, kHidden, 1), make_matrix(WeightFormat::nvfp4, kInner, kHidden, 2),
      make_matrix(WeightFormat::nvfp4, last, 2 * kInner, 3));
  const Status size = refusal();
  EXPECT_EQ(size.code(), StatusCode::unsupported);
  EXPECT_NE(size.message().find("down 3 is NVFP4 [64, 64], but expert 0"), std::string::npos) << size.message();
}

TEST_F(ExpertsGpu, HaveOneScaleForAMatrixNotOneForEachRow) {
  matrices_.clear();
  add(make_matrix(WeightFormat::fp8_e4m3, kInner, kHidden, 1), make_matrix(WeightFormat::fp8_e4m3, kInner, kHidden, 2),
      make_matrix(WeightFormat::fp8_e4m3, kHidden, kInner, 3));
  const Status status = refusal();
  EXPECT_EQ(status.code(), StatusCode::unsupported);
  EXPECT_NE(status.message().find("gate_up 0 is FP8 with a scale for each row"), std::string::npos) << status.message();
  for (const auto& m : matrices_) m->row_scales.clear();
  EXPECT_TRUE(refusal().ok());
}

TEST_F(ExpertsGpu, FactorsThatAreNotFiniteAreNamed) {
  matrices_[7]->scale = INFINITY;  // of expert 2, up
  const Status status = refusal();
  EXPECT_EQ(status.code(), StatusCode::corrupt_data);
  EXPECT_NE(status.message().find("gate_up 2"), std::string::npos) << status.message();
}

/// What a block that was given up had asked for is not the next one's.
TEST(UploadGpu, AfterAnErrorTheNextMatrixIsJudgedByItself) {
  auto uploader = *Uploader::create();
  const RandomMatrix sound = make_matrix(WeightFormat::bf16, 16, 64, 1);
  RandomMatrix bad = sound;
  const uint16_t infinity = 0x7f80;
  std::memcpy(bad.data.data() + 2 * (3 * 64 + 5), &infinity, sizeof infinity);
  const MatrixSource bad_source{"bad", {bad.view()}}, sound_source{"sound", {sound.view()}};
  for (const bool rests : {false, true}) {
    ASSERT_TRUE(uploader.matrix(sound_source).ok());
    ASSERT_TRUE(uploader.matrix(bad_source).ok());
    if (rests) {
      ASSERT_TRUE(uploader.rest().ok());
    } else {
      const Status status = uploader.settle();
      EXPECT_EQ(status.code(), StatusCode::corrupt_data);
      EXPECT_TRUE(status.message().starts_with("bad")) << status.message();
    }
    ASSERT_TRUE(uploader.matrix(sound_source).ok());
    const Status status = uploader.settle();
    EXPECT_TRUE(status.ok()) << status.message();
  }
}

}  // namespace
}  // namespace tessera::kernels::cuda
