#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

// One entry of the prefix cache's tier on disk, as a file: a piece of what a prompt begins with, in pages.
//
// Layout, little endian: magic, identity and sizes, 56 bytes; the salt; the tokens, int32; a checksum of each page,
// uint64; a checksum of all that, uint64; the pages. Nothing follows. A byte that is not what was written is noticed
// when the head is read, or, in pages, when these are.
namespace tessera::engine {

/// What must be equal for pages to mean the same: model, build, device, types, geometry (kv_identity.h).
using KvIdentity = std::array<uint64_t, 2>;

/// What all files of a directory have in common.
struct KvFormat {
  KvIdentity identity = {};
  size_t page_bytes = 0;
  int32_t state_pages = 0;  // that a state takes

  bool operator==(const KvFormat&) const = default;
};

/// KV blocks [first_block, tokens / 64) of a prompt that begins with `tokens`, and the state behind them.
struct KvEntry {
  std::string salt;             // at most kSaltMax bytes
  std::vector<int32_t> tokens;  // from the prompt's first one on: whole blocks of 64
  int32_t first_block = 0;

  [[nodiscard]] int32_t end_block() const { return static_cast<int32_t>(tokens.size() / 64); }
  [[nodiscard]] int32_t blocks() const { return end_block() - first_block; }
  bool operator==(const KvEntry&) const = default;
};

inline constexpr size_t kSaltMax = 4096;
inline constexpr size_t kEntryTokensMax = size_t{1} << 24;

/// The key of a prompt's beginning: of the empty one under a salt, and of one more block of tokens. Different
/// beginnings may have one key: whoever reads an entry compares its tokens.
uint64_t kv_root_key(std::string_view salt);
uint64_t kv_next_key(uint64_t key, std::span<const int32_t> block);
uint64_t kv_key(const KvEntry& entry);

/// What stands before an entry's pages.
struct KvFileHead {
  KvEntry entry;
  std::vector<uint64_t> page_sums;  // first those of its blocks, then those of its state
  size_t pages_offset = 0;          // in the file
};

/// Bytes of the file of `entry`.
uint64_t kv_file_bytes(const KvFormat& format, const KvEntry& entry);
/// All that stands before the pages.
std::string make_kv_head(const KvFormat& format, const KvEntry& entry, std::span<const std::byte* const> pages);
/// `bytes`: what the file begins with, of `file_bytes` in all. corrupt_data: no such file, damaged, or torn;
/// unsupported: of another model, build, device, type or geometry. Takes no memory that `bytes` do not justify.
Expected<KvFileHead> parse_kv_head(const KvFormat& format, std::string_view bytes, uint64_t file_bytes);

/// Writes `entry` with its pages to `file`: to `file`.partial first, whose bytes are on the disk before it takes its
/// name, so that a process or machine that ends leaves a whole file or none (a name that is lost with the machine is
/// one entry less). Mode 0600. unavailable says why it cannot be written.
Status write_kv_file(const std::filesystem::path& file, const KvFormat& format, const KvEntry& entry,
                     std::span<const std::byte* const> pages);

/// An open file whose head was read and checked.
class KvFile {
 public:
  /// As parse_kv_head; not_found, unavailable. What is not a regular file is not read.
  static Expected<KvFile> open(const std::filesystem::path& file, const KvFormat& format);
  KvFile(KvFile&& other) noexcept;
  KvFile& operator=(KvFile&&) = delete;
  ~KvFile();

  [[nodiscard]] const KvEntry& entry() const { return head_.entry; }
  /// Pages from `first` on, counted as in the file, to where `pages` point. corrupt_data: a page is not what was
  /// written; what `pages` point to may then be anything.
  Status read_pages(size_t first, std::span<std::byte* const> pages) const;

 private:
  KvFile(int descriptor, KvFileHead head, size_t page_bytes);
  int descriptor_;
  KvFileHead head_;
  size_t page_bytes_;
};

}  // namespace tessera::engine
