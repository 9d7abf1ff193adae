#pragma once

#include <filesystem>
#include <string>

#include "doctor/facts.h"
#include "doctor/tree.h"

// Facts from a machine. Reads, and measures within seconds; changes no setting, and needs no rights.
namespace tessera::doctor {

struct GatherOptions {
  bool live = true;      // this machine; else a recorded tree, on which nothing is asked or measured
  bool measures = true;  // rates of memory and disk, copies between GPUs
  bool full = false;     // takes its time for them
  std::string model;     // empty: none
  int port = 8000;
};

Facts gather(const Tree& tree, const GatherOptions& options);

GpuFacts gather_gpus(const Tree& tree, const GatherOptions& options);
PciFacts gather_pci(const Tree& tree);
HostFacts gather_host(const Tree& tree, const GatherOptions& options);
EnvironmentFacts gather_environment(const Tree& tree, const GatherOptions& options);
PlaceFacts gather_places(int port);
ModelFacts gather_model(const GpuFacts& gpu, const GatherOptions& options);

/// What gpus.json of a tree holds. Fields that are missing or of another type are left out.
std::string gpu_facts_json(const GpuFacts& facts);
GpuFacts parse_gpu_facts(const std::string& json);

/// How fast all threads together read memory, bytes per second; nothing where too little is free.
Number measure_memory_rate(size_t available_bytes);
/// How fast a file is read past the page cache, by several threads for at most `seconds`; nothing where it is small or
/// cannot be read so.
Number measure_disk_rate(const std::filesystem::path& file, double seconds);

}  // namespace tessera::doctor
