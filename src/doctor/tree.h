#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::doctor {

/// The files that facts are read from: those of this machine, or of a tree that was recorded on another. Paths are
/// given without the first slash. What cannot be read is not there.
class Tree {
 public:
  explicit Tree(std::filesystem::path root = "/") : root_(std::move(root)) {}

  /// From now on a file that is read is also written below `record`, as it was given to the caller. Only facts that
  /// name neither machine nor user are read from files that are recorded.
  void record_to(std::filesystem::path record) { record_ = std::move(record); }
  [[nodiscard]] const std::filesystem::path& root() const { return root_; }
  [[nodiscard]] bool records() const { return !record_.empty(); }

  /// All of a file, without the line's end.
  [[nodiscard]] std::optional<std::string> read(const std::string& path) const;
  [[nodiscard]] std::optional<int64_t> read_number(const std::string& path) const;
  /// The lines that begin with one of `prefixes`, each once.
  [[nodiscard]] std::vector<std::string> read_lines(const std::string& path,
                                                    const std::vector<std::string_view>& prefixes) const;
  /// All of a file, as it is; not recorded.
  [[nodiscard]] std::optional<std::string> peek(const std::string& path) const;
  /// Names in a directory, sorted.
  [[nodiscard]] std::vector<std::string> list(const std::string& path) const;
  /// Adds a file to the record, if there is one.
  void record(const std::string& path, std::string_view text) const;
  /// What went wrong with writing the record; empty: nothing.
  [[nodiscard]] const std::string& record_error() const { return record_error_; }

 private:
  std::filesystem::path root_, record_;
  mutable std::string record_error_;
};

/// The decimal number that `text` begins with, after blanks.
std::optional<int64_t> leading_number(std::string_view text);
/// Words between blanks.
std::vector<std::string> words_of(std::string_view text);

}  // namespace tessera::doctor
