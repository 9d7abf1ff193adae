#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <utility>

namespace tessera {

/// Zero-filled memory straight from the kernel, page-aligned. A page takes no memory and no time until it is first
/// written, so that a pool may be as large as it could ever need to be and a program still starts at once.
class ZeroedPages {
 public:
  ZeroedPages() = default;
  explicit ZeroedPages(size_t bytes) : size_(bytes) {
    if (bytes == 0) return;
    data_ = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data_ == MAP_FAILED) throw std::bad_alloc();
    ::madvise(data_, bytes, MADV_HUGEPAGE);  // a wish: fewer TLB misses on long contexts
  }
  ZeroedPages(ZeroedPages&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  ZeroedPages& operator=(ZeroedPages&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~ZeroedPages() {
    if (data_ != nullptr) ::munmap(data_, size_);
  }

  [[nodiscard]] std::byte* data() const { return static_cast<std::byte*>(data_); }
  [[nodiscard]] size_t size() const { return size_; }

 private:
  void* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace tessera
