#include <fmt/format.h>
#include <gmock/gmock.h>
#include <openssl/ssl.h>

#include <csignal>
#include <fstream>

#include "base/wait_until.h"
#include "server/certificate.h"
#include "server/served_model.h"

namespace tessera::server {
namespace {

using ::testing::HasSubstr;

ServerOptions tls_options(const Certificate& certificate) {
  ServerOptions options = test_options();
  options.ssl_certfile = certificate.certificate_file;
  options.ssl_keyfile = certificate.key_file;
  return options;
}

/// TLS over a RawClient's socket.
class TlsClient {
 public:
  explicit TlsClient(uint16_t port) : raw_(port), context_(SSL_CTX_new(TLS_client_method())), ssl_(SSL_new(context_)) {
    std::signal(SIGPIPE, SIG_IGN);  // OpenSSL's writes do not say MSG_NOSIGNAL
    SSL_set_fd(ssl_, raw_.descriptor());
    connected_ = SSL_connect(ssl_) == 1;
  }
  ~TlsClient() {
    SSL_free(ssl_);
    SSL_CTX_free(context_);
  }
  TlsClient(const TlsClient&) = delete;
  TlsClient& operator=(const TlsClient&) = delete;

  [[nodiscard]] bool connected() const { return connected_; }
  /// How many certificates the server has shown.
  [[nodiscard]] int certificates() const { return sk_X509_num(SSL_get_peer_cert_chain(ssl_)); }
  bool send(const std::string& bytes) {  // false once the server has closed
    return SSL_write(ssl_, bytes.data(), static_cast<int>(bytes.size())) > 0;
  }
  /// Everything until `text`, or the end.
  std::string read_until(const std::string& text) {
    std::string all;
    char piece[4096];
    int got = 0;
    while (all.find(text) == std::string::npos && (got = SSL_read(ssl_, piece, sizeof piece)) > 0) {
      all.append(piece, static_cast<size_t>(got));
    }
    clean_ = SSL_get_error(ssl_, got) == SSL_ERROR_ZERO_RETURN;
    return all;
  }
  /// The last read met an orderly end of TLS.
  [[nodiscard]] bool clean() const { return clean_; }
  RawClient& raw() { return raw_; }

 private:
  RawClient raw_;
  SSL_CTX* context_;
  SSL* ssl_;
  bool connected_ = false, clean_ = false;
};

std::string metrics(uint16_t port) {
  TlsClient asks(port);
  asks.send(get("/metrics", "Connection: close\r\n"));
  return asks.read_until("never said");
}

/// Besides the one that asks.
bool has_connections(uint16_t port, int count) {
  return metrics(port).find(fmt::format("tessera:http_connections {}\n", count + 1)) != std::string::npos;
}

TEST(Tls, RequestsStreamsAndAnOrderlyEnd) {
  const Certificate certificate;
  auto server = Server::open(tls_options(certificate));
  ASSERT_TRUE(server.ok()) << server.status().message();
  EXPECT_THAT((*server)->url(), HasSubstr("https://"));
  ASSERT_TRUE((*server)->serve(open_engine()).ok());
  TlsClient client((*server)->port());
  ASSERT_TRUE(client.connected());
  client.send(get("/health"));
  EXPECT_THAT(client.read_until("}"), HasSubstr("\"ok\""));
  client.send(post("/v1/completions", R"({"prompt":"Go","max_tokens":200,"ignore_eos":true,"stream":true})"));
  EXPECT_THAT(client.read_until("0\r\n\r\n"), HasSubstr("[DONE]"));
  client.send(get("/live", "Connection: close\r\n"));
  EXPECT_THAT(client.read_until("never said"), HasSubstr("live"));
  EXPECT_TRUE(client.clean());
}

TEST(Tls, ClientsThatLeaveOrSpeakNoTls) {
  const Certificate certificate;
  ServerOptions options = tls_options(certificate);
  options.limits.handshake_seconds_max = 1;
  auto server = Server::open(options);
  ASSERT_TRUE(server.ok()) << server.status().message();
  ASSERT_TRUE((*server)->serve(open_engine()).ok());
  const uint16_t port = (*server)->port();
  EXPECT_TRUE(RawClient(port).ends());  // says nothing: out of time
  RawClient plain(port);
  plain.send(get("/health"));
  EXPECT_EQ(plain.answer().status, 0);
  for (const bool reset : {false, true}) {
    TlsClient leaves(port);
    leaves.send(post("/v1/completions", R"({"prompt":"Go","max_tokens":3500,"ignore_eos":true,"stream":true,"n":4})"));
    leaves.read_until("data: ");
    reset ? leaves.raw().reset() : leaves.raw().close();
  }
  std::string last;
  for (int i = 0; i < 3000; ++i) {
    last = metrics(port);
    if (last.find("tessera:kv_blocks_used{model_name=\"tiny\"} 0\n") != std::string::npos &&
        last.find("tessera:http_connections 1\n") != std::string::npos) {
      return;
    }
  }
  FAIL() << last;
}

const std::string kTooLong = "POST /tokenize HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000000\r\n\r\n";

TEST(Tls, AnEndIsSaidAtOnceAndWaitedForOnBothSides) {
  const Certificate certificate;
  ServerOptions options = tls_options(certificate);
  options.limits.linger_seconds_max = 3600;
  const ServedModel served(options);
  {
    TlsClient refused(served.port());
    refused.send(kTooLong);
    for (int i = 0; i < 500; ++i) ASSERT_TRUE(refused.send(std::string(10'000, 'x'))) << "it is heard out";
    EXPECT_THAT(refused.read_until("}}"), HasSubstr(" 413 "));
    TlsClient closed(served.port());
    closed.send(get("/live", "Connection: close\r\n"));
    EXPECT_THAT(closed.read_until("never said"), HasSubstr("live"));
    EXPECT_TRUE(closed.clean());
    EXPECT_TRUE(test::wait_until([&] { return has_connections(served.port(), 2); }));
  }
  EXPECT_TRUE(test::wait_until([&] { return has_connections(served.port(), 0); }));
}

TEST(Tls, WhoNeverClosesIsClosedTo) {
  const Certificate certificate;
  ServerOptions options = tls_options(certificate);
  options.limits.linger_seconds_max = 1;
  const ServedModel served(options);
  TlsClient refused(served.port()), closed(served.port());
  refused.send(kTooLong);
  closed.send(get("/live", "Connection: close\r\n"));
  EXPECT_THAT(closed.read_until("never said"), HasSubstr("live"));
  EXPECT_THAT(refused.read_until("never said"), HasSubstr(" 413 "));
  EXPECT_TRUE(refused.clean());
  EXPECT_TRUE(test::wait_until([&] { return has_connections(served.port(), 0); }));
}

/// As other servers take it: a certificate's file may hold those that lead to its root, and its key, as well.
TEST(Tls, OneFileMayHoldAll) {
  const Certificate certificate, intermediate;
  std::ofstream(certificate.certificate_file, std::ios::app)
      << std::ifstream(intermediate.certificate_file).rdbuf() << std::ifstream(certificate.key_file).rdbuf();
  ServerOptions options = tls_options(certificate);
  options.ssl_keyfile.clear();
  auto server = Server::open(options);
  ASSERT_TRUE(server.ok()) << server.status().message();
  ASSERT_TRUE((*server)->serve(open_engine()).ok());
  TlsClient client((*server)->port());
  ASSERT_TRUE(client.connected());
  EXPECT_EQ(client.certificates(), 2);
  client.send(get("/live", "Connection: close\r\n"));
  EXPECT_THAT(client.read_until("never said"), HasSubstr("live"));
}

TEST(Tls, FilesThatDoNotFit) {
  const Certificate one, other;
  ServerOptions options = tls_options(one);
  options.ssl_keyfile = other.key_file;
  auto server = Server::open(options);
  ASSERT_FALSE(server.ok());
  EXPECT_THAT(server.status().message(), HasSubstr(other.key_file));
  options.ssl_certfile = "/nonexistent.pem";
  EXPECT_FALSE(Server::open(options).ok());
  options.ssl_certfile.clear();
  EXPECT_FALSE(Server::open(options).ok());
}

}  // namespace
}  // namespace tessera::server
