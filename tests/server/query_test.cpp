#include "server/query.h"

#include <gmock/gmock.h>

#include "server/responses_http.h"

namespace tessera::server {
namespace {

using ::testing::HasSubstr;

std::string message_of(const std::optional<ApiError>& error) { return error ? error->message : ""; }

TEST(Query, TextsAreDecoded) {
  const auto text = [](std::string_view query) {
    std::string out = "none";
    const auto error = read_query_text(query, "a", out);
    return error ? "error" : out;
  };
  EXPECT_EQ(text(""), "none");
  EXPECT_EQ(text("b=1&aa=2"), "none");
  EXPECT_EQ(text("b=1&a=2&c"), "2");
  EXPECT_EQ(text("a=x%20y+z%C3%A9%26"), "x y z\xc3\xa9&");
  EXPECT_EQ(text("%61=1"), "1");
  EXPECT_EQ(text("a"), "");
  EXPECT_EQ(text("a="), "");
  EXPECT_EQ(text("a=b=c"), "b=c");
  EXPECT_EQ(text("&&a=1&"), "1");
  EXPECT_EQ(text("b=%&%zz=%z&a=1"), "1");  // what nobody reads is not looked at
  for (const char* bad : {"a=%", "a=%4", "a=%zz", "a=%00", "a=1&a=1", "a&a=1"}) EXPECT_EQ(text(bad), "error") << bad;
}

TEST(Query, NumbersFlagsAndWords) {
  const auto whole = [](std::string_view query) {
    int64_t out = 7;
    const std::string message = message_of(read_query_whole(query, "n", 1, 20, out));
    return message + std::to_string(out);
  };
  EXPECT_EQ(whole("m=5"), "7");
  EXPECT_EQ(whole("n=20"), "20");
  for (const char* bad : {"n=", "n", "n=0", "n=21", "n=5x", "n=+5", "n=1.5", "n=-1", "n=99999999999999999999"}) {
    EXPECT_THAT(whole(bad), HasSubstr("expected a whole number from 1 to 20")) << bad;
    EXPECT_THAT(whole(bad), ::testing::EndsWith("7")) << bad;
  }
  const auto flag = [](std::string_view query, bool before) {
    bool out = before;
    const std::string message = message_of(read_query_flag(query, "f", out));
    return message + (out ? "yes" : "no");
  };
  EXPECT_EQ(flag("", true), "yes");
  EXPECT_EQ(flag("f=true", false), "yes");
  EXPECT_EQ(flag("f=1", false), "yes");
  EXPECT_EQ(flag("f=false", true), "no");
  EXPECT_EQ(flag("f=0", true), "no");
  EXPECT_THAT(flag("f=yes", false), HasSubstr("f is \"yes\", expected true, false, 1, 0"));
  EXPECT_THAT(flag("f", false), HasSubstr("f is \"\""));
  std::string order = "desc";
  EXPECT_FALSE(read_query_word("order=asc", "order", {"asc", "desc"}, order));
  EXPECT_EQ(order, "asc");
  EXPECT_EQ(read_query_word("order=up", "order", {"asc", "desc"}, order)->param, "order");
  EXPECT_EQ(order, "asc");
}

TEST(Query, OfTheRoutesThatReadOne) {
  const ServedModel served;
  const std::string path = path_of(answer_to(served, kHello));
  const auto answer = [&](const std::string& target) { return ask(served.port(), get(target)); };
  for (const char* fine : {"?beta=true", "/input_items?limit=100", "/input_items?limit=1", "?limit=x&%zz=%",
                           "?stream=false", "?include[]=a&include[]=b", "?"}) {
    EXPECT_EQ(answer(path + fine).status, 200) << fine;
  }
  EXPECT_EQ(answer("/v1/models?limit=-1").status, 200);
  const std::pair<std::string, std::string> bad[] = {{path + "?stream=maybe", "stream"},
                                                     {path + "?stream=true&stream=true", "stream"},
                                                     {path + "?starting_after=-1", "starting_after"},
                                                     {path + "/input_items?order=up", "order"},
                                                     {path + "/input_items?after=%", "after"},
                                                     {path + "/input_items?limit=101", "limit"},
                                                     {path + "/input_items?limit=", "limit"}};
  for (const auto& [target, param] : bad) {
    const RawAnswer refused = answer(target);
    EXPECT_EQ(refused.status, 400) << target;
    EXPECT_EQ(json::parse(refused.body)["error"]["param"], param) << refused.body;
  }
}

}  // namespace
}  // namespace tessera::server
