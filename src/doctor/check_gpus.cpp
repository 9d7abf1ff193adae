#include <fmt/format.h>

#include <algorithm>

#include "base/byte_text.h"
#include "device/nvml.h"
#include "doctor/per_gpu.h"
#include "plan/device_facts.h"

namespace tessera::doctor {
namespace {

using device::nvml::kDriverNotLoaded;
using device::nvml::kVersionMismatch;

constexpr int kCudaMin = 13000;  // and a driver of branch 580; GPUs of compute capability 12.0 need 570 at least
constexpr double kOthersShareMax = 0.1;  // --gpu-memory-utilization leaves so much by default

bool has_kernels(const Gpu& gpu) {
  return gpu.compute_major == 12 || (gpu.compute_major == 9 && gpu.compute_minor == 0);
}

Finding driver(const Facts& facts) {
  const GpuFacts& gpu = facts.gpu;
  const bool on_bus = std::ranges::any_of(facts.pci.devices, &PciDevice::is_gpu);
  if (gpu.error == 0 && !gpu.gpus.empty()) {
    return {"gpu-driver", Level::ok,
            fmt::format("driver {}, {} GPU{}: {}", gpu.driver_version, gpu.gpus.size(), gpu.gpus.size() == 1 ? "" : "s",
                        gpu.gpus.front().name),
            ""};
  }
  if (gpu.error == kVersionMismatch) {
    return {"gpu-driver", Level::fail, "the driver's library and its kernel module are of different versions",
            "reboot: the driver was updated while it was loaded"};
  }
  if (!gpu.gpus.empty()) {
    return {"gpu-driver", Level::warn,
            fmt::format("CUDA knows {} GPUs, and NVML does not answer: {}", gpu.gpus.size(), gpu.error_text),
            "install the driver's libnvidia-ml.so.1; until then most of what follows about GPUs is not known"};
  }
  if (!on_bus && facts.host.wsl) {
    return {"gpu-driver", Level::warn, "no NVIDIA GPU can be seen from WSL2: models run on the CPU",
            "install the driver in Windows, none in WSL; wsl --update"};
  }
  if (!on_bus) {
    return {"gpu-driver", Level::warn, "no NVIDIA GPU on the PCI bus: models run on the CPU",
            "nothing, if that is meant; in a container: docker run --gpus all"};
  }
  if (gpu.error == kDriverNotLoaded) {
    return {"gpu-driver", Level::fail, "an NVIDIA GPU is there, and the driver's kernel module is not loaded",
            "sudo modprobe nvidia; sudo dmesg | grep -i nvidia says why not (secure boot, nouveau, no headers)"};
  }
  const std::string why = gpu.error == 0 ? "the driver lists none" : gpu.error_text;
  return {"gpu-driver", Level::fail, fmt::format("an NVIDIA GPU is there, and the driver does not answer: {}", why),
          "install driver 580 or later; in a container: docker run --gpus all"};
}

void driver_version(const GpuFacts& facts, std::vector<Finding>& findings) {
  if (facts.cuda_version == 0) return;
  const std::string version = fmt::format("{}.{}", facts.cuda_version / 1000, facts.cuda_version % 1000 / 10);
  if (facts.cuda_version >= kCudaMin) {
    findings.push_back({"driver-version", Level::ok, fmt::format("the driver serves CUDA {}", version), ""});
    return;
  }
  findings.push_back({"driver-version", Level::fail,
                      fmt::format("driver {} serves CUDA {}, expected 13.0 or later", facts.driver_version, version),
                      "install driver 580 or later, for GPUs of compute capability 12.x its open kernel modules "
                      "(nvidia-driver-580-open)"});
}

void cuda(const Facts& facts, std::vector<Finding>& findings) {
  const GpuFacts& gpu = facts.gpu;
  if (gpu.gpus.empty()) return;
  if (!gpu.built_with_cuda) {
    findings.push_back({"cuda", Level::warn, "this build has no CUDA: models run on the CPU", "scripts/build.sh cuda"});
  } else if (!gpu.cuda_error.empty()) {
    findings.push_back(
        {"cuda", Level::fail, gpu.cuda_error, "unset CUDA_VISIBLE_DEVICES; then see gpu-driver and driver-version"});
  } else if (gpu.cuda_count && *gpu.cuda_count < static_cast<int64_t>(gpu.gpus.size())) {
    findings.push_back({"cuda", Level::warn,
                        fmt::format("this process sees {} of {} GPUs", *gpu.cuda_count, gpu.gpus.size()),
                        "unset CUDA_VISIBLE_DEVICES, if all are wanted"});
  } else {
    findings.push_back({"cuda", Level::ok, "CUDA sees every GPU", ""});
  }
}

std::optional<OfGpu> compute_capability(const Gpu& gpu, const GpuFacts& all) {
  if (!gpu.compute_major || !gpu.compute_minor) return std::nullopt;
  const std::string found = fmt::format("compute capability {}.{}", *gpu.compute_major, *gpu.compute_minor);
  if (has_kernels(gpu)) return OfGpu{Level::ok, found, ""};
  // A card for the screen beside one that computes is no fault.
  return OfGpu{std::ranges::any_of(all.gpus, has_kernels) ? Level::warn : Level::fail,
               found + ", for which there are no kernels",
               "a GPU of 9.0 (H100, H200) or 12.x (RTX PRO Blackwell, RTX 50, DGX Spark); --device cpu until then"};
}

std::optional<OfGpu> shared_memory(const Gpu& gpu) {
  if (!gpu.smem_per_block_bytes || !has_kernels(gpu)) return std::nullopt;
  for (const plan::DeviceFacts& known : plan::known_devices()) {
    if (known.compute_major != gpu.compute_major) continue;
    const std::string found = fmt::format("{} bytes of shared memory a block", *gpu.smem_per_block_bytes);
    if (*gpu.smem_per_block_bytes >= known.smem_per_block_bytes) return OfGpu{Level::ok, found, ""};
    return OfGpu{Level::fail, fmt::format("{}, expected {}", found, known.smem_per_block_bytes),
                 "stop debuggers, profilers and MPS clients that reserve some; `tessera tiles` shows what fits"};
  }
  return std::nullopt;
}

std::optional<OfGpu> memory(const Gpu& gpu) {
  if (!gpu.memory_bytes) return std::nullopt;
  std::string found = format_bytes(static_cast<uint64_t>(*gpu.memory_bytes));
  if (shares_memory(gpu)) found += ", the host's";
  if (gpu.read_bytes_per_second)
    found += fmt::format(", read at {}", rate_text(static_cast<double>(*gpu.read_bytes_per_second)));
  if (!gpu.memory_used_bytes) return OfGpu{Level::ok, found, ""};
  const double used =
      static_cast<double>(*gpu.memory_used_bytes) / static_cast<double>(std::max<int64_t>(*gpu.memory_bytes, 1));
  if (used <= kOthersShareMax) return OfGpu{Level::ok, found, ""};
  return OfGpu{Level::warn, fmt::format("{}, of which {:.0f} % are taken", found, 100 * used),
               "nvidia-smi shows by whom; end them, or give --gpu-memory-utilization and --max-model-len less"};
}

std::optional<OfGpu> ecc(const Gpu& gpu) {
  if (gpu.ecc_errors_uncorrected.value_or(0) > 0) {
    return OfGpu{
        Level::fail, fmt::format("{} uncorrected errors since the driver was loaded", *gpu.ecc_errors_uncorrected),
        "nvidia-smi -q -d ECC,ROW_REMAPPER; reset the GPU (nvidia-smi -r), have it replaced if they come again"};
  }
  if (!gpu.ecc) return std::nullopt;
  if (gpu.ecc_pending && gpu.ecc_pending != gpu.ecc) {
    return OfGpu{Level::warn,
                 fmt::format("ECC is {}, and will be {} after a reboot", *gpu.ecc != 0 ? "on" : "off",
                             *gpu.ecc_pending != 0 ? "on" : "off"),
                 "reboot, or take the change back: nvidia-smi -e 0|1"};
  }
  return OfGpu{Level::ok, *gpu.ecc != 0 ? "ECC is on, no uncorrected error" : "ECC is off", ""};
}

std::optional<OfGpu> bar1(const Gpu& gpu, const Facts& facts) {
  const bool has_none = shares_memory(gpu) || facts.host.wsl || gpu.mig.value_or(0) != 0;
  if (!gpu.bar1_bytes || !gpu.memory_bytes || *gpu.bar1_bytes == 0 || has_none) return std::nullopt;
  const std::string found = fmt::format("BAR 1 of {} MiB", *gpu.bar1_bytes >> 20);
  // What a driver keeps for itself, and ECC, make memory a little smaller than the chips.
  if (*gpu.bar1_bytes >= *gpu.memory_bytes) return OfGpu{Level::ok, found + " shows all of the memory", ""};
  const std::string address = sysfs_address(gpu.pci_bus_id);
  const bool can = std::ranges::any_of(
      facts.pci.devices, [&](const PciDevice& device) { return device.resizable_bar && device.address == address; });
  return OfGpu{Level::warn,
               fmt::format("{} for {} of memory", found, format_bytes(static_cast<uint64_t>(*gpu.memory_bytes))),
               fmt::format("BIOS: Above 4G Decoding and Resizable BAR on{}; without CSM",
                           can ? " (the card offers larger sizes)" : "")};
}

}  // namespace

void check_gpus(const Facts& facts, std::vector<Finding>& findings) {
  findings.push_back(driver(facts));
  driver_version(facts.gpu, findings);
  cuda(facts, findings);
  if (facts.host.wsl) {
    findings.push_back(
        {"wsl2", facts.gpu.gpus.empty() ? Level::ok : Level::warn, "this is WSL2",
         facts.gpu.gpus.empty() ? "" : "for full speed and several GPUs boot Linux; keep models out of /mnt"});
  }
  for_each_gpu("compute-capability", facts.gpu, findings,
               [&](const Gpu& gpu) { return compute_capability(gpu, facts.gpu); });
  for_each_gpu("gpu-shared-memory", facts.gpu, findings, shared_memory);
  for_each_gpu("gpu-memory", facts.gpu, findings, memory);
  for_each_gpu("ecc", facts.gpu, findings, ecc);
  for_each_gpu("bar1", facts.gpu, findings, [&](const Gpu& gpu) { return bar1(gpu, facts); });
  check_gpu_state(facts, findings);
}

}  // namespace tessera::doctor
