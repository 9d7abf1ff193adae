#include "kernels/cuda/select.h"

#include "kernels/cuda/dense_fixture.h"

// Rows moved to the front, on a GPU (label gpu) and in the simulator.
namespace tessera::kernels::cuda {
namespace {

void expect_selected(int64_t columns, const std::vector<int32_t>& rows) {
  constexpr int64_t kRows = 70;
  const auto x = random_bf16(static_cast<size_t>(kRows * columns), 5);
  std::vector<uint16_t> want = x;
  for (size_t i = 0; i < rows.size(); ++i) {
    std::copy_n(x.begin() + rows[i] * columns, columns, want.begin() + static_cast<int64_t>(i) * columns);
  }
  const OnDevice<uint16_t> memory(x);
  const OnDevice<int32_t> device_rows(rows);
  run_on_stream([&](const device::Queue& queue) {
    return select_rows(
        {.x = memory.get(), .columns = columns, .rows = device_rows.get(), .count = static_cast<int32_t>(rows.size())},
        queue);
  });
  EXPECT_EQ(memory.read(), want) << columns << " columns, " << rows.size() << " rows";
}

TEST(SelectGpu, RowsMoveToTheFront) {
  std::vector<int32_t> odd, all;
  for (int32_t i = 0; i < 70; ++i) {
    all.push_back(i);
    if (i % 2 != 0) odd.push_back(i);
  }
  for (const int64_t columns : {8, 520, 2048}) {
    for (const auto& rows : {std::vector<int32_t>{}, {69}, {0, 3, 4, 9}, odd, all}) {
      expect_selected(columns, rows);
    }
  }
}

TEST(SelectGpu, WhatCannotBeIsRefused) {
  alignas(16) uint16_t x[16] = {};
  const int32_t row = 0;
  EXPECT_EQ(select_rows({}, {}).code(), StatusCode::invalid_argument);
  const Status status = select_rows({.x = x, .columns = 12, .rows = &row, .count = 1}, {});
  EXPECT_EQ(status.code(), StatusCode::invalid_argument);
  EXPECT_NE(status.message().find("12 columns"), std::string::npos) << status.message();
}

}  // namespace
}  // namespace tessera::kernels::cuda
