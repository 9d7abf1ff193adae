#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli/flags.h"
#include "plan/model_shapes.h"

// Model shapes, formats and paths as flags name them.
namespace tessera::cli {

inline std::vector<std::string> moe_shape_names() {
  std::vector<std::string> names;
  for (const plan::ModelShape& shape : plan::kModelShapes) names.emplace_back(shape.key);
  return names;
}
inline CLI::Validator one_of_moe_shapes() { return one_of(moe_shape_names()); }
inline std::string moe_shape_keys() {
  std::string keys;
  for (const std::string& name : moe_shape_names()) keys += (keys.empty() ? "" : ", ") + name;
  return keys;
}

/// Of a model shape that is there; format "nvfp4" or "mxfp4", path "w4a16" or "w4a4".
inline plan::Desc moe_desc(const std::string& model, const std::string& format, const std::string& path, int64_t tokens,
                           plan::Op op = plan::Op::gate_up) {
  return plan::layer_desc(*plan::find_model_shape(model), op,
                          format == "mxfp4" ? plan::WeightFormat::mxfp4 : plan::WeightFormat::nvfp4,
                          path == "w4a4" ? plan::Path::w4a4 : plan::Path::w4a16, tokens);
}

}  // namespace tessera::cli
