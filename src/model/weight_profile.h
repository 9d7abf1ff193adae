#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "format/checkpoint.h"
#include "model/config.h"
#include "model/tensor_kind.h"
#include "model/weight_plan.h"

// The mixtures of formats that published checkpoints have, by name.
//   P1   routed experts, or a dense model's MLP, in NVFP4; the rest BF16
//   V2   P1 with attention, Gated DeltaNet and shared experts in FP8
//   P6   V2 with shared experts and the output head in NVFP4
namespace tessera::model {

/// "p1", "v2", "p6"; not_found lists them.
Expected<KindFormats> profile_formats(std::string_view name);

/// "P1", "V2", "P6", a format's name where all matrices are of that, or "mixed". Embedding, routers and a and b of
/// Gated DeltaNet are not looked at: they differ within a profile.
std::string profile_name(const WeightPlan& plan);

/// How config.json and hf_quant_config.json say that each kind is stored, for weights that are not there: what they say
/// of the middle one of a kind's modules. unsupported: a quantisation that is none of Tessera's formats.
Expected<KindFormats> configured_formats(const format::Checkpoint& checkpoint, const ModelConfig& config);

}  // namespace tessera::model
