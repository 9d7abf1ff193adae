#include <gtest/gtest.h>

#include "device/cuda.h"
#include "device/device_count.h"

// On a GPU (label gpu) and, without one, in the simulator.
namespace tessera::device {
namespace {

TEST(CudaStatus, WhatOthersHaveTakenIsExhaustedAndAllElseInternal) {
  EXPECT_TRUE(cuda_status(cudaSuccess, "cudaMalloc").ok());
  for (const cudaError_t taken : {cudaErrorMemoryAllocation, cudaErrorDevicesUnavailable}) {
    const Status status = cuda_status(taken, "cudaMalloc");
    EXPECT_EQ(status.code(), StatusCode::resource_exhausted) << status.message();
    EXPECT_NE(status.message().find("cudaMalloc failed: "), std::string::npos) << status.message();
  }
  constexpr auto kOther = static_cast<cudaError_t>(1);
  EXPECT_EQ(cuda_status(kOther, "cudaMalloc").code(), StatusCode::internal);
}

/// Then models run on the CPU, and who asks for a GPU is told where to look.
TEST(CudaStatus, WithoutAGpuOrWithADriverThatIsTooOldThereIsNone) {
  EXPECT_TRUE(device_count_status(cudaSuccess).ok());
  for (const cudaError_t none : {cudaErrorNoDevice, cudaErrorInsufficientDriver}) {
    const Status status = device_count_status(none);
    EXPECT_EQ(status.code(), StatusCode::not_found) << status.message();
    EXPECT_NE(status.message().find("`nvidia-smi` shows the driver"), std::string::npos) << status.message();
  }
  EXPECT_EQ(device_count_status(cudaErrorDevicesUnavailable).code(), StatusCode::resource_exhausted);
  const Status other = device_count_status(static_cast<cudaError_t>(1));
  EXPECT_EQ(other.code(), StatusCode::internal);
  EXPECT_NE(other.message().find("cudaGetDeviceCount failed: "), std::string::npos) << other.message();
}

}  // namespace
}  // namespace tessera::device
