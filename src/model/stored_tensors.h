#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/checkpoint.h"
#include "model/tensor_kind.h"

namespace tessera::model {

/// A tensor as it lies in a checkpoint's files, and what it is there for.
struct StoredTensor {
  std::string name;                // as stored
  std::string canonical;           // format/checkpoint.h; empty in the vision tower
  std::optional<TensorKind> kind;  // none: the vision tower
  /// The linear module that it belongs to, canonical: its weight, its scales, its bias. Empty for other tensors.
  std::string module;
  bool is_weight = false;  // holds the weights of `module`
  /// How that module's weights are stored, a name of WeightFormat; of other tensors, the dtype's name.
  std::string_view format;
  /// Weights held: two to a byte in 4-bit formats; 0 for scales and other companions of a weight.
  int64_t elements = 0;
  format::TensorView view;
};

/// Every tensor of every shard in file order, the vision tower included. Looks at headers only: no page of a weight or
/// a scale is read, so that it takes a second on hundreds of gigabytes.
std::vector<StoredTensor> stored_tensors(const format::Checkpoint& checkpoint);

}  // namespace tessera::model
