#pragma once

#include <span>
#include <string_view>

namespace tessera::doctor {

/// What a variable of the environment, which guides tell people to set, does here.
enum class VariableEffect {
  nothing,     // other engines read it
  instead,     // nothing, and here something else does what is meant
  acts,        // CUDA or Tessera reads it
  slows,       // CUDA reads it, and steps are slower, unless it is "0"
  hides_gpus,  // CUDA_VISIBLE_DEVICES
};

struct VariableRule {
  std::string_view name;  // or a prefix and '*'
  VariableEffect effect;
  std::string_view text;
};

std::span<const VariableRule> environment_rules();
/// The rule for a variable: that of its name before that of a prefix; null: none.
const VariableRule* find_rule(std::string_view variable);

}  // namespace tessera::doctor
