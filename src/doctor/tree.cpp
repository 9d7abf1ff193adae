#include "doctor/tree.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <sstream>
#include <system_error>

#include "base/read_file.h"
#include "base/write_all.h"

namespace tessera::doctor {
namespace {

namespace fs = std::filesystem;

constexpr size_t kFileBytesMax = size_t{16} << 20;  // /proc/cpuinfo of hundreds of cores is some MB

}  // namespace

std::optional<std::string> Tree::peek(const std::string& path) const {
  auto text = read_regular_file(root_ / path, kFileBytesMax);
  if (!text.ok()) return std::nullopt;
  return *std::move(text);
}

std::optional<std::string> Tree::read(const std::string& path) const {
  auto text = peek(path);
  if (!text) return std::nullopt;
  record(path, *text);
  if (text->ends_with('\n')) text->pop_back();
  return text;
}

std::optional<int64_t> Tree::read_number(const std::string& path) const {
  const auto text = read(path);
  return text ? leading_number(*text) : std::nullopt;
}

std::vector<std::string> Tree::read_lines(const std::string& path,
                                          const std::vector<std::string_view>& prefixes) const {
  std::vector<std::string> lines;
  std::istringstream in(peek(path).value_or(""));
  std::string kept;
  for (std::string line; std::getline(in, line);) {
    const bool wanted =
        std::ranges::any_of(prefixes, [&](std::string_view prefix) { return line.starts_with(prefix); });
    if (!wanted || std::ranges::find(lines, line) != lines.end()) continue;
    kept += line + "\n";
    lines.push_back(line);
  }
  if (!lines.empty()) record(path, kept);
  return lines;
}

std::vector<std::string> Tree::list(const std::string& path) const {
  std::vector<std::string> names;
  std::error_code failure;
  for (auto entry = fs::directory_iterator(root_ / path, failure); !failure && entry != fs::directory_iterator();
       entry.increment(failure)) {
    names.push_back(entry->path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

void Tree::record(const std::string& path, std::string_view text) const {
  if (!records()) return;
  const fs::path file = record_ / path;
  std::error_code failure;
  fs::create_directories(file.parent_path(), failure);
  const int code = failure ? failure.value() : replace_file(file, text);
  if (code != 0) record_error_ = file.string() + ": " + std::strerror(code);
}

std::optional<int64_t> leading_number(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  int64_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failure == std::errc() && end != text.data() ? std::optional(number) : std::nullopt;
}

std::vector<std::string> words_of(std::string_view text) {
  std::istringstream in{std::string(text)};
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

}  // namespace tessera::doctor
