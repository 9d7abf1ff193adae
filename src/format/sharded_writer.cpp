#include "format/sharded_writer.h"

#include <algorithm>
#include <fstream>

#include "base/check.h"
#include "format/printable.h"

namespace tessera::format {
namespace {

size_t tensor_bytes(const SafetensorsWriter::Declaration& tensor) {
  size_t bytes = size_bytes(tensor.dtype);
  for (const int64_t d : tensor.shape) bytes *= static_cast<size_t>(d);
  return bytes;
}

}  // namespace

Expected<ShardedWriter> ShardedWriter::create(const std::filesystem::path& directory,
                                              std::vector<SafetensorsWriter::Declaration> tensors,
                                              size_t shard_bytes_max) {
  ShardedWriter writer;
  writer.directory_ = directory;
  writer.shards_.emplace_back();
  for (auto& tensor : tensors) {
    const size_t bytes = tensor_bytes(tensor);
    writer.total_bytes_ += bytes;
    if (writer.shards_.back().bytes > 0 && writer.shards_.back().bytes + bytes > shard_bytes_max) {
      writer.shards_.emplace_back();
    }
    writer.shards_.back().bytes += bytes;
    writer.shards_.back().tensors.push_back(std::move(tensor));
  }
  const size_t count = writer.shards_.size();
  for (size_t i = 0; i < count; ++i) {
    writer.shards_[i].file =
        count == 1 ? "model.safetensors" : fmt::format("model-{:05}-of-{:05}.safetensors", i + 1, count);
  }
  TESSERA_RETURN_IF_ERROR(writer.open_next());
  return writer;
}

Status ShardedWriter::open_next() {
  if (open_) TESSERA_RETURN_IF_ERROR(open_->finish());
  Shard& shard = shards_[next_++];
  TESSERA_ASSIGN_OR_RETURN(open_, SafetensorsWriter::create(directory_ / shard.file, shard.tensors));
  bytes_left_ = shard.bytes;
  return {};
}

Status ShardedWriter::write(std::span<const std::byte> bytes) {
  if (bytes_left_ == 0 && next_ < shards_.size()) TESSERA_RETURN_IF_ERROR(open_next());
  TESSERA_RETURN_IF_ERROR(open_->write(bytes));
  bytes_left_ -= bytes.size();
  return {};
}

Status ShardedWriter::finish() {
  // A shard of empty tensors has seen no write.
  while (bytes_left_ == 0 && next_ < shards_.size()) TESSERA_RETURN_IF_ERROR(open_next());
  TESSERA_RETURN_IF_ERROR(open_->finish());
  if (shards_.size() == 1) return {};
  std::string index = fmt::format("{{\n \"metadata\": {{\"total_size\": {}}},\n \"weight_map\": {{", total_bytes_);
  const char* separator = "\n";
  for (const Shard& shard : shards_) {
    for (const auto& tensor : shard.tensors) {
      index += fmt::format("{}  {}: \"{}\"", separator, json_string(tensor.name), shard.file);
      separator = ",\n";
    }
  }
  index += "\n }\n}\n";
  const auto path = directory_ / "model.safetensors.index.json";
  std::ofstream file(path);
  file << index;
  file.close();
  if (!file) return error(StatusCode::unavailable, "cannot write {}; is the disk full?", path.string());
  return {};
}

}  // namespace tessera::format
