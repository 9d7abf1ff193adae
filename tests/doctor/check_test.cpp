#include "doctor/check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>

#include "device/nvml.h"
#include "doctor/environment.h"
#include "doctor/machines.h"

namespace tessera::doctor {
namespace {

using device::PeerCopy;

/// One thing that is wrong with a machine that is well otherwise.
struct Fault {
  const char* name;
  const char* check;
  Level level;
  std::function<void(Facts&)> make;
  const char* found = "";  // a part of the finding
  const char* mend = "";   // a part of what mends it
};

Gpu& gpu(Facts& facts) { return facts.gpu.gpus.front(); }
PciDevice& port(Facts& facts) { return facts.pci.devices[2]; }
model::Inspection& inspection(Facts& facts) { return *facts.model->inspection; }
void set(Facts& facts, const char* name, const char* value) { facts.environment.variables = {{name, value}}; }
void no_gpu(Facts& facts) {
  facts.gpu = {};
  facts.gpu.error = device::nvml::kNoLibrary;
}

const std::vector<Fault>& faults() {
  using enum Level;
  static const std::vector<Fault> all = {
      {"NoGpu", "gpu-driver", warn,
       [](Facts& f) {
         no_gpu(f);
         f.pci = {};
       },
       "no NVIDIA GPU", "--gpus all"},
      {"NoDriver", "gpu-driver", fail,
       [](Facts& f) {
         no_gpu(f);
         f.gpu.error = device::nvml::kDriverNotLoaded;
       },
       "not loaded", "modprobe"},
      {"NoLibrary", "gpu-driver", fail, [](Facts& f) { no_gpu(f); }, "does not answer", "580"},
      {"LibraryOfAnotherVersion", "gpu-driver", fail,
       [](Facts& f) {
         no_gpu(f);
         f.gpu.error = device::nvml::kVersionMismatch;
       },
       "", "reboot"},
      {"NoNvml", "gpu-driver", warn, [](Facts& f) { f.gpu.error = device::nvml::kNoLibrary; }, "NVML"},
      {"Wsl2WithoutGpu", "gpu-driver", warn,
       [](Facts& f) {
         no_gpu(f);
         f.pci = {};
         f.host.wsl = true;
       },
       "WSL2", "in Windows"},
      {"OldDriver", "driver-version", fail, [](Facts& f) { f.gpu.cuda_version = 12080; }, "CUDA 12.8, expected", "580"},
      {"BuiltWithoutCuda", "cuda", warn, [](Facts& f) { f.gpu.built_with_cuda = false; }, "no CUDA",
       "scripts/build.sh cuda"},
      {"CudaFails", "cuda", fail, [](Facts& f) { f.gpu.cuda_error = "no NVIDIA GPU can be used"; }, "no NVIDIA GPU"},
      {"HiddenGpu", "cuda", warn, [](Facts& f) { f.gpu.cuda_count = 1; }, "1 of 2"},
      {"Wsl2", "wsl2", warn, [](Facts& f) { f.host.wsl = true; }, "WSL2"},
      {"OldGpuBesides", "compute-capability", warn, [](Facts& f) { gpu(f).compute_major = 8; },
       "GPU 0: compute capability 8.0"},
      {"OldGpusAlone", "compute-capability", fail,
       [](Facts& f) { gpu(f).compute_major = f.gpu.gpus[1].compute_major = 10; }, "GPUs 0-1: compute capability 10.0"},
      {"NewerGpuBesides", "compute-capability", warn, [](Facts& f) { gpu(f).compute_major = 13; },
       "GPU 0: compute capability 13.0"},
      {"LessSharedMemory", "gpu-shared-memory", fail, [](Facts& f) { gpu(f).smem_per_block_bytes = 101'375; },
       "expected 101376"},
      {"MemoryTaken", "gpu-memory", warn, [](Facts& f) { gpu(f).memory_used_bytes = 51'000'000'000; }, "50 % are taken",
       "nvidia-smi"},
      {"EccError", "ecc", fail, [](Facts& f) { gpu(f).ecc_errors_uncorrected = 1; }, "1 uncorrected"},
      {"EccPending", "ecc", warn, [](Facts& f) { gpu(f).ecc_pending = 0; }, "will be off", "reboot"},
      {"EccPendingOn", "ecc", warn, [](Facts& f) { gpu(f).ecc = 0; }, "ECC is off, and will be on", "reboot"},
      {"SmallBar", "bar1", warn, [](Facts& f) { gpu(f).bar1_bytes = 256 << 20; }, "256 MiB", "Resizable BAR"},
      {"EightLanes", "pcie-link", warn, [](Facts& f) { gpu(f).pcie_width = 8; },
       "generation 5 x8, and the card has x16"},
      {"SlotOfEightLanes", "pcie-link", warn, [](Facts& f) { gpu(f).pcie_width = gpu(f).pcie_width_max = 8; },
       "the card has x16"},
      {"OldSlot", "pcie-link", warn, [](Facts& f) { gpu(f).pcie_generation_max = 4; }, "the card has generation 5"},
      {"SlowWhileItWorks", "pcie-link", warn, [](Facts& f) { gpu(f).busy_percent = 90; },
       "at generation 1 while it works"},
      {"SlowAtAFifth", "pcie-link", warn, [](Facts& f) { gpu(f).busy_percent = 20; }, "at generation 1 while it works"},
      {"LessPower", "power-limit", warn, [](Facts& f) { gpu(f).power_limit_milliwatts = 400'000; },
       "400 W, by default 600", "-pl 600"},
      {"Heat", "clocks", warn, [](Facts& f) { gpu(f).throttle_reasons = 0x40; }, "heat"},
      {"HeatBySoftware", "clocks", warn, [](Facts& f) { gpu(f).throttle_reasons = 0x20; }, "heat"},
      {"Brake", "clocks", warn, [](Facts& f) { gpu(f).throttle_reasons = 0x80; }, "brake"},
      {"Slowdown", "clocks", warn, [](Facts& f) { gpu(f).throttle_reasons = 0x8; }, "hardware"},
      {"FixedClocks", "clocks", warn, [](Facts& f) { gpu(f).throttle_reasons = 0x2; }, "somebody has set", "-rgc"},
      {"NoPersistence", "persistence", warn, [](Facts& f) { gpu(f).persistence = 0; }, "off", "nvidia-persistenced"},
      {"Mig", "mig", warn, [](Facts& f) { gpu(f).mig = 1; }, "on", "-mig 0"},
      {"Prohibited", "compute-mode", fail, [](Facts& f) { gpu(f).compute_mode = 2; }, "prohibited"},
      {"Exclusive", "compute-mode", warn, [](Facts& f) { gpu(f).compute_mode = 3; }, "exclusive"},
      {"TwoKinds", "mixed-gpus", warn, [](Facts& f) { gpu(f).name = "NVIDIA GeForce RTX 5090"; }, "RTX 5090",
       "PCI_BUS_ID"},
      {"NoP2p", "p2p", warn, [](Facts& f) { f.gpu.pairs[0].p2p_read = 2; },
       "pairs 0-1 cannot read each other's memory: the GPU"},
      {"NoP2pForNoReason", "p2p", warn, [](Facts& f) { f.gpu.pairs[0].p2p_read = 6; }, "does not say why"},
      {"NoP2pForAnotherReason", "p2p", warn, [](Facts& f) { f.gpu.pairs[0].p2p_read = 99; }, "does not say why"},
      {"OtherData", "p2p-copy", fail, [](Facts& f) { f.gpu.peer_copies[1].result = PeerCopy::Result::differs; }, "1-0",
       "ACS"},
      {"CopyHangs", "p2p-copy", fail, [](Facts& f) { f.gpu.peer_copies[1].result = PeerCopy::Result::hangs; },
       "never arrived"},
      {"CopyFails", "p2p-copy", warn,
       [](Facts& f) {
         f.gpu.peer_copies[1].result = PeerCopy::Result::failed;
         f.gpu.peer_copies[1].error = "cudaMalloc";
       },
       "cudaMalloc"},
      {"RequestRedirect", "acs", warn, [](Facts& f) { port(f).acs_control = 0x4; }, "0000:02:00.0",
       "setpci -s $p ECAP_ACS+6.w=0000"},
      {"RedirectOfASwitchAboveASwitch", "acs", warn, [](Facts& f) { f.pci.devices[1].acs_control = 0x4; },
       "0000:01:00.0", "for p in 0000:01:00.0;"},
      {"CompletionRedirect", "acs", warn, [](Facts& f) { port(f).acs_control = 0x8; }, "0000:02:00.0"},
      {"AcsUnreadable", "acs", warn,
       [](Facts& f) {
         port(f).readable = false;
         port(f).acs_control = {};
       },
       "64 bytes", "sudo"},
      {"IommuTranslates", "iommu", warn, [](Facts& f) { f.pci.devices.back().iommu_type = "DMA-FQ"; }, "DMA-FQ",
       "iommu=pt"},
      {"TwoSockets", "gpu-numa", warn,
       [](Facts& f) {
         f.pci.devices.back().numa_node = 1;
         gpu(f).nvlinks = 0;
         f.gpu.gpus[1].nvlinks = 0;
       },
       "2 NUMA nodes"},
      {"SocketsByTopologyAlone", "gpu-numa", warn,
       [](Facts& f) {
         for (auto& pair : f.gpu.pairs) pair.topology = device::kTopologySystem;
         for (Gpu& each : f.gpu.gpus) each.nvlinks = 0;
       },
       "2 NUMA nodes"},
      {"LinkDown", "nvlink", warn, [](Facts& f) { gpu(f).nvlinks = 3; }, "4 links up on one GPU, 3 on another"},
      {"FewCores", "cpu-cores", warn, [](Facts& f) { f.host.cores_allowed = 2; }, "2 of 64 cores"},
      {"NoVectors", "cpu-instructions", warn, [](Facts& f) { f.host.avx2 = f.host.avx512 = false; }, "neither", "host"},
      {"Powersave", "cpu-governor", warn, [](Facts& f) { f.host.governor = "powersave"; }, "powersave", "cpupower"},
      {"LittleMemory", "memory", warn, [](Facts& f) { f.host.memory_available_bytes = 1'000'000'000; },
       "1.00 GB available"},
      {"SlowMemory", "memory-bandwidth", warn, [](Facts& f) { f.host.read_bytes_per_second = 9'000'000'000; },
       "9.0 GB/s"},
      {"Swapping", "swap", warn, [](Facts& f) { f.host.swap_used_bytes = 4'000'000'000; }, "4.00 GB in use"},
      {"NoHugePages", "huge-pages", warn, [](Facts& f) { f.host.transparent_huge_pages = "never"; }, "never",
       "madvise"},
      {"LittleLockedMemory", "locked-memory", warn, [](Facts& f) { f.host.locked_bytes_max = 65'536; }, "65.5 kB",
       "memlock"},
      {"FewFiles", "open-files", warn, [](Facts& f) { f.host.open_files_max = 1024; }, "1024", "nofile"},
      {"LittleSharedMemory", "shared-memory", warn, [](Facts& f) { f.host.shared_memory_bytes = 64 << 20; }, "67.1 MB",
       "--shm-size"},
      {"SmallQuota", "container-limits", warn, [](Facts& f) { f.host.cpu_quota = 2.5; }, "2.5 cores", "--cpus 4"},
      {"QuotaOfVersion1", "container-limits", warn, [](Facts& f) { f.host.cpu_quota_v1 = true; }, "32 cores",
       "--threads 32"},
      {"QuotaOfVersion1InParts", "container-limits", warn,
       [](Facts& f) {
         f.host.cpu_quota = 5.5;
         f.host.cpu_quota_v1 = true;
       },
       "5.5 cores", "--threads 5 "},
      {"QuotaOfVersion1OfHalfACore", "container-limits", warn,
       [](Facts& f) {
         f.host.cpu_quota = 0.5;
         f.host.cpu_quota_v1 = true;
       },
       "0.5 cores", "--threads 1 "},
      {"SlowClock", "clock-source", warn, [](Facts& f) { f.host.clock_source = "hpet"; }, "hpet", "tsc"},
      {"SlowClockOfThePowerManagement", "clock-source", warn, [](Facts& f) { f.host.clock_source = "acpi_pm"; },
       "acpi_pm", "tsc"},
      {"NumaBalancing", "numa", warn, [](Facts& f) { f.host.numa_balancing = true; }, "balancing on",
       "numa_balancing=0"},
      {"AllGpusHidden", "environment", warn, [](Facts& f) { set(f, "CUDA_VISIBLE_DEVICES", ""); }, "hides every GPU",
       "unset"},
      {"AllGpusHiddenByANumber", "environment", warn, [](Facts& f) { set(f, "CUDA_VISIBLE_DEVICES", "-1"); },
       "hides every GPU", "unset"},
      {"LaunchBlocking", "environment", warn, [](Facts& f) { set(f, "CUDA_LAUNCH_BLOCKING", "1"); },
       "waits for each kernel", "unset"},
      {"OmpThreads", "environment-unused", warn, [](Facts& f) { set(f, "OMP_NUM_THREADS", "set"); }, "no effect",
       "--threads"},
      {"PortTaken", "port", warn, [](Facts& f) { f.places->port_error = "Address already in use"; }, "8000: Address",
       "--port"},
      {"CacheReadOnly", "cache-directory", warn, [](Facts& f) { f.places->cache_error = "Permission denied"; },
       "Permission"},
      {"CacheFull", "cache-directory", warn, [](Facts& f) { f.places->cache_free_bytes = 1000; }, "1.00 kB free"},
      {"NotComplete", "model-files", fail, [](Facts& f) { f.model->error = "no tensor"; }, "no tensor", "hf download"},
      {"BadTokenizer", "model-text", fail, [](Facts& f) { f.model->text_error = "tokenizer.json: bad"; }, "bad"},
      {"NoTokenizer", "model-text", warn, [](Facts& f) { inspection(f).has_tokenizer = false; }, "no tokenizer.json"},
      {"SlowDisk", "model-disk", warn, [](Facts& f) { f.model->disk.read_bytes_per_second = 100'000'000; }, "200 s",
       "NVMe"},
      {"RemoteDisk", "model-disk", warn,
       [](Facts& f) {
         f.model->disk.read_bytes_per_second = {};
         f.model->disk.file_system = "9p";
       },
       "(9p)", "/mnt"},
      {"DiskOfAServer", "model-disk", warn,
       [](Facts& f) {
         f.model->disk.read_bytes_per_second = {};
         f.model->disk.file_system = "nfs";
       },
       "(nfs)"},
      {"DiskOfAWindowsServer", "model-disk", warn,
       [](Facts& f) {
         f.model->disk.read_bytes_per_second = {};
         f.model->disk.file_system = "cifs";
       },
       "(cifs)"},
      {"DiskOfAProgram", "model-disk", warn,
       [](Facts& f) {
         f.model->disk.read_bytes_per_second = {};
         f.model->disk.file_system = "fuse";
       },
       "(fuse)", "/mnt"},
      {"FullDisk", "model-space", warn, [](Facts& f) { f.model->disk.free_bytes = 1'000'000'000; }, "1.00 GB free"},
      {"Fp32Weights", "model-formats", warn, [](Facts& f) { inspection(f).parts[0].format = "F32"; }, "F32",
       "quantize"},
      {"NotOnGpu", "model-fit", warn,
       [](Facts& f) {
         f.model->fits[0].error = "too large";
         f.model->fits.push_back({"cpu", {}, {}});
       },
       "not on cuda:0: too large"},
      {"Nowhere", "model-fit", fail, [](Facts& f) { f.model->fits[0].error = "too large"; }, "too large",
       "--max-model-len"},
      {"TooLargeForARecordedGpu", "model-fit", warn,
       [](Facts& f) {
         f.model->fits.clear();
         inspection(f).parts.front().bytes = 100'000'000'000;
       },
       "100 GB of weights"},
      {"NoKernel", "model-kernels", fail, [](Facts& f) { f.model->kernels->error = "no kernel for FP6"; }, "FP6"},
      {"FourBitActivations", "model-kernels", warn,
       [](Facts& f) { inspection(f).quantization.activations_4bit = true; }, "16 bits"},
      {"BadTuning", "model-kernels", warn, [](Facts& f) { f.model->tuning_error = "checksum"; }, "checksum",
       "tessera tune"},
      {"SlowerThanReading", "expected-speed", warn, [](Facts& f) { f.model->step_bytes.weights.fixed_bytes = 1e12; },
       "1.6 at 1"},
  };
  return all;
}

TEST(Check, AHealthyMachineHasNothingToMend) {
  const auto findings = check(healthy());
  EXPECT_EQ(worst(findings), Level::ok) << text_of(findings);
  std::set<std::string_view> seen;
  for (const Finding& finding : findings) seen.insert(finding.check);
  for (const Check& known : checks()) {
    EXPECT_TRUE(seen.contains(known.name) || known.name == "wsl2") << known.name << " looks at nothing";
  }
}

TEST(Check, EachFaultIsFoundAndNoOther) {
  for (const Fault& fault : faults()) {
    Facts facts = healthy();
    fault.make(facts);
    const auto findings = check(facts);
    bool found = false;
    for (const Finding& finding : findings) {
      if (finding.level == Level::ok) continue;
      found |= finding.check == fault.check && finding.level == fault.level &&
               finding.found.find(fault.found) != std::string::npos &&
               finding.mend.find(fault.mend) != std::string::npos;
      EXPECT_EQ(finding.check, fault.check) << fault.name << " is also: " << finding.found;
      EXPECT_FALSE(finding.mend.empty()) << fault.name;
    }
    EXPECT_TRUE(found) << fault.name << " is not found in\n" << text_of(findings);
  }
}

TEST(Check, FindingsAreInTheOrderOfTheChecks) {
  std::vector<std::string_view> order, found;
  for (const Check& known : checks()) order.push_back(known.name);
  Facts facts = healthy();
  facts.environment.variables.emplace_back("OMP_NUM_THREADS", "set");  // has no effect, and another one has
  for (const Finding& finding : check(facts)) found.push_back(finding.check);
  const auto place = [&](std::string_view name) { return std::ranges::find(order, name); };
  EXPECT_TRUE(std::ranges::is_sorted(found, {}, place)) << text_of(check(facts));
}

TEST(Check, EveryCheckHasAFault) {
  std::set<std::string_view> faulted;
  for (const Fault& fault : faults()) faulted.insert(fault.check);
  for (const Check& known : checks()) EXPECT_TRUE(faulted.contains(known.name)) << known.name;
}

TEST(Check, EveryCheckHasItsPlaceInTheDocument) {
  std::ifstream file(TESSERA_SOURCE_DIR "/docs/doctor.md");
  std::stringstream text;
  text << file.rdbuf();
  for (const Check& known : checks()) {
    EXPECT_NE(text.str().find("\n### " + std::string(known.name) + "\n"), std::string::npos) << known.name;
  }
}

/// What looks like a fault and is none.
TEST(Check, WhatIsFineIsNotWarnedOf) {
  const std::pair<const char*, void (*)(Facts&)> kFine[] = {
      {"a limit that was raised", [](Facts& f) { gpu(f).power_limit_milliwatts = 650'000; }},
      {"at its power limit", [](Facts& f) { gpu(f).throttle_reasons = 0x4; }},
      {"the clock of a virtual machine", [](Facts& f) { f.host.clock_source = "kvm-clock"; }},
      {"a bridge in a group that translates", [](Facts& f) { f.pci.devices.front().iommu_type = "DMA"; }},
      {"a remote disk that is fast", [](Facts& f) { f.model->disk.file_system = "nfs"; }},
      {"redirects of a root port", [](Facts& f) { f.pci.devices.front().acs_control = kAcsRedirects; }},
      {"a GPU of a node that the kernel does not know",
       [](Facts& f) {
         f.pci.devices.back().numa_node = -1;
         for (Gpu& each : f.gpu.gpus) each.nvlinks = 0;
       }},
      {"a link that may rest, as the GPU may",
       [](Facts& f) {
         for (Gpu& each : f.gpu.gpus) each.busy_percent.reset();
       }},
      {"a variable that is switched off", [](Facts& f) { set(f, "CUDA_LAUNCH_BLOCKING", "0"); }},
      {"a governor of pstate drivers, which is fast",
       [](Facts& f) {
         f.host.governor = "powersave";
         f.host.scaling_driver = "amd-pstate-epp";
       }},
      {"GPUs of two kinds that are counted by their bus",
       [](Facts& f) {
         gpu(f).name = "NVIDIA GeForce RTX 5090";
         set(f, "CUDA_DEVICE_ORDER", "PCI_BUS_ID");
       }},
      {"no swap", [](Facts& f) { f.host.swap_bytes = 0; }},
      {"a quota that takes nothing", [](Facts& f) {
         f.host.cpu_quota = 64;
         f.host.cpu_quota_v1 = true;
       }}};
  for (const auto& [name, make] : kFine) {
    Facts facts = healthy();
    make(facts);
    EXPECT_EQ(worst(check(facts)), Level::ok) << name << "\n" << text_of(check(facts));
  }
}

TEST(Check, ACardOffersLargerSizesOfItsOwnBar) {
  Facts facts = healthy();
  gpu(facts).bar1_bytes = 256 << 20;
  facts.pci.devices[5].resizable_bar = true;
  EXPECT_EQ(find(check(facts), "bar1")->mend.find("offers"), std::string::npos);
  facts.pci.devices[4].resizable_bar = true;
  EXPECT_NE(find(check(facts), "bar1")->mend.find("offers"), std::string::npos);
}

/// Without a driver nobody says which GPUs of the bus are this machine's: all are taken to be.
TEST(Check, LinksOfGpusWithoutADriver) {
  Facts facts = healthy();
  no_gpu(facts);
  facts.pci.devices.back().iommu_type = "DMA";
  ASSERT_NE(find(check(facts), "iommu"), nullptr);
  EXPECT_EQ(find(check(facts), "iommu")->level, Level::warn);
}

TEST(Check, NvlinkJoinsSockets) {
  Facts facts = healthy();
  facts.pci.devices.back().numa_node = 1;
  EXPECT_EQ(worst(check(facts)), Level::ok);
  gpu(facts).nvlinks = 0;
  EXPECT_EQ(find(check(facts), "gpu-numa")->level, Level::warn) << "but not those that have none";
}

TEST(Check, OfCopiesTheSlowestIsTold) {
  for (const size_t slow : {0U, 1U}) {
    Facts facts = healthy();
    facts.gpu.peer_copies[slow].bytes_per_second = 7e9;
    EXPECT_NE(text_of(check(facts)).find("the slowest at 7.0 GB/s"), std::string::npos) << text_of(check(facts));
  }
}

/// Cards of one machine may have unlike numbers of lanes: each is judged by its own.
TEST(Check, ACardIsNotJudgedByTheLanesOfAnother) {
  Facts facts = healthy();
  gpu(facts).pcie_width = gpu(facts).pcie_width_max = 8;
  facts.pci.devices[4].width_max = 8;
  EXPECT_EQ(worst(check(facts)), Level::ok) << text_of(check(facts));
}

/// A brake and heat set the bit of the hardware's slowdown too: what is told is the cause.
TEST(Check, TheCauseOfASlowdownIsTold) {
  Facts facts = healthy();
  gpu(facts).throttle_reasons = 0x88;
  EXPECT_NE(text_of(check(facts)).find("clocks: GPU 0: held back by the power supply's brake signal\n"),
            std::string::npos)
      << text_of(check(facts));
  gpu(facts).throttle_reasons = 0x48;
  gpu(facts).celsius = 95;
  EXPECT_NE(text_of(check(facts)).find("clocks: GPU 0: held back by its heat (95 C)\n"), std::string::npos)
      << text_of(check(facts));
}

TEST(Check, VersionsOfCudaMayHaveTwoDigits) {
  Facts facts = healthy();
  facts.gpu.cuda_version = 13120;
  EXPECT_NE(text_of(check(facts)).find("the driver serves CUDA 13.12\n"), std::string::npos) << text_of(check(facts));
}

/// A copy that did not arrive has no rate.
TEST(Check, TheSlowestIsOneThatArrived) {
  Facts facts = healthy();
  facts.gpu.peer_copies[1].result = PeerCopy::Result::differs;
  facts.gpu.peer_copies[1].bytes_per_second = 1e9;
  EXPECT_NE(text_of(check(facts)).find("1 copies from GPU to GPU arrived as they were sent, the slowest at 50.0 GB/s"),
            std::string::npos)
      << text_of(check(facts));
}

TEST(Check, OfMoreThanSixPairsSomeAreTold) {
  Facts facts = healthy();
  facts.gpu.pairs.clear();
  for (int to = 1; to <= 6; ++to) facts.gpu.pairs.push_back({.from = 0, .to = to, .p2p_read = 2, .topology = 10});
  EXPECT_NE(text_of(check(facts)).find("pairs 0-1, 0-2, 0-3, 0-4, 0-5, 0-6 cannot"), std::string::npos)
      << text_of(check(facts));
  facts.gpu.pairs.push_back({.from = 0, .to = 7, .p2p_read = 2, .topology = 10});
  EXPECT_NE(text_of(check(facts)).find("pairs 0-1, 0-2, 0-3, 0-4, 0-5, 0-6 and 1 more cannot"), std::string::npos)
      << text_of(check(facts));
}

/// An instance has a part of the window: nothing is to be mended in the BIOS.
TEST(Check, TheBarOfAMigGpuIsNotJudged) {
  Facts facts = healthy();
  gpu(facts).mig = 1;
  gpu(facts).bar1_bytes = 256 << 20;
  EXPECT_EQ(text_of(check(facts)).find("256 MiB"), std::string::npos) << text_of(check(facts));
}

TEST(Check, AContainersLimitsAreToldAsFarAsThereAreSome) {
  const auto told = [](std::optional<double> quota, device::Number memory) {
    Facts facts = healthy();
    facts.host.cpu_quota = quota;
    facts.host.container_memory_bytes = memory;
    const std::vector<Finding> findings = check(facts);
    const auto found = std::ranges::find(findings, "container-limits", &Finding::check);
    return found == findings.end() ? "" : found->found;
  };
  EXPECT_EQ(told(32, 500'000'000'000), "32 cores' time, 500 GB of memory");
  EXPECT_EQ(told(std::nullopt, 500'000'000'000), "500 GB of memory");
  EXPECT_EQ(told(2.5, std::nullopt), "2.5 cores' time");
  EXPECT_EQ(told(std::nullopt, std::nullopt), "");
}

TEST(Check, OneCopyThroughTheHostIsTold) {
  EXPECT_NE(text_of(check(healthy())).find("2 copies from GPU to GPU arrived"), std::string::npos);
  for (const size_t through : {0U, 1U}) {
    Facts facts = healthy();
    facts.gpu.peer_copies[through].direct = false;
    EXPECT_NE(text_of(check(facts)).find("2 copies between GPUs, some through the host, arrived"), std::string::npos)
        << text_of(check(facts));
  }
}

TEST(Check, RatesHaveTheUnitThatTheyReach) {
  EXPECT_EQ(rate_text(1e12), "1.00 TB/s");
  EXPECT_EQ(rate_text(999.9e9), "999.9 GB/s");
  EXPECT_EQ(rate_text(1e9), "1.0 GB/s");
  EXPECT_EQ(rate_text(999e6), "999 MB/s");
}

TEST(Check, TheWorstOfAllFindingsCounts) {
  using enum Level;
  const auto worst_of = [](std::initializer_list<Level> levels) {
    std::vector<Finding> findings;
    for (const Level level : levels) findings.push_back({.check = "port", .level = level, .found = "", .mend = ""});
    return worst(findings);
  };
  EXPECT_EQ(worst_of({}), ok);
  EXPECT_EQ(worst_of({ok, warn, ok}), warn);
  EXPECT_EQ(worst_of({ok, fail, warn}), fail);
}

TEST(Check, OneGpuNeedsNoLinks) {
  Facts facts = healthy();
  facts.gpu.gpus.pop_back();
  facts.gpu.pairs.clear();
  facts.gpu.peer_copies.clear();
  facts.gpu.cuda_count = 1;
  facts.pci.devices.pop_back();
  facts.pci.devices.back().iommu_type = "DMA";
  port(facts).acs_control = kAcsRedirects;
  const auto findings = check(facts);
  EXPECT_EQ(worst(findings), Level::ok) << text_of(findings);
}

TEST(Check, GpusOfOtherContainersDoNotMatter) {
  Facts facts = healthy();
  facts.gpu.gpus.pop_back();
  facts.gpu.pairs.clear();
  facts.gpu.peer_copies.clear();
  facts.gpu.cuda_count = 1;
  facts.pci.devices.back().iommu_type = "DMA";
  port(facts).acs_control = kAcsRedirects;
  const auto findings = check(facts);
  EXPECT_EQ(worst(findings), Level::ok) << text_of(findings);
}

TEST(Check, AQuotaOfAllTheCoresThereAreTakesNone) {
  Facts facts = healthy();
  facts.host.cores_allowed = 2;
  facts.host.cpu_quota = 2;
  for (const Finding& finding : check(facts)) {
    if (finding.check == "container-limits") {
      EXPECT_EQ(finding.level, Level::ok) << finding.found;
    }
  }
}

TEST(Check, GpusThatDifferAreNamedOneByOne) {
  Facts facts = healthy();
  facts.gpu.gpus.push_back(facts.gpu.gpus.front());
  facts.gpu.gpus[0].persistence = facts.gpu.gpus[2].persistence = 0;
  EXPECT_NE(text_of(check(facts)).find("persistence: GPUs 0, 2: off"), std::string::npos) << text_of(check(facts));
}

TEST(Check, LinksOfWhichOneIsNotKnownAreNotJudged) {
  Facts facts = healthy();
  facts.gpu.gpus[1].nvlinks.reset();
  EXPECT_EQ(text_of(check(facts)).find(" nvlink: "), std::string::npos) << text_of(check(facts));
}

TEST(Check, OneGpuNeedsNoLockedMemory) {
  Facts facts = healthy();
  facts.gpu.gpus.pop_back();
  facts.host.locked_bytes_max = 65'536;
  facts.host.shared_memory_bytes = 64 << 20;
  for (const Finding& finding : check(facts)) {
    if (finding.check == "locked-memory" || finding.check == "shared-memory") {
      EXPECT_EQ(finding.level, Level::ok) << finding.found;
    }
  }
}

TEST(Check, CopiesThatWereNotTriedAreNoFault) {
  Facts facts = healthy();
  facts.gpu.peer_copies.clear();
  ASSERT_NE(find(check(facts), "p2p-copy"), nullptr) << text_of(check(facts));
  EXPECT_EQ(find(check(facts), "p2p-copy")->level, Level::ok);
  facts.gpu.cuda_count = 1;
  EXPECT_EQ(find(check(facts), "p2p-copy"), nullptr) << "between whom?";
}

TEST(Check, NothingIsKnown) {
  const auto findings = check(Facts());
  for (const Finding& finding : findings) EXPECT_NE(finding.level, Level::fail) << finding.found;
}

/// Just at a bound is still fine, and then there is nothing to mend.
TEST(Check, BoundsAreStillFine) {
  Facts facts = healthy();
  facts.model->disk.checkpoint_bytes = 600'000'000'000;  // at 5 GB/s
  facts.model->disk.free_bytes = int64_t{2} << 30;
  gpu(facts).memory_bytes = 100'000'000'000;
  gpu(facts).memory_used_bytes = 10'000'000'000;
  gpu(facts).bar1_bytes = 100'000'000'000;
  facts.places->cache_free_bytes = 64 << 20;
  facts.host.cores_allowed = 4;
  facts.host.memory_available_bytes = int64_t{4} << 30;
  facts.host.read_bytes_per_second = 10'000'000'000;
  facts.host.swap_used_bytes = int64_t{1} << 30;
  for (const Finding& finding : check(facts)) {
    EXPECT_EQ(finding.level, Level::ok) << finding.check << ": " << finding.found;
    EXPECT_TRUE(finding.mend.empty() || finding.check == "model-kernels") << finding.check;
  }
  facts.model->disk.checkpoint_bytes = 600'000'000'001;
  facts.model->disk.free_bytes = (int64_t{2} << 30) - 1;
  gpu(facts).bar1_bytes = 99'999'999'999;
  facts.places->cache_free_bytes = (64 << 20) - 1;
  facts.host.cores_allowed = 3;
  facts.host.memory_available_bytes = (int64_t{4} << 30) - 1;
  facts.host.read_bytes_per_second = 9'999'999'999;
  facts.host.swap_used_bytes = (int64_t{1} << 30) + 1;
  int warnings = 0;
  for (const Finding& finding : check(facts)) {
    if (finding.level == Level::ok) continue;
    ++warnings;
    EXPECT_NE(finding.mend, "") << finding.check;
  }
  EXPECT_EQ(warnings, 8) << text_of(check(facts));
}

TEST(Environment, NamesComeBeforePrefixes) {
  EXPECT_EQ(find_rule("VLLM_API_KEY")->effect, VariableEffect::acts);
  EXPECT_EQ(find_rule("VLLM_USE_V1")->effect, VariableEffect::nothing);
  EXPECT_EQ(find_rule("PATH"), nullptr);
}

}  // namespace
}  // namespace tessera::doctor
