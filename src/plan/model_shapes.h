#pragma once

#include <array>
#include <string_view>

#include "plan/desc.h"

// Shapes of the routed experts of published models, from their config.json: what tables and benchmarks are made for.
// The planner itself takes any shape. Shared experts are dense products of a format of their own.
namespace tessera::plan {

struct ModelShape {
  std::string_view key;
  std::string_view name;
  int hidden, intermediate, experts, experts_per_token;
};

inline constexpr std::array<ModelShape, 7> kModelShapes = {{
    {"397b", "Qwen3.5-397B-A17B", 4096, 1024, 512, 10},
    {"397b-tp4", "Qwen3.5-397B-A17B, one of 4 GPUs", 4096, 256, 512, 10},
    {"122b", "Qwen3.5-122B-A10B", 3072, 1024, 256, 8},
    {"35b", "Qwen3.5-35B-A3B", 2048, 512, 256, 8},
    {"deepseek-v3", "DeepSeek-V3", 7168, 2048, 256, 8},
    {"qwen3-30b", "Qwen3-30B-A3B", 2048, 768, 128, 8},
    {"minimax-m3", "MiniMax-M3", 6144, 3072, 128, 4},
}};

/// Null if there is none.
constexpr const ModelShape* find_model_shape(std::string_view key) {
  for (const ModelShape& shape : kModelShapes) {
    if (shape.key == key) return &shape;
  }
  return nullptr;
}

constexpr Desc layer_desc(const ModelShape& s, Op op, WeightFormat format, Path path, int64_t tokens) {
  return {.op = op,
          .format = format,
          .path = path,
          .hidden = s.hidden,
          .intermediate = s.intermediate,
          .experts = s.experts,
          .experts_per_token = s.experts_per_token,
          .tokens = tokens};
}

}  // namespace tessera::plan
