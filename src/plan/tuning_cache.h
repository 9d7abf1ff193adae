#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.h"

// Measured choices of tiles, kept in one file per GPU and build.
//
//   tessera tuning 2
//   gpu NVIDIA RTX PRO 6000 Blackwell Workstation Edition
//   build 0.1.0-1f2e3d4c
//   gate_up NVFP4 w4a16 4096 1024 512 10 8: 64x8x256 2 155.250
//   checksum 8c6f0a1b2c3d4e5f
//
// A line is op, format, path, H, I, experts, experts per token, tokens; then the tile, its blocks per SM, and the
// microseconds of its layer. The checksum is FNV-1a, 64 bits, of all bytes before its line: it finds every
// change of one byte and every truncation. A file that is damaged, of another version, GPU or build, or not spelt
// exactly as this build would write it is refused as a whole, with what to do; it is never repaired or half used.
namespace tessera::plan {

inline constexpr int kTuningVersion = 2;
inline constexpr size_t kTuningEntriesMax = 16'384;
inline constexpr size_t kTuningFileBytesMax = size_t{4} << 20;

struct TunedTile {
  Desc desc;  // tokens: a bucket (tuning_bucket)
  Tile tile;
  double us = 0;

  [[nodiscard]] bool is_for(const Desc& other) const;
};

struct TuningCache {
  std::string gpu;    // as the driver names it
  std::string build;  // another build may have other tiles, and other code in the same ones
  std::vector<TunedTile> entries;
};

/// Counts of tokens that are tuned alike: the power of two from `tokens` up.
int64_t tuning_bucket(int64_t tokens);

/// "0.1.0-1f2e3d4c": the version, and a hash of every tile of the tables.
std::string tuning_build(std::string_view version);
/// That of this program.
std::string tuning_build();

/// "NVIDIA-H200-0-1-0-1f2e3d4c.tuning": what is not a letter or digit becomes '-'. The file itself holds the names as
/// they are.
std::string tuning_file_name(std::string_view gpu, std::string_view build);

/// Where `tessera tune` keeps what it measures of a GPU with this program, and where the engine looks for it: in
/// $XDG_CACHE_HOME/tessera, else in ~/.cache/tessera.
std::filesystem::path tuning_file(std::string_view gpu);

/// The text of a file. invalid_argument where it could not be read back: an empty or many-line gpu or build, a tile
/// that is in no table, a time that is not positive, too many entries, two for one description.
Expected<std::string> tuning_text(const TuningCache& cache);

/// Reads such a text. `file` is for messages. corrupt_data: damaged; unsupported: another version, GPU or build.
Expected<TuningCache> parse_tuning(std::string_view text, std::string_view gpu, std::string_view build,
                                   const std::string& file);

/// not_found if there is no such file: nothing has been tuned yet.
Expected<TuningCache> read_tuning(const std::filesystem::path& file, std::string_view gpu, std::string_view build);

/// Written beside, synced, and renamed into place: readers see the old file or the new one, whole.
Status write_tuning(const std::filesystem::path& file, const TuningCache& cache);

/// How many entries are for a layer of these sizes, in any format, path and number of tokens.
size_t tuned_for(const TuningCache& cache, int64_t hidden, int64_t intermediate, int experts, int experts_per_token);

/// Makes the measured tile the plan's choice, if there is one for its description and the plan kept that tile.
/// Returns whether it did.
bool apply_tuning(const TuningCache& cache, Plan& plan);

}  // namespace tessera::plan
