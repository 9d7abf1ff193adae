#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "device/gpu_inventory.h"
#include "device/peer_copy.h"
#include "engine/model_fit.h"
#include "model/inspect.h"

// What is known of a machine, one plain struct an area. Gathered by gather.h, judged by check.h.
namespace tessera::doctor {

using device::Number;

/// A GPU as the driver sees it, and what CUDA and a measurement add.
struct Gpu : device::DriverGpu {
  Number smem_per_block_bytes;  // with opt-in
  Number read_bytes_per_second;
  Number cuda_index;  // N of cuda:N
};

/// "0000:41:00.0" of "00000000:41:00.0": as sysfs writes it.
std::string sysfs_address(std::string pci_bus_id);

struct GpuFacts {
  std::string driver_version;
  int cuda_version = 0;  // that the driver serves: 13000 is 13.0
  int error = 0;         // of NVML; with its text
  std::string error_text;
  std::vector<Gpu> gpus;  // in the order of the bus
  std::vector<device::DriverPair> pairs;
  bool built_with_cuda = false;
  std::string cuda_error;                     // CUDA finds no GPU, or cannot be asked; empty: nothing is wrong
  Number cuda_count;                          // GPUs that CUDA shows to this process
  std::vector<device::PeerCopy> peer_copies;  // counted as in `gpus`; none: not tried
};

/// A GPU or a bridge above one, from its configuration space.
struct PciDevice {
  std::string address;                  // "0000:41:00.0"
  bool is_gpu = false;                  // of NVIDIA
  std::string parent;                   // address of the bridge above; empty: the root complex
  Number width_max;                     // lanes that it has
  Number numa_node;                     // -1: the machine has one, or does not say
  std::string iommu_type;               // of its group: "DMA", "DMA-FQ", "identity"; empty: none
  bool readable = false;                // the whole configuration space, which root alone reads
  std::optional<unsigned> acs_control;  // nullopt: it has no ACS, or cannot be read
  bool resizable_bar = false;           // the card offers sizes of its BAR 1
};

/// ACS: P2P Request Redirect and P2P Completion Redirect.
inline constexpr unsigned kAcsRedirects = 0x4 | 0x8;

struct PciFacts {
  std::vector<PciDevice> devices;  // by address
};

struct HostFacts {
  bool wsl = false;
  std::string machine;  // "x86_64", "aarch64"
  std::string cpu;      // model name; empty: not said
  bool avx2 = false, avx512 = false;
  int cores_online = 0;
  int cores_allowed = 0;            // by the affinity of this process
  std::optional<double> cpu_quota;  // cores' worth of time that the container gives
  bool cpu_quota_v1 = false;
  std::string governor, scaling_driver;
  std::string clock_source;
  Number memory_bytes, memory_available_bytes, container_memory_bytes;
  Number swap_bytes, swap_used_bytes;
  std::string transparent_huge_pages;  // the chosen word
  Number locked_bytes_max;             // nullopt: unlimited
  Number open_files_max;               // the hard limit; nullopt: unlimited
  bool has_limits = false;
  Number shared_memory_bytes;  // of /dev/shm where a size is set
  bool has_shared_memory = false;
  int numa_nodes = 0;
  Number numa_distance_max;
  bool numa_balancing = false;
  Number read_bytes_per_second;  // measured
};

struct EnvironmentFacts {
  std::vector<std::pair<std::string, std::string>> variables;  // those of environment_rules, by name
};

/// A directory that Tessera writes to, or a port that it takes.
struct PlaceFacts {
  std::string cache_directory;
  std::string cache_error;  // empty: it can be written, or made
  Number cache_free_bytes;
  int port = 0;            // 0: not looked at
  std::string port_error;  // empty: it is free
};

struct DiskFacts {
  std::string file_system;  // "ext4", "nfs", ...; empty: not known
  Number free_bytes;
  Number read_bytes_per_second;
  Number checkpoint_bytes;
};

/// Where the model would run, or why not.
struct DeviceFit {
  std::string device;  // "cuda:0", "cpu"
  std::string error;   // empty: it fits
  FitReport report;
};

/// What a decode step would launch on the first GPU.
struct PlannedKernels {
  int64_t launches = 0;
  std::vector<std::string> names;  // each once
  std::string error;               // there is no kernel for something; empty: there is
};

struct ModelFacts {
  std::string name;
  std::string error;  // the checkpoint cannot be opened or is not complete; empty: it can
  std::optional<model::Inspection> inspection;
  std::string text_error;  // tokenizer, template or generation_config.json
  engine::StepBytes step_bytes;
  std::vector<DeviceFit> fits;  // in the order in which they are tried; none: on a recorded tree
  std::optional<PlannedKernels> kernels;
  Number tuned_tiles;        // for this model's experts, on the first GPU
  std::string tuning_error;  // the tuning file is not used
  DiskFacts disk;
};

struct Facts {
  GpuFacts gpu;
  PciFacts pci;
  HostFacts host;
  EnvironmentFacts environment;
  std::optional<PlaceFacts> places;  // of this machine alone
  std::optional<ModelFacts> model;
};

}  // namespace tessera::doctor
