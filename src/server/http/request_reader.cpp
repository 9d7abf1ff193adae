#include "server/http/request_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/beast/http/basic_parser.hpp>
#include <limits>

#include "base/ascii.h"
#include "server/http/http_text.h"

namespace tessera::server {
namespace {

namespace http = boost::beast::http;
using boost::beast::error_code;
using View = boost::beast::string_view;

/// A character of a method's name.
bool is_token_character(char c) {
  if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')) return true;
  return c != '\0' && std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

constexpr size_t kMethodBytesMax = 32;
// Where a request's bytes can be told apart from those of another protocol, they are refused at once.
bool may_begin_request(std::string_view bytes) {
  const size_t end = std::min({bytes.find(' '), bytes.size(), kMethodBytesMax + 1});
  return end <= kMethodBytesMax &&
         std::all_of(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(end), is_token_character);
}

}  // namespace

struct RequestReader::Parser final : http::basic_parser<true> {
  explicit Parser(const Limits& given) : limits(given) {
    header_limit(static_cast<uint32_t>(std::min<size_t>(given.header_bytes, std::numeric_limits<uint32_t>::max())));
    body_limit(given.body_bytes);
  }

  void refuse(int status, std::string message) {
    if (!fault) fault = Fault{.status = status, .message = std::move(message)};
  }

  void on_request_impl(http::verb, View method, View target, int version, error_code& ec) override {
    request.method = std::string(method);
    request.version = version;
    if (!split_target({target.data(), target.size()}, request.path, request.query)) {
      refuse(400, "the request's target is not a path");
      ec = http::error::bad_target;
    }
  }

  void on_field_impl(http::field field, View name, View value, error_code& ec) override {
    if (head_done) return;  // a trailer
    if (request.headers.size() == limits.headers) {
      refuse(431, fmt::format("the request has more than {} headers", limits.headers));
      ec = http::error::header_limit;
      return;
    }
    if (field == http::field::host) ++hosts;
    if (field == http::field::transfer_encoding && !same_text({value.data(), value.size()}, "chunked")) {
      refuse(501, "the only transfer-encoding that is understood is chunked");
      ec = http::error::bad_transfer_encoding;
      return;
    }
    request.headers.emplace_back(lower(std::string(name)), std::string(value));
  }

  void on_header_impl(error_code& ec) override {
    head_done = true;
    request.keep_alive = keep_alive();
    if (request.version == 11 && hosts != 1) {
      refuse(400, fmt::format("the request has {} Host headers, expected 1", hosts));
      ec = http::error::bad_field;
    } else if (request.version == 10 && chunked()) {
      refuse(400, "HTTP/1.0 has no chunks");
      ec = http::error::bad_transfer_encoding;
    }
  }

  void on_body_init_impl(const boost::optional<uint64_t>& /*length*/, error_code& /*ec*/) override {}

  size_t on_body_impl(View bytes, error_code& /*ec*/) override {
    request.body.append(bytes.data(), bytes.size());
    return bytes.size();
  }

  void on_chunk_header_impl(uint64_t /*size*/, View /*extensions*/, error_code& /*ec*/) override {}

  size_t on_chunk_body_impl(uint64_t /*remain*/, View bytes, error_code& ec) override {
    return on_body_impl(bytes, ec);
  }

  void on_finish_impl(error_code& /*ec*/) override {}
  void on_response_impl(int, View, int, error_code&) override {}

  void explain(error_code ec) {
    if (ec == http::error::header_limit) {
      refuse(431, fmt::format("the request's headers are longer than {} bytes", limits.header_bytes));
    } else if (ec == http::error::body_limit) {
      refuse(413, fmt::format("the request's body is longer than {} bytes", limits.body_bytes));
    } else if (ec == http::error::bad_version) {
      refuse(505, "this is a server of HTTP/1.1");
    } else {
      refuse(400, fmt::format("the request is not HTTP/1.1: {}", ec.message()));
    }
  }

  Limits limits;
  HttpRequest request;
  std::optional<Fault> fault;
  bool begun = false, head_done = false;
  size_t head_bytes = 0;  // taken so far
  int hosts = 0;
};

RequestReader::RequestReader(const Limits& limits) : parser_(std::make_unique<Parser>(limits)) {}
RequestReader::~RequestReader() = default;
RequestReader::RequestReader(RequestReader&&) noexcept = default;
RequestReader& RequestReader::operator=(RequestReader&&) noexcept = default;

size_t RequestReader::feed(std::string_view bytes) {
  Parser& p = *parser_;
  size_t skipped = 0;
  if (!p.begun) {
    while (skipped < bytes.size() && (bytes[skipped] == '\r' || bytes[skipped] == '\n')) ++skipped;
    bytes.remove_prefix(skipped);
    if (bytes.empty()) return skipped;
    p.begun = true;
  }
  if (bytes.empty()) return skipped;
  if (p.head_bytes == 0 && !p.head_done && !may_begin_request(bytes)) {
    p.refuse(400, "the request is not HTTP/1.1: it does not begin with a method");
    return skipped;
  }
  // Beast asserts that all of it is there when the first chunk is the last.
  constexpr std::string_view kLastChunk = "0\r\n\r\n";
  if (p.head_done && p.chunked() && bytes.front() == '0' && bytes.size() < kLastChunk.size()) return skipped;
  const bool in_head = !p.head_done;
  p.eager(!in_head);  // else it stops behind the headers
  error_code ec;
  const size_t taken = p.put(boost::asio::const_buffer(bytes.data(), bytes.size()), ec);
  if (ec && ec != http::error::need_more) p.explain(ec);
  if (in_head) {
    p.head_bytes += taken;
    const size_t unread = p.head_done ? 0 : bytes.size() - taken;  // of the head
    if (p.head_bytes + unread > p.limits.header_bytes) p.explain(http::error::header_limit);
  } else if (bytes.size() - taken > p.limits.header_bytes && ec == http::error::need_more) {
    p.refuse(400, "what stands around the body's chunks is too long");
  }
  return skipped + taken;
}

bool RequestReader::begun() const { return parser_->begun; }
bool RequestReader::head_done() const { return parser_->head_done && !parser_->fault; }
bool RequestReader::done() const { return parser_->is_done() && !parser_->fault; }
const std::optional<RequestReader::Fault>& RequestReader::fault() const { return parser_->fault; }
size_t RequestReader::body_bytes() const { return parser_->request.body.size(); }
HttpRequest& RequestReader::request() { return parser_->request; }

bool RequestReader::expects_continue() const {
  return parser_->request.version == 11 && same_text(parser_->request.header("expect"), "100-continue");
}

}  // namespace tessera::server
