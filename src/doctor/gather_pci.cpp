#include <map>

#include "doctor/config_space.h"
#include "doctor/gather.h"

namespace tessera::doctor {
namespace {

const std::string kDevices = "sys/bus/pci/devices/";

/// "0000:41" of "0000:41:00.0".
std::string bus_of(const std::string& address) { return address.substr(0, address.rfind(':')); }

/// The bus below a bridge, as "0000:41".
std::string bus_below(const std::string& address, int secondary) {
  constexpr const char* kHex = "0123456789abcdef";
  return address.substr(0, address.find(':') + 1) + kHex[secondary >> 4 & 15] + kHex[secondary & 15];
}

bool is_nvidia_gpu(const Tree& tree, const std::string& path, const std::string& kind) {
  return kind.starts_with("0x03") && tree.peek(path + "vendor").value_or("").starts_with("0x10de");
}

PciDevice read_device(const Tree& tree, const std::string& address) {
  const std::string path = kDevices + address + "/";
  PciDevice device;
  device.address = address;
  const auto kind = tree.read(path + "class");
  (void)tree.read(path + "vendor");
  device.is_gpu = is_nvidia_gpu(tree, path, kind.value_or(""));
  const std::string bytes = tree.peek(path + "config").value_or("");
  if (!bytes.empty()) tree.record(path + "config", without_serials(bytes));
  const ConfigSpace space = parse_config_space(bytes);
  device.readable = space.complete;
  device.acs_control = space.acs_control;
  device.width_max = tree.read_number(path + "max_link_width");
  device.numa_node = tree.read_number(path + "numa_node");
  device.iommu_type = tree.read(path + "iommu_group/type").value_or("");
  device.resizable_bar = device.is_gpu && tree.read(path + "resource1_resize").has_value();
  return device;
}

}  // namespace

PciFacts gather_pci(const Tree& tree) {
  std::map<std::string, std::string> bridge_above;  // a bus -> the bridge that it is below
  std::vector<std::string> gpus;
  for (const std::string& address : tree.list(kDevices)) {
    const std::string path = kDevices + address + "/";
    const std::string kind = tree.peek(path + "class").value_or("");
    if (is_nvidia_gpu(tree, path, kind)) gpus.push_back(address);
    if (!kind.starts_with("0x0604")) continue;
    const ConfigSpace space = parse_config_space(tree.peek(path + "config").value_or(""));
    if (space.is_bridge) bridge_above[bus_below(address, space.secondary_bus)] = address;
  }
  std::map<std::string, std::string> parents;  // a device -> the bridge above it
  for (std::string address : gpus) {
    while (!parents.contains(address)) {
      const auto bridge = bridge_above.find(bus_of(address));
      parents[address] = bridge == bridge_above.end() ? "" : bridge->second;
      if (parents[address].empty()) break;
      address = parents[address];
    }
  }
  PciFacts facts;
  for (const auto& [address, parent] : parents) {
    facts.devices.push_back(read_device(tree, address));
    facts.devices.back().parent = parent;
  }
  return facts;
}

}  // namespace tessera::doctor
