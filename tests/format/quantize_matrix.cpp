// quantize_matrix SOURCE TARGET MODULE FORMAT DIALECT CHOICE: quantises MODULE of the checkpoint in SOURCE and writes
// it, alone, to TARGET/model.safetensors. FORMAT nvfp4 or mxfp4; DIALECT compressed-tensors or modelopt; CHOICE amax or
// mse.
#include <cstdio>
#include <string_view>
#include <vector>

#include "format/checkpoint.h"
#include "format/decode.h"
#include "format/matrix_writer.h"
#include "format/quantize.h"

namespace {

using namespace tessera;
using namespace tessera::format;

Status run(char** argv) {
  const WeightFormat format = std::string_view(argv[4]) == "mxfp4" ? WeightFormat::mxfp4 : WeightFormat::nvfp4;
  const Dialect dialect = std::string_view(argv[5]) == "modelopt" ? Dialect::modelopt : Dialect::compressed_tensors;
  const ScaleChoice choice = std::string_view(argv[6]) == "mse" ? ScaleChoice::mse : ScaleChoice::amax;
  TESSERA_ASSIGN_OR_RETURN(const Checkpoint checkpoint, Checkpoint::open(argv[1]));
  TESSERA_ASSIGN_OR_RETURN(const MatrixView source, checkpoint.matrix(argv[3]));
  TESSERA_ASSIGN_OR_RETURN(const float amax, max_magnitude(source));
  const float scale = format == WeightFormat::nvfp4 ? nvfp4_tensor_scale(amax).multiplier : 1.0F;

  std::vector<float> row(static_cast<size_t>(source.cols));
  const size_t code_bytes = row_bytes(format, source.cols);
  const auto scale_bytes = static_cast<size_t>(source.cols / group_size(format));
  std::vector<std::byte> codes(static_cast<size_t>(source.rows) * code_bytes);
  std::vector<std::byte> scales(static_cast<size_t>(source.rows) * scale_bytes);
  QuantizationError rounding;
  for (int64_t r = 0; r < source.rows; ++r) {
    decode_row(source, r, row);
    quantize_row(format, choice, scale, row, codes.data() + static_cast<size_t>(r) * code_bytes,
                 scales.data() + static_cast<size_t>(r) * scale_bytes, rounding);
  }
  const auto path = std::filesystem::path(argv[2]) / "model.safetensors";
  TESSERA_ASSIGN_OR_RETURN(
      SafetensorsWriter writer,
      SafetensorsWriter::create(path, declare_matrix(dialect, argv[3], format, source.rows, source.cols)));
  TESSERA_RETURN_IF_ERROR(writer.write(codes));
  TESSERA_RETURN_IF_ERROR(writer.write(scales));
  if (format == WeightFormat::nvfp4) {
    const float stored = stored_scale(dialect, format, scale);
    TESSERA_RETURN_IF_ERROR(writer.write(std::as_bytes(std::span(&stored, 1))));
  }
  TESSERA_RETURN_IF_ERROR(writer.finish());
  std::printf("%.9g\n", rounding.relative_l2());
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7) {
    std::fprintf(stderr, "usage: quantize_matrix SOURCE TARGET MODULE FORMAT DIALECT CHOICE\n");
    return 2;
  }
  const Status status = run(argv);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.message().c_str());
  return status.ok() ? 0 : 1;
}
