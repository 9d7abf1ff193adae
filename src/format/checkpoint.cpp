#include "format/checkpoint.h"

#include <algorithm>
#include <mutex>

#include "format/printable.h"
#include "format/row_scales.h"
#include "format/shard_index.h"

namespace tessera::format {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxTextBytes = 256'000'000;
constexpr const char* kIndexFile = "model.safetensors.index.json";

bool is_file_name(std::string_view file) {
  return !file.empty() && file != "." && file != ".." && file.find('/') == file.npos && file.find('\0') == file.npos;
}

/// A few of `names` as a list, and how many more there are.
std::string summary(const std::vector<std::string>& names) {
  constexpr size_t kShown = 3;
  const auto shown = names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kShown));
  std::string list = fmt::format("{}", fmt::join(names.begin(), shown, ", "));
  return names.size() > kShown ? fmt::format("{} and {} more", list, names.size() - kShown) : list;
}

/// The shard of a directory without an index: model.safetensors, whatever lies beside it, or the only file there is.
Expected<std::vector<std::string>> only_shard(const fs::path& directory) {
  static const std::string kUsual = "model.safetensors";
  std::vector<std::string> files;
  std::error_code failed;
  if (fs::is_symlink(directory / kUsual, failed) || fs::exists(directory / kUsual, failed)) return std::vector{kUsual};
  for (fs::directory_iterator entry(directory, failed), end; !failed && entry != end; entry.increment(failed)) {
    if (entry->path().extension() == ".safetensors") files.push_back(entry->path().filename().string());
  }
  const std::string name = printable(directory.string());
  if (failed) return error(StatusCode::not_found, "{}: cannot list the directory: {}", name, failed.message());
  if (files.empty()) {
    return error(StatusCode::not_found, "{}: holds no .safetensors file, the only weight format that Tessera reads",
                 name);
  }
  if (files.size() > 1) {
    std::sort(files.begin(), files.end());
    return error(StatusCode::not_found, "{}: holds {} .safetensors files ({}) but no {}; download that too", name,
                 files.size(), summary(files), kIndexFile);
  }
  return files;
}

Status check_shards_exist(const fs::path& directory, const std::vector<std::string>& shards) {
  std::vector<std::string> missing;
  for (const std::string& shard : shards) {
    std::error_code ignored;
    if (!fs::exists(fs::symlink_status(directory / shard, ignored))) missing.push_back(printable(shard));
  }
  if (missing.empty()) return {};
  return error(StatusCode::not_found, "{}: {} of {} shards are missing: {}; download them",
               printable(directory.string()), missing.size(), shards.size(), summary(missing));
}

}  // namespace

Checkpoint Checkpoint::without_weights(const fs::path& directory) {
  Checkpoint checkpoint;
  checkpoint.directory_ = directory;
  checkpoint.row_scales_ = std::make_shared<RowScales>();
  return checkpoint;
}

Expected<Checkpoint> Checkpoint::open(const fs::path& directory) {
  Checkpoint checkpoint = without_weights(directory);
  const std::string index_path = printable((directory / kIndexFile).string());

  std::map<std::string, std::string, std::less<>> index;
  std::vector<std::string> shards;
  TESSERA_ASSIGN_OR_RETURN(const std::optional<std::string> index_json, checkpoint.read_text(kIndexFile));
  if (index_json) {
    TESSERA_ASSIGN_OR_RETURN(index, parse_shard_index(*index_json, index_path));
    for (const auto& [tensor, shard] : index) shards.push_back(shard);
    std::sort(shards.begin(), shards.end());
    shards.erase(std::unique(shards.begin(), shards.end()), shards.end());
    TESSERA_RETURN_IF_ERROR(check_shards_exist(directory, shards));
  } else {
    TESSERA_ASSIGN_OR_RETURN(shards, only_shard(directory));
  }

  for (const std::string& shard : shards) TESSERA_RETURN_IF_ERROR(checkpoint.add_shard(shard));
  for (const auto& [tensor, shard] : index) {
    const auto position = std::lower_bound(shards.begin(), shards.end(), shard) - shards.begin();
    const SafetensorsFile& file = *checkpoint.shards_[static_cast<size_t>(position)];
    if (!file.tensors().contains(tensor) && !file.foreign_tensors().contains(tensor)) {
      return error(StatusCode::corrupt_data,
                   "{}: says that '{}' is in {}, but it is not; index and shards are of different downloads",
                   index_path, printable(tensor), printable(shard));
    }
  }
  return checkpoint;
}

Status Checkpoint::add_shard(const std::string& file) {
  TESSERA_ASSIGN_OR_RETURN(const std::shared_ptr<const SafetensorsFile> shard,
                           SafetensorsFile::open(directory_ / file));
  const auto twice = [&](const std::string& name) {
    return error(StatusCode::corrupt_data,
                 "{}: tensor '{}' is there twice: in this shard and in another, or under two "
                 "prefixes",
                 printable((directory_ / file).string()), printable(name));
  };
  for (const auto& [name, view] : shard->tensors()) {
    std::string canonical = canonical_name(name);
    if (canonical.empty()) continue;
    if (foreign_tensors_.contains(canonical) || !tensors_.emplace(std::move(canonical), view).second) {
      return twice(name);
    }
  }
  for (const auto& [name, dtype] : shard->foreign_tensors()) {
    std::string canonical = canonical_name(name);
    if (canonical.empty()) continue;
    if (tensors_.contains(canonical) || !foreign_tensors_.emplace(std::move(canonical), dtype).second) {
      return twice(name);
    }
  }
  shards_.push_back(shard);
  return {};
}

Expected<std::optional<std::string>> Checkpoint::read_text(const std::string& file) const {
  if (!is_file_name(file)) {
    return error(StatusCode::invalid_argument, "'{}' is not a plain file name", printable(file));
  }
  const fs::path path = directory_ / file;
  std::error_code ignored;
  // A dangling link is there; MappedFile says what is wrong with it.
  if (!fs::exists(fs::symlink_status(path, ignored))) return std::optional<std::string>();
  TESSERA_ASSIGN_OR_RETURN(const MappedFile mapped, MappedFile::open(path));
  const auto bytes = mapped.bytes();
  if (bytes.size() > kMaxTextBytes) {
    return error(StatusCode::resource_exhausted, "{}: has {} bytes; {} are the limit", printable(path.string()),
                 bytes.size(), kMaxTextBytes);
  }
  std::string text(bytes.size(), '\0');
  TESSERA_RETURN_IF_ERROR(mapped.read(bytes, reinterpret_cast<std::byte*>(text.data())));
  return std::optional<std::string>(std::move(text));
}

Expected<TensorView> Checkpoint::tensor(std::string_view name) const {
  if (const auto found = tensors_.find(name); found != tensors_.end()) return found->second;
  if (const auto found = foreign_tensors_.find(name); found != foreign_tensors_.end()) {
    return error(StatusCode::unsupported, "{}: tensor '{}' has dtype {}, which Tessera does not read",
                 printable(directory_.string()), printable(name), found->second);
  }
  // Names sort by layer and part: the neighbours tell a wrong prefix, layer or part at a glance.
  const auto next = tensors_.lower_bound(name);
  std::vector<std::string> neighbours;
  if (next != tensors_.begin()) neighbours.push_back(printable(std::prev(next)->first));
  if (next != tensors_.end()) neighbours.push_back(printable(next->first));
  return error(StatusCode::not_found, "{}: has no tensor '{}'; of its {} the nearest are: {}",
               printable(directory_.string()), printable(name), tensors_.size(), fmt::join(neighbours, ", "));
}

size_t Checkpoint::tensor_bytes() const {
  size_t bytes = 0;
  for (const auto& [name, view] : tensors_) bytes += view.bytes.size();
  return bytes;
}

std::optional<FilePlace> Checkpoint::place(std::span<const std::byte> bytes) const {
  for (size_t shard = 0; shard < shards_.size(); ++shard) {
    if (!shards_[shard]->contains(bytes)) continue;
    return FilePlace{shard, static_cast<uint64_t>(bytes.data() - shards_[shard]->mapping().data())};
  }
  return std::nullopt;
}

Status Checkpoint::check_unchanged() const {
  for (const auto& shard : shards_) TESSERA_RETURN_IF_ERROR(shard->file().check_unchanged());
  return {};
}

}  // namespace tessera::format
