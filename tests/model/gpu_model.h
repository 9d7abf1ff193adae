#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "kernels/cuda_backend.h"

namespace tessera::model {

inline std::unique_ptr<kernels::Backend> gpu(bool pdl = true, kernels::Comm* comm = nullptr) {
  auto backend = kernels::make_cuda_backend({.gpu = 0, .pdl = pdl, .comm = comm});
  EXPECT_TRUE(backend.ok()) << backend.status().message();
  EXPECT_EQ((*backend)->name(), "cuda");
  return *std::move(backend);
}

inline std::vector<int32_t> random_tokens(size_t count, size_t vocab, uint32_t seed = 1) {
  std::mt19937 random(seed);
  std::vector<int32_t> tokens(count);
  for (int32_t& token : tokens) token = static_cast<int32_t>(random() % vocab);
  return tokens;
}

}  // namespace tessera::model
