#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>

namespace tessera {

/// Uninitialised memory for `count` elements of a trivial T, aligned to 64 bytes (a cache line, an AVX-512 vector).
template <typename T>
class AlignedBuffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  AlignedBuffer() = default;
  explicit AlignedBuffer(size_t count)
      : data_(static_cast<T*>(::operator new[](count * sizeof(T), std::align_val_t{64}))), size_(count) {}

  [[nodiscard]] T* data() { return data_.get(); }
  [[nodiscard]] const T* data() const { return data_.get(); }
  [[nodiscard]] size_t size() const { return size_; }
  [[nodiscard]] size_t size_in_bytes() const { return size_ * sizeof(T); }
  T& operator[](size_t i) { return data_.get()[i]; }
  const T& operator[](size_t i) const { return data_.get()[i]; }

 private:
  struct Free {
    void operator()(T* p) const { ::operator delete[](p, std::align_val_t{64}); }
  };
  std::unique_ptr<T, Free> data_;
  size_t size_ = 0;
};

}  // namespace tessera
