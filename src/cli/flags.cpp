#include "cli/flags.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/read_file.h"
#include "cli/suggest.h"
#include "server/request/json_fields.h"

namespace tessera::cli {

using server::number_range;
using server::whole_range;

namespace {

const std::string kChoices = "one of ";

/// All of `text` as a number; false if it is none or does not fit.
template <typename T>
bool parse(const std::string& text, T& value) {
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  return result.ec == std::errc() && result.ptr == end;
}

}  // namespace

CLI::Validator number(double low, double high) {
  const auto check = [low, high](std::string& text) {
    double value = 0;
    if (parse(text, value) && value >= low && value <= high) return std::string();
    return fmt::format("found \"{}\", expected {}", text, number_range(low, high));
  };
  return {check, ""};
}

CLI::Validator whole(int64_t low, int64_t high) {
  const auto check = [low, high](std::string& text) {
    int64_t value = 0;
    if (parse(text, value) && value >= low && value <= high) return std::string();
    return fmt::format("found \"{}\", expected {}", text, whole_range(low, high));
  };
  return {check, ""};
}

CLI::Validator multiple_of(int64_t factor, int64_t high) {
  const auto check = [factor, high](std::string& text) {
    int64_t value = 0;
    if (parse(text, value) && value > 0 && value <= high && value % factor == 0) return std::string();
    return fmt::format("found \"{}\", expected a multiple of {}, at most {}", text, factor, high);
  };
  return {check, ""};
}

CLI::Validator whole_u64() {
  const auto check = [](std::string& text) {
    uint64_t value = 0;
    if (parse(text, value)) return std::string();
    return fmt::format("found \"{}\", expected a whole number from 0 to {}", text,
                       std::numeric_limits<uint64_t>::max());
  };
  return {check, ""};
}

CLI::Validator one_of(std::vector<std::string> names) {
  // Its name is what choices_of() reads.
  std::string list = kChoices + fmt::format("{}", fmt::join(names, " "));
  const auto check = [names = std::move(names)](std::string& text) {
    if (std::find(names.begin(), names.end(), text) != names.end()) return std::string();
    const std::string nearest = nearest_name(text, names);
    return fmt::format("found \"{}\", expected one of {}{}", text, fmt::join(names, ", "),
                       nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest));
  };
  return {check, "", std::move(list)};
}

std::vector<std::string> choices_of(const CLI::Option& option) {
  // CLI11 hands out the checks of an option that may be changed alone, and says by an exception that there are no more.
  auto& checked = const_cast<CLI::Option&>(option);
  try {
    for (int i = 0;; ++i) {
      const std::string& name = checked.get_validator(i)->get_name();
      if (name.starts_with(kChoices)) return CLI::detail::split(name.substr(kChoices.size()), ' ');
    }
  } catch (const CLI::OptionNotFound&) {
    return {};
  }
}

CLI::Validator device_words() {
  const auto check = [](std::string& text) {
    constexpr std::string_view kPrefix = "cuda:";
    int index = 0;
    const bool numbered = text.starts_with(kPrefix) && parse(text.substr(kPrefix.size()), index) && index >= 0;
    if (numbered || text == "auto" || text == "cpu" || text == "cuda") return std::string();
    return fmt::format("found \"{}\", expected auto, cpu, cuda or cuda:N, N counted from 0", text);
  };
  return {check, ""};
}

CLI::Validator not_empty() {
  return {[](std::string& text) { return text.empty() ? "is empty, expected some text" : std::string(); }, ""};
}

CLI::Validator also(std::vector<std::pair<std::string, std::string>> names) {
  const auto rename = [names = std::move(names)](std::string& text) {
    for (const auto& [other, ours] : names) {
      if (text == other) text = ours;
    }
    return std::string();
  };
  return CLI::Validator(rename, "", "also");
}

CLI::Validator with_suffix() {
  const auto expand = [](std::string& text) {
    constexpr std::string_view kSuffixes = "kKmMgG";
    constexpr double kFactors[] = {1e3, 0x1p10, 1e6, 0x1p20, 1e9, 0x1p30};
    const size_t suffix = text.empty() ? std::string_view::npos : kSuffixes.find(text.back());
    double value = 0;
    if (suffix == std::string_view::npos || !parse(text.substr(0, text.size() - 1), value)) return std::string();
    value *= kFactors[suffix];
    if (value >= 0 && value < 0x1p53) text = fmt::format("{:.0f}", std::floor(value));
    return std::string();
  };
  return CLI::Validator(expand, "", "with_suffix");
}

namespace {

/// What keeps `file` from being read; empty if nothing does.
std::string unreadable(const std::string& file, bool may_be_pipe) {
  struct stat info {};
  if (::stat(file.c_str(), &info) != 0 || ::access(file.c_str(), R_OK) != 0) {
    return fmt::format("cannot read {}: {}", file, std::strerror(errno));
  }
  const std::string kind = irregular_kind(info.st_mode);
  if (kind.empty() || (may_be_pipe && S_ISFIFO(info.st_mode))) return {};
  return fmt::format("{} is {}, expected a file", file, kind);
}

}  // namespace

CLI::Validator readable_file() {
  return {[](std::string& file) { return unreadable(file, /*may_be_pipe=*/false); }, ""};
}

CLI::Validator readable_text() {
  return {[](std::string& file) { return file == "-" ? std::string() : unreadable(file, /*may_be_pipe=*/true); }, ""};
}

nlohmann::ordered_json parse_object(const char* flag, const std::string& text) {
  auto object = nlohmann::ordered_json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) throw CLI::ValidationError(flag, fmt::format("found '{}', expected a JSON object", text));
  return object;
}

std::vector<std::string> parse_words(const char* flag, const std::string& text, const char* expected) {
  std::vector<std::string> words;
  if (text.starts_with('[')) {
    const auto list = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
    for (const auto& word : list) {
      if (word.is_string()) words.push_back(word.get<std::string>());
    }
    if (list.is_array() && words.size() == list.size()) return words;
    throw CLI::ValidationError(flag, fmt::format("found '{}', expected {}", text, expected));
  }
  for (size_t at = 0; at <= text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    if (comma > at) words.push_back(text.substr(at, comma - at));
    at = comma + 1;
  }
  return words;
}

}  // namespace tessera::cli
