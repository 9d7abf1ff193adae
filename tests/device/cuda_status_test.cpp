#include <gtest/gtest.h>

#include "device/cuda.h"

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

}  // namespace
}  // namespace tessera::device
