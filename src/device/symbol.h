#pragma once

#include <string>

namespace tessera::device {

/// The name of a function of this program, demangled, from its own symbol table; empty where that was stripped. A
/// kernel's address on the host has the kernel's name.
std::string symbol_at(const void* function);

/// A function's own name, of "void a::(anonymous namespace)::rows<a::Size<4>, true>(a::Args)": "rows<Size<4>, true>",
/// or "rows" without its template arguments.
std::string short_name(std::string symbol, bool with_arguments);

}  // namespace tessera::device
