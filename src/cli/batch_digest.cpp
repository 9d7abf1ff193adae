#include "cli/batch_digest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <fstream>

#include "base/hash.h"
#include "base/read_file.h"

namespace tessera::cli {
namespace {

namespace fs = std::filesystem;

constexpr size_t kTextBytesMax = size_t{256} << 20;  // tokenizer.json of large vocabularies
constexpr uintmax_t kTailBytes = 64 << 10;

Expected<std::string> tail_of(const fs::path& file, uintmax_t size) {
  const uintmax_t bytes = std::min(size, kTailBytes);
  std::string tail(bytes, '\0');
  std::ifstream stream(file, std::ios::binary);
  stream.seekg(static_cast<std::streamoff>(size - bytes));
  if (!stream.read(tail.data(), static_cast<std::streamsize>(bytes))) {
    return error(StatusCode::unavailable, "cannot read {}", file.string());
  }
  return tail;
}

}  // namespace

Expected<uint64_t> model_digest(const fs::path& directory) {
  std::vector<fs::path> files;
  std::error_code ec;
  for (const auto& entry : fs::directory_iterator(directory, ec)) {
    const std::string kind = entry.path().extension();
    if (entry.is_regular_file(ec) && (kind == ".json" || kind == ".jinja" || kind == ".safetensors")) {
      files.push_back(entry.path());
    }
  }
  if (ec) return error(StatusCode::not_found, "cannot list {}: {}", directory.string(), ec.message());
  std::ranges::sort(files);
  uint64_t digest = fnv1a("");
  for (const fs::path& file : files) {
    const uintmax_t size = fs::file_size(file, ec);
    if (ec) return error(StatusCode::unavailable, "cannot read {}: {}", file.string(), ec.message());
    digest = fnv1a(fmt::format("{}\n{}\n", file.filename().string(), size), digest);
    const bool weights = file.extension() == ".safetensors";
    TESSERA_ASSIGN_OR_RETURN(const std::string bytes,
                             weights ? tail_of(file, size) : read_regular_file(file, kTextBytesMax));
    digest = fnv1a(bytes, digest);
  }
  return digest;
}

std::vector<std::string> batch_digests(const BatchInput& input, uint64_t common) {
  std::vector<std::string> digests(static_cast<size_t>(input.lines));
  const uint64_t start = fnv1a(input.is_json ? "json\n" : "text\n", common);
  for (const BatchItem& item : input.items) {
    digests[static_cast<size_t>(item.index)] = fmt::format("{:016x}", fnv1a(item.line, start));
  }
  return digests;
}

}  // namespace tessera::cli
