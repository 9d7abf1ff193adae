#pragma once

#include "tessera/status.h"

// Passing errors up. Free of fmt, which nvcc cannot parse as C++20, so that .cu files may include it.

/// Returns the Status of `expression` from the enclosing function unless it is ok.
#define TESSERA_RETURN_IF_ERROR(expression)                                                \
  do {                                                                                     \
    if (::tessera::Status status_of_expression = (expression); !status_of_expression.ok()) \
      return status_of_expression;                                                         \
  } while (false)

#define TESSERA_CONCAT_INNER(a, b) a##b
#define TESSERA_CONCAT(a, b) TESSERA_CONCAT_INNER(a, b)

/// TESSERA_ASSIGN_OR_RETURN(auto file, open(path)); declares `file`, or returns open's Status.
#define TESSERA_ASSIGN_OR_RETURN(declaration, expression) \
  TESSERA_ASSIGN_OR_RETURN_INNER(TESSERA_CONCAT(expected_, __LINE__), declaration, expression)
#define TESSERA_ASSIGN_OR_RETURN_INNER(temporary, declaration, expression) \
  auto temporary = (expression);                                           \
  if (!temporary.ok()) return temporary.status();                          \
  declaration = std::move(*temporary)
