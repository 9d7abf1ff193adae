#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "server/request/api_error.h"
#include "tessera/engine.h"

// One table of sampling parameters serves JSON keys ("top_p") and the program's flags (--top-p).
namespace tessera::server {

inline constexpr double kAnyNumber = 1e38;  // no bound
inline constexpr double kAboveZero = std::numeric_limits<float>::min();
inline constexpr int64_t kAnyCount = std::numeric_limits<int64_t>::max();
inline constexpr int64_t kAnyInt = std::numeric_limits<int32_t>::max();

struct RealField {
  float SamplingParams::*member;
  double low, high;
};
struct IntField {
  int SamplingParams::*member;
  int64_t low, high;
};
struct CountField {
  int64_t SamplingParams::*member;
  int64_t low, high;
};
struct OptionalIntField {
  std::optional<int> SamplingParams::*member;
  int64_t low, high;
};
/// A seed is any 64 bits: clients send signed or unsigned numbers; -1 asks for a random one, as elsewhere in the field.
struct SeedField {
  std::optional<uint64_t> SamplingParams::*member;
};
struct SwitchField {
  bool SamplingParams::*member;
};
struct TextLimits {
  size_t count = 0;
  size_t bytes = 0;  // of all together
};
/// A string, or an array of them.
struct StringsField {
  std::vector<std::string> SamplingParams::*member;
  TextLimits limits;
};
struct IdsField {
  std::vector<int32_t> SamplingParams::*member;
  size_t least, most;
};
/// {"token id": addend}
struct BiasField {
  std::vector<std::pair<int32_t, float>> SamplingParams::*member;
};

struct SamplingField {
  const char* key;
  const char* type_name;  // of a flag's value
  const char* what;       // one line of help; empty: the parameter has no flag
  std::variant<RealField, IntField, CountField, OptionalIntField, SeedField, SwitchField, StringsField, IdsField,
               BiasField>
      kind;

  [[nodiscard]] bool has_flag() const { return *what != '\0'; }
};

std::span<const SamplingField> sampling_fields();

/// A field that other servers or APIs have, that would change the answer, and that is not here.
struct UnsupportedField {
  std::string_view key;
  const char* neutral;  // JSON list of the values that ask for nothing; null always does
  const char* why;      // or what to use in its place
};

/// Fields of sampling that are not here; whoever reads the table above refuses these.
std::span<const UnsupportedField> unsupported_sampling_fields();

/// An error for the first field of `table` that asks for something in `object`.
std::optional<ApiError> refuse_unsupported(const nlohmann::ordered_json& object,
                                           std::span<const UnsupportedField> table);

/// Whether `key` is in one of the two tables.
bool is_sampling_field(std::string_view key);

/// An error for the first key of `object` that is not in the first table. For objects of sampling parameters alone.
std::optional<ApiError> refuse_unknown_sampling(const nlohmann::ordered_json& object);

/// A string or an array of them, none empty, as many and as long as the engine takes.
std::optional<ApiError> read_stop_strings(const nlohmann::ordered_json& value, const std::string& path,
                                          std::vector<std::string>& out);

/// Sets in `params` what `object` has under the keys of the table, except `but`; null and other keys are left alone.
/// Lengths are those that the engine allows. Unsupported fields that ask for something are an error.
std::optional<ApiError> apply_sampling(const nlohmann::ordered_json& object, SamplingParams& params,
                                       std::span<const std::string_view> but = {});

}  // namespace tessera::server
