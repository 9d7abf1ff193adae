#include "loadgen/record.h"

#include <gtest/gtest.h>

#include "loadgen/server_address.h"

namespace tessera::loadgen {
namespace {

TEST(Repetition, IsTheShareOfSequencesThatWereThere) {
  std::string loop, prose;
  for (int i = 0; i < 50; ++i) {
    loop += "so it goes on ";
    prose.append("word").append(std::to_string(i)).append(" ");
  }
  EXPECT_NEAR(repetition_of(loop), (200 - 3 - 4) / 197.0, 1e-12);  // four sequences are new, once each
  EXPECT_EQ(repetition_of(prose), 0);
  EXPECT_EQ(repetition_of("a a a a a a a a"), 0);  // too short to say
  EXPECT_EQ(repetition_of(""), 0);
  EXPECT_EQ(repetition_of("a a a a a a a a a a a a a a a a a a"), 0);
  EXPECT_NEAR(repetition_of("a a a a a a a a a a a a a a a a a a a"), 15 / 16.0, 1e-12) << "19 words say enough";
}

TEST(Record, TimesOfATokenNeedCounts) {
  Record record;
  EXPECT_FALSE(record.ttft());
  EXPECT_FALSE(record.tpot());
  record.due = 1;
  record.deliveries = {{2, -1}, {4, -1}};
  record.end = 5;
  EXPECT_EQ(record.ttft(), 1);
  EXPECT_FALSE(record.tpot());  // without usage nobody knows how many tokens there were
  record.usage.completion = 4;
  EXPECT_EQ(record.tpot(), 1);
  record.usage.completion = 1;
  EXPECT_FALSE(record.tpot());
  // The first piece's three tokens took none of the time behind it; the last eight, which brought no text, did.
  record.deliveries = {{2, 3}, {4, 7}};
  record.usage.completion = 15;
  EXPECT_EQ(record.tpot(), 0.25);
}

TEST(ServerAddress, FormsThatPeopleGive) {
  for (const char* url :
       {"localhost:8000", "http://localhost:8000", "http://localhost:8000/", "http://localhost:8000/v1",
        "http://localhost:8000/v1/", "http://localhost:8000/v1/chat/completions"}) {
    const auto address = ServerAddress::parse(url);
    ASSERT_TRUE(address.ok()) << url;
    EXPECT_EQ(address->root, "http://localhost:8000") << url;
    EXPECT_EQ(address->api, "http://localhost:8000/v1") << url;
  }
  EXPECT_EQ(ServerAddress::parse("https://h/some/path/v1")->api, "https://h/some/path/v1");
  EXPECT_EQ(ServerAddress::parse("unix:/run/a.sock")->unix_socket, "/run/a.sock");
  EXPECT_EQ(ServerAddress::parse("unix:/run/a.sock")->root, "http://localhost");
  EXPECT_EQ(ServerAddress::parse("unix:/run/a.sock")->api, "http://localhost/v1");
  EXPECT_EQ(ServerAddress::parse("http://h")->unix_socket, "");
  EXPECT_EQ(ServerAddress::parse("unix:///run/a.sock")->unix_socket, "/run/a.sock");
  for (const char* url : {"ftp://host", "unix:", "http://a b", "http://host//"}) {
    EXPECT_FALSE(ServerAddress::parse(url).ok()) << url;
  }
}

}  // namespace
}  // namespace tessera::loadgen
