#include "doctor/gather.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/temp_directory.h"
#include "device/nvml.h"
#include "doctor/config_space.h"
#include "doctor/machines.h"

namespace tessera::doctor {
namespace {

using test::TempDirectory;

/// A bridge to bus 0x41 with a serial number (capability 3) and ACS.
std::string switch_port() {
  std::string space(0x120, '\0');
  space[0x0E] = '\x81';  // of several functions
  space[0x19] = '\x41';
  space.replace(0x100, 4, std::string("\x03\x00\x01\x11", 4));
  space.replace(0x104, 8, "SERIALNO");
  space.replace(0x110, 8, std::string("\x0D\x00\x01\x00\x5F\x00\x1D\x00", 8));
  return space;
}

TEST(ConfigSpace, BridgeAndAcs) {
  const ConfigSpace space = parse_config_space(switch_port());
  EXPECT_TRUE(space.complete);
  EXPECT_TRUE(space.is_bridge);
  EXPECT_EQ(space.secondary_bus, 0x41);
  EXPECT_EQ(space.acs_control, 0x1DU);
}

TEST(ConfigSpace, WithoutRightsThereAre64Bytes) {
  const ConfigSpace space = parse_config_space(switch_port().substr(0, 64));
  EXPECT_FALSE(space.complete);
  EXPECT_TRUE(space.is_bridge);
  EXPECT_FALSE(space.acs_control);
}

TEST(ConfigSpace, SerialNumbersAreNotRecorded) {
  std::string space = switch_port();
  space.replace(0x80, 6, "VENDOR");  // a capability of the first 256 bytes: vital product data
  const std::string kept = without_serials(space);
  EXPECT_EQ(kept.substr(0, 0x40), space.substr(0, 0x40));
  EXPECT_EQ(kept.substr(0x80, 6), std::string(6, '\0'));
  EXPECT_EQ(kept.substr(0x104, 8), std::string(8, '\0'));
  EXPECT_EQ(parse_config_space(kept).acs_control, 0x1DU);
}

TEST(ConfigSpace, AnyBytesAreRead) {
  std::string circle = switch_port();
  circle[0x112] = '\x01';
  circle[0x113] = '\x10';  // ACS points back at the serial number
  EXPECT_TRUE(parse_config_space(circle).acs_control);
  for (size_t size = 0; size < circle.size(); ++size) {
    (void)parse_config_space(circle.substr(0, size));
    EXPECT_EQ(without_serials(circle.substr(0, size)).size(), size);
  }
  EXPECT_FALSE(parse_config_space(std::string(4096, '\xFF')).acs_control);
}

TEST(GpuJson, GoesThereAndBack) {
  GpuFacts facts = healthy().gpu;
  facts.peer_copies[0].result = device::PeerCopy::Result::hangs;
  facts.peer_copies[1].error = "cudaMalloc";
  const std::string json = gpu_facts_json(facts);
  EXPECT_EQ(gpu_facts_json(parse_gpu_facts(json)), json);
  EXPECT_NE(json.find("\"hangs\""), std::string::npos);
}

/// What is recorded on one machine is judged on another: nothing may be left out.
TEST(GpuJson, HoldsEveryFact) {
  GpuFacts facts;
  facts.driver_version = "580.95.05";
  facts.cuda_version = 13000;
  facts.error = device::nvml::kDriverNotLoaded;
  facts.error_text = "an error";
  facts.built_with_cuda = true;
  facts.cuda_error = "another";
  facts.cuda_count = 2;
  int64_t next = 1;
  for (const char* address : {"00000000:03:00.0", "00000000:04:00.0"}) {
    Gpu& gpu = facts.gpus.emplace_back();
    gpu.name = "NVIDIA H200";
    gpu.pci_bus_id = address;
    for (const auto& number : device::driver_numbers()) gpu.*number.value = next++;
    gpu.smem_per_block_bytes = next++;
    gpu.read_bytes_per_second = next++;
    gpu.cuda_index = next++;
  }
  facts.pairs = {{.from = 0, .to = 1, .p2p_read = 3, .topology = 50}};
  facts.peer_copies = {{.from = 1,
                        .to = 0,
                        .direct = true,
                        .result = device::PeerCopy::Result::failed,
                        .bytes_per_second = 5e10,
                        .error = "cudaMalloc"}};
  const GpuFacts read = parse_gpu_facts(gpu_facts_json(facts));
  EXPECT_EQ(read.driver_version, facts.driver_version);
  EXPECT_EQ(read.cuda_version, facts.cuda_version);
  EXPECT_EQ(read.error, facts.error);
  EXPECT_EQ(read.error_text, facts.error_text);
  EXPECT_EQ(read.built_with_cuda, facts.built_with_cuda);
  EXPECT_EQ(read.cuda_error, facts.cuda_error);
  EXPECT_EQ(read.cuda_count, facts.cuda_count);
  ASSERT_EQ(read.gpus.size(), facts.gpus.size());
  for (size_t i = 0; i < read.gpus.size(); ++i) {
    const Gpu &one = read.gpus[i], &other = facts.gpus[i];
    EXPECT_EQ(one.name, other.name);
    EXPECT_EQ(one.pci_bus_id, other.pci_bus_id);
    for (const auto& number : device::driver_numbers()) {
      EXPECT_EQ(one.*number.value, other.*number.value) << number.name;
    }
    EXPECT_EQ(one.smem_per_block_bytes, other.smem_per_block_bytes);
    EXPECT_EQ(one.read_bytes_per_second, other.read_bytes_per_second);
    EXPECT_EQ(one.cuda_index, other.cuda_index);
  }
  ASSERT_EQ(read.pairs.size(), 1U);
  EXPECT_EQ(read.pairs[0].from, 0);
  EXPECT_EQ(read.pairs[0].to, 1);
  EXPECT_EQ(read.pairs[0].p2p_read, 3);
  EXPECT_EQ(read.pairs[0].topology, 50);
  ASSERT_EQ(read.peer_copies.size(), 1U);
  EXPECT_EQ(read.peer_copies[0].from, 1);
  EXPECT_EQ(read.peer_copies[0].to, 0);
  EXPECT_TRUE(read.peer_copies[0].direct);
  EXPECT_EQ(read.peer_copies[0].result, device::PeerCopy::Result::failed);
  EXPECT_EQ(read.peer_copies[0].bytes_per_second, 5e10);
  EXPECT_EQ(read.peer_copies[0].error, "cudaMalloc");
}

TEST(GpuJson, AnythingIsRead) {
  for (const char* text :
       {"", "{", "[]", "7", R"({"gpus": 7})", R"({"gpus": [7, {"name": 7}], "pairs": [{"from": 0, "to": 99}, 7]})",
        R"({"gpus": [{}, {}], "peer_copies": [{"from": -1, "to": 0}, {"from": 1, "to": 1}]})",
        R"({"gpus": [{}, {}], "pairs": [{"from": 2, "to": 0}, {"from": 0, "to": 2}, {"from": 0, "to": -1}]})"}) {
    const GpuFacts facts = parse_gpu_facts(text);
    EXPECT_TRUE(facts.pairs.empty() && facts.peer_copies.empty()) << text;
  }
}

TEST(Host, Avx512IsAllOfItsPartsThatAreUsed) {
  const auto avx512 = [](const std::string& flags) {
    const TempDirectory root;
    root.write("proc/cpuinfo", "flags\t\t: fpu avx2 " + flags + "\n");
    return gather_host(Tree(root.path()), {.live = false, .model = {}}).avx512;
  };
  EXPECT_TRUE(avx512("avx512f avx512bw avx512vl"));
  for (const char* part : {"avx512bw avx512vl", "avx512f avx512vl", "avx512f avx512bw"}) EXPECT_FALSE(avx512(part));
}

TEST(Host, LimitsOfGroupsOfVersion2) {
  const TempDirectory root;
  root.write("proc/meminfo", "MemTotal: 1000000 kB\nMemAvailable: 900000 kB\n");
  root.write("proc/self/cgroup", "0::/user.slice/job\n");
  root.write("sys/fs/cgroup/user.slice/cpu.max", "250000 100000\n");
  root.write("sys/fs/cgroup/user.slice/job/cpu.max", "max 100000\n");
  root.write("sys/fs/cgroup/user.slice/job/memory.max", "512000000\n");
  root.write("sys/fs/cgroup/memory.max", "600000000\n");
  const HostFacts facts = gather_host(Tree(root.path()), {.live = false, .model = {}});
  EXPECT_EQ(facts.cpu_quota, 2.5);
  EXPECT_FALSE(facts.cpu_quota_v1);
  EXPECT_EQ(facts.container_memory_bytes, 512'000'000);
}

/// A container's limit may be wider than that of a group in it, or the other way round.
TEST(Host, TheTightestGroupCounts) {
  for (const auto& [outer, inner] : {std::pair("100000", "250000"), std::pair("250000", "100000")}) {
    const TempDirectory root;
    root.write("proc/meminfo", "MemTotal: 1000000 kB\nMemAvailable: 900000 kB\n");
    root.write("proc/self/cgroup", "0::/a/b\n");
    root.write("sys/fs/cgroup/a/cpu.max", std::string(outer) + " 100000\n");
    root.write("sys/fs/cgroup/a/b/cpu.max", std::string(inner) + " 100000\n");
    root.write("sys/fs/cgroup/a/memory.max", "1024000000\n");  // all there is
    const HostFacts facts = gather_host(Tree(root.path()), {.live = false, .model = {}});
    EXPECT_EQ(facts.cpu_quota, 1);
    EXPECT_FALSE(facts.container_memory_bytes);
  }
}

TEST(Host, CoresAreCountedInRangesOfAnyLength) {
  const TempDirectory root;
  root.write("sys/devices/system/cpu/online", "0,2-2,4-7\n");
  EXPECT_EQ(gather_host(Tree(root.path()), {.live = false, .model = {}}).cores_online, 6);
}

/// Docker names it "shm", systemd "tmpfs".
TEST(Host, SharedMemoryIsFoundUnderEachOfItsNames) {
  for (const char* device : {"tmpfs", "shm", "none"}) {
    const TempDirectory root;
    root.write("proc/self/mounts", std::string(device) + " /dev/shm tmpfs rw,nosuid,size=65536k 0 0\n");
    const HostFacts facts = gather_host(Tree(root.path()), {.live = false, .model = {}});
    EXPECT_TRUE(facts.has_shared_memory) << device;
    EXPECT_EQ(facts.shared_memory_bytes, 64 << 20) << device;
  }
}

TEST(Host, NodesAreThoseWithANumber) {
  const TempDirectory root;
  const std::string nodes = "sys/devices/system/node/";
  root.write(nodes + "node0/distance", "10 21\n");
  root.write(nodes + "node10/distance", "32 10\n");
  root.write(nodes + "node_of_another_kind/distance", "99\n");
  root.write(nodes + "online", "0,10\n");
  const HostFacts facts = gather_host(Tree(root.path()), {.live = false, .model = {}});
  EXPECT_EQ(facts.numa_nodes, 2);
  EXPECT_EQ(facts.numa_distance_max, 32);
}

TEST(Host, LimitsOfGroupsOfVersion1) {
  const TempDirectory root;
  root.write("proc/meminfo", "MemTotal: 1000000 kB\nMemAvailable: 900000 kB\n");
  root.write("proc/self/cgroup", "5:cpu,cpuacct:/job\n4:memory:/job\n1:name=systemd:none\n");
  root.write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "150000\n");
  root.write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  root.write("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "-1\n");
  root.write("sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
  root.write("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "9223372036854771712\n");
  const HostFacts facts = gather_host(Tree(root.path()), {.live = false, .model = {}});
  EXPECT_EQ(facts.cpu_quota, 1.5);
  EXPECT_TRUE(facts.cpu_quota_v1);
  EXPECT_FALSE(facts.container_memory_bytes);                               // more than there is: none
  root.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "512000000\n");  // a container's
  EXPECT_EQ(gather_host(Tree(root.path()), {.live = false, .model = {}}).container_memory_bytes, 512'000'000);
}

/// Where both are mounted, the tighter one is the quota, and what its version asks for is said.
TEST(Host, TheVersionOfAQuotaIsThatOfTheTightest) {
  for (const auto& [first, second, of_v1] : {std::tuple("400000", "200000", false), {"200000", "400000", true}}) {
    const TempDirectory root;
    root.write("proc/self/cgroup", "5:cpu,cpuacct:/job\n0::/job\n");
    root.write("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", std::string(first) + "\n");
    root.write("sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
    root.write("sys/fs/cgroup/job/cpu.max", std::string(second) + " 100000\n");
    const HostFacts facts = gather_host(Tree(root.path()), {.live = false, .model = {}});
    EXPECT_EQ(facts.cpu_quota, 2);
    EXPECT_EQ(facts.cpu_quota_v1, of_v1);
  }
}

TEST(Host, ARateIsThatOfTheRecordOrMeasuredWhereThatIsAskedFor) {
  const TempDirectory root;
  const auto rate = [&] { return gather_host(Tree(root.path()), {.live = false, .model = {}}).read_bytes_per_second; };
  EXPECT_FALSE(rate());
  root.write("measured.json", R"({"memory_read_bytes_per_second": 7})");
  EXPECT_EQ(rate(), 7);
  for (const char* text : {R"({"memory_read_bytes_per_second": "7"})", "[]", "{"}) {
    root.write("measured.json", text);
    EXPECT_FALSE(rate()) << text;
  }
  EXPECT_FALSE(gather_host(Tree(), {.live = true, .measures = false, .model = {}}).read_bytes_per_second);
}

/// A process raises its soft limits itself.
TEST(Host, LimitsAreTheHardOnes) {
  const TempDirectory root;
  root.write("proc/self/limits",
             "Limit                     Soft Limit           Hard Limit           Units     \n"
             "Max open files            1024                 524288               files     \n"
             "Max locked memory         8388608              unlimited            bytes     \n");
  const HostFacts facts = gather_host(Tree(root.path()), {.live = false, .model = {}});
  EXPECT_TRUE(facts.has_limits);
  EXPECT_EQ(facts.open_files_max, 524288);
  EXPECT_FALSE(facts.locked_bytes_max);
}

TEST(Host, NamesOfGroupsAreNotRecorded) {
  const TempDirectory root, record;
  root.write("proc/meminfo", "MemTotal: 1000000 kB\nMemAvailable: 900000 kB\n");
  root.write("proc/self/cgroup", "0::/alice\n");
  root.write("sys/fs/cgroup/alice/cpu.max", "250000 100000\n");
  root.write("sys/fs/cgroup/alice/memory.max", "512000000\n");
  root.write("sys/fs/cgroup/alice/memory.current", "12000000\n");
  root.write("proc/self/mounts", "alice:/home /home/alice nfs rw 0 0\ntmpfs /dev/shm tmpfs rw,size=64k 0 0\n");
  Tree tree(root.path());
  tree.record_to(record.path());
  const HostFacts facts = gather_host(tree, {.live = false, .model = {}});
  const HostFacts again = gather_host(Tree(record.path()), {.live = false, .model = {}});
  EXPECT_EQ(again.cpu_quota, facts.cpu_quota);
  EXPECT_EQ(again.container_memory_bytes, 512'000'000);
  EXPECT_EQ(again.memory_available_bytes, facts.memory_available_bytes);
  EXPECT_EQ(again.shared_memory_bytes, 65'536);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(record.path())) {
    EXPECT_EQ(entry.path().string().find("alice", record.path().string().size()), std::string::npos) << entry.path();
    if (!entry.is_regular_file()) continue;
    std::ifstream file(entry.path());
    std::stringstream text;
    text << file.rdbuf();
    EXPECT_EQ(text.str().find("alice"), std::string::npos) << entry.path();
  }
}

TEST(Environment, KeysAndPathsAreNotShown) {
  ::setenv("VLLM_API_KEY", "secret", 1);
  ::setenv("HF_HOME", "/home/alice", 1);
  ::setenv("CUDA_VISIBLE_DEVICES", "GPU-8d6b1fd2-1111-2222-3333-444455556666", 1);
  const EnvironmentFacts facts = gather_environment(Tree(), {.live = true, .model = {}});
  for (const char* name : {"VLLM_API_KEY", "HF_HOME", "CUDA_VISIBLE_DEVICES"}) ::unsetenv(name);
  int found = 0;
  for (const auto& [name, value] : facts.variables) {
    if (name != "VLLM_API_KEY" && name != "HF_HOME" && name != "CUDA_VISIBLE_DEVICES") continue;
    ++found;
    EXPECT_EQ(value, "set") << name;
  }
  EXPECT_EQ(found, 3);
}

/// Of what is shown, only what advice depends on, and only in words: the rest may be a key.
TEST(Environment, ValuesThatMayBeSecretAreNotShown) {
  const TempDirectory root, record;
  constexpr char kEntries[] =
      "VLLM_API_KEY=SECRET\0OMP_NUM_THREADS=4\0CUDA_LAUNCH_BLOCKING=1\0HF_TOKEN\0"
      "CUDA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7,8,9,10,11";
  root.write("proc/self/environ", {kEntries, sizeof kEntries});
  Tree tree(root.path());
  tree.record_to(record.path());
  const EnvironmentFacts facts = gather_environment(tree, {.live = false, .model = {}});
  const std::vector<std::pair<std::string, std::string>> expected = {{"CUDA_LAUNCH_BLOCKING", "1"},
                                                                     {"CUDA_VISIBLE_DEVICES", "set"},
                                                                     {"OMP_NUM_THREADS", "set"},
                                                                     {"VLLM_API_KEY", "set"}};
  EXPECT_EQ(facts.variables, expected);  // in order
  constexpr char kRecorded[] =
      "CUDA_LAUNCH_BLOCKING=1\0CUDA_VISIBLE_DEVICES=set\0OMP_NUM_THREADS=set\0VLLM_API_KEY=set";
  EXPECT_EQ(Tree(record.path()).peek("proc/self/environ"), std::string(kRecorded, sizeof kRecorded));
}

TEST(Pci, ABridgeWhoseBusIsNotKnownIsAboveNothing) {
  const TempDirectory root;
  const std::string devices = "sys/bus/pci/devices/";
  root.write(devices + "0000:00:01.0/class", "0x060400\n");
  root.write(devices + "0000:00:02.0/class", "0x030000\n");
  root.write(devices + "0000:00:02.0/vendor", "0x10de\n");
  root.write(devices + "0000:00:02.0/max_link_width", "16\n");
  const PciFacts facts = gather_pci(Tree(root.path()));
  ASSERT_EQ(facts.devices.size(), 1U);
  EXPECT_EQ(facts.devices[0].address, "0000:00:02.0");
  EXPECT_EQ(facts.devices[0].parent, "");
  EXPECT_EQ(facts.devices[0].width_max, 16);  // of the card, whatever the slot has
  EXPECT_FALSE(facts.devices[0].resizable_bar);
  root.write(devices + "0000:00:02.0/resource1_resize", "00000000001fff00\n");
  EXPECT_TRUE(gather_pci(Tree(root.path())).devices[0].resizable_bar);
}

/// Large machines count their buses anew in each PCI domain.
TEST(Pci, ABusIsOneOfItsDomain) {
  const TempDirectory root, record;
  const std::string devices = "sys/bus/pci/devices/";
  for (const std::string domain : {"0000", "000a"}) {
    for (const auto& [bridge, bus] : {std::pair(":00:01.0", '\x3F'), {":3f:00.0", '\xC0'}}) {
      std::string space = switch_port();
      space[0x19] = bus;
      root.write(devices + domain + bridge + "/class", "0x060400\n");
      root.write(devices + domain + bridge + "/config", space);
    }
    root.write(devices + domain + ":c0:00.0/class", "0x030200\n");
    root.write(devices + domain + ":c0:00.0/vendor", "0x10de\n");
  }
  std::vector<std::pair<std::string, std::string>> parents;
  Tree tree(root.path());
  tree.record_to(record.path());
  for (const PciDevice& device : gather_pci(tree).devices) parents.emplace_back(device.address, device.parent);
  const std::vector<std::pair<std::string, std::string>> expected = {
      {"0000:00:01.0", ""}, {"0000:3f:00.0", "0000:00:01.0"}, {"0000:c0:00.0", "0000:3f:00.0"},
      {"000a:00:01.0", ""}, {"000a:3f:00.0", "000a:00:01.0"}, {"000a:c0:00.0", "000a:3f:00.0"}};
  EXPECT_EQ(parents, expected);
  const auto recorded = Tree(record.path()).peek(devices + "0000:3f:00.0/config");
  ASSERT_TRUE(recorded);
  EXPECT_EQ(recorded->find("SERIALNO"), std::string::npos);
}

TEST(Model, TheBytesOfAllShardsAreCounted) {
  const TempDirectory directory;
  directory.write("config.json", "{}");
  directory.write("a.safetensors", "12345");
  directory.write("b.safetensors", "1234567");
  const ModelFacts facts = gather_model({}, {.live = false, .model = directory.path().string()});
  EXPECT_NE(facts.error, "");
  EXPECT_EQ(facts.disk.checkpoint_bytes, 12);
}

TEST(Places, RoomIsInBytes) {
  const TempDirectory directory;
  const char* before = std::getenv("XDG_CACHE_HOME");
  const std::string kept = before == nullptr ? "" : before;
  ::setenv("XDG_CACHE_HOME", directory.path().c_str(), 1);
  const Number room = gather_places(0).cache_free_bytes;
  before == nullptr ? ::unsetenv("XDG_CACHE_HOME") : ::setenv("XDG_CACHE_HOME", kept.c_str(), 1);
  ASSERT_TRUE(room);
  const auto expected = static_cast<double>(std::filesystem::space(directory.path()).available);
  EXPECT_NEAR(static_cast<double>(*room) / expected, 1, 0.5);  // others write meanwhile
}

/// It is free as soon as nobody listens there: connections that a server has closed do not hold it.
TEST(Places, APortThatIsTakenIsSaid) {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  const int yes = 1;
  ASSERT_EQ(::setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes), 0);  // as the server
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(listener, 1), 0);
  ASSERT_EQ(::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size), 0);
  EXPECT_NE(gather_places(ntohs(address.sin_port)).port_error, "");
  const int client = ::socket(AF_INET, SOCK_STREAM, 0);
  ASSERT_EQ(::connect(client, reinterpret_cast<sockaddr*>(&address), size), 0);
  const int accepted = ::accept(listener, nullptr, nullptr);
  ASSERT_GE(accepted, 0);
  for (const int descriptor : {accepted, client, listener}) ::close(descriptor);
  EXPECT_EQ(gather_places(ntohs(address.sin_port)).port_error, "");
  EXPECT_EQ(gather_places(0).port_error, "");
}

TEST(Places, ACacheThatIsNoDirectoryIsSaid) {
  const TempDirectory directory;
  directory.write("cache", "a file");
  const char* before = std::getenv("XDG_CACHE_HOME");
  const std::string kept = before == nullptr ? "" : before;
  ::setenv("XDG_CACHE_HOME", (directory / "cache").c_str(), 1);
  EXPECT_NE(gather_places(0).cache_error, "");
  ::setenv("XDG_CACHE_HOME", (directory / "new/one").c_str(), 1);  // can be made
  EXPECT_EQ(gather_places(0).cache_error, "");
  before == nullptr ? ::unsetenv("XDG_CACHE_HOME") : ::setenv("XDG_CACHE_HOME", kept.c_str(), 1);
}

TEST(Measure, SmallThingsAreNotMeasured) {
  const TempDirectory directory;
  EXPECT_FALSE(measure_memory_rate(0));
  EXPECT_FALSE(measure_disk_rate(directory.write("small", "abc"), 1));
  EXPECT_FALSE(measure_disk_rate(directory / "none", 1));
}

TEST(Measure, MemoryIsRead) {
  const Number rate = measure_memory_rate(size_t{4} << 30);
  ASSERT_TRUE(rate);
  EXPECT_GT(*rate, 0);
}

TEST(Tree, ARecordThatCannotBeWrittenIsSaid) {
  const TempDirectory root, record;
  root.write("proc/one", "1\n");
  std::filesystem::create_directories(record / "proc/one");  // where a file is to be
  Tree tree(root.path());
  tree.record_to(record.path());
  EXPECT_EQ(tree.read("proc/one"), "1");
  EXPECT_NE(tree.record_error().find("proc/one: "), std::string::npos) << tree.record_error();

  tree = Tree(root.path());
  tree.record_to(root / "proc/one/record");  // a directory in a file
  EXPECT_EQ(tree.read("proc/one"), "1");
  EXPECT_NE(tree.record_error().find("proc/one: Not a directory"), std::string::npos) << tree.record_error();

  tree = Tree(root.path());
  tree.record_to(record / "new/one");
  EXPECT_EQ(tree.read("proc/one"), "1");
  EXPECT_EQ(tree.record_error(), "");
}

TEST(Tree, NumbersAndWords) {
  EXPECT_EQ(leading_number(" 42 kB"), 42);
  EXPECT_EQ(leading_number("max"), std::nullopt);
  EXPECT_EQ(leading_number(""), std::nullopt);
  EXPECT_EQ(words_of(" a  b\tc").size(), 3U);
  EXPECT_EQ(sysfs_address("0000000F:01:00.0"), "000f:01:00.0");
  EXPECT_EQ(sysfs_address("x"), "x");
}

}  // namespace
}  // namespace tessera::doctor
