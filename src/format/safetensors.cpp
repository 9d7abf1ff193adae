#include "format/safetensors.h"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <tuple>

#include "format/printable.h"

// The file: u64 little-endian header length, the header (a JSON object, maybe padded with spaces), the tensor bytes.
// Checked are the rules of the safetensors format, and two that its reference reader leaves out: no tensor name twice,
// and nothing before the '{'.
namespace tessera::format {
namespace {

namespace dom = simdjson::dom;

constexpr size_t kLengthBytes = sizeof(uint64_t);
constexpr size_t kStartBytes = 64;  // enough to know an impostor by

/// The dtypes of the format. `dtype` is empty where Tessera has no type for it.
struct KnownDType {
  std::string_view name;
  uint64_t bits;
  std::optional<DType> dtype;
};
constexpr std::array<KnownDType, 22> kDTypes = {{{"BF16", 16, DType::bf16},
                                                 {"F16", 16, DType::f16},
                                                 {"F32", 32, DType::f32},
                                                 {"U8", 8, DType::u8},
                                                 {"F8_E4M3", 8, DType::f8_e4m3},
                                                 {"F8_E8M0", 8, DType::f8_e8m0},
                                                 {"I32", 32, DType::i32},
                                                 {"I64", 64, DType::i64},
                                                 {"BOOL", 8, {}},
                                                 {"I8", 8, {}},
                                                 {"I16", 16, {}},
                                                 {"U16", 16, {}},
                                                 {"U32", 32, {}},
                                                 {"U64", 64, {}},
                                                 {"F64", 64, {}},
                                                 {"C64", 64, {}},
                                                 {"F4", 4, {}},
                                                 {"F6_E2M3", 6, {}},
                                                 {"F6_E3M2", 6, {}},
                                                 {"F8_E5M2", 8, {}},
                                                 {"F8_E4M3FNUZ", 8, {}},
                                                 {"F8_E5M2FNUZ", 8, {}}}};

/// What people download by mistake under a .safetensors name.
struct Impostor {
  std::string_view prefix;
  std::string_view what;
};
constexpr std::array<Impostor, 5> kImpostors = {{
    {"PK\x03\x04", "a zip archive, perhaps a PyTorch checkpoint: convert it to safetensors first"},
    {"GGUF", "a GGUF file: Tessera reads safetensors"},
    {"<!DOCTYPE", "a web page: the download failed, perhaps for want of a login"},
    {"<!doctype", "a web page: the download failed, perhaps for want of a login"},
    {"<html", "a web page: the download failed, perhaps for want of a login"},
}};

Status corrupt(const std::string& file, const std::string& what) {
  return error(StatusCode::corrupt_data, "{}: {}; the file is damaged or was not written as safetensors", file, what);
}

struct Entry {
  std::string_view name;
  const KnownDType* dtype = nullptr;
  std::vector<int64_t> shape;
  uint64_t begin = 0;
  uint64_t end = 0;
};

/// Bytes of the header's JSON text, or why there is none. `text` is the start of a file of `file_bytes`.
Expected<size_t> header_bytes(std::string_view text, size_t file_bytes, const std::string& file) {
  for (const Impostor& impostor : kImpostors) {
    if (text.starts_with(impostor.prefix)) {
      return error(StatusCode::corrupt_data, "{}: is {}", file, impostor.what);
    }
  }
  uint64_t length = 0;
  if (file_bytes < sizeof length) {
    return corrupt(file, fmt::format("{} bytes are too few for a safetensors header", file_bytes));
  }
  for (size_t i = sizeof length; i > 0; --i) length = length << 8 | static_cast<uint8_t>(text[i - 1]);
  if (length > kMaxHeaderBytes) {
    return corrupt(file, fmt::format("a header of {} bytes is above the limit of {}", length, kMaxHeaderBytes));
  }
  if (length > file_bytes - sizeof length) {
    return error(StatusCode::corrupt_data,
                 "{}: cut short: the header takes {} bytes and the file has {}; download it again", file, length,
                 file_bytes);
  }
  return length;
}

Expected<std::vector<int64_t>> read_shape(dom::element value) {
  dom::array dims;
  if (value.get(dims) != simdjson::SUCCESS) return Status(StatusCode::corrupt_data, "shape is not an array");
  std::vector<int64_t> shape;
  for (const dom::element dim : dims) {
    int64_t n = 0;
    if (dim.get(n) != simdjson::SUCCESS || n < 0) {
      return error(StatusCode::corrupt_data, "shape[{}] is not a non-negative 64-bit integer", shape.size());
    }
    shape.push_back(n);
  }
  return shape;
}

Status read_offsets(dom::element value, Entry& entry) {
  dom::array offsets;
  if (value.get(offsets) != simdjson::SUCCESS || offsets.size() != 2 ||
      offsets.at(0).get(entry.begin) != simdjson::SUCCESS || offsets.at(1).get(entry.end) != simdjson::SUCCESS) {
    return {StatusCode::corrupt_data, "data_offsets is not a pair of non-negative integers"};
  }
  return {};
}

Status read_dtype(dom::element value, Entry& entry) {
  std::string_view name;
  if (value.get(name) != simdjson::SUCCESS) return {StatusCode::corrupt_data, "dtype is not a string"};
  const auto* found = std::find_if(kDTypes.begin(), kDTypes.end(), [&](const auto& d) { return d.name == name; });
  if (found == kDTypes.end()) return error(StatusCode::corrupt_data, "unknown dtype '{}'", printable(name));
  entry.dtype = found;
  return {};
}

/// Bytes of shape x dtype; empty if the product overflows or leaves part of a byte.
std::optional<uint64_t> needed_bytes(const Entry& entry) {
  uint64_t bits = entry.dtype->bits;
  for (const int64_t dim : entry.shape) {
    if (__builtin_mul_overflow(bits, static_cast<uint64_t>(dim), &bits)) return {};
  }
  if (bits % 8 != 0) return {};
  return bits / 8;
}

Expected<Entry> read_entry(std::string_view name, dom::element value, uint64_t buffer_bytes) {
  dom::object fields;
  if (value.get(fields) != simdjson::SUCCESS) return Status(StatusCode::corrupt_data, "is not an object");
  Entry entry;
  entry.name = name;
  int dtypes = 0;
  int shapes = 0;
  int offsets = 0;
  for (const auto& [key, field] : fields) {
    if (key == "dtype") {
      ++dtypes;
      TESSERA_RETURN_IF_ERROR(read_dtype(field, entry));
    } else if (key == "shape") {
      ++shapes;
      TESSERA_ASSIGN_OR_RETURN(entry.shape, read_shape(field));
    } else if (key == "data_offsets") {
      ++offsets;
      TESSERA_RETURN_IF_ERROR(read_offsets(field, entry));
    }
  }
  if (dtypes != 1 || shapes != 1 || offsets != 1) {
    return Status(StatusCode::corrupt_data, "needs dtype, shape and data_offsets, each once");
  }
  if (entry.begin > entry.end || entry.end > buffer_bytes) {
    return error(StatusCode::corrupt_data,
                 "data_offsets [{}, {}] are outside the {} bytes that follow the header (cut short? download it again)",
                 entry.begin, entry.end, buffer_bytes);
  }
  const std::optional<uint64_t> bytes = needed_bytes(entry);
  if (!bytes) return error(StatusCode::corrupt_data, "shape [{}] overflows", fmt::join(entry.shape, ", "));
  if (*bytes != entry.end - entry.begin) {
    return error(StatusCode::corrupt_data, "{} [{}] needs {} bytes, data_offsets give {}", entry.dtype->name,
                 fmt::join(entry.shape, ", "), *bytes, entry.end - entry.begin);
  }
  return entry;
}

Status read_metadata(dom::element value, std::map<std::string, std::string>& metadata) {
  dom::object fields;
  if (value.get(fields) != simdjson::SUCCESS) return {StatusCode::corrupt_data, "__metadata__ is not an object"};
  for (const auto& [key, field] : fields) {
    std::string_view text;
    if (field.get(text) != simdjson::SUCCESS) {
      return error(StatusCode::corrupt_data, "__metadata__['{}'] is not a string", printable(key));
    }
    if (!metadata.emplace(key, text).second) {
      return error(StatusCode::corrupt_data, "__metadata__['{}'] is there twice", printable(key));
    }
  }
  return {};
}

/// The tensors must tile the buffer: no overlap, no hole, nothing behind the last.
Status check_tiling(std::vector<Entry>& entries, uint64_t buffer_bytes) {
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return std::tie(a.begin, a.end) < std::tie(b.begin, b.end); });
  uint64_t reached = 0;
  for (const Entry& entry : entries) {
    if (entry.begin != reached) {
      return error(StatusCode::corrupt_data, "tensor '{}' starts at {}, {} the end of the one before it, {}",
                   printable(entry.name), entry.begin, entry.begin < reached ? "overlapping" : "leaving a hole after",
                   reached);
    }
    reached = entry.end;
  }
  if (reached != buffer_bytes) {
    return error(StatusCode::corrupt_data, "the tensors end at {} of the {} bytes that follow the header", reached,
                 buffer_bytes);
  }
  return {};
}

}  // namespace

Expected<std::shared_ptr<const SafetensorsFile>> SafetensorsFile::open(const std::filesystem::path& path) {
  TESSERA_ASSIGN_OR_RETURN(MappedFile mapped, MappedFile::open(path));
  const std::shared_ptr<SafetensorsFile> file(new SafetensorsFile);
  file->file_ = std::move(mapped);
  const std::string name = printable(path.string());
  const std::span<const std::byte> bytes = file->file_.bytes();
  const auto copy = [&](size_t first, size_t count) -> Expected<std::string> {
    std::string text(count, '\0');
    TESSERA_RETURN_IF_ERROR(file->file_.read(bytes.subspan(first, count), reinterpret_cast<std::byte*>(text.data())));
    return text;
  };
  TESSERA_ASSIGN_OR_RETURN(const std::string start, copy(0, std::min(bytes.size(), kStartBytes)));
  TESSERA_ASSIGN_OR_RETURN(const size_t length, header_bytes(start, bytes.size(), name));
  TESSERA_ASSIGN_OR_RETURN(const std::string header, copy(kLengthBytes, length));
  TESSERA_RETURN_IF_ERROR(file->read_header(header, bytes.subspan(kLengthBytes + length), name));
  return std::shared_ptr<const SafetensorsFile>(file);
}

Expected<std::shared_ptr<const SafetensorsFile>> SafetensorsFile::parse(std::span<const std::byte> bytes,
                                                                        const std::string& name) {
  const std::shared_ptr<SafetensorsFile> file(new SafetensorsFile);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  TESSERA_ASSIGN_OR_RETURN(const size_t length, header_bytes(text, bytes.size(), name));
  TESSERA_RETURN_IF_ERROR(
      file->read_header(text.substr(kLengthBytes, length), bytes.subspan(kLengthBytes + length), name));
  return std::shared_ptr<const SafetensorsFile>(file);
}

Status SafetensorsFile::read_header(std::string_view header, std::span<const std::byte> buffer,
                                    const std::string& name) {
  if (!header.starts_with('{')) return corrupt(name, "the header does not start with '{'");
  dom::parser parser;
  dom::element root;
  if (const auto code = parser.parse(header.data(), header.size()).get(root); code != simdjson::SUCCESS) {
    return corrupt(name, fmt::format("the header is not valid JSON: {}", simdjson::error_message(code)));
  }
  dom::object fields;
  if (root.get(fields) != simdjson::SUCCESS) return corrupt(name, "the header is not a JSON object");

  const MappedFile* const file = file_.bytes().empty() ? nullptr : &file_;
  std::vector<Entry> entries;
  int metadata_blocks = 0;
  for (const auto& [key, value] : fields) {
    if (key == "__metadata__") {
      if (++metadata_blocks > 1) return corrupt(name, "__metadata__ is there twice");
      TESSERA_RETURN_IF_ERROR(read_metadata(value, metadata_).with_context(name));
      continue;
    }
    Expected<Entry> entry = read_entry(key, value, buffer.size());
    if (!entry.ok()) return entry.status().with_context(fmt::format("{}: tensor '{}'", name, printable(key)));
    if (tensors_.contains(key) || foreign_tensors_.contains(key)) {
      return corrupt(name, fmt::format("tensor '{}' is there twice", printable(key)));
    }
    if (entry->dtype->dtype) {
      const auto data = buffer.subspan(entry->begin, entry->end - entry->begin);
      tensors_.emplace(key, TensorView{*entry->dtype->dtype, entry->shape, data, file});
    } else {
      foreign_tensors_.emplace(key, entry->dtype->name);
    }
    entries.push_back(std::move(*entry));
  }
  return check_tiling(entries, buffer.size()).with_context(name);
}

}  // namespace tessera::format
