#include "plan/tuning_cache.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "base/hash.h"
#include "base/read_file.h"
#include "base/status.h"
#include "base/write_all.h"
#include "plan/budget.h"
#include "plan/candidates.h"

namespace tessera::plan {
namespace {

constexpr std::string_view kMagic = "tessera tuning ";
constexpr std::string_view kRemedy = "run `tessera tune` to write it anew";
constexpr size_t kNameBytesMax = 256;
constexpr double kUsMax = 1e9;

bool is_one_line(std::string_view text) {
  const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  return !text.empty() && text.size() <= kNameBytesMax && std::none_of(text.begin(), text.end(), control);
}

/// The first part of `rest` up to `end`, which is dropped; all of it if there is no `end`.
std::string_view take(std::string_view& rest, char end) {
  const size_t at = std::min(rest.find(end), rest.size());
  const std::string_view part = rest.substr(0, at);
  rest.remove_prefix(std::min(at + 1, rest.size()));
  return part;
}

template <typename T>
bool take_number(std::string_view& rest, char end, T& value) {
  const std::string_view part = take(rest, end);
  const auto result = std::from_chars(part.data(), part.data() + part.size(), value);
  return result.ec == std::errc() && result.ptr == part.data() + part.size();
}

std::string entry_line(const TunedTile& e) {
  const Desc& d = e.desc;
  return fmt::format("{} {} {} {} {} {} {} {}: {} {} {:.3f}\n", name(d.op), format::name(d.format), name(d.path),
                     d.hidden, d.intermediate, d.experts, d.experts_per_token, d.tokens, shape_name(e.tile),
                     e.tile.blocks_per_sm, e.us);
}

/// What a reader could not accept of an entry; empty: nothing.
std::string entry_fault(const TunedTile& e) {
  if (const Status valid = validate(e.desc); !valid.ok()) return valid.message();
  if (e.desc.tokens != tuning_bucket(e.desc.tokens)) return "tokens are no power of two";
  const double written = std::round(e.us * 1e3) / 1e3;  // entry_line() has three decimals
  if (!(written > 0 && written < kUsMax)) return fmt::format("a time of {} us", e.us);
  if (e.tile.path != e.desc.path || e.tile.format != e.desc.format) return "a tile of another path or format";
  const auto known = candidates(e.desc.path, e.desc.format);
  if (std::find(known.begin(), known.end(), e.tile) == known.end() || !fits(e.tile)) {
    return fmt::format("tile {} with {} blocks an SM is not one of this build's", shape_name(e.tile),
                       e.tile.blocks_per_sm);
  }
  return {};
}

bool parse_entry(std::string_view line, TunedTile& e) {
  Desc& d = e.desc;
  const std::string_view op = take(line, ' '), format = take(line, ' '), path = take(line, ' ');
  d.op = op == name(Op::down) ? Op::down : Op::gate_up;
  d.format = format == format::name(WeightFormat::mxfp4) ? WeightFormat::mxfp4 : WeightFormat::nvfp4;
  d.path = path == name(Path::w4a4) ? Path::w4a4 : Path::w4a16;
  int m = 0, n = 0, k = 0, blocks = 0;
  if (!take_number(line, ' ', d.hidden) || !take_number(line, ' ', d.intermediate) ||
      !take_number(line, ' ', d.experts) || !take_number(line, ' ', d.experts_per_token) ||
      !take_number(line, ':', d.tokens) || !take(line, ' ').empty() || !take_number(line, 'x', m) ||
      !take_number(line, 'x', n) || !take_number(line, ' ', k) || !take_number(line, ' ', blocks) ||
      !take_number(line, '\n', e.us)) {
    return false;
  }
  // Sizes are looked up before they are computed with.
  for (const Tile& known : candidates(d.path, d.format)) {
    if (known.m == m && known.n == n && known.k == k && known.blocks_per_sm == blocks) e.tile = known;
  }
  return e.tile.m != 0;
}

std::string header(std::string_view gpu, std::string_view build) {
  return fmt::format("{}{}\ngpu {}\nbuild {}\n", kMagic, kTuningVersion, gpu, build);
}

}  // namespace

bool TunedTile::is_for(const Desc& other) const {
  return desc.op == other.op && desc.format == other.format && desc.path == other.path && desc.hidden == other.hidden &&
         desc.intermediate == other.intermediate && desc.experts == other.experts &&
         desc.experts_per_token == other.experts_per_token && desc.tokens == tuning_bucket(other.tokens);
}

int64_t tuning_bucket(int64_t tokens) {
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::clamp<int64_t>(tokens, 0, kTokensMax))));
}

std::string tuning_build(std::string_view version) {
  std::string tiles;
  for (const Path path : {Path::w4a16, Path::w4a4}) {
    for (const WeightFormat format : {WeightFormat::nvfp4, WeightFormat::mxfp4}) {
      for (const Tile& t : candidates(path, format)) {
        tiles += fmt::format("{} {} {} {} {}x{} {}\n", name(path), format::name(format), shape_name(t), t.blocks_per_sm,
                             t.warps_m, t.warps_n, t.stages);
      }
    }
  }
  return fmt::format("{}-{:08x}", version, static_cast<uint32_t>(fnv1a(tiles)));
}

std::string tuning_build() { return tuning_build(TESSERA_VERSION); }

std::string tuning_file_name(std::string_view gpu, std::string_view build) {
  std::string name = fmt::format("{}-{}", gpu, build);
  for (char& c : name) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    if (!plain) c = '-';
  }
  return name + ".tuning";
}

std::filesystem::path tuning_file(std::string_view gpu) {
  const std::string name = tuning_file_name(gpu, tuning_build());
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache != '\0') {
    return std::filesystem::path(cache) / "tessera" / name;
  }
  const char* home = std::getenv("HOME");
  return std::filesystem::path(home != nullptr && *home != '\0' ? home : ".") / ".cache" / "tessera" / name;
}

size_t tuned_for(const TuningCache& cache, int64_t hidden, int64_t intermediate, int experts, int experts_per_token) {
  return static_cast<size_t>(std::count_if(cache.entries.begin(), cache.entries.end(), [&](const TunedTile& e) {
    return e.desc.hidden == hidden && e.desc.intermediate == intermediate && e.desc.experts == experts &&
           e.desc.experts_per_token == experts_per_token;
  }));
}

Expected<std::string> tuning_text(const TuningCache& cache) {
  if (!is_one_line(cache.gpu) || !is_one_line(cache.build)) {
    return error(StatusCode::invalid_argument,
                 "a tuning file names its GPU and build in one line of 1 to {} characters", kNameBytesMax);
  }
  if (cache.entries.size() > kTuningEntriesMax) {
    return error(StatusCode::invalid_argument, "{} tuned tiles, a file holds at most {}", cache.entries.size(),
                 kTuningEntriesMax);
  }
  std::string text = header(cache.gpu, cache.build);
  std::vector<std::string> keys;
  for (const TunedTile& entry : cache.entries) {
    if (const std::string fault = entry_fault(entry); !fault.empty()) {
      return error(StatusCode::invalid_argument, "tuned tile for {}: {}", describe(entry.desc), fault);
    }
    const std::string line = entry_line(entry);
    keys.push_back(line.substr(0, line.find(':')));
    text += line;
  }
  std::sort(keys.begin(), keys.end());
  if (const auto twice = std::adjacent_find(keys.begin(), keys.end()); twice != keys.end()) {
    return error(StatusCode::invalid_argument, "two tuned tiles for {}", *twice);
  }
  return text + fmt::format("checksum {:016x}\n", fnv1a(text));
}

Expected<TuningCache> parse_tuning(std::string_view text, std::string_view gpu, std::string_view build,
                                   const std::string& file) {
  const auto refuse = [&](StatusCode code, const std::string& why) {
    return error(code, "{}: {}; {}", file, why, kRemedy);
  };
  if (!text.starts_with(kMagic)) return refuse(StatusCode::corrupt_data, "not a tuning file");
  std::string_view rest = text.substr(kMagic.size());
  if (int version = 0; !take_number(rest, '\n', version) || version != kTuningVersion) {
    return refuse(StatusCode::unsupported, fmt::format("of another version, this build reads {}", kTuningVersion));
  }
  const size_t end = text.rfind("checksum ");
  if (end == text.npos || text.substr(end) != fmt::format("checksum {:016x}\n", fnv1a(text.substr(0, end)))) {
    return refuse(StatusCode::corrupt_data, "damaged, its checksum is not that of its bytes");
  }
  const std::string expected = header(gpu, build);
  if (!text.starts_with(expected)) {
    return refuse(StatusCode::unsupported,
                  fmt::format("of another GPU or build, expected GPU \"{}\" and build \"{}\"", gpu, build));
  }
  TuningCache cache{.gpu = std::string(gpu), .build = std::string(build), .entries = {}};
  rest = text.substr(expected.size(), end - expected.size());
  while (!rest.empty()) {
    const std::string_view line = take(rest, '\n');
    TunedTile entry;
    if (cache.entries.size() == kTuningEntriesMax || !parse_entry(line, entry) || !entry_fault(entry).empty()) {
      return refuse(StatusCode::corrupt_data, fmt::format("entry {} cannot be used", cache.entries.size() + 1));
    }
    cache.entries.push_back(entry);
  }
  // One spelling: whatever was accepted is what this build would write.
  const Expected<std::string> again = tuning_text(cache);
  if (!again.ok() || *again != text) return refuse(StatusCode::corrupt_data, "not spelt as this build writes it");
  return cache;
}

Expected<TuningCache> read_tuning(const std::filesystem::path& file, std::string_view gpu, std::string_view build) {
  const auto text = read_regular_file(file, kTuningFileBytesMax);
  if (text.ok()) return parse_tuning(*text, gpu, build, file.string());
  if (text.status().code() != StatusCode::resource_exhausted) return text.status();
  return error(StatusCode::corrupt_data, "{}: larger than the {} bytes that a tuning file may have; {}", file.string(),
               kTuningFileBytesMax, kRemedy);
}

Status write_tuning(const std::filesystem::path& file, const TuningCache& cache) {
  TESSERA_ASSIGN_OR_RETURN(const std::string text, tuning_text(cache));
  if (const int reason = replace_file(file, text); reason != 0) {
    return error(StatusCode::unavailable, "cannot write {}: {}", file.string(), std::strerror(reason));
  }
  return {};
}

bool apply_tuning(const TuningCache& cache, Plan& plan) {
  for (const TunedTile& entry : cache.entries) {
    if (!entry.is_for(plan.desc)) continue;
    for (size_t i = 0; i < plan.candidates.size(); ++i) {
      if (plan.candidates[i].kept() && plan.candidates[i].tile == entry.tile) {
        plan.choice = i;
        return true;
      }
    }
  }
  return false;
}

}  // namespace tessera::plan
