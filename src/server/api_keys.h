#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace tessera::server {

/// The keys that clients may show. They are kept as hashes, and compared in a time that does not depend on them.
class ApiKeys {
 public:
  explicit ApiKeys(const std::vector<std::string>& keys);

  [[nodiscard]] bool asked_for() const { return !hashes_.empty(); }
  [[nodiscard]] bool has(std::string_view key) const;

 private:
  using Hash = std::array<unsigned char, 32>;  // SHA-256
  static Hash hash(std::string_view key);
  std::vector<Hash> hashes_;
};

/// The key in "Authorization: Bearer KEY"; empty if there is none.
std::string_view bearer_key(std::string_view authorization);

/// One key a line; empty lines and those that begin with '#' do not count. A file without any is an error.
Expected<std::vector<std::string>> read_api_keys(const std::string& file);

/// Adds those of TESSERA_API_KEY and VLLM_API_KEY, where they are not empty, and of `file`, where its name is not.
Status add_api_keys(const std::string& file, std::vector<std::string>& keys);

}  // namespace tessera::server
