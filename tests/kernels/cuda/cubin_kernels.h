#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "plan/candidates.h"

// The kernels in the machine code inside the library. It is compiled without compression of its fat binaries, so that
// each cubin is an ELF file within its bytes.
namespace tessera::kernels::cuda {

struct Kernel {
  int architecture = 0;  // 90, 120
  int64_t registers = -1;
  int64_t frame_bytes = 0;   // local memory: spills, and arrays that are indexed at run time
  int64_t shared_bytes = 0;  // static
  int64_t code_bytes = 0;
  int threads = 0;                  // of a block at most, by its launch bounds
  std::map<int, int> instructions;  // how many of each opcode
};

inline constexpr uint64_t kInstructionBytes = 16;

/// Kernels by name, of one architecture each.
using Kernels = std::multimap<std::string, Kernel>;

template <typename T>
T read_at(std::string_view bytes, size_t at) {
  T value{};
  if (at + sizeof value <= bytes.size()) std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}
inline std::string_view text_at(std::string_view bytes, size_t at) {
  return at < bytes.size() ? bytes.substr(at, bytes.find('\0', at) - at) : std::string_view();
}

struct Section {
  std::string_view name;
  uint64_t offset = 0, size = 0;
  uint32_t link = 0;
};

// ELF64, little-endian; offsets from the ELF specification.
inline std::vector<Section> sections_of(std::string_view elf) {
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
inline void add_kernels(std::string_view elf, Kernels& kernels) {
  constexpr uint8_t kSized = 4, kMaxThreads = 0x05, kFrameSize = 0x11, kRegisterCount = 0x2f;
  constexpr std::string_view kOfKernel = ".nv.info.";
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
    const auto own = found.find(std::string(s.name.substr(std::min(s.name.size(), kOfKernel.size()))));
    const bool of_kernel = s.name.starts_with(kOfKernel) && own != found.end();
    if (s.name != ".nv.info" && !of_kernel) continue;
    for (uint64_t at = s.offset; at + 4 <= s.offset + s.size;) {
      const auto format = read_at<uint8_t>(elf, at), attribute = read_at<uint8_t>(elf, at + 1);
      const auto size = read_at<uint16_t>(elf, at + 2);
      if (of_kernel && format == kSized && attribute == kMaxThreads) {
        own->second.threads = static_cast<int>(read_at<uint32_t>(elf, at + 4) * read_at<uint32_t>(elf, at + 8) *
                                               read_at<uint32_t>(elf, at + 12));
      }
      if (!of_kernel && format == kSized && (attribute == kFrameSize || attribute == kRegisterCount)) {
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

inline const Kernels& library_kernels() {
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
inline bool tile_of(const std::string& name, bool dense, plan::Tile& tile) {
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

inline std::string label(const plan::Tile& t, int architecture) {
  return std::string(plan::name(t.path)) + " " + std::string(format::name(t.format)) + " " + plan::shape_name(t) + " " +
         std::to_string(t.blocks_per_sm) + " sm_" + std::to_string(architecture);
}

}  // namespace tessera::kernels::cuda
