#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "format/safetensors.h"

namespace tessera::format {

/// Writes a checkpoint's tensors, in the order declared, into model.safetensors or into shards of at most
/// `shard_bytes_max` (a larger tensor gets a shard of its own) with model.safetensors.index.json.
class ShardedWriter {
 public:
  static Expected<ShardedWriter> create(const std::filesystem::path& directory,
                                        std::vector<SafetensorsWriter::Declaration> tensors, size_t shard_bytes_max);

  /// Appends bytes of the tensor that is due next; a tensor may come in several pieces.
  Status write(std::span<const std::byte> bytes);
  /// Finishes the last shard and writes the index.
  Status finish();

  [[nodiscard]] size_t total_bytes() const { return total_bytes_; }

 private:
  struct Shard {
    std::string file;
    size_t bytes = 0;
    std::vector<SafetensorsWriter::Declaration> tensors;
  };
  Status open_next();

  std::filesystem::path directory_;
  std::vector<Shard> shards_;
  size_t next_ = 0;        // shard to open next
  size_t bytes_left_ = 0;  // of the open shard
  size_t total_bytes_ = 0;
  std::optional<SafetensorsWriter> open_;
};

}  // namespace tessera::format
