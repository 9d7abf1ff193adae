#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "plan/candidates.h"
#include "plan/device_facts.h"

// What the compiler made of the CUDA kernels, read from the machine code inside the library: no GPU is needed. The
// library is compiled without compression of its fat binaries, so that each cubin is an ELF file within its bytes.
namespace tessera::kernels::cuda {
namespace {

struct Kernel {
  int architecture = 0;  // 90, 120
  int64_t registers = -1;
  int64_t frame_bytes = 0;   // local memory: spills, and arrays that are indexed at run time
  int64_t shared_bytes = 0;  // static
  int64_t code_bytes = 0;
  std::map<int, int> instructions;  // how many of each opcode
};

// Opcodes of sm_90 and sm_120: the low 12 bits of an instruction of 16 bytes, as nvdisasm 13 prints them.
constexpr int kLoadLocal = 0x983, kStoreLocal = 0x387, kMmaBf16 = 0x23c, kMmaFp4 = 0x47f;  // LDL, STL, HMMA, OMMA
constexpr uint64_t kInstructionBytes = 16;

int count(const Kernel& kernel, int opcode) {
  const auto found = kernel.instructions.find(opcode);
  return found == kernel.instructions.end() ? 0 : found->second;
}

/// Kernels by name, of one architecture each.
using Kernels = std::multimap<std::string, Kernel>;

template <typename T>
T read_at(std::string_view bytes, size_t at) {
  T value{};
  if (at + sizeof value <= bytes.size()) std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}
std::string_view text_at(std::string_view bytes, size_t at) {
  return at < bytes.size() ? bytes.substr(at, bytes.find('\0', at) - at) : std::string_view();
}

struct Section {
  std::string_view name;
  uint64_t offset = 0, size = 0;
  uint32_t link = 0;
};

// ELF64, little-endian; offsets from the ELF specification.
std::vector<Section> sections_of(std::string_view elf) {
  const auto table = read_at<uint64_t>(elf, 40);
  const auto count = read_at<uint16_t>(elf, 60), names = read_at<uint16_t>(elf, 62);
  const auto header = [&](size_t i) { return table + i * 64; };
  const auto names_offset = read_at<uint64_t>(elf, header(names) + 24);
  std::vector<Section> sections;
  for (size_t i = 0; i < count; ++i) {
    sections.push_back({text_at(elf, names_offset + read_at<uint32_t>(elf, header(i))),
                        read_at<uint64_t>(elf, header(i) + 24), read_at<uint64_t>(elf, header(i) + 32),
                        read_at<uint32_t>(elf, header(i) + 40)});
  }
  return sections;
}

/// Adds the kernels of one cubin. Its .nv.info is a list of (format, attribute, size, value); format 4 has values.
void add_kernels(std::string_view elf, Kernels& kernels) {
  constexpr uint8_t kSized = 4, kFrameSize = 0x11, kRegisterCount = 0x2f;
  const int architecture = static_cast<int>(read_at<uint32_t>(elf, 48) >> 8 & 0xffU);
  const auto sections = sections_of(elf);
  std::map<std::string, Kernel> found;
  uint64_t symbols = 0, strings = 0;
  for (const Section& s : sections) {
    if (s.name == ".symtab") {
      symbols = s.offset;
      strings = sections[s.link].offset;
    }
    if (!s.name.starts_with(".text.")) continue;
    Kernel& kernel = found[std::string(s.name.substr(6))];
    kernel.code_bytes = static_cast<int64_t>(s.size);
    for (uint64_t at = s.offset; at < s.offset + s.size; at += kInstructionBytes) {
      ++kernel.instructions[read_at<uint16_t>(elf, at) & 0xfff];
    }
  }
  for (const Section& s : sections) {
    if (s.name.starts_with(".nv.shared.") && found.contains(std::string(s.name.substr(11)))) {
      found[std::string(s.name.substr(11))].shared_bytes = static_cast<int64_t>(s.size);
    }
    if (s.name != ".nv.info") continue;
    for (uint64_t at = s.offset; at + 4 <= s.offset + s.size;) {
      const auto format = read_at<uint8_t>(elf, at), attribute = read_at<uint8_t>(elf, at + 1);
      const auto size = read_at<uint16_t>(elf, at + 2);
      if (format == kSized && (attribute == kFrameSize || attribute == kRegisterCount)) {
        const uint64_t symbol = symbols + uint64_t{24} * read_at<uint32_t>(elf, at + 4);
        const auto kernel = found.find(std::string(text_at(elf, strings + read_at<uint32_t>(elf, symbol))));
        if (kernel != found.end()) {
          (attribute == kFrameSize ? kernel->second.frame_bytes : kernel->second.registers) =
              read_at<uint32_t>(elf, at + 8);
        }
      }
      at += 4 + (format == kSized ? size : 0);
    }
  }
  for (auto& [name, kernel] : found) {
    kernel.architecture = architecture;
    kernels.emplace(name, kernel);
  }
}

const Kernels& library_kernels() {
  static const Kernels kernels = [] {
    std::ifstream file(TESSERA_KERNELS_LIBRARY, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), {});
    constexpr uint16_t kMachineCuda = 190;
    Kernels all;
    for (size_t at = bytes.find("\177ELF"); at != std::string::npos; at = bytes.find("\177ELF", at + 4)) {
      const std::string_view elf = std::string_view(bytes).substr(at);
      if (read_at<uint16_t>(elf, 18) == kMachineCuda) add_kernels(elf, all);
    }
    return all;
  }();
  return kernels;
}

/// The tile in a product's mangled name ("dense_gemm" or a grouped one's): path, format, then m, n, k, blocks per SM,
/// warps, stages.
bool tile_of(const std::string& name, bool dense, plan::Tile& tile) {
  static const std::regex pattern(
      "(?:w4a[0-9]+|dense)_gemm.*PathE(\\d+)E.*WeightFormatE(\\d+)ELi(\\d+)ELi(\\d+)ELi(\\d+)ELi(\\d+)ELi(\\d+)ELi(\\d+"
      ")ELi(\\d+)"
      "E");
  std::smatch m;
  if ((name.find("dense_gemm") != std::string::npos) != dense || !std::regex_search(name, m, pattern)) return false;
  const auto number = [&](size_t i) { return std::stoi(m[i]); };
  tile = {.path = static_cast<plan::Path>(number(1)),
          .format = static_cast<plan::WeightFormat>(number(2)),
          .m = number(3),
          .n = number(4),
          .k = number(5),
          .blocks_per_sm = number(6),
          .warps_m = number(7),
          .warps_n = number(8),
          .stages = number(9)};
  return true;
}

std::string label(const plan::Tile& t, int architecture) {
  return std::string(plan::name(t.path)) + " " + std::string(format::name(t.format)) + " " + plan::shape_name(t) + " " +
         std::to_string(t.blocks_per_sm) + " sm_" + std::to_string(architecture);
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
  EXPECT_EQ(kernels, 10) << "three decode products, a norm, an embedding, for two architectures";
}

TEST(Cubin, TheKernelsAroundThemUseNoLocalMemory) {
  int kernels = 0;
  for (const auto& [name, kernel] : library_kernels()) {
    for (const char* ours :
         {"route_tokens", "group_one_chunk", "count_chunks", "lay_out_chunks", "place_chunks", "sum_experts",
          "pack_slices", "8quantize", "scan_rows", "weigh_rows", "draw_rows", "copy_tables", "write_history"}) {
      if (name.find(ours) == std::string::npos) continue;
      EXPECT_EQ(kernel.frame_bytes, 0) << name;
      ++kernels;
    }
  }
  EXPECT_EQ(kernels, 30) << "twelve kernels, one of them twice, and one for each format, for two architectures";
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
  const std::map<std::string, int> all = {{"delta_net_decode", 10}, {"delta_net_prepare", 4}, {"delta_net_solve", 8},
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
