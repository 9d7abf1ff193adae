#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <vector>

#include "device/cuda.h"

namespace tessera::kernels::cuda {

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
  void write(std::span<const T> values) {
    EXPECT_EQ(cudaMemcpy(memory_.get(), values.data(), values.size_bytes(), cudaMemcpyHostToDevice), cudaSuccess);
  }
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
