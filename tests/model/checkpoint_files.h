#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "format/checkpoint.h"
#include "format/decode.h"
#include "format/files.h"
#include "model/synth.h"

// Checkpoints on disk for tests, small enough to write hundreds of.
namespace tessera::model::test {

using format::test::TempDirectory;

inline SynthShape small_shape(bool is_moe = true) {
  SynthShape shape;
  shape.is_moe = is_moe;
  shape.hidden_size = 64;
  shape.head_dim = 32;
  shape.num_experts = 5;
  shape.num_experts_per_tok = 2;
  shape.moe_intermediate_size = 32;
  shape.shared_expert_intermediate_size = 32;
  shape.intermediate_size = 96;
  shape.vocab_size = 224;
  return shape;
}

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Every file of a directory, name to content.
inline std::map<std::string, std::string> read_directory(const std::filesystem::path& path) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    files[entry.path().filename().string()] = read_file(entry.path());
  }
  return files;
}

inline void synthesize(const std::filesystem::path& directory, const SynthOptions& options) {
  const Status written = write_random_checkpoint(directory, options);
  ASSERT_TRUE(written.ok()) << written.message();
}

inline format::Checkpoint open(const std::filesystem::path& directory) {
  auto checkpoint = format::Checkpoint::open(directory);
  if (!checkpoint.ok()) {
    ADD_FAILURE() << checkpoint.status().message();
    std::abort();
  }
  return *checkpoint;
}

/// Lets `change` alter, add and remove the tensors of directory/model.safetensors.
inline void rewrite(const std::filesystem::path& directory,
                    const std::function<void(std::map<std::string, format::test::StoredTensor>&)>& change) {
  const auto path = directory / "model.safetensors";
  std::map<std::string, format::test::StoredTensor> tensors;
  {
    const auto file = format::SafetensorsFile::open(path);
    ASSERT_TRUE(file.ok()) << file.status().message();
    for (const auto& [name, view] : (*file)->tensors()) {
      tensors[name] = {name, std::string(tessera::name(view.dtype)), view.shape,
                       std::string(reinterpret_cast<const char*>(view.bytes.data()), view.bytes.size())};
    }
  }
  change(tensors);
  std::vector<format::test::StoredTensor> list;
  for (auto& [name, tensor] : tensors) list.push_back(std::move(tensor));
  std::ofstream(path, std::ios::binary) << format::test::safetensors(list);
}

/// Gives the BF16 matrices of a checkpoint, whose weights are all drawn alike, what real ones have: sizes that differ
/// between matrices and from block to block.
inline void vary(const std::filesystem::path& directory) {
  rewrite(directory, [](auto& tensors) {
    for (auto& [name, tensor] : tensors) {
      if (tensor.dtype != "BF16" || tensor.shape.size() < 2) continue;
      const size_t of_matrix = std::hash<std::string>()(name);
      for (size_t i = 0; i + 1 < tensor.data.size(); i += 2) {
        uint16_t bits = 0;
        std::memcpy(&bits, tensor.data.data() + i, sizeof bits);
        const size_t of_block = (of_matrix ^ i / 32) * 0x9e3779b97f4a7c15ULL >> 62;
        const float factor = std::ldexp(1.0F + static_cast<float>(of_matrix % 64) / 64, -static_cast<int>(of_block));
        bits = float_to_bf16(bf16_to_float(bits) * factor);
        std::memcpy(tensor.data.data() + i, &bits, sizeof bits);
      }
    }
  });
}

inline std::vector<float> decode(const format::MatrixView& matrix) {
  std::vector<float> values(static_cast<size_t>(matrix.rows * matrix.cols));
  for (int64_t row = 0; row < matrix.rows; ++row) {
    format::decode_row(
        matrix, row,
        std::span(values).subspan(static_cast<size_t>(row * matrix.cols), static_cast<size_t>(matrix.cols)));
  }
  return values;
}

}  // namespace tessera::model::test
