#include "model/stored_tensors.h"

#include <algorithm>
#include <unordered_map>

#include "format/shard_index.h"

namespace tessera::model {
namespace {

using format::TensorView;
using format::WeightFormat;

/// As Checkpoint::matrix decides, but from dtypes alone.
std::string_view weight_format(const format::Checkpoint& checkpoint, const std::string& module,
                               const TensorView& weight) {
  if (weight.dtype == DType::f8_e4m3) return format::name(WeightFormat::fp8_e4m3);
  if (weight.dtype == DType::u8) {
    const auto scales = checkpoint.tensors().find(module + ".weight_scale");
    if (scales != checkpoint.tensors().end()) {
      const bool nvfp4 = scales->second.dtype == DType::f8_e4m3;
      return format::name(nvfp4 ? WeightFormat::nvfp4 : WeightFormat::mxfp4);
    }
  }
  return name(weight.dtype);
}

bool is_4bit(std::string_view format) {
  return format == format::name(WeightFormat::nvfp4) || format == format::name(WeightFormat::mxfp4);
}

int64_t element_count(const TensorView& view, std::string_view format) {
  const size_t stored = view.bytes.size() / size_bytes(view.dtype);
  return static_cast<int64_t>(is_4bit(format) ? stored * 2 : stored);
}

StoredTensor describe(const format::Checkpoint& checkpoint, const std::string& stored_name, const TensorView& view) {
  StoredTensor tensor;
  tensor.name = stored_name;
  tensor.canonical = format::canonical_name(stored_name);
  tensor.view = view;
  tensor.format = name(view.dtype);
  tensor.elements = element_count(view, tensor.format);
  if (tensor.canonical.empty()) return tensor;
  tensor.kind = classify(tensor.canonical);
  if (const auto module = linear_module(tensor.canonical)) {
    tensor.module = *module;
    tensor.is_weight = true;
    tensor.format = weight_format(checkpoint, tensor.module, view);
    tensor.elements = element_count(view, tensor.format);
  }
  return tensor;
}

}  // namespace

std::vector<StoredTensor> stored_tensors(const format::Checkpoint& checkpoint) {
  std::vector<StoredTensor> tensors;
  for (const auto& shard : checkpoint.shards()) {
    const auto first = static_cast<std::ptrdiff_t>(tensors.size());
    for (const auto& [name, view] : shard->tensors()) tensors.push_back(describe(checkpoint, name, view));
    std::stable_sort(tensors.begin() + first, tensors.end(), [](const StoredTensor& a, const StoredTensor& b) {
      return a.view.bytes.data() < b.view.bytes.data();
    });
  }
  // Scales lie before or after their weight, maybe in another shard.
  std::unordered_map<std::string_view, std::string_view> formats;
  for (const StoredTensor& tensor : tensors) {
    if (tensor.is_weight) formats.emplace(tensor.module, tensor.format);
  }
  for (StoredTensor& tensor : tensors) {
    if (tensor.is_weight || tensor.canonical.empty()) continue;
    const auto module = formats.find(std::string_view(tensor.canonical).substr(0, tensor.canonical.rfind('.')));
    if (module == formats.end()) continue;
    tensor.module = module->first;
    tensor.format = module->second;
    tensor.elements = 0;
  }
  return tensors;
}

}  // namespace tessera::model
