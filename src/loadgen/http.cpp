#include "loadgen/http.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace tessera::loadgen {
namespace {

constexpr size_t kAnswerBytesMax = size_t{64} << 20;
constexpr long kConnectTimeoutMs = 10'000;

size_t append_body(char* bytes, size_t size, size_t count, void* to) {
  auto& body = *static_cast<std::string*>(to);
  if (body.size() + size * count > kAnswerBytesMax) return CURL_WRITEFUNC_ERROR;
  body.append(bytes, size * count);
  return size * count;
}

size_t read_header(char* bytes, size_t size, size_t count, void* to) {
  const std::string_view line(bytes, size * count);
  constexpr std::string_view kServer = "server:";
  if (line.size() > kServer.size() && std::equal(kServer.begin(), kServer.end(), line.begin(), [](char a, char b) {
        return a == static_cast<char>(std::tolower(static_cast<unsigned char>(b)));
      })) {
    const size_t from = line.find_first_not_of(' ', kServer.size());
    if (from != std::string_view::npos) {
      *static_cast<std::string*>(to) = line.substr(from, line.find_last_not_of("\r\n ") + 1 - from);
    }
  }
  return size * count;
}

int stop_asked(void* stop, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  return static_cast<const std::atomic<bool>*>(stop)->load() ? 1 : 0;
}

}  // namespace

void set_up(CURL* easy, const HttpOptions& options, char* error) {
  set(easy, CURLOPT_ERRORBUFFER, error);
  set(easy, CURLOPT_NOSIGNAL, 1L);
  set(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));  // a connection for each stream
  set(easy, CURLOPT_CONNECTTIMEOUT_MS, kConnectTimeoutMs);
  set(easy, CURLOPT_USERAGENT, "tessera-bench");
  set(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  if (!options.server.unix_socket.empty()) {
    set(easy, CURLOPT_UNIX_SOCKET_PATH, options.server.unix_socket.c_str());
  }
  if (options.trust_any_certificate) {
    set(easy, CURLOPT_SSL_VERIFYPEER, 0L);
    set(easy, CURLOPT_SSL_VERIFYHOST, 0L);
  }
}

std::string key_header(const HttpOptions& options) {
  return options.api_key.empty() ? "" : "Authorization: Bearer " + options.api_key;
}

Expected<HttpAnswer> http_get(const HttpOptions& options, const std::string& url, double timeout_seconds,
                              const std::atomic<bool>& stop) {
  const Easy easy(curl_easy_init());
  TESSERA_CHECK(easy != nullptr);
  HttpAnswer answer;
  char message[CURL_ERROR_SIZE] = {};
  set_up(easy.get(), options, message);
  set(easy.get(), CURLOPT_URL, url.c_str());
  const std::string key = key_header(options);
  const List headers(key.empty() ? nullptr : curl_slist_append(nullptr, key.c_str()));
  set(easy.get(), CURLOPT_HTTPHEADER, headers.get());
  set(easy.get(), CURLOPT_TIMEOUT_MS, std::max(1L, static_cast<long>(timeout_seconds * 1e3)));
  set(easy.get(), CURLOPT_WRITEFUNCTION, &append_body);
  set(easy.get(), CURLOPT_WRITEDATA, &answer.body);
  set(easy.get(), CURLOPT_HEADERFUNCTION, &read_header);
  set(easy.get(), CURLOPT_HEADERDATA, &answer.server);
  set(easy.get(), CURLOPT_NOPROGRESS, 0L);
  set(easy.get(), CURLOPT_XFERINFOFUNCTION, &stop_asked);
  set(easy.get(), CURLOPT_XFERINFODATA, const_cast<std::atomic<bool>*>(&stop));
  const CURLcode code = curl_easy_perform(easy.get());
  if (code == CURLE_ABORTED_BY_CALLBACK) return error(StatusCode::cancelled, "interrupted");
  if (code != CURLE_OK) {
    const std::string where = options.server.unix_socket.empty() ? url : options.server.unix_socket;
    const char* why = message[0] != '\0' ? message : curl_easy_strerror(code);
    if (code == CURLE_PEER_FAILED_VERIFICATION) {
      return error(StatusCode::invalid_argument, "{}: {}; --insecure trusts any certificate", where, why);
    }
    return error(StatusCode::unavailable, "{}: {}", where, why);
  }
  long status = 0;
  curl_easy_getinfo(easy.get(), CURLINFO_RESPONSE_CODE, &status);
  answer.status = static_cast<int>(status);
  return answer;
}

}  // namespace tessera::loadgen
