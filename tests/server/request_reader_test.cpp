#include "server/http/request_reader.h"

#include <gtest/gtest.h>

#include "server/http/http_text.h"

namespace tessera::server {
namespace {

constexpr RequestReader::Limits kLimits{.header_bytes = 1024, .headers = 8, .body_bytes = 64};

/// Feeds `text` in pieces of `piece` bytes; what is left unread goes to `rest`.
RequestReader read(const std::string& text, size_t piece, std::string* rest = nullptr) {
  RequestReader reader(kLimits);
  std::string held;
  for (size_t at = 0; at < text.size(); at += piece) {
    held += text.substr(at, piece);
    for (bool again = true; again && !held.empty() && !reader.done() && !reader.fault();) {
      const bool head = reader.head_done();
      held.erase(0, reader.feed(held));
      again = reader.head_done() != head;  // it stops there once
    }
  }
  if (rest != nullptr) *rest = held;
  return reader;
}

TEST(RequestReader, AnyCutGivesTheSameRequest) {
  const std::string plain =
      "\r\nPOST /a%20b?c=d HTTP/1.1\r\nHost: x\r\nX-Two:  words here \r\nContent-Length: 5\r\n\r\nhello";
  const std::string chunked =
      "POST /a%20b?c=d HTTP/1.1\r\nHost: x\r\nX-Two: words here\r\nTransfer-Encoding: chunked\r\n\r\n"
      "2;x=y\r\nhe\r\n3\r\nllo\r\n0\r\nTrailer: no\r\n\r\n";
  for (const std::string& text : {plain, chunked}) {
    for (size_t piece = 1; piece <= text.size(); ++piece) {
      std::string rest;
      RequestReader reader = read(text + "GET", piece, &rest);
      ASSERT_FALSE(reader.fault()) << reader.fault()->message << " in pieces of " << piece;
      ASSERT_TRUE(reader.done()) << piece;
      EXPECT_EQ(reader.request().method, "POST");
      EXPECT_EQ(reader.request().path, "/a b");
      EXPECT_EQ(reader.request().query, "c=d");
      EXPECT_EQ(reader.request().header("x-two"), "words here");
      EXPECT_EQ(reader.request().header("trailer"), "");
      EXPECT_EQ(reader.request().body, "hello");
      EXPECT_TRUE(reader.request().keep_alive);
      EXPECT_TRUE(rest.ends_with("GET") || rest == "G" || rest == "GE") << rest;
    }
  }
}

TEST(RequestReader, BodiesOfNoChunkInAnyCut) {
  for (const std::string body : {"0\r\n\r\n", "00\r\n\r\n", "0;a=b\r\n\r\n", "0\r\nTrailer: no\r\n\r\n"}) {
    const std::string text = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + body;
    for (size_t piece = 1; piece <= text.size(); ++piece) {
      RequestReader reader = read(text, piece);
      ASSERT_FALSE(reader.fault()) << reader.fault()->message << " in pieces of " << piece;
      ASSERT_TRUE(reader.done()) << body << " in pieces of " << piece;
      EXPECT_EQ(reader.request().body, "");
    }
  }
}

TEST(RequestReader, KeepAlive) {
  EXPECT_FALSE(read("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 99).request().keep_alive);
  EXPECT_FALSE(read("GET / HTTP/1.0\r\n\r\n", 99).request().keep_alive);
  EXPECT_TRUE(read("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", 99).request().keep_alive);
}

TEST(RequestReader, Faults) {
  const std::string host = " HTTP/1.1\r\nHost: x\r\n";
  const std::pair<std::string, int> kFaults[] = {
      {"nonsense\r\n\r\n", 400},
      {"\x16\x03\x01\x02", 400},  // TLS
      {std::string(64, 'A'), 400},
      {"GET  /" + host + "\r\n", 400},
      {"GET x" + host + "\r\n", 400},
      {"GET /%zz" + host + "\r\n", 400},
      {"GET /%00" + host + "\r\n", 400},
      {"GET / HTTP/2.0\r\n\r\n", 505},
      {"GET / HTTP/1.1\r\n\r\n", 400},  // no Host
      {"GET /" + host + "Host: y\r\n\r\n", 400},
      {"GET /" + host + "a b: c\r\n\r\n", 400},
      {"GET /" + host + "a\r\n\r\n", 400},
      {"GET /" + host + "X: " + std::string(2000, 'a') + "\r\n\r\n", 431},
      {"GET /" + std::string(2000, 'a') + host + "\r\n", 431},
      {"GET /" + host + "a: 1\r\nb: 2\r\nc: 3\r\nd: 4\r\ne: 5\r\nf: 6\r\ng: 7\r\nh: 8\r\n\r\n", 431},
      {"POST /" + host + "Content-Length: 65\r\n\r\n", 413},
      {"POST /" + host + "Content-Length: -1\r\n\r\n", 400},
      {"POST /" + host + "Content-Length: 99999999999999999999999\r\n\r\n", 400},
      {"POST /" + host + "Content-Length: 5\r\nContent-Length: 6\r\n\r\n", 400},
      {"POST /" + host + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
      {"POST /" + host + "Transfer-Encoding: gzip\r\n\r\n", 501},
      {"POST /" + host + "Transfer-Encoding: gzip, chunked\r\n\r\n", 501},
      {"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
      {"POST /" + host + "Transfer-Encoding: chunked\r\n\r\nzz\r\n", 400},
      {"POST /" + host + "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n", 400},
      {"POST /" + host + "Transfer-Encoding: chunked\r\n\r\n41\r\n", 413},
      {"POST /" + host + "Transfer-Encoding: chunked\r\n\r\n2;" + std::string(2000, 'a'), 400},
  };
  for (const auto& [text, status] : kFaults) {
    for (const size_t piece : {size_t{1}, size_t{7}, text.size()}) {
      const RequestReader reader = read(text, piece);
      ASSERT_TRUE(reader.fault()) << text.substr(0, 80) << " in pieces of " << piece;
      EXPECT_EQ(reader.fault()->status, status) << text.substr(0, 80) << ": " << reader.fault()->message;
      EXPECT_FALSE(reader.done());
      EXPECT_FALSE(reader.head_done()) << "of what is refused nothing counts";
    }
  }
}

TEST(RequestReader, AsMuchAsMayBe) {
  const std::string host = " / HTTP/1.1\r\nHost: x\r\n";
  const auto padded = [&](size_t head_bytes) {
    std::string text = "GET" + host + "X: ";
    return text + std::string(head_bytes - text.size() - 4, 'a') + "\r\n\r\n";
  };
  for (const size_t piece : {size_t{1}, size_t{7}, size_t{2000}}) {
    EXPECT_TRUE(read("GET" + host + "a: 1\r\nb: 2\r\nc: 3\r\nd: 4\r\ne: 5\r\nf: 6\r\ng: 7\r\n\r\n", piece).done());
    EXPECT_TRUE(read(std::string(32, 'A') + host + "\r\n", piece).done());
    EXPECT_TRUE(read(std::string(33, 'A') + host + "\r\n", piece).fault());
    EXPECT_TRUE(read(padded(kLimits.header_bytes), piece).done()) << piece;
    const RequestReader longer = read(padded(kLimits.header_bytes + 1), piece);
    ASSERT_TRUE(longer.fault()) << piece;
    EXPECT_EQ(longer.fault()->status, 431);
  }
}

TEST(HttpText, TargetsAreSplit) {
  std::string path, query;
  EXPECT_TRUE(split_target("http://host:1/x%2Fy?q", path, query));
  EXPECT_EQ(path, "/x/y");
  EXPECT_EQ(query, "q");
  path.clear();
  EXPECT_TRUE(split_target("http://host", path, query));
  EXPECT_EQ(path, "/");
  path.clear();
  EXPECT_TRUE(split_target("/%41", path, query));
  EXPECT_EQ(path, "/A");
  path.clear();
  EXPECT_TRUE(split_target("/a+b%2Bc", path, query));
  EXPECT_EQ(path, "/a+b+c") << "a space only in queries";
  for (const char* bad :
       {"", "x", "/%", "/%1", "/%0a", "/%7f", "/%1F", "/%4g", "/%g4", "/%4:", "/%:4", "ftp://host/x"}) {
    path.clear();
    EXPECT_FALSE(split_target(bad, path, query)) << bad;
  }
  // What stands behind a target is no part of it.
  path.clear();
  EXPECT_FALSE(split_target(std::string_view("/%41").substr(0, 3), path, query));
}

TEST(HttpText, EveryStatusHasItsReason) {
  for (const int status : {200, 204, 304, 400, 401, 403, 404, 405, 408, 413, 415, 417, 429, 431, 500, 501, 503, 505}) {
    EXPECT_NE(reason_phrase(status), "Unknown") << status;
  }
  EXPECT_EQ(reason_phrase(415), "Unsupported Media Type");
}

TEST(HttpText, Date) { EXPECT_EQ(http_date(784111777), "Sun, 06 Nov 1994 08:49:37 GMT"); }

}  // namespace
}  // namespace tessera::server
