#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tessera::doctor {

/// What a PCI configuration space, the file `config` of sysfs, says of a device.
struct ConfigSpace {
  bool complete = false;  // all of it could be read; without rights there are 64 bytes
  bool is_bridge = false;
  int secondary_bus = 0;
  std::optional<unsigned> acs_control;  // of the capability Access Control Services
};
ConfigSpace parse_config_space(std::string_view bytes);

/// The same without what tells this device from another of its kind: only the header, the heads of capabilities and
/// Access Control Services stay; serial numbers and vendors' own data become zeros.
std::string without_serials(std::string_view bytes);

}  // namespace tessera::doctor
