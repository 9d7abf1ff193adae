#include "engine/kv_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/hash.h"
#include "base/read_file.h"
#include "base/write_all.h"
#include "format/mapped_file.h"
#include "kernels/batch.h"

namespace tessera::engine {
namespace {

using kernels::kBlockTokens;
static_assert(std::endian::native == std::endian::little);

constexpr std::array<char, 8> kMagic = {'T', 'E', 'S', 'S', 'K', 'V', '0', '1'};  // with the format's version

/// The first bytes of a file.
struct KvHead {
  std::array<char, 8> magic = kMagic;
  KvIdentity identity = {};
  uint64_t page_bytes = 0;
  uint64_t tokens = 0;
  uint32_t first_block = 0, state_pages = 0;
  uint64_t salt_bytes = 0;
};
static_assert(sizeof(KvHead) == 56);  // without padding

/// What a head says of the file, each number within its bound.
struct Sizes {
  uint64_t pages = 0, head_bytes = 0, file_bytes = 0;
};

Sizes sizes_of(const KvFormat& format, uint64_t tokens, uint64_t first_block, uint64_t salt_bytes) {
  Sizes sizes;
  sizes.pages = tokens / kBlockTokens - first_block + static_cast<uint64_t>(format.state_pages);
  sizes.head_bytes = sizeof(KvHead) + salt_bytes + tokens * sizeof(int32_t) + (sizes.pages + 1) * sizeof(uint64_t);
  sizes.file_bytes = sizes.head_bytes + sizes.pages * format.page_bytes;
  return sizes;
}

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

template <typename T>
void append(std::string& text, const T* values, size_t count) {
  if (count > 0) text.append(reinterpret_cast<const char*>(values), count * sizeof(T));
}

/// Takes `count` values from the front of `text`, which has them.
template <typename T>
void take(std::string_view& text, T* values, size_t count) {
  if (count > 0) std::memcpy(values, text.data(), count * sizeof(T));
  text.remove_prefix(count * sizeof(T));
}

Status system_error(const std::filesystem::path& file, const char* what, int reason) {
  return error(reason == ENOENT ? StatusCode::not_found : StatusCode::unavailable, "{} cannot be {}: {}", file.string(),
               what, std::strerror(reason));
}

/// Bounds before sums, so that nothing overflows.
Status check_head(const KvFormat& format, const KvHead& head, uint64_t file_bytes) {
  if (head.magic != kMagic) return {StatusCode::corrupt_data, "this is no entry of a KV cache, or of another version"};
  if (head.identity != format.identity) {
    return {StatusCode::unsupported, "it was written for another model, or by another build or device"};
  }
  if (head.page_bytes != format.page_bytes || head.state_pages != static_cast<uint32_t>(format.state_pages)) {
    return error(StatusCode::unsupported,
                 "its pages have {} bytes, {} to a state, and here they have {}, {} to a state", head.page_bytes,
                 head.state_pages, format.page_bytes, format.state_pages);
  }
  const bool sound = head.tokens <= kEntryTokensMax && head.tokens % kBlockTokens == 0 &&
                     head.first_block < head.tokens / kBlockTokens && head.salt_bytes <= kSaltMax;
  if (!sound) return {StatusCode::corrupt_data, "its head is damaged"};
  const Sizes sizes = sizes_of(format, head.tokens, head.first_block, head.salt_bytes);
  if (sizes.file_bytes != file_bytes) {
    return error(StatusCode::corrupt_data, "it has {} bytes, and its head says {}", file_bytes, sizes.file_bytes);
  }
  return {};
}

}  // namespace

uint64_t kv_root_key(std::string_view salt) { return checksum(bytes_of(salt), /*seed=*/1); }

uint64_t kv_next_key(uint64_t key, std::span<const int32_t> block) { return checksum(std::as_bytes(block), key); }

uint64_t kv_key(const KvEntry& entry) {
  uint64_t key = kv_root_key(entry.salt);
  for (size_t at = 0; at < entry.tokens.size(); at += kBlockTokens) {
    key = kv_next_key(key, std::span(entry.tokens).subspan(at, kBlockTokens));
  }
  return key;
}

uint64_t kv_file_bytes(const KvFormat& format, const KvEntry& entry) {
  return sizes_of(format, entry.tokens.size(), static_cast<uint64_t>(entry.first_block), entry.salt.size()).file_bytes;
}

std::string make_kv_head(const KvFormat& format, const KvEntry& entry, std::span<const std::byte* const> pages) {
  TESSERA_CHECK_EQ(static_cast<int64_t>(pages.size()), int64_t{entry.blocks()} + format.state_pages);
  const KvHead head{.identity = format.identity,
                    .page_bytes = format.page_bytes,
                    .tokens = entry.tokens.size(),
                    .first_block = static_cast<uint32_t>(entry.first_block),
                    .state_pages = static_cast<uint32_t>(format.state_pages),
                    .salt_bytes = entry.salt.size()};
  std::string bytes;
  append(bytes, &head, 1);
  append(bytes, entry.salt.data(), entry.salt.size());
  append(bytes, entry.tokens.data(), entry.tokens.size());
  for (const std::byte* page : pages) {
    const uint64_t sum = checksum({page, format.page_bytes});
    append(bytes, &sum, 1);
  }
  const uint64_t sum = checksum(bytes_of(bytes));
  append(bytes, &sum, 1);
  return bytes;
}

Expected<KvFileHead> parse_kv_head(const KvFormat& format, std::string_view bytes, uint64_t file_bytes) {
  if (bytes.size() < sizeof(KvHead)) return Status(StatusCode::corrupt_data, "it is shorter than a head");
  std::string_view rest = bytes;
  KvHead head;
  take(rest, &head, 1);
  TESSERA_RETURN_IF_ERROR(check_head(format, head, file_bytes));
  const Sizes sizes = sizes_of(format, head.tokens, head.first_block, head.salt_bytes);
  if (bytes.size() < sizes.head_bytes) return Status(StatusCode::corrupt_data, "its head is cut off");
  KvFileHead file;
  file.entry.salt.resize(head.salt_bytes);
  take(rest, file.entry.salt.data(), file.entry.salt.size());
  file.entry.tokens.resize(head.tokens);
  take(rest, file.entry.tokens.data(), file.entry.tokens.size());
  file.entry.first_block = static_cast<int32_t>(head.first_block);
  file.page_sums.resize(sizes.pages);
  take(rest, file.page_sums.data(), file.page_sums.size());
  uint64_t sum = 0;
  take(rest, &sum, 1);
  if (sum != checksum(bytes_of(bytes.substr(0, sizes.head_bytes - sizeof(sum))))) {
    return Status(StatusCode::corrupt_data, "the checksum of its head is wrong: it is damaged");
  }
  file.pages_offset = sizes.head_bytes;
  return file;
}

Status write_kv_file(const std::filesystem::path& file, const KvFormat& format, const KvEntry& entry,
                     std::span<const std::byte* const> pages) {
  const std::string partial = file.string() + ".partial";
  const int descriptor = ::open(partial.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (descriptor < 0) return system_error(partial, "written", errno);
  int reason = write_all(descriptor, make_kv_head(format, entry, pages));
  for (size_t i = 0; i < pages.size() && reason == 0; ++i) {
    reason = write_all(descriptor, {reinterpret_cast<const char*>(pages[i]), format.page_bytes});
  }
  if (reason == 0 && ::fdatasync(descriptor) != 0) reason = errno;
  if (::close(descriptor) != 0 && reason == 0) reason = errno;
  if (reason == 0 && ::rename(partial.c_str(), file.c_str()) != 0) reason = errno;
  if (reason == 0) return {};
  (void)::unlink(partial.c_str());
  return system_error(file, "written", reason);
}

Expected<KvFile> KvFile::open(const std::filesystem::path& file, const KvFormat& format) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (descriptor < 0) return system_error(file, "opened", errno);
  KvFile opened(descriptor, {}, format.page_bytes);
  struct stat facts = {};
  if (::fstat(descriptor, &facts) != 0) return system_error(file, "read", errno);
  if (const std::string kind = irregular_kind(facts.st_mode); !kind.empty()) {
    return error(StatusCode::corrupt_data, "{} is {}, not a file", file.string(), kind);
  }
  const auto file_bytes = static_cast<uint64_t>(facts.st_size);
  const auto read = [&](size_t size) -> Expected<std::string> {
    std::string bytes(std::min<uint64_t>(size, file_bytes), 0);
    const ssize_t got = format::read_at(descriptor, reinterpret_cast<std::byte*>(bytes.data()), bytes.size(), 0);
    if (got < 0) return system_error(file, "read", errno);
    bytes.resize(static_cast<size_t>(got));
    return bytes;
  };
  // First what says how long the head is.
  TESSERA_ASSIGN_OR_RETURN(std::string bytes, read(sizeof(KvHead)));
  if (bytes.size() == sizeof(KvHead)) {
    KvHead head;
    std::memcpy(&head, bytes.data(), sizeof(head));
    TESSERA_RETURN_IF_ERROR(check_head(format, head, file_bytes).with_context(file.string()));
    TESSERA_ASSIGN_OR_RETURN(bytes, read(sizes_of(format, head.tokens, head.first_block, head.salt_bytes).head_bytes));
  }
  auto parsed = parse_kv_head(format, bytes, file_bytes);
  if (!parsed.ok()) return parsed.status().with_context(file.string());
  opened.head_ = *std::move(parsed);
  return opened;
}

Status KvFile::read_pages(size_t first, std::span<std::byte* const> pages) const {
  TESSERA_CHECK_LE(first + pages.size(), head_.page_sums.size());
  for (size_t i = 0; i < pages.size(); ++i) {
    const uint64_t offset = head_.pages_offset + (first + i) * page_bytes_;
    const ssize_t got = format::read_at(descriptor_, pages[i], page_bytes_, offset);
    if (got < 0) return error(StatusCode::unavailable, "page {} cannot be read: {}", first + i, std::strerror(errno));
    if (static_cast<size_t>(got) != page_bytes_)
      return error(StatusCode::corrupt_data, "page {} is cut off", first + i);
    if (checksum({pages[i], page_bytes_}) != head_.page_sums[first + i]) {
      return error(StatusCode::corrupt_data, "the checksum of page {} is wrong: it is damaged", first + i);
    }
  }
  return {};
}

KvFile::KvFile(int descriptor, KvFileHead head, size_t page_bytes)
    : descriptor_(descriptor), head_(std::move(head)), page_bytes_(page_bytes) {}

KvFile::KvFile(KvFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      head_(std::move(other.head_)),
      page_bytes_(other.page_bytes_) {}

KvFile::~KvFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace tessera::engine
