// Bytes of a connection, as they come from a client. Cut into pieces or not, they make the same requests, within the
// limits, and what is refused has a status and a reason. (When it is refused depends on the cut: in pieces, a bad line
// may be looked at once the headers are there.)
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "server/http/request_reader.h"

namespace {

using namespace tessera::server;

// Above the size of any input: what a buffer may hold depends on the cut.
constexpr RequestReader::Limits kLimits{.header_bytes = 65536, .headers = 12, .body_bytes = 100};

void require(bool condition) {
  if (!condition) std::abort();
}

struct Outcome {
  std::vector<HttpRequest> requests;
  bool operator==(const Outcome& other) const {
    if (requests.size() != other.requests.size()) return false;
    for (size_t i = 0; i < requests.size(); ++i) {
      const HttpRequest &a = requests[i], &b = other.requests[i];
      if (a.method != b.method || a.path != b.path || a.query != b.query || a.version != b.version ||
          a.keep_alive != b.keep_alive || a.headers != b.headers || a.body != b.body) {
        return false;
      }
    }
    return true;
  }
};

void check(const HttpRequest& request) {
  require(!request.method.empty() && !request.path.empty());
  require(request.path.front() == '/' || request.path == "*");
  require(request.headers.size() <= kLimits.headers && request.body.size() <= kLimits.body_bytes);
  for (const char c : request.path) require(static_cast<unsigned char>(c) >= 0x20);
  for (const auto& [name, value] : request.headers) {
    require(!name.empty() && value.find_first_of("\r\n") == std::string::npos);
  }
}

/// Reads pipelined requests as a connection does, `step` bytes at a time.
Outcome read(std::string_view bytes, size_t step) {
  Outcome outcome;
  RequestReader reader(kLimits);
  std::string held;
  for (size_t at = 0; at < bytes.size(); at += step) {
    held += bytes.substr(at, step);
    for (size_t before = held.size() + 1; !held.empty() && before != held.size();) {
      before = held.size();
      const bool head = reader.head_done();
      const size_t taken = reader.feed(held);
      require(taken <= held.size());
      held.erase(0, taken);
      if (reader.fault()) {
        require(reader.fault()->status >= 400 && reader.fault()->status < 600 && !reader.fault()->message.empty());
        return outcome;
      }
      if (reader.done()) {
        check(reader.request());
        outcome.requests.push_back(std::move(reader.request()));
        reader = RequestReader(kLimits);
      } else if (reader.head_done() != head) {
        before = held.size() + 1;  // it stops there once
      }
    }
  }
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1 || size > 60'000) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Outcome whole = read(bytes, bytes.size());
  require(read(bytes, 1) == whole);
  require(read(bytes, 1 + data[0]) == whole);
  return 0;
}
