#pragma once

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <unistd.h>

#include <cstdio>
#include <string>

namespace tessera::server {

/// A private key and a certificate of "localhost" signed by itself, as files; removed in the end.
class Certificate {
 public:
  Certificate() {
    EVP_PKEY* key = EVP_EC_gen("P-256");
    X509* certificate = X509_new();
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate), 0);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
    X509_set_pubkey(certificate, key);
    X509_NAME* name = X509_get_subject_name(certificate);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("localhost"), -1, -1,
                               0);
    X509_set_issuer_name(certificate, name);
    X509_sign(certificate, key, EVP_sha256());
    write(key_file, [&](std::FILE* file) { PEM_write_PrivateKey(file, key, nullptr, nullptr, 0, nullptr, nullptr); });
    write(certificate_file, [&](std::FILE* file) { PEM_write_X509(file, certificate); });
    X509_free(certificate);
    EVP_PKEY_free(key);
  }
  ~Certificate() {
    std::remove(key_file.c_str());
    std::remove(certificate_file.c_str());
  }
  Certificate(const Certificate&) = delete;
  Certificate& operator=(const Certificate&) = delete;

  static std::string path(const char* what) {
    static int count = 0;
    return ::testing::TempDir() + "tessera_tls_" + std::to_string(::getpid()) + "_" + std::to_string(count++) + what;
  }
  std::string key_file = path("_key.pem"), certificate_file = path("_cert.pem");

 private:
  template <typename Write>
  static void write(const std::string& name, Write with) {
    std::FILE* file = std::fopen(name.c_str(), "w");
    with(file);
    std::fclose(file);
  }
};

}  // namespace tessera::server
