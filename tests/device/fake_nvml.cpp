// NVML as far as Tessera calls it, and not all of that: two GPUs of 300 W, of which the first can be found by its bus
// and has taken 1e9 J more at each look at its count of energy. Between them it counts one that is lost. Another bus
// has one that says nothing of power.

#include <cstring>

namespace {

int open_count = 0, no_power = 0;
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
  const bool other = std::strcmp(bus_id, "00000000:1a:00.0") == 0;
  *device = other ? &no_power : &open_count;
  return other || std::strcmp(bus_id, "00000000:19:00.0") == 0 ? 0 : 6;  // NVML_ERROR_NOT_FOUND
}

int nvmlDeviceGetClockInfo(void* device, int type, unsigned* megahertz) {
  if ((device != &open_count && device != &no_power) || open_count != 1) return 999;
  if (type != 1 && type != 2) return 2;
  *megahertz = type == 1 ? 1980 : 3201;
  return 0;
}

int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatts) {
  *milliwatts = 300'000;
  return device == &no_power ? 3 : 0;  // NVML_ERROR_NOT_SUPPORTED
}

int nvmlDeviceGetTotalEnergyConsumption(void* device, unsigned long long* millijoules) {
  energy += 1'000'000'000'000;
  *millijoules = energy;
  return device == &no_power ? 3 : 0;
}

int nvmlSystemGetDriverVersion(char* text, unsigned bytes) {
  std::strncpy(text, "580.95.05", bytes);
  return 0;
}

int nvmlSystemGetCudaDriverVersion_v2(int* version) {
  *version = 13000;
  return 0;
}

int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 3;
  return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  *device = index == 0 ? static_cast<void*>(&open_count) : &energy;
  return index == 1 ? 15 : 0;  // NVML_ERROR_GPU_IS_LOST
}

const char* nvmlErrorString(int code) { return code == 9 ? "Driver Not Loaded" : "Unknown Error"; }

int nvmlDeviceGetName(void*, char* text, unsigned bytes) {
  std::strncpy(text, "NVIDIA H200", bytes);
  return 0;
}

int nvmlDeviceGetPciInfo_v3(void*, void* info) {
  // nvmlPciInfo_t: 16 bytes, five numbers, then the bus id.
  std::strcpy(static_cast<char*>(info) + 16 + 5 * sizeof(unsigned), "00000000:19:00.0");
  return 0;
}

int nvmlDeviceGetMemoryInfo(void*, unsigned long long* total_free_used) {
  total_free_used[0] = 150'000'000'000;
  total_free_used[1] = 149'999'999'993;
  total_free_used[2] = 7;
  return 0;
}

int nvmlDeviceGetCudaComputeCapability(void*, int* major, int* minor) {
  *major = 9;
  *minor = 0;
  return 0;
}

int nvmlDeviceGetEccMode(void* device, int* current, int* pending) {
  *current = 1;
  *pending = 0;
  return device == &open_count ? 3 : 0;  // NVML_ERROR_NOT_SUPPORTED
}

int nvmlDeviceGetTotalEccErrors(void* device, int type, int counter, unsigned long long* count) {
  *count = type == 1 && counter == 0 ? 41 : 42;  // uncorrected, since the driver was loaded
  return device == &open_count ? 3 : 0;
}

int nvmlDeviceGetMigMode(void*, unsigned* current, unsigned* pending) {
  *current = 0;
  *pending = 1;
  return 0;
}

int nvmlDeviceGetBAR1MemoryInfo(void* device, unsigned long long* total_free_used) {
  total_free_used[0] = 256 << 20;
  total_free_used[1] = 255 << 20;
  total_free_used[2] = 1 << 20;
  return device == &open_count ? 3 : 0;
}

int nvmlDeviceGetUtilizationRates(void*, unsigned* gpu_memory) {
  gpu_memory[0] = 51;
  gpu_memory[1] = 52;
  return 0;
}

int nvmlDeviceGetMaxClockInfo(void*, int type, unsigned* megahertz) {
  *megahertz = type == 1 ? 1981 : 3202;
  return 0;
}

int nvmlDeviceGetTemperature(void*, int sensor, unsigned* celsius) {
  *celsius = 61;
  return sensor == 0 ? 0 : 2;
}

#define ANSWERS(question, answer)         \
  int question(void*, unsigned* number) { \
    *number = answer;                     \
    return 0;                             \
  }
ANSWERS(nvmlDeviceGetCurrPcieLinkGeneration, 3)
ANSWERS(nvmlDeviceGetMaxPcieLinkGeneration, 4)
ANSWERS(nvmlDeviceGetGpuMaxPcieLinkGeneration, 5)
ANSWERS(nvmlDeviceGetCurrPcieLinkWidth, 8)
ANSWERS(nvmlDeviceGetMaxPcieLinkWidth, 16)
ANSWERS(nvmlDeviceGetEnforcedPowerLimit, 400'000)
ANSWERS(nvmlDeviceGetPowerManagementDefaultLimit, 700'000)
ANSWERS(nvmlDeviceGetPersistenceMode, 1)
ANSWERS(nvmlDeviceGetComputeMode, 3)
ANSWERS(nvmlDeviceGetPerformanceState, 8)
#undef ANSWERS

int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* reasons) {
  *reasons = 4;
  return 0;
}

int nvmlDeviceGetNvLinkState(void*, unsigned link, int* active) {
  *active = link != 1 ? 1 : 0;
  return link < 3 ? 0 : 2;  // NVML_ERROR_INVALID_ARGUMENT
}

int nvmlDeviceGetP2PStatus(void* from, void*, int index, int* status) {
  *status = from == &open_count ? 0 : 3;
  return index == 0 ? 0 : 2;
}

int nvmlDeviceGetTopologyCommonAncestor(void*, void*, int* level) {
  *level = 50;
  return 0;
}
}
