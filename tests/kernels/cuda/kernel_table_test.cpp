// docs/kernels.md is made here, of what was compiled, and must be what is there:
//   TESSERA_UPDATE_DOCS=1 build/cuda/tests/kernels/cuda/cubin_test --gtest_filter=KernelTable.*

#include <cxxabi.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <tuple>

#include "device/symbol.h"
#include "kernels/cuda/cubin_kernels.h"
#include "plan/budget.h"
#include "plan/device_facts.h"

namespace tessera::kernels::cuda {
namespace {

constexpr const char* kTable = TESSERA_SOURCE_DIR "/docs/kernels.md";
constexpr const char* kHeading =
    "# Kernels\n"
    "\n"
    "Every compiled kernel of the library, for SM120 (sm_120f: RTX PRO 6000 and 5000, RTX 5090, DGX Spark) and for the "
    "H200 (sm_90a): registers of a thread, bytes of shared memory of a block, blocks that share an SM. Of products in "
    "tiles the shared memory is all there is. Of the others it is what the code names; a launch may add some that "
    "depends on the model, so that fewer blocks may share an SM: `tessera plan MODEL --gpu GPU` prints it for each "
    "launch of a step. W4A4 is emulated on an H200 and spills there.\n"
    "\n"
    "Generated with nvcc " TESSERA_NVCC_VERSION
    "; where that compiles, a test compares it. After a change of kernels:\n"
    "\n"
    "    scripts/build.sh cuda cubin_test && scripts/kernel_table.sh\n";

std::string demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> plain(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                     std::free);
  return plain ? plain.get() : name;
}

/// A kernel as the table names it, and the tile that it was made for.
struct Row {
  std::string section, name;
  std::optional<plan::Tile> tile;

  auto operator<=>(const Row& other) const { return std::tie(section, name) <=> std::tie(other.section, other.name); }
  bool operator==(const Row& other) const { return section == other.section && name == other.name; }
};

Row row_of(const std::string& mangled) {
  plan::Tile tile;
  for (const bool dense : {false, true}) {
    if (!tile_of(mangled, dense, tile)) continue;
    const std::string product = dense ? "Dense products" : fmt::format("Grouped products, {}", plan::name(tile.path));
    // Numbers are padded, so that the table is in order of sizes.
    return {fmt::format("{}, {}", product, format::name(tile.format)),
            fmt::format("{:>3}x{:>3}x{:>3}, {} an SM", tile.m, tile.n, tile.k, tile.blocks_per_sm), tile};
  }
  return {"Other kernels", device::short_name(demangled(mangled), /*with_arguments=*/true), std::nullopt};
}

/// "96 | 49,856 | 2" of a kernel on its architecture.
std::string columns(const Row& row, const Kernel& kernel, const plan::DeviceFacts& gpu) {
  const int64_t dynamic = row.tile ? plan::smem_layout(*row.tile).total_bytes : 0;
  const int64_t own = std::max<int64_t>(kernel.shared_bytes - plan::kSmemReservedPerBlock, 0) + dynamic;
  const int blocks = plan::resident_blocks(gpu, static_cast<int>(own), std::max(kernel.threads, 1),
                                           static_cast<int>(kernel.registers));
  return fmt::format("{}{} | {} | {}", kernel.registers,
                     kernel.frame_bytes > 0 ? fmt::format(", {} B of local memory", kernel.frame_bytes) : "", own,
                     blocks);
}

std::string table() {
  const auto sm120 = plan::find_device("rtx-pro-6000"), h200 = plan::find_device("h200");
  std::map<Row, std::map<int, std::string>> rows;
  for (const auto& [name, kernel] : library_kernels()) {
    const Row row = row_of(name);
    std::string& cell = rows[row][kernel.architecture];
    EXPECT_EQ(cell, "") << row.name << " stands for two kernels";
    cell = columns(row, kernel, kernel.architecture == 120 ? *sm120 : *h200);
  }
  std::string text = kHeading, section;
  for (const auto& [row, cells] : rows) {
    if (row.section != section) {
      section = row.section;
      text += fmt::format(
          "\n## {}\n\n| kernel | SM120: registers | shared | blocks an SM | H200: registers | shared | blocks an SM |\n"
          "|---|---:|---:|---:|---:|---:|---:|\n",
          section);
    }
    const auto cell = [&](int architecture) {
      const auto found = cells.find(architecture);
      return found == cells.end() ? std::string("- | - | -") : found->second;
    };
    text += fmt::format("| `{}` | {} | {} |\n", row.name, cell(120), cell(90));
  }
  return text;
}

TEST(KernelTable, IsOfWhatWasCompiled) {
  const std::string made = table();
  ASSERT_GT(made.size(), 10'000U) << "no kernels were found";
  if (std::getenv("TESSERA_UPDATE_DOCS") != nullptr) {
    ASSERT_TRUE(std::ofstream(kTable, std::ios::binary) << made) << "cannot write " << kTable;
    return;
  }
  std::ifstream file(kTable, std::ios::binary);
  const std::string there((std::istreambuf_iterator<char>(file)), {});
  if (there.find("Generated with nvcc " TESSERA_NVCC_VERSION ";") == std::string::npos) {
    GTEST_SKIP() << "docs/kernels.md is of another compiler than nvcc " TESSERA_NVCC_VERSION;
  }
  const auto [a, b] = std::mismatch(made.begin(), made.end(), there.begin(), there.end());
  const auto line_at = [](const std::string& text, std::string::const_iterator at) {
    const auto offset = static_cast<size_t>(at - text.begin());
    const size_t begin = offset == 0 ? 0 : text.rfind('\n', offset - 1) + 1;
    return text.substr(begin, text.find('\n', offset) - begin);
  };
  EXPECT_TRUE(a == made.end() && b == there.end())
      << "docs/kernels.md is old: it says\n  " << line_at(there, b) << "\nand what was compiled is\n  "
      << line_at(made, a) << "\nscripts/kernel_table.sh writes it anew";
}

}  // namespace
}  // namespace tessera::kernels::cuda
