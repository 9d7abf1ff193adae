// Speed of the CPU's matrix products, beside what this machine can read in the same run.
//
//   matmul_bench [part of a case's name] [threads] [AVX2 | SSSE3]
//
// Weights rotate among enough copies to leave every cache (cold), or are used again (warm). Two figures are best and
// median of the calls in 0.6 s: weight bytes (codes and scales) in GB/s, cold also in % of the read rate, and GFLOP/s.
// Its own loop, since Google Benchmark averages, and on a shared machine the best call says most.

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "kernels/cpu/matmul.h"
#include "kernels/cpu/simd_target.h"

namespace tessera::kernels {
namespace {

using format::WeightFormat;

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Best and median seconds of `body`.
struct Timing {
  double best = 0, median = 0;
};

template <typename Body>
Timing measure(const Body& body, double budget_seconds = 0.6) {
  body();
  std::vector<double> times;
  for (double spent = 0; times.size() < 5 || (spent < budget_seconds && times.size() < 2000);) {
    const double begin = seconds_now();
    body();
    times.push_back(seconds_now() - begin);
    spent += times.back();
  }
  std::sort(times.begin(), times.end());
  return {times.front(), times[times.size() / 2]};
}

using Line [[gnu::vector_size(64)]] = uint64_t;

/// Reads `lines` cache lines with the widest loads there are: with 16-byte loads one core read a quarter less.
[[gnu::target_clones("avx512f", "avx2", "default")]] uint64_t read_lines(const Line* p, int64_t lines) {
  Line a = {}, b = {};
  for (int64_t i = 0; i < lines; i += 2) {
    a ^= p[i];
    b ^= p[i + 1];
  }
  a ^= b;
  return a[0] ^ a[1] ^ a[2] ^ a[3] ^ a[4] ^ a[5] ^ a[6] ^ a[7];
}

/// Bytes per second of all threads reading 32 MB after 32 MB of a buffer.
Timing read_rate(ThreadPool& pool, std::span<const Line> buffer) {
  constexpr int64_t kChunk = 1 << 12;  // lines, 256 KB
  constexpr int64_t kChunks = 128;
  std::atomic<uint64_t> sink{0};
  int64_t next = 0;
  const Timing t = measure([&] {
    const Line* begin = buffer.data() + next;
    next = (next + kChunks * kChunk) % static_cast<int64_t>(buffer.size());
    pool.run_chunks(kChunks, [&](int64_t chunk, int) { sink ^= read_lines(begin + chunk * kChunk, kChunk); });
  });
  constexpr auto kBytes = static_cast<double>(kChunks * kChunk * 64);
  return {kBytes / t.best, kBytes / t.median};
}

struct Case {
  WeightFormat format;
  int64_t rows, cols, tokens;
  int64_t products = 1;  // matrices of one call: the experts of a layer
};

/// Random weights as a checkpoint stores them; magnitudes near 1, since the speed of subnormals is another matter.
struct Source {
  std::vector<std::byte> data, scales;
  format::MatrixView view;

  explicit Source(const Case& c)
      : data(static_cast<size_t>(c.rows) * format::row_bytes(c.format, c.cols)),
        scales(static_cast<size_t>(c.rows * c.cols / 16)) {
    std::mt19937 random(1);
    const bool plain = c.format <= WeightFormat::bf16;
    for (auto& b : data) b = static_cast<std::byte>(plain ? 0x34U | (random() & 0x8bU) : random() & 0x7eU);
    for (auto& b : scales) b = static_cast<std::byte>(0x30U + random() % 16);
    view.format = c.format;
    view.rows = c.rows;
    view.cols = c.cols;
    view.data = data.data();
    view.block_scales = scales.data();
  }
  [[nodiscard]] Weight pack(const Context& context) const { return std::move(*pack_weight(context, {&view, 1})); }
};

/// Calls of matmul that take `weights` in turn, c.products of them to a call.
Timing run(const Context& context, const Case& c, std::span<const Weight> weights) {
  std::vector<float> x(static_cast<size_t>(c.tokens * c.cols));
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 97) / 64 - 0.75F;
  std::vector<float> out(static_cast<size_t>(c.tokens * c.rows * c.products));
  std::vector<cpu::Matmul> products(static_cast<size_t>(c.products));
  size_t next = 0;
  return measure([&] {
    for (size_t i = 0; i < products.size(); ++i) {
      products[i] = {.weight = &weights[next++ % weights.size()],
                     .x = x.data(),
                     .x_stride = c.cols,
                     .rows = c.tokens,
                     .out = out.data() + static_cast<int64_t>(i) * c.tokens * c.rows,
                     .out_stride = c.rows};
    }
    cpu::matmul(context, products);
  });
}

void report(const Context& context, const Case& c, double read_rate_bytes) {
  const auto bytes = static_cast<double>(packed_bytes(c.format, c.rows, c.cols));
  constexpr double kColdBytes = 800e6;  // three times the largest cache seen
  const auto copies = std::max(c.products, static_cast<int64_t>(kColdBytes / bytes) + 1);
  const Source source(c);
  std::vector<Weight> weights;
  for (int64_t i = 0; i < copies; ++i) weights.push_back(source.pack(context));
  const double call_bytes = bytes * static_cast<double>(c.products);
  const double flops = 2.0 * static_cast<double>(c.rows * c.cols * c.tokens * c.products);
  const Timing cold = run(context, c, weights);
  const Timing warm = run(context, c, std::span(weights).first(static_cast<size_t>(c.products)));
  fmt::print(
      "{:5} {:6} x {:<5} x{:<3} rows {:<4} GB/s cold {:6.2f} {:6.2f} warm {:6.2f} {:6.2f}  of read {:3.0f} % {:3.0f} %"
      "  GFLOP/s {:6.1f} {:6.1f}\n",
      name(c.format), c.rows, c.cols, c.products, c.tokens, call_bytes / cold.best / 1e9,
      call_bytes / cold.median / 1e9, call_bytes / warm.best / 1e9, call_bytes / warm.median / 1e9,
      100 * call_bytes / cold.best / read_rate_bytes, 100 * call_bytes / cold.median / read_rate_bytes,
      flops / cold.best / 1e9, flops / cold.median / 1e9);
  std::fflush(stdout);
}

/// Packing 16 matrices of 8192 x 4096 into fresh memory.
void report_packing(const Context& context, WeightFormat format) {
  const Source source({format, 8192, 4096, 1});
  const Timing t = measure([&] {
    std::vector<Weight> weights;
    for (int i = 0; i < 16; ++i) weights.push_back(source.pack(context));
  });
  const double bytes = 16 * static_cast<double>(packed_bytes(format, 8192, 4096));
  fmt::print("{:5} packing  GB/s {:6.2f} {:6.2f}\n", name(format), bytes / t.best / 1e9, bytes / t.median / 1e9);
}

using enum WeightFormat;
constexpr Case kCases[] = {
    {nvfp4, 2048, 4096, 1},     {nvfp4, 12288, 4096, 1},      {nvfp4, 4096, 1024, 1},    {nvfp4, 2048, 4096, 1, 10},
    {nvfp4, 4096, 1024, 1, 10}, {nvfp4, 1024, 2048, 1, 8},    {nvfp4, 2048, 512, 1, 8},  {nvfp4, 12288, 4096, 2},
    {nvfp4, 12288, 4096, 3},    {nvfp4, 12288, 4096, 4},      {nvfp4, 12288, 4096, 5},   {nvfp4, 12288, 4096, 8},
    {nvfp4, 12288, 4096, 12},   {nvfp4, 12288, 4096, 16},     {nvfp4, 12288, 4096, 64},  {nvfp4, 2048, 4096, 512},
    {nvfp4, 12288, 4096, 512},  {mxfp4, 12288, 4096, 1},      {mxfp4, 12288, 4096, 512}, {bf16, 12288, 4096, 1},
    {bf16, 512, 4096, 1},       {bf16, 12288, 4096, 4},       {bf16, 12288, 4096, 512},  {fp8_e4m3, 12288, 4096, 1},
    {fp8_e4m3, 12288, 4096, 4}, {fp8_e4m3, 12288, 4096, 512}, {f16, 12288, 4096, 1},     {f32, 4096, 4096, 1},
    {f32, 4096, 4096, 512}};

}  // namespace
}  // namespace tessera::kernels

int main(int argc, char** argv) {
  using namespace tessera;
  using namespace tessera::kernels;
  const std::string filter = argc > 1 ? argv[1] : "";
  ThreadPool pool(argc > 2 ? std::atoi(argv[2]) : default_thread_count());
  if (const Status status = cpu::use_simd_target_of_environment(); !status.ok()) {
    fmt::print(stderr, "{}\n", status.message());
    return 2;
  }
  Workspace workspace;
  const Context context{Compute::bf16, &pool, &workspace};
  // A packed weight as the buffer, so that its pages are those of weights.
  const Weight weight = Source({WeightFormat::f32, 65536, 4096, 1}).pack(context);
  const std::span buffer(reinterpret_cast<const Line*>(weight.data.data()), size_t{1} << 24);
  Timing rate = read_rate(pool, buffer);
  fmt::print("{}, {} threads, reads {:.1f} GB/s (median {:.1f})\n", cpu::simd_target(), pool.size(), rate.best / 1e9,
             rate.median / 1e9);
  for (const Case& c : kCases) {
    const std::string text = fmt::format("{} {}x{} x{} rows {}.", name(c.format), c.rows, c.cols, c.products, c.tokens);
    if (text.find(filter) != std::string::npos) report(context, c, rate.best);
  }
  for (const WeightFormat f : {nvfp4, mxfp4, bf16, fp8_e4m3}) {
    if (fmt::format("{} packing", name(f)).find(filter) != std::string::npos) report_packing(context, f);
  }
  rate = read_rate(pool, buffer);
  fmt::print("reads {:.1f} GB/s (median {:.1f})\n", rate.best / 1e9, rate.median / 1e9);
  return 0;
}
