#pragma once

#include <fmt/format.h>

#include <string>
#include <type_traits>

namespace tessera::internal {

[[noreturn]] void check_failed(const char* file, int line, const char* text, const std::string& operands);

template <typename A, typename B>
std::string show_operands(const A& a, const B& b) {
  if constexpr (fmt::is_formattable<A>::value && fmt::is_formattable<B>::value) {
    return fmt::format("{} vs {}", a, b);
  } else {
    return "operands cannot be printed";
  }
}

}  // namespace tessera::internal

/// For broken invariants only: prints file, line, the condition and its operands, then aborts.
#define TESSERA_CHECK(condition)                                             \
  do {                                                                       \
    if (!(condition)) [[unlikely]]                                           \
      ::tessera::internal::check_failed(__FILE__, __LINE__, #condition, {}); \
  } while (false)

#define TESSERA_CHECK_OP(a, op, b)                                                             \
  do {                                                                                         \
    const auto& check_a = (a);                                                                 \
    const auto& check_b = (b);                                                                 \
    if (!(check_a op check_b)) [[unlikely]]                                                    \
      ::tessera::internal::check_failed(__FILE__, __LINE__, #a " " #op " " #b,                 \
                                        ::tessera::internal::show_operands(check_a, check_b)); \
  } while (false)

#define TESSERA_CHECK_EQ(a, b) TESSERA_CHECK_OP(a, ==, b)
#define TESSERA_CHECK_NE(a, b) TESSERA_CHECK_OP(a, !=, b)
#define TESSERA_CHECK_LE(a, b) TESSERA_CHECK_OP(a, <=, b)
#define TESSERA_CHECK_LT(a, b) TESSERA_CHECK_OP(a, <, b)
#define TESSERA_CHECK_GE(a, b) TESSERA_CHECK_OP(a, >=, b)
#define TESSERA_CHECK_GT(a, b) TESSERA_CHECK_OP(a, >, b)
