#include "device/symbol.h"

#include <gtest/gtest.h>

namespace tessera::device {
namespace {

template <int size, bool wide>
int sized(int x) {
  return x + size + (wide ? 1 : 0);
}

TEST(Symbol, AFunctionOfThisProgramIsFoundByItsAddress) {
  const std::string symbol = symbol_at(reinterpret_cast<const void*>(&sized<4, true>));
  EXPECT_EQ(short_name(symbol, true), "sized<4, true>") << symbol;
  EXPECT_EQ(short_name(symbol, false), "sized");
  EXPECT_EQ(symbol_at(nullptr), "");
}

TEST(Symbol, ShortNamesAreWithoutScopesAndParameters) {
  const std::string rows = "void a::b::(anonymous namespace)::rows<a::Size<4>, (a::Path)1, true>(a::Args<int>, int)";
  EXPECT_EQ(short_name(rows, true), "rows<Size<4>, (Path)1, true>");
  EXPECT_EQ(short_name(rows, false), "rows");
  EXPECT_EQ(short_name("a::plain(a::Args)", true), "plain");
  EXPECT_EQ(short_name("c_function", true), "c_function");
  EXPECT_EQ(short_name("", true), "");
}

}  // namespace
}  // namespace tessera::device
