#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <set>

#include <simdjson.h>

#include "format/printable.h"
#include "format/safetensors.h"

namespace tessera::format {
namespace {

constexpr size_t kBufferBytes = 1 << 20;

Expected<size_t> byte_size(const SafetensorsWriter::Declaration& tensor) {
  size_t bytes = size_bytes(tensor.dtype);
  for (const int64_t dim : tensor.shape) {
    if (dim < 0 || __builtin_mul_overflow(bytes, static_cast<size_t>(dim), &bytes)) {
      return error(StatusCode::invalid_argument, "tensor '{}': shape [{}] is negative or overflows",
                   printable(tensor.name), fmt::join(tensor.shape, ", "));
    }
  }
  return bytes;
}

}  // namespace

struct SafetensorsWriter::State {
  std::filesystem::path path;
  std::filesystem::path partial_path;
  std::FILE* file = nullptr;
  std::vector<Declaration> tensors;
  std::vector<size_t> sizes;
  size_t due = 0;      // tensor that the next byte belongs to
  size_t written = 0;  // bytes of it
  bool finished = false;

  ~State() {
    if (file != nullptr) std::fclose(file);
    if (!finished && !partial_path.empty()) ::unlink(partial_path.c_str());
  }

  [[nodiscard]] Status failed(const char* what) const {
    return error(errno == ENOSPC || errno == EDQUOT ? StatusCode::resource_exhausted : StatusCode::invalid_argument,
                 "{}: cannot {}: {}", printable(partial_path.string()), what, std::strerror(errno));
  }

  void skip_complete() {
    while (due < sizes.size() && written == sizes[due]) {
      ++due;
      written = 0;
    }
  }

  Expected<std::string> header(const std::map<std::string, std::string>& metadata);
};

Expected<std::string> SafetensorsWriter::State::header(const std::map<std::string, std::string>& metadata) {
  std::string json = "{";
  for (const auto& [key, value] : metadata) {
    json += json.size() == 1 ? "\"__metadata__\":{" : ",";
    json += json_string(key) + ":" + json_string(value);
  }
  if (!metadata.empty()) json += "}";
  std::set<std::string_view> names;
  size_t offset = 0;
  for (const Declaration& tensor : tensors) {
    if (tensor.name == "__metadata__" || !names.insert(tensor.name).second) {
      return error(StatusCode::invalid_argument, "tensor name '{}' is reserved or declared twice",
                   printable(tensor.name));
    }
    TESSERA_ASSIGN_OR_RETURN(const size_t bytes, byte_size(tensor));
    size_t end = 0;
    if (__builtin_add_overflow(offset, bytes, &end)) {
      return error(StatusCode::invalid_argument, "tensor '{}': the file's size overflows", printable(tensor.name));
    }
    if (json.size() > 1) json += ",";
    json += fmt::format(R"({}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})", json_string(tensor.name),
                        tessera::name(tensor.dtype), fmt::join(tensor.shape, ","), offset, end);
    sizes.push_back(bytes);
    offset = end;
  }
  json += "}";
  // Spaces, so that the first tensor is aligned to 8 bytes.
  json.resize((json.size() + 7) / 8 * 8, ' ');
  if (!simdjson::validate_utf8(json)) {
    return Status(StatusCode::invalid_argument, "a tensor name or metadata string is not UTF-8");
  }
  if (json.size() > kMaxHeaderBytes) {
    return error(StatusCode::invalid_argument, "a header of {} bytes is above the format's limit of {}; use shards",
                 json.size(), kMaxHeaderBytes);
  }
  return json;
}

Expected<SafetensorsWriter> SafetensorsWriter::create(const std::filesystem::path& path,
                                                      std::vector<Declaration> tensors,
                                                      std::map<std::string, std::string> metadata) {
  auto state = std::make_unique<State>();
  state->path = path;
  state->tensors = std::move(tensors);
  Expected<std::string> json = state->header(metadata);
  if (!json.ok()) return json.status().with_context(printable(path.string()));

  state->partial_path = path;
  state->partial_path += ".partial";
  state->file = std::fopen(state->partial_path.c_str(), "wb");
  if (state->file == nullptr) return state->failed("create the file");
  std::setvbuf(state->file, nullptr, _IOFBF, kBufferBytes);
  unsigned char length[8];
  for (size_t i = 0; i < 8; ++i) length[i] = static_cast<unsigned char>(json->size() >> (8 * i));
  if (std::fwrite(length, 1, 8, state->file) != 8 ||
      std::fwrite(json->data(), 1, json->size(), state->file) != json->size()) {
    return state->failed("write the header");
  }
  state->skip_complete();
  return SafetensorsWriter(std::move(state));
}

SafetensorsWriter::SafetensorsWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
SafetensorsWriter::SafetensorsWriter(SafetensorsWriter&&) noexcept = default;
SafetensorsWriter& SafetensorsWriter::operator=(SafetensorsWriter&&) noexcept = default;
SafetensorsWriter::~SafetensorsWriter() = default;

Status SafetensorsWriter::write(std::span<const std::byte> bytes) {
  State& s = *state_;
  if (bytes.empty()) return {};
  if (s.due == s.sizes.size()) {
    return error(StatusCode::invalid_argument, "{}: {} bytes more than declared", printable(s.path.string()),
                 bytes.size());
  }
  if (bytes.size() > s.sizes[s.due] - s.written) {
    return error(StatusCode::invalid_argument, "{}: {} bytes for tensor '{}', which has room for {}",
                 printable(s.path.string()), bytes.size(), printable(s.tensors[s.due].name),
                 s.sizes[s.due] - s.written);
  }
  if (std::fwrite(bytes.data(), 1, bytes.size(), s.file) != bytes.size()) return s.failed("write");
  s.written += bytes.size();
  s.skip_complete();
  return {};
}

Status SafetensorsWriter::finish() {
  State& s = *state_;
  if (s.due != s.sizes.size()) {
    return error(StatusCode::invalid_argument, "{}: tensor '{}' has {} of {} bytes", printable(s.path.string()),
                 printable(s.tensors[s.due].name), s.written, s.sizes[s.due]);
  }
  if (s.file == nullptr) return {};
  if (std::fflush(s.file) != 0 || ::fsync(::fileno(s.file)) != 0) return s.failed("write");
  const int closed = std::fclose(s.file);
  s.file = nullptr;
  if (closed != 0) return s.failed("close");
  if (std::rename(s.partial_path.c_str(), s.path.c_str()) != 0) return s.failed("rename into place");
  s.finished = true;
  return {};
}

}  // namespace tessera::format
