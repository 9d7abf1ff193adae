#include "format/matrix_writer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera::format {
namespace {

using testing::ElementsAre;

/// "m.weight U8 [4,32]" for each tensor of a matrix of 4 rows and 64 columns.
std::vector<std::string> declared(Dialect dialect, WeightFormat format) {
  std::vector<std::string> tensors;
  for (const auto& tensor : declare_matrix(dialect, "m", format, 4, 64)) {
    const DType dtype = tensor.dtype;
    tensors.push_back(fmt::format("{} {} [{}]", tensor.name,
                                  dtype == DType::u8        ? "U8"
                                  : dtype == DType::f8_e4m3 ? "E4M3"
                                  : dtype == DType::f32     ? "F32"
                                  : dtype == DType::bf16    ? "BF16"
                                                            : "F16",
                                  fmt::join(tensor.shape, ",")));
  }
  return tensors;
}

/// The names and shapes that other programs look for.
TEST(MatrixWriter, DeclaresWhatADialectStores) {
  for (const Dialect dialect : {Dialect::modelopt, Dialect::compressed_tensors}) {
    EXPECT_THAT(declared(dialect, WeightFormat::f32), ElementsAre("m.weight F32 [4,64]"));
    EXPECT_THAT(declared(dialect, WeightFormat::f16), ElementsAre("m.weight F16 [4,64]"));
    EXPECT_THAT(declared(dialect, WeightFormat::bf16), ElementsAre("m.weight BF16 [4,64]"));
    EXPECT_THAT(declared(dialect, WeightFormat::mxfp4),
                ElementsAre("m.weight_packed U8 [4,32]", "m.weight_scale U8 [4,2]"));
  }
  EXPECT_THAT(declared(Dialect::modelopt, WeightFormat::fp8_e4m3),
              ElementsAre("m.weight E4M3 [4,64]", "m.weight_scale F32 []"));
  EXPECT_THAT(declared(Dialect::compressed_tensors, WeightFormat::fp8_e4m3),
              ElementsAre("m.weight E4M3 [4,64]", "m.weight_scale F32 [1]"));
  EXPECT_THAT(declared(Dialect::modelopt, WeightFormat::nvfp4),
              ElementsAre("m.weight U8 [4,32]", "m.weight_scale E4M3 [4,4]", "m.weight_scale_2 F32 []"));
  EXPECT_THAT(declared(Dialect::compressed_tensors, WeightFormat::nvfp4),
              ElementsAre("m.weight_packed U8 [4,32]", "m.weight_scale E4M3 [4,4]", "m.weight_global_scale F32 [1]"));
}

TEST(MatrixWriterDeathTest, ColumnsAreWholeBlocks) {
  EXPECT_EQ(declare_matrix(Dialect::modelopt, "m", WeightFormat::nvfp4, 1, 48).size(), 3U);
  EXPECT_DEATH((void)declare_matrix(Dialect::modelopt, "m", WeightFormat::nvfp4, 1, 40), "cols");
  EXPECT_EQ(declare_matrix(Dialect::modelopt, "m", WeightFormat::mxfp4, 1, 96).size(), 2U);
  EXPECT_DEATH((void)declare_matrix(Dialect::modelopt, "m", WeightFormat::mxfp4, 1, 48), "cols");
}

/// compressed-tensors divides by the scalar of NVFP4, and multiplies by all others.
TEST(MatrixWriter, OneScalarIsStoredAsItsInverse) {
  EXPECT_EQ(stored_scale(Dialect::modelopt, WeightFormat::nvfp4, 0.25F), 0.25F);
  EXPECT_EQ(stored_scale(Dialect::compressed_tensors, WeightFormat::nvfp4, 0.25F), 4.0F);
  EXPECT_EQ(stored_scale(Dialect::modelopt, WeightFormat::fp8_e4m3, 0.25F), 0.25F);
  EXPECT_EQ(stored_scale(Dialect::compressed_tensors, WeightFormat::fp8_e4m3, 0.25F), 0.25F);
}

}  // namespace
}  // namespace tessera::format
