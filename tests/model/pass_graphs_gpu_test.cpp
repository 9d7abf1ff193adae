// Graphs that cannot be made.

#include "model/pass_graphs.h"

#include <gtest/gtest.h>

#include <array>

namespace tessera::model {
namespace {

/// What needs more memory than the GPU has, once it is to run.
Status take_too_much(cudaStream_t stream) {
  size_t free_bytes = 0, bytes = 0;
  TESSERA_CUDA_RETURN_IF_ERROR(cudaMemGetInfo(&free_bytes, &bytes));
  std::array<void*, 3> parts{};
  for (void*& part : parts) TESSERA_CUDA_RETURN_IF_ERROR(cudaMallocAsync(&part, bytes / 2, stream));
  for (void* part : parts) TESSERA_CUDA_RETURN_IF_ERROR(cudaFreeAsync(part, stream));
  return {};
}

/// What could not be captured is said, and the stream goes on.
TEST(PassGraphs, AFailedCaptureIsEnded) {
  device::Stream stream;
  ASSERT_EQ(cudaStreamCreateWithFlags(stream.fill(), cudaStreamNonBlocking), cudaSuccess);
  PassGraphs graphs(GraphSizes(/*sequences_max=*/8, /*rows_max=*/64, /*samples_max=*/16));
  const PassSize one = GraphSizes::plain_step(1);
  const Status failure(StatusCode::internal, "a kernel's name");
  const Status status = graphs.capture(one, stream.get(), [&] { return failure; });
  EXPECT_EQ(status.message(), failure.message());
  EXPECT_EQ(graphs.find(one), nullptr);
  EXPECT_EQ(graphs.size_of(one), one) << "it is not for want of memory";
  cudaStreamCaptureStatus capturing = cudaStreamCaptureStatusActive;
  EXPECT_EQ(cudaStreamIsCapturing(stream.get(), &capturing), cudaSuccess);
  EXPECT_EQ(capturing, cudaStreamCaptureStatusNone);
  ASSERT_TRUE(graphs.capture(one, stream.get(), [] { return Status(); }).ok());
  EXPECT_NE(graphs.find(one), nullptr);
}

/// Steps that draft more, or sample more, launch other kernels.
TEST(PassGraphs, AGraphIsOfOneSize) {
  device::Stream stream;
  ASSERT_EQ(cudaStreamCreateWithFlags(stream.fill(), cudaStreamNonBlocking), cudaSuccess);
  PassGraphs graphs(GraphSizes(/*sequences_max=*/8, /*rows_max=*/64, /*samples_max=*/16));
  PassSize size = GraphSizes::plain_step(2);
  size.drafts = 1;
  ASSERT_TRUE(graphs.capture(size, stream.get(), [] { return Status(); }).ok());
  EXPECT_NE(graphs.find(size), nullptr);
  for (int32_t PassSize::*const field : {&PassSize::rows, &PassSize::sequences, &PassSize::drafts, &PassSize::samples,
                                         &PassSize::prompt_rows, &PassSize::prompt_sequences}) {
    PassSize other = size;
    ++(other.*field);
    EXPECT_EQ(graphs.find(other), nullptr);
  }
}

/// For a moment the GPU is full: nothing else can run beside this.
TEST(PassGraphs, LargeGraphsForWhichThereIsNoMemoryAreGoneWithout) {
  device::Stream stream;
  ASSERT_EQ(cudaStreamCreateWithFlags(stream.fill(), cudaStreamNonBlocking), cudaSuccess);
  PassGraphs graphs(GraphSizes(/*sequences_max=*/8, /*rows_max=*/64, /*samples_max=*/16));
  const PassSize one = GraphSizes::plain_step(1), two = GraphSizes::plain_step(2), four = GraphSizes::plain_step(4);
  graphs.want({one, two, four});
  EXPECT_EQ(*graphs.next_wanted(), one);
  ASSERT_TRUE(graphs.capture(one, stream.get(), [] { return Status(); }).ok());
  EXPECT_EQ(*graphs.next_wanted(), two);
  const Status status = graphs.capture(two, stream.get(), [&] { return take_too_much(stream.get()); });
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess) << "left for the next call";
  EXPECT_NE(graphs.find(one), nullptr);
  EXPECT_EQ(graphs.size_of(one), one);
  EXPECT_EQ(graphs.find(two), nullptr);
  EXPECT_EQ(graphs.size_of(two), std::nullopt);
  EXPECT_EQ(*graphs.next_wanted(), std::nullopt) << "what is left is for others";
  // It is tried for other sizes when they come.
  ASSERT_TRUE(graphs.capture(four, stream.get(), [] { return Status(); }).ok());
  EXPECT_EQ(graphs.size_of(four), four);
  EXPECT_EQ(cudaDeviceGraphMemTrim(0), cudaSuccess);
}

}  // namespace
}  // namespace tessera::model
