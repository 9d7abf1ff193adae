#include "server/api_keys.h"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/sha.h>

#include <cstdlib>
#include <sstream>

#include "base/read_file.h"
#include "server/http/http_text.h"

namespace tessera::server {
namespace {

constexpr size_t kKeyFileBytesMax = size_t{16} << 20;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

}  // namespace

ApiKeys::ApiKeys(const std::vector<std::string>& keys) {
  for (const std::string& key : keys) hashes_.push_back(hash(key));
}

ApiKeys::Hash ApiKeys::hash(std::string_view key) {
  Hash hash;
  SHA256(reinterpret_cast<const unsigned char*>(key.data()), key.size(), hash.data());
  return hash;
}

bool ApiKeys::has(std::string_view key) const {
  const Hash shown = hash(key);
  int found = 0;
  for (const Hash& known : hashes_)
    found |= static_cast<int>(CRYPTO_memcmp(known.data(), shown.data(), shown.size()) == 0);
  return found != 0;
}

std::string_view bearer_key(std::string_view authorization) {
  constexpr std::string_view kScheme = "bearer ";
  if (same_text(authorization.substr(0, kScheme.size()), kScheme)) return trimmed(authorization.substr(kScheme.size()));
  return {};
}

Expected<std::vector<std::string>> read_api_keys(const std::string& file) {
  const auto text = read_regular_file(file, kKeyFileBytesMax);
  if (!text.ok()) return text.status().with_context("API keys");
  std::istringstream stream(*text);
  std::vector<std::string> keys;
  for (std::string line; std::getline(stream, line);) {
    const std::string_view key = trimmed(line);
    if (!key.empty() && key.front() != '#') keys.emplace_back(key);
  }
  // Who names a file of keys expects that one is asked for.
  if (keys.empty()) return error(StatusCode::invalid_argument, "{} holds no API key; expected one a line", file);
  return keys;
}

Status add_api_keys(const std::string& file, std::vector<std::string>& keys) {
  for (const char* name : {"TESSERA_API_KEY", "VLLM_API_KEY"}) {
    const char* key = std::getenv(name);
    if (key != nullptr && *key != '\0') keys.emplace_back(key);
  }
  if (file.empty()) return {};
  TESSERA_ASSIGN_OR_RETURN(const std::vector<std::string> more, read_api_keys(file));
  keys.insert(keys.end(), more.begin(), more.end());
  return {};
}

}  // namespace tessera::server
