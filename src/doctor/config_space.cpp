#include "doctor/config_space.h"

#include <cstdint>

// PCI Express Base Specification, "PCI-Compatible Configuration Registers" and "PCI Express Extended Capabilities".
namespace tessera::doctor {
namespace {

constexpr size_t kHeaderBytes = 64;
constexpr size_t kHeaderType = 0x0E, kSecondaryBus = 0x19;
constexpr size_t kExtendedBegin = 0x100;
constexpr size_t kAcsControl = 6, kAcsBytes = 8;
constexpr unsigned kAcs = 0x000D;
constexpr size_t kExtendedEnd = 4096;
constexpr int kCapabilitiesMax = (kExtendedEnd - kExtendedBegin) / 8;  // a damaged list may go round in circles

unsigned byte_at(std::string_view bytes, size_t at) {
  return at < bytes.size() ? static_cast<unsigned char>(bytes[at]) : 0;
}
unsigned word_at(std::string_view bytes, size_t at) { return byte_at(bytes, at) | byte_at(bytes, at + 1) << 8; }

/// visit(id, offset) for each extended capability.
template <typename Visit>
void for_each_extended(std::string_view bytes, Visit visit) {
  size_t at = kExtendedBegin;
  for (int i = 0; i < kCapabilitiesMax && at >= kExtendedBegin && at + 4 <= bytes.size(); ++i) {
    const unsigned id = word_at(bytes, at);
    if (id == 0 || id == 0xFFFF) return;
    visit(id, at);
    at = word_at(bytes, at + 2) >> 4;
  }
}

}  // namespace

ConfigSpace parse_config_space(std::string_view bytes) {
  ConfigSpace space;
  space.complete = bytes.size() > kHeaderBytes;
  space.is_bridge = (byte_at(bytes, kHeaderType) & 0x7F) == 1;
  if (space.is_bridge) space.secondary_bus = static_cast<int>(byte_at(bytes, kSecondaryBus));
  for_each_extended(bytes, [&](unsigned id, size_t at) {
    if (id == kAcs && at + kAcsBytes <= bytes.size()) space.acs_control = word_at(bytes, at + kAcsControl);
  });
  return space;
}

std::string without_serials(std::string_view bytes) {
  std::string kept(bytes.substr(0, kHeaderBytes));
  kept.resize(bytes.size());
  const auto keep = [&](size_t at, size_t count) {
    for (size_t i = at; i < at + count && i < bytes.size(); ++i) kept[i] = bytes[i];
  };
  for_each_extended(bytes, [&](unsigned id, size_t at) { keep(at, id == kAcs ? kAcsBytes : 4); });
  return kept;
}

}  // namespace tessera::doctor
