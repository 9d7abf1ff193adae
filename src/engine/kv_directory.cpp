#include "engine/kv_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string>
#include <system_error>
#include <tuple>
#include <vector>

#include <spdlog/spdlog.h>

#include "kernels/batch.h"

namespace tessera::engine {
namespace {

using kernels::kBlockTokens;

constexpr std::string_view kSuffix = ".kv", kPartial = ".kv.partial";
constexpr size_t kKeyDigits = 16;

/// The key that a name was made of; nullopt: it was not made here.
std::optional<uint64_t> key_of(std::string_view name, std::string_view suffix) {
  if (name.size() != kKeyDigits + suffix.size() || !name.ends_with(suffix)) return std::nullopt;
  const std::string_view digits = name.substr(0, kKeyDigits);
  if (digits.find_first_not_of("0123456789abcdef") != std::string_view::npos) return std::nullopt;
  uint64_t key = 0;
  const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), key, 16);
  if (end.ec != std::errc()) return std::nullopt;
  return key;
}

/// Of what ends where the entry begins, and its own.
std::pair<uint64_t, uint64_t> keys_of_ends(const KvEntry& entry) {
  const auto tokens = std::span(entry.tokens);
  const auto first = static_cast<size_t>(entry.first_block) * kBlockTokens;
  uint64_t key = kv_root_key(entry.salt), before = key;
  for (size_t at = 0; at < tokens.size(); at += kBlockTokens) {
    if (at == first) before = key;
    key = kv_next_key(key, tokens.subspan(at, kBlockTokens));
  }
  return {before, key};
}

void remove_files(std::span<const std::filesystem::path> files) {
  for (const auto& file : files) (void)::unlink(file.c_str());
}

Status directory_error(const std::filesystem::path& directory, const char* what, int reason) {
  return error(StatusCode::unavailable, "the KV cache's directory {} cannot be {}: {}; give another (kv_offload_dir)",
               directory.string(), what, std::strerror(reason));
}

}  // namespace

Expected<std::unique_ptr<KvDirectory>> KvDirectory::open(const std::filesystem::path& directory, const KvFormat& format,
                                                         uint64_t bytes_max) {
  if (::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) return directory_error(directory, "made", errno);
  const int lock = ::open((directory / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (lock < 0) return directory_error(directory, "written", errno);
  std::unique_ptr<KvDirectory> opened(new KvDirectory(directory, format, bytes_max, lock));
  if (::flock(lock, LOCK_EX | LOCK_NB) != 0) {
    return error(StatusCode::unavailable,
                 "another process has the KV cache's directory {}; give each its own (kv_offload_dir)",
                 directory.string());
  }
  // The lock's file may be there although nothing else can be made any more.
  if (::access(directory.c_str(), R_OK | W_OK | X_OK) != 0) return directory_error(directory, "written", errno);
  opened->read_names();
  return opened;
}

KvDirectory::KvDirectory(std::filesystem::path directory, const KvFormat& format, uint64_t bytes_max, int lock)
    : directory_(std::move(directory)), format_(format), bytes_max_(bytes_max), lock_(lock) {}

KvDirectory::~KvDirectory() { ::close(lock_); }

void KvDirectory::read_names() {
  struct Found {
    std::filesystem::path file;
    uint64_t bytes = 0;
    int64_t used = 0;  // ns
  };
  std::vector<Found> files;
  std::error_code failure;
  for (auto at = std::filesystem::directory_iterator(directory_, failure);
       !failure && at != std::filesystem::directory_iterator(); at.increment(failure)) {
    const std::string name = at->path().filename().string();
    struct stat facts = {};
    if (::lstat(at->path().c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) continue;
    if (key_of(name, kPartial)) {
      (void)::unlink(at->path().c_str());  // it was being written when the program ended
    } else if (key_of(name, kSuffix)) {
      files.push_back({.file = at->path(),
                       .bytes = static_cast<uint64_t>(facts.st_size),
                       .used = int64_t{facts.st_mtim.tv_sec} * 1'000'000'000 + facts.st_mtim.tv_nsec});
    }
  }
  if (failure) spdlog::warn("the KV cache's directory {} cannot be read: {}", directory_.string(), failure.message());
  std::ranges::sort(files, {}, [](const Found& found) { return std::tie(found.used, found.file); });
  Files gone;
  const std::lock_guard lock(mutex_);
  for (const Found& found : files) add_file(found.file, found.bytes);
  // A file's time is that of its own use: those that it stands behind are used with it.
  for (const Found& found : files) {
    const uint64_t key = *key_of(found.file.filename().string(), kSuffix);
    if (const auto kept = kept_.find(key); kept != kept_.end()) use(key, kept->second.known.end_block);
  }
  if (!of_no_use_.empty()) {
    spdlog::warn(
        "{} of {} files in the KV cache's directory {} are of another model, build or device, or damaged: they "
        "are left alone until their room is wanted",
        of_no_use_.size(), files.size(), directory_.string());
  }
  make_room(0, gone);
  remove_files(gone);
}

void KvDirectory::add_file(const std::filesystem::path& file, uint64_t bytes) {
  bytes_used_ += bytes;
  const auto opened = KvFile::open(file, format_);
  const auto [before, own] = opened.ok() ? keys_of_ends(opened->entry()) : std::pair<uint64_t, uint64_t>();
  const uint64_t key = *key_of(file.filename().string(), kSuffix);
  if (!opened.ok() || own != key) {
    if (opened.status().code() != StatusCode::unsupported) {  // those are many after an update
      spdlog::warn("left alone in the KV cache's directory: {}",
                   opened.ok() ? file.string() + ": its name is of other tokens" : opened.status().message());
    }
    of_no_use_[file] = bytes;
    return;
  }
  kept_[key] = {.known = {opened->entry().first_block, opened->entry().end_block()}, .before = before, .bytes = bytes};
}

std::filesystem::path KvDirectory::file_of(uint64_t key) const {
  return directory_ / fmt::format("{:016x}{}", key, kSuffix);
}

/// Null where what has the key ends elsewhere: it is of other tokens.
const KvDirectory::Kept* KvDirectory::find_kept(uint64_t key, int32_t end_block) const {
  const auto found = kept_.find(key);
  return found == kept_.end() || found->second.known.end_block != end_block ? nullptr : &found->second;
}

std::optional<KvDirectory::Known> KvDirectory::find(uint64_t key) const {
  const std::lock_guard lock(mutex_);
  const auto found = kept_.find(key);
  if (found == kept_.end()) return std::nullopt;
  const Known known = found->second.known;
  for (const Kept* at = &found->second; at->known.first_block > 0;) {
    at = find_kept(at->before, at->known.first_block);
    if (at == nullptr) return std::nullopt;
  }
  return known;
}

/// Of the entry that ends there, and those that it stands behind.
uint64_t KvDirectory::chain_bytes(uint64_t key, int32_t end_block) const {
  uint64_t bytes = 0;
  for (const Kept* at = find_kept(key, end_block); at != nullptr; at = find_kept(at->before, at->known.first_block)) {
    bytes += at->bytes;
  }
  return bytes;
}

/// Gives up files, for the caller to remove, until `bytes` more fit.
void KvDirectory::make_room(uint64_t bytes, Files& gone) {
  while (bytes_used_ + bytes > bytes_max_ && !of_no_use_.empty()) {
    const auto first = of_no_use_.begin();
    gone.push_back(first->first);
    bytes_used_ -= first->second;
    of_no_use_.erase(first);
  }
  while (bytes_used_ + bytes > bytes_max_ && !by_use_.empty()) forget(by_use_.begin()->second, gone);
}

/// The caller removes its file, which then is not waited for with the lock.
void KvDirectory::forget(uint64_t key, Files& gone) {
  const auto found = kept_.find(key);
  if (found == kept_.end()) return;
  gone.push_back(file_of(key));
  bytes_used_ -= found->second.bytes;
  by_use_.erase({found->second.used, key});
  kept_.erase(found);
}

/// The entry that ends there, then those that it stands behind: of all, these were used last.
void KvDirectory::use(uint64_t key, int32_t end_block) {
  for (auto found = kept_.find(key); found != kept_.end() && found->second.known.end_block == end_block;
       found = kept_.find(key)) {
    Kept& kept = found->second;
    by_use_.erase({kept.used, key});
    kept.used = ++uses_;
    by_use_.emplace(kept.used, key);
    key = kept.before;
    end_block = kept.known.first_block;
  }
}

Status KvDirectory::write(const KvEntry& entry, std::span<const std::byte* const> pages) {
  const uint64_t bytes = kv_file_bytes(format_, entry);
  const auto [before, key] = keys_of_ends(entry);
  Files gone;
  {
    const std::lock_guard lock(mutex_);
    const uint64_t others = chain_bytes(before, entry.first_block);
    if (bytes + others > bytes_max_) {
      return error(StatusCode::resource_exhausted,
                   "an entry of {} bytes, behind others of {}, is larger than the KV cache's directory, {}", bytes,
                   others, bytes_max_);
    }
    forget(key, gone);
    use(before, entry.first_block);
    make_room(bytes, gone);
    if (const auto other = of_no_use_.find(file_of(key)); other != of_no_use_.end()) {
      bytes_used_ -= other->second;
      of_no_use_.erase(other);
    }
    bytes_used_ += bytes;
  }
  remove_files(gone);
  const Status status = write_kv_file(file_of(key), format_, entry, pages);
  const std::lock_guard lock(mutex_);
  if (!status.ok()) {
    bytes_used_ -= bytes;
    return status;
  }
  kept_[key] = {.known = {entry.first_block, entry.end_block()}, .before = before, .bytes = bytes};
  use(key, entry.end_block());
  return {};
}

Status KvDirectory::read(uint64_t key, std::string_view salt, std::span<const int32_t> tokens, int32_t first_block,
                         int32_t blocks, bool state, std::span<std::byte* const> pages) {
  const auto read_file = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(const KvFile file, KvFile::open(file_of(key), format_));
    const KvEntry& entry = file.entry();
    const bool has = entry.salt == salt && std::ranges::equal(entry.tokens, tokens) &&
                     first_block >= entry.first_block && first_block + blocks <= entry.end_block();
    if (!has) return {StatusCode::not_found, "the entry is of another prompt"};
    const auto count = static_cast<size_t>(blocks);
    Status read = file.read_pages(static_cast<size_t>(first_block - entry.first_block), pages.first(count));
    if (read.ok() && state) read = file.read_pages(static_cast<size_t>(entry.blocks()), pages.subspan(count));
    return read.with_context(file_of(key).string());
  };
  const Status status = read_file();
  Files gone;
  if (status.ok()) {
    {
      const std::lock_guard lock(mutex_);
      use(key, static_cast<int32_t>(tokens.size() / kBlockTokens));
    }
    (void)::utimensat(AT_FDCWD, file_of(key).c_str(), nullptr, AT_SYMLINK_NOFOLLOW);  // for the program that comes next
  } else if (status.code() != StatusCode::not_found || !std::filesystem::exists(file_of(key))) {
    spdlog::warn("removed from the KV cache's directory: {}", status.message());
    {
      const std::lock_guard lock(mutex_);
      forget(key, gone);
    }
    remove_files(gone);
  }
  return status;
}

uint64_t KvDirectory::bytes_used() const {
  const std::lock_guard lock(mutex_);
  return bytes_used_;
}

size_t KvDirectory::entries() const {
  const std::lock_guard lock(mutex_);
  return kept_.size();
}

}  // namespace tessera::engine
