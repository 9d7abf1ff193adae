#pragma once

#include <curl/curl.h>

#include <atomic>
#include <memory>
#include <string>

#include "base/check.h"
#include "base/status.h"
#include "loadgen/server_address.h"

// What every request to the server has in common, over libcurl.
namespace tessera::loadgen {

struct HttpOptions {
  ServerAddress server;
  std::string api_key;
  bool trust_any_certificate = false;
  double timeout_seconds = 600;  // of a request as a whole
};

struct HttpAnswer {
  int status = 0;
  std::string body;
  std::string server;  // the header of that name
};

/// A request by itself. Errors name the address. Gives up once `stop` is true.
Expected<HttpAnswer> http_get(const HttpOptions& options, const std::string& url, double timeout_seconds,
                              const std::atomic<bool>& stop);

struct EasyDeleter {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
struct ListDeleter {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using Easy = std::unique_ptr<CURL, EasyDeleter>;
using List = std::unique_ptr<curl_slist, ListDeleter>;

/// Sets an option whose value cannot be wrong.
template <typename T>
void set(CURL* easy, CURLoption option, T value) {
  TESSERA_CHECK_EQ(static_cast<int>(curl_easy_setopt(easy, option, value)), static_cast<int>(CURLE_OK));
}

/// The options that all requests have. `error`: CURL_ERROR_SIZE characters that live as long as `easy`.
void set_up(CURL* easy, const HttpOptions& options, char* error);

/// "Authorization: Bearer KEY"; empty without a key.
std::string key_header(const HttpOptions& options);

}  // namespace tessera::loadgen
