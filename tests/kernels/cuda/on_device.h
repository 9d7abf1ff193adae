#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <vector>

#include "device/cuda.h"

namespace tessera::kernels::cuda {

/// To device memory, there when this returns: a copy from pageable memory may still be under way when cudaMemcpy
/// returns, and the streams of tests do not wait for the default one.
template <typename T>
void upload(T* to, std::span<const T> values) {
  EXPECT_EQ(cudaMemcpy(to, values.data(), values.size_bytes(), cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
}

/// Device memory with a host copy's contents.
template <typename T>
class OnDevice {
 public:
  explicit OnDevice(std::span<const T> values) : count_(values.size()) {
    EXPECT_EQ(cudaMalloc(memory_.fill(), std::max<size_t>(values.size_bytes(), 16)), cudaSuccess);
    write(values);
  }
  explicit OnDevice(const std::vector<T>& values) : OnDevice(std::span<const T>(values)) {}
  explicit OnDevice(size_t count) : OnDevice(std::vector<T>(count)) {}
  void write(std::span<const T> values) { upload(get(), values); }
  [[nodiscard]] T* get() const { return static_cast<T*>(memory_.get()); }
  [[nodiscard]] std::vector<T> read() const {
    std::vector<T> values(count_);
    EXPECT_EQ(cudaMemcpy(values.data(), memory_.get(), count_ * sizeof(T), cudaMemcpyDeviceToHost), cudaSuccess);
    return values;
  }

 private:
  device::DeviceMemory memory_;
  size_t count_;
};

}  // namespace tessera::kernels::cuda
