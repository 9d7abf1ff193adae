#include "device/symbol.h"

#include <cxxabi.h>
#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <regex>

namespace tessera::device {
namespace {

/// How far the program lies from the addresses in its file.
uintptr_t load_offset() {
  uintptr_t offset = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* program, size_t /*size*/, void* out) {
        *static_cast<uintptr_t*>(out) = program->dlpi_addr;
        return 1;  // the first is the program itself
      },
      &offset);
  return offset;
}

template <typename T>
T read_at(const std::string& bytes, size_t at) {
  T value{};
  if (at + sizeof value <= bytes.size()) std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

/// Mangled names of functions by their addresses in the file.
std::map<uintptr_t, std::string> read_symbols() {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  const auto elf = read_at<Elf64_Ehdr>(bytes, 0);
  const auto section = [&](size_t i) { return read_at<Elf64_Shdr>(bytes, elf.e_shoff + i * sizeof(Elf64_Shdr)); };
  std::map<uintptr_t, std::string> symbols;
  for (size_t i = 0; i < elf.e_shnum; ++i) {
    const Elf64_Shdr table = section(i);
    if (table.sh_type != SHT_SYMTAB) continue;
    const Elf64_Shdr names = section(table.sh_link);
    for (size_t at = 0; at + sizeof(Elf64_Sym) <= table.sh_size; at += sizeof(Elf64_Sym)) {
      const auto symbol = read_at<Elf64_Sym>(bytes, table.sh_offset + at);
      const size_t name = names.sh_offset + symbol.st_name;
      if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && name < bytes.size()) {
        symbols.emplace(symbol.st_value, bytes.c_str() + name);
      }
    }
  }
  return symbols;
}

}  // namespace

std::string symbol_at(const void* function) {
  static const std::map<uintptr_t, std::string> symbols = read_symbols();
  const auto found = symbols.find(reinterpret_cast<uintptr_t>(function) - load_offset());
  if (found == symbols.end()) return {};
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> plain(
      abi::__cxa_demangle(found->second.c_str(), nullptr, nullptr, &status), std::free);
  return plain ? plain.get() : found->second;
}

std::string short_name(std::string symbol, bool with_arguments) {
  static const std::regex anonymous("\\(anonymous namespace\\)::"), scope("[A-Za-z_0-9]+::"), type("^[a-z ]+ ");
  symbol = std::regex_replace(symbol, anonymous, "");
  symbol = std::regex_replace(symbol, scope, "");
  symbol = std::regex_replace(symbol, type, "");
  const size_t name_end = std::min(symbol.find_first_of("<("), symbol.size());
  if (!with_arguments || name_end == symbol.size() || symbol[name_end] == '(') return symbol.substr(0, name_end);
  size_t end = name_end;
  for (int depth = 0; end < symbol.size(); ++end) {
    depth += symbol[end] == '<' ? 1 : symbol[end] == '>' ? -1 : 0;
    if (depth == 0) break;
  }
  return symbol.substr(0, end + 1);
}

}  // namespace tessera::device
