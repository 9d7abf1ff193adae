#include "kernels/cuda/page_move.h"

#include <gtest/gtest.h>

#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "kernels/cuda/on_device.h"

// Pages that move, on a GPU (label gpu) and in the simulator.
namespace tessera::kernels::cuda {
namespace {

using Bytes = std::vector<uint8_t>;

/// Two parts of an object, in memory that holds others too.
struct Object {
  static constexpr size_t kBytes = 4096, kWidth = 100, kOtherWidth = 30;
  explicit Object(std::byte* memory)
      : parts{{memory + 2 * kWidth, 5 * kWidth, kWidth, 6},
              {memory + 3000 + kOtherWidth, 3 * kOtherWidth, kOtherWidth, 9}} {}
  LayeredBytes parts[2];
};

TEST(PageMoveOnDevice, PiecesOfAnObjectGoToPagesAndComeBack) {
  Bytes filled(Object::kBytes);
  for (size_t i = 0; i < filled.size(); ++i) filled[i] = static_cast<uint8_t>(i * i >> 5 | 1);
  const Bytes zeros(Object::kBytes, 0);
  OnDevice<uint8_t> from(filled), to(zeros);
  const size_t object_bytes = 6 * Object::kWidth + 9 * Object::kOtherWidth;
  constexpr size_t kPageBytes = 250;
  const auto pages = *PinnedPages::create(kPageBytes, 7);
  device::Stream stream;
  ASSERT_EQ(cudaStreamCreate(stream.fill()), cudaSuccess);
  const Object source(reinterpret_cast<std::byte*>(from.get())), target(reinterpret_cast<std::byte*>(to.get()));
  int32_t pieces = 0;
  for (; static_cast<size_t>(pieces) * kPageBytes < object_bytes; ++pieces) {
    const PageMove out{.what = PageMove::What::state, .to_host = true, .piece = pieces, .page = 6 - pieces};
    ASSERT_TRUE(move_page(out, source.parts, *pages, stream.get()).ok());
  }
  EXPECT_EQ(pieces, 4);
  for (int32_t piece = 0; piece < pieces; ++piece) {  // in the same stream, so nobody has to wait between
    const PageMove in{.what = PageMove::What::state, .piece = piece, .page = 6 - piece};
    ASSERT_TRUE(move_page(in, target.parts, *pages, stream.get()).ok());
  }
  ASSERT_EQ(cudaStreamSynchronize(stream.get()), cudaSuccess);

  Bytes expected = zeros;
  Object here(reinterpret_cast<std::byte*>(expected.data())), there(reinterpret_cast<std::byte*>(filled.data()));
  for (size_t part = 0; part < 2; ++part) {
    for (size_t row = 0; row < here.parts[part].rows; ++row) {
      const size_t offset = row * here.parts[part].pitch;
      std::memcpy(here.parts[part].first + offset, there.parts[part].first + offset, here.parts[part].width);
    }
  }
  EXPECT_EQ(to.read(), expected);
}

TEST(PageMoveOnDevice, ACopyThatFailedIsNotMadeGoodByTheNext) {
  const OnDevice<uint8_t> memory(Bytes(400, 1));
  const auto pages = *PinnedPages::create(400, 1);
  device::Stream stream;
  ASSERT_EQ(cudaStreamCreate(stream.fill()), cudaSuccess);
  auto* const first = reinterpret_cast<std::byte*>(memory.get());
  const LayeredBytes overlapping{first, 50, 100, 2}, sound{first + 200, 100, 100, 2};
  for (const auto& object : {std::vector{overlapping, sound}, {sound, overlapping}}) {
    const Status status = move_page({.to_host = true}, object, *pages, stream.get());
    EXPECT_NE(status.message().find("cudaMemcpy2DAsync"), std::string::npos) << status.message();
    ASSERT_EQ(cudaStreamSynchronize(stream.get()), cudaSuccess);
  }
  EXPECT_TRUE(move_page({.to_host = true}, {&sound, 1}, *pages, stream.get()).ok());
}

/// Of a large pool: a copy of several rows takes no such pitch.
TEST(PageMoveOnDevice, LayersMoreThanTwoGigabytesApartGoAndComeBack) {
  constexpr size_t kPitch = (size_t{1} << 31) + 64, kWidth = 48;
  const Bytes zeros(kWidth, 0);
  Bytes filled[2];
  device::DeviceMemory memory;
  ASSERT_EQ(cudaMalloc(memory.fill(), kPitch + kWidth), cudaSuccess);
  const auto layer = [&](size_t row) { return static_cast<uint8_t*>(memory.get()) + row * kPitch; };
  for (size_t row = 0; row < 2; ++row) {
    for (size_t i = 0; i < kWidth; ++i) filled[row].push_back(static_cast<uint8_t>(100 * row + i));
    upload(layer(row), std::span<const uint8_t>(filled[row]));
  }
  const auto pages = *PinnedPages::create(2 * kWidth, 1);
  device::Stream stream;
  ASSERT_EQ(cudaStreamCreate(stream.fill()), cudaSuccess);
  const LayeredBytes object{static_cast<std::byte*>(memory.get()), kPitch, kWidth, 2};
  for (const bool to_host : {true, false}) {
    ASSERT_TRUE(move_page({.to_host = to_host}, {&object, 1}, *pages, stream.get()).ok());
    ASSERT_EQ(cudaStreamSynchronize(stream.get()), cudaSuccess);
    for (size_t row = 0; row < 2; ++row) {
      Bytes got(kWidth);
      ASSERT_EQ(cudaMemcpy(got.data(), layer(row), kWidth, cudaMemcpyDeviceToHost), cudaSuccess);
      EXPECT_EQ(got, filled[row]) << "layer " << row << (to_host ? " before" : " afterwards");
      if (to_host) upload(layer(row), std::span<const uint8_t>(zeros));
    }
  }
}

}  // namespace
}  // namespace tessera::kernels::cuda
