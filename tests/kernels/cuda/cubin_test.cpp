#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>
#include <string>

#include "kernels/cuda/cubin_kernels.h"
#include "plan/candidates.h"
#include "plan/device_facts.h"

// What the compiler made of the CUDA kernels: no GPU is needed.
namespace tessera::kernels::cuda {
namespace {

// Opcodes of sm_90 and sm_120: the low 12 bits of an instruction of 16 bytes, as nvdisasm 13 prints them.
constexpr int kLoadLocal = 0x983, kStoreLocal = 0x387, kMmaBf16 = 0x23c, kMmaFp4 = 0x47f;  // LDL, STL, HMMA, OMMA

int count(const Kernel& kernel, int opcode) {
  const auto found = kernel.instructions.find(opcode);
  return found == kernel.instructions.end() ? 0 : found->second;
}

/// MMAs of a warp in a stage, which the compiler unrolls in whole or by slices of K = 64.
int mmas_of_a_slice(const plan::Tile& t) {
  const int mmas = t.m / t.warps_m / plan::kMmaRows * (t.n / t.warps_n / plan::kMmaCols);
  return t.path == plan::Path::w4a16 ? mmas * 4 : mmas;
}

void expect_as_planned(const plan::Tile& tile, const Kernel& kernel, const std::string& what) {
  const auto gpu = plan::find_device("rtx-pro-6000");
  ASSERT_TRUE(gpu.ok());
  EXPECT_EQ(tile.stages, plan::stages_that_fit(tile)) << what;
  EXPECT_GT(kernel.registers, 0) << what;
  EXPECT_LE(kernel.registers, plan::register_limit(tile)) << what;
  EXPECT_EQ(kernel.shared_bytes, plan::kSmemReservedPerBlock) << what << ": all but the driver's is the budget's";
  EXPECT_GE(plan::resident_blocks(*gpu, plan::smem_layout(tile).total_bytes, plan::threads(tile),
                                  static_cast<int>(kernel.registers)),
            tile.blocks_per_sm)
      << what;
  const bool emulated = tile.path == plan::Path::w4a4 && kernel.architecture != 120;
  if (emulated) return;  // by calls, around which registers are saved
  EXPECT_EQ(kernel.frame_bytes, 0) << what << " spills";
  EXPECT_EQ(count(kernel, kLoadLocal) + count(kernel, kStoreLocal), 0) << what << " uses local memory";
  EXPECT_GE(count(kernel, tile.path == plan::Path::w4a4 ? kMmaFp4 : kMmaBf16), mmas_of_a_slice(tile)) << what;
}

TEST(Cubin, GroupedProductsAreThoseOfThePlanAndWithinIt) {
  std::multiset<std::string> found, planned;
  for (const auto& [name, kernel] : library_kernels()) {
    plan::Tile tile;
    if (!tile_of(name, false, tile)) continue;
    const std::string what = label(tile, kernel.architecture);
    found.insert(what);
    expect_as_planned(tile, kernel, what);
  }
  const auto add = [&](const auto& tiles) {
    for (const plan::Tile& tile : tiles) {
      for (const int architecture : {90, 120}) {
        if (plan::compiled(tile)) planned.insert(label(tile, architecture));
      }
    }
  };
  for (const auto format : {plan::WeightFormat::nvfp4, plan::WeightFormat::mxfp4}) {
    for (const auto path : {plan::Path::w4a16, plan::Path::w4a4}) add(plan::candidates(path, format));
  }
  // Experts of a byte or two an element have the tiles of dense products.
  for (const auto format : {plan::WeightFormat::bf16, plan::WeightFormat::fp8_e4m3}) {
    add(plan::dense_candidates(format));
  }
  EXPECT_EQ(found, planned);
}

TEST(Cubin, DenseProductsAreThoseOfThePlanAndWithinIt) {
  std::multiset<std::string> found, planned;
  for (const auto& [name, kernel] : library_kernels()) {
    plan::Tile tile;
    if (!tile_of(name, true, tile)) continue;
    const std::string what = "dense " + label(tile, kernel.architecture);
    found.insert(what);
    expect_as_planned(tile, kernel, what);
  }
  for (const auto format : plan::kDenseFormats) {
    for (const plan::Tile& tile : plan::dense_candidates(format)) {
      for (const int architecture : {90, 120}) {
        if (plan::compiled(tile)) planned.insert("dense " + label(tile, architecture));
      }
    }
  }
  EXPECT_EQ(found, planned);
}

TEST(Cubin, DecodeProductsNormsAndEmbeddingsUseNoLocalMemory) {
  int kernels = 0;
  for (const auto& [name, kernel] : library_kernels()) {
    for (const char* ours : {"dense_decode_rows", "add_norm_rows", "embed_rows"}) {
      if (name.find(ours) == std::string::npos) continue;
      EXPECT_EQ(kernel.frame_bytes, 0) << name;
      EXPECT_EQ(count(kernel, kLoadLocal) + count(kernel, kStoreLocal), 0) << name;
      ++kernels;
    }
  }
  EXPECT_EQ(kernels, 18) << "six decode products, two norms, an embedding, for two architectures";
}

TEST(Cubin, TheKernelsAroundThemUseNoLocalMemory) {
  int kernels = 0;
  for (const auto& [name, kernel] : library_kernels()) {
    for (const char* ours : {"route_tokens", "route_one", "group_one_chunk", "count_chunks", "lay_out_chunks",
                             "place_chunks", "sum_expert_rows", "pack_slices", "8quantize", "scan_rows", "weigh_rows",
                             "draw_rows", "copy_tables", "write_history"}) {
      if (name.find(ours) == std::string::npos) continue;
      EXPECT_EQ(kernel.frame_bytes, 0) << name;
      ++kernels;
    }
  }
  EXPECT_EQ(kernels, 32) << "thirteen kernels, one of them twice, and one for each format, for two architectures";
}

TEST(Cubin, GatedDeltaNetUsesNoLocalMemory) {
  std::map<std::string, int> found;
  for (const auto& [name, kernel] : library_kernels()) {
    for (const char* ours : {"delta_net_decode", "delta_net_prepare", "delta_net_solve", "delta_net_advance",
                             "delta_net_norm", "copy_slots"}) {
      if (!std::regex_search(name, std::regex(std::string("[0-9]") + ours + "[EI]"))) continue;
      EXPECT_EQ(kernel.frame_bytes, 0) << name;
      ++found[ours];
    }
  }
  // Of every pair of padded head sizes, or of every size, for two architectures.
  const std::map<std::string, int> all = {{"delta_net_decode", 20}, {"delta_net_prepare", 4}, {"delta_net_solve", 8},
                                          {"delta_net_advance", 8}, {"delta_net_norm", 4},    {"copy_slots", 2}};
  EXPECT_EQ(found, all);
}

TEST(Cubin, AttentionUsesNoLocalMemory) {
  constexpr int kThreadsOfDecode = 128, kThreadsOfPrefill = 256, kRegistersOfSm = 65536;
  int decode = 0, prefill = 0, store = 0;
  for (const auto& [name, kernel] : library_kernels()) {
    const bool decodes = name.find("attention_decode") != std::string::npos;
    const bool prefills = name.find("attention_prefill") != std::string::npos;
    const bool stores = name.find("store_prefill") != std::string::npos;
    if (!decodes && !prefills && !stores) continue;
    EXPECT_EQ(kernel.frame_bytes, 0) << name << " sm_" << kernel.architecture << " spills";
    EXPECT_EQ(count(kernel, kLoadLocal) + count(kernel, kStoreLocal), 0) << name << " sm_" << kernel.architecture;
    EXPECT_LE(kernel.shared_bytes, plan::kSmemReservedPerBlock) << name << ": all of it is dynamic";
    if (decodes) {
      EXPECT_LE(2 * kThreadsOfDecode * kernel.registers, kRegistersOfSm) << name << ": two blocks on an SM";
    }
    if (prefills) {
      EXPECT_LE(kThreadsOfPrefill * kernel.registers, kRegistersOfSm) << name;
    }
    if (decodes || prefills) {
      EXPECT_GE(count(kernel, kMmaBf16), 4) << name;
    }
    decode += decodes ? 1 : 0, prefill += prefills ? 1 : 0, store += stores ? 1 : 0;
  }
  EXPECT_EQ(decode, 24) << "head_dim 32, 64, and 128, 256 with one and two row blocks; two caches, two architectures";
  EXPECT_EQ(prefill, 16);
  EXPECT_EQ(store, 16);
}

TEST(Cubin, CodeIsUnder40Megabytes) {
  int64_t bytes = 0;
  for (const auto& [name, kernel] : library_kernels()) bytes += kernel.code_bytes;
  EXPECT_GT(bytes, 0);
  EXPECT_LT(bytes, int64_t{40} << 20);
}

}  // namespace
}  // namespace tessera::kernels::cuda
