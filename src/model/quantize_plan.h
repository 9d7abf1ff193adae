#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/quantization_config.h"
#include "model/quantize.h"

namespace tessera::model {

/// One matrix that is rounded to another format.
struct Conversion {
  format::MatrixView matrix;
  format::WeightFormat to;
  std::string source;      // what the matrix is called in messages
  size_t scale_group = 0;  // matrices of a group share their tensor scale
};

/// What becomes of one stored tensor, or of one matrix of a fused one.
struct QuantizeStep {
  std::string name;  // copied: the tensor's; converted: the module's; as stored
  std::optional<TensorKind> kind;
  std::string_view from;
  int64_t elements = 0;
  format::TensorView tensor;  // what is copied
  std::optional<Conversion> conversion;
};

/// Everything that will be written, in order; decided from headers alone.
struct QuantizePlan {
  format::Dialect dialect = format::Dialect::modelopt;
  std::vector<QuantizeStep> steps;
  std::vector<std::vector<size_t>> scale_groups;  // steps of each group
  std::vector<format::SafetensorsWriter::Declaration> declarations;
  QuantizedModules modules;
  std::vector<std::string> already_quantized;
};

Expected<QuantizePlan> plan_quantization(const format::Checkpoint& source, const QuantizeOptions& options);

}  // namespace tessera::model
