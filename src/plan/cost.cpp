#include "plan/cost.h"

#include <algorithm>
#include <cmath>

#include "base/ceil_div.h"
#include "plan/budget.h"

namespace tessera::plan {
namespace {

/// A warp scheduler issues one instruction a clock; an SM has four (since compute capability 7.0).
constexpr double kIssuePerClock = 4;
/// Shared memory answers 32 banks of 4 bytes a clock.
constexpr double kSmemBytesPerClock = 128;
/// What an SM gets from L2 while all of them read: half of its port of 64 (compute capability 8.0 and later). An
/// assumption: the port is never full, and no figure of ours says how full.
constexpr double kL2BytesPerClock = 32;
/// Of a load under load. With it, what an SM has in flight bounds its read rate (Little's law).
constexpr double kMemoryLatencyUs = 1.0;

/// Warp instructions to decode 16x16 weights to BF16 fragments, by the machine code of sm_90a: 74 a slice of K = 64 of
/// 4-bit codes, about as many of FP8. BF16 is read as the MMA takes it.
double decode_instructions(WeightFormat format) { return format == WeightFormat::bf16 ? 0 : 18.5; }
/// Loads of 16 rows in a slice: fragments, FP8 as half of them, 4-bit codes and scales.
double row_loads(WeightFormat format) { return format == WeightFormat::bf16 ? 4 : 2; }
/// Warp instructions of the emulated 16x8x64 MMA: 256 products a lane at about 4. An order of magnitude.
constexpr double kEmulatedMmaInstructions = 1024;
/// Per stage and consumer warp, by the machine code of sm_90a: waits, arrival, loop, addresses; and for each of its own
/// copies, 16 bytes a lane, a predicate, the copy, and a load of nothing that the compiler puts before it.
constexpr double kStageInstructions = 30;
constexpr double kCopyInstructions = 3;
constexpr double kCopyBytes = 512;
/// W4A4's consumers copy nothing. An assumption.
constexpr double kStageInstructionsW4A4 = 12;

/// w warps of a scheduler, each in order, fill w / (w + kWarpsOfLatency) of its issue slots: on an H200 4 to 5 warps
/// 0.6 to 0.67, 6.5 warps 0.75.
constexpr double kWarpsOfLatency = 2;

/// From a block's start to its first MMA (its part of the list, its first stage), and from its last to its end. On an
/// H200 it is what tells tiles of 64, 128 and 256 rows apart at 512 tokens, where their other figures are the same.
constexpr double kBlockStartUs = 3;

/// Share of the lesser floors that does not hide behind the largest. It stands for all that floors leave out (barriers,
/// start and end of a block) and decides between tiles of one bound; an assumption.
constexpr double kNotHidden = 0.2;

/// Instructions of one consumer warp for one step of K = 64.
double step_instructions(const Tile& t, bool fp4_mma) {
  const double row_fragments = static_cast<double>(t.m) / t.warps_m / kMmaRows;
  const double col_fragments = static_cast<double>(t.n) / t.warps_n / kMmaCols;
  constexpr double kColLoads = 2;  // BF16: two of 128 bits; 4-bit: codes and scales
  const double loads = row_loads(t.format) * row_fragments + kColLoads * col_fragments;
  if (t.path == Path::w4a16) return loads + (4 * decode_instructions(t.format) + 4 * col_fragments) * row_fragments;
  return loads + (fp4_mma ? 1 : kEmulatedMmaInstructions) * row_fragments * col_fragments;
}

/// Of one consumer warp for one stage, besides what it multiplies.
double stage_instructions(const Tile& t) {
  if (t.path == Path::w4a4) return kStageInstructionsW4A4;
  const int own_bytes = stage_weight_bytes(t) + (producer_warps(t) == 0 ? stage_activation_bytes(t) : 0);
  return kStageInstructions + kCopyInstructions * std::ceil(own_bytes / kCopyBytes / consumer_warps(t));
}

double activation_bytes(const Desc& d) {
  const auto depth = static_cast<double>(weight_depth(d));
  const double group = scale_group(d.format);
  const double element = d.path == Path::w4a16 ? 2 : 0.5 + 1 / group;
  // gate_up gathers the same token for each of its experts, from L2 after the first time.
  const double columns = static_cast<double>(d.op == Op::gate_up ? d.tokens : slots(d));
  return columns * depth * element;
}

double result_bytes(const Desc& d) {
  const int64_t width = d.op == Op::gate_up ? d.intermediate : weight_rows(d);
  return static_cast<double>(slots(d)) * static_cast<double>(width) * 2;
}

}  // namespace

Cost estimate(const Desc& d, const Routing& routing, const Tile& t, const DeviceFacts& device, int resident) {
  Cost cost;
  if (d.tokens == 0) {
    cost.bound = "nothing";
    return cost;
  }
  const double row_tiles = ceil_div(weight_rows(d), t.m);
  const double steps = ceil_div(weight_depth(d), kMmaDepth);  // of one column tile
  const double tiles = row_tiles * routing.column_tiles(t.n);
  cost.blocks = tiles;
  cost.weight_bytes =
      routing.distinct_experts() * ceil_div(weight_rows(d), kMmaRows) * steps * weight_slice_bytes(d.format);

  const int loading = t.path == Path::w4a16 ? t.stages - 1 : t.stages;  // stages of a block; one is read meanwhile
  const double in_flight =
      std::min<double>(resident, cost.blocks / device.sm_count) * loading * stage_bytes(t) * device.sm_count;
  const double bytes_per_us = std::min(device.read_gb_s * 1e3, in_flight / kMemoryLatencyUs);
  cost.memory_us = (cost.weight_bytes + activation_bytes(d) + result_bytes(d)) / bytes_per_us;

  const double clocks_per_us = device.clock_ghz * 1e3 * device.sm_count;  // of all SMs
  const double stages = tiles * steps * kMmaDepth / t.k;
  cost.l2_us = stages * stage_bytes(t) / (kL2BytesPerClock * clocks_per_us);
  const double reads = static_cast<double>(stage_weight_bytes(t)) * t.warps_n +
                       static_cast<double>(stage_activation_bytes(t)) * t.warps_m;
  cost.smem_us = stages * reads / (kSmemBytesPerClock * clocks_per_us);

  const bool fp4_mma = device.has_fp4_mma();
  const double flops = tiles * steps * 2.0 * t.m * t.n * kMmaDepth;
  const double tflops = t.path == Path::w4a16 ? device.bf16_tflops : device.fp4_tflops;
  cost.mma_us = tflops > 0 ? flops / (tflops * 1e6) : 0;
  const double instructions =
      consumer_warps(t) * (tiles * steps * step_instructions(t, fp4_mma) + stages * stage_instructions(t));
  cost.issue_us = instructions / (kIssuePerClock * clocks_per_us);
  const double warps = consumer_warps(t) / kIssuePerClock *  // a scheduler
                       std::min<double>(resident, std::ceil(cost.blocks / device.sm_count));
  const double occupied = warps / (warps + kWarpsOfLatency);

  // Blocks are dealt out whole: the SM with the most of them ends last.
  const double busy = cost.blocks / (std::ceil(cost.blocks / device.sm_count) * device.sm_count);
  struct Floor {
    double us;
    const char* bound;
  };
  const Floor floors[] = {{cost.memory_us, "memory"},
                          {cost.l2_us / busy, "L2"},
                          {cost.smem_us / busy, "smem"},
                          {cost.mma_us / busy, "mma"},
                          {cost.issue_us / busy / occupied, "issue"}};
  double sum = 0;
  for (const Floor& floor : floors) {
    sum += floor.us;
    if (floor.us > cost.floor_us) {
      cost.floor_us = floor.us;
      cost.bound = floor.bound;
    }
  }
  // In rounds: a few blocks of one more start as late, and end later, than a full one of them.
  cost.start_us = kBlockStartUs * std::ceil(cost.blocks / (static_cast<double>(resident) * device.sm_count));
  cost.estimate_us = cost.floor_us + kNotHidden * (sum - cost.floor_us) + cost.start_us;
  return cost;
}

}  // namespace tessera::plan
