// NVML as far as Tessera calls it: one GPU of 300 W that has taken 1e9 J more at each look at its count of energy.

#include <cstring>

namespace {

int open_count = 0;
unsigned long long energy = 0;

}  // namespace

extern "C" {

int nvmlInit_v2() {
  ++open_count;
  return 0;
}

int nvmlShutdown() {
  --open_count;
  return 0;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, void** device) {
  *device = &open_count;
  return std::strcmp(bus_id, "00000000:19:00.0") == 0 ? 0 : 6;  // NVML_ERROR_NOT_FOUND
}

int nvmlDeviceGetClockInfo(void* device, int type, unsigned* megahertz) {
  if (device != &open_count || open_count != 1) return 999;
  if (type != 1 && type != 2) return 2;
  *megahertz = type == 1 ? 1980 : 3201;
  return 0;
}

int nvmlDeviceGetPowerUsage(void*, unsigned* milliwatts) {
  *milliwatts = 300'000;
  return 0;
}

int nvmlDeviceGetTotalEnergyConsumption(void*, unsigned long long* millijoules) {
  energy += 1'000'000'000'000;
  *millijoules = energy;
  return 0;
}
}
