#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/dtype.h"
#include "base/status.h"
#include "engine/open_model.h"
#include "kernels/context.h"

namespace tessera::engine {

/// What the flags --compute and --kv-cache-dtype ask for.
struct Precision {
  kernels::Compute compute = kernels::Compute::bf16;
  std::optional<DType> kv_dtype;  // nullopt: as the checkpoint says

  [[nodiscard]] bool needs_cpu() const { return compute == kernels::Compute::f32; }
  [[nodiscard]] DType kv_dtype_of(const OpenedModel& model) const {
    return kv_dtype.value_or(model.wants_fp8_kv ? DType::f8_e4m3 : DType::bf16);
  }
};

/// compute: bf16 or fp32, which keeps KV in float32; kv_cache_dtype: auto, bfloat16 or fp8. invalid_argument for other
/// words, and for fp32 with a dtype.
Expected<Precision> parse_precision(const std::string& compute, const std::string& kv_cache_dtype);

/// "bfloat16", "fp8", "float32"
std::string_view kv_dtype_name(DType dtype);

}  // namespace tessera::engine
