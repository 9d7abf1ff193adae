#!/usr/bin/env python3
"""Writes the machines of tests/doctor/trees: files as Linux has them, of shapes that users have.

Only what `tessera doctor` reads is there. Layouts: PCI Express Base Specification (configuration space, Access Control
Services), Documentation/ABI/testing/sysfs-bus-pci, proc(5), cgroups(7). gpus.json is doctor's own, what NVML and CUDA say.
"""

import json
import pathlib
import shutil
import struct

TREES = pathlib.Path(__file__).parent / "trees"
MIB = 1 << 20
GIB = 1 << 30


class Tree:
    def __init__(self, name):
        self.root = TREES / name
        expected = self.root / "expected.txt"
        self.expected = expected.read_text() if expected.exists() else None
        shutil.rmtree(self.root, ignore_errors=True)
        if self.expected is not None:
            self.put("expected.txt", self.expected)

    def put(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())

    def gpus(self, **facts):
        self.put("gpus.json", json.dumps(facts, indent=1) + "\n")

    def host(self, kernel, cpuinfo, cores, total_kib, available_kib, swap_kib, swap_free_kib, clock, governor=None,
             driver=None, huge="madvise", nodes=("10",), balancing=0, shm=None, locked=8388608, files=1048576,
             cgroup=(), environment=(), memory_rate=None):
        self.put("proc/sys/kernel/osrelease", kernel + "\n")
        self.put("proc/cpuinfo", cpuinfo)
        self.put("sys/devices/system/cpu/online", f"0-{cores - 1}\n")
        self.put("proc/self/status", f"Cpus_allowed_list:\t0-{cores - 1}\n")
        self.put("proc/meminfo", f"MemTotal:       {total_kib} kB\nMemAvailable:   {available_kib} kB\n"
                                 f"SwapTotal:      {swap_kib} kB\nSwapFree:       {swap_free_kib} kB\n")
        self.put("sys/devices/system/clocksource/clocksource0/current_clocksource", clock + "\n")
        if governor:
            self.put("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", governor + "\n")
            self.put("sys/devices/system/cpu/cpu0/cpufreq/scaling_driver", driver + "\n")
        words = ["always", "madvise", "never"]
        self.put("sys/kernel/mm/transparent_hugepage/enabled",
                 " ".join(f"[{w}]" if w == huge else w for w in words) + "\n")
        for i, distances in enumerate(nodes):
            self.put(f"sys/devices/system/node/node{i}/distance", distances + "\n")
        self.put("proc/sys/kernel/numa_balancing", f"{balancing}\n")
        self.put("proc/self/limits", "".join(
            f"{name:<25} {soft:<20} {hard:<20} {unit:<10}\n"
            for name, soft, hard, unit in [("Max open files", 1024, files, "files"),
                                           ("Max locked memory", locked, locked, "bytes")]))
        size = f",size={shm}k" if shm else ""
        self.put("proc/self/mounts", f"tmpfs /dev/shm tmpfs rw,nosuid,nodev{size},inode64 0 0\n")
        self.put("proc/self/cgroup", "0::/\n")
        for name, text in cgroup:
            self.put(f"sys/fs/cgroup/{name}", text + "\n")
        self.put("proc/self/environ", "".join(f"{name}={value}\0" for name, value in environment))
        if memory_rate:
            self.put("measured.json", json.dumps({"memory_read_bytes_per_second": memory_rate}) + "\n")

    def pci(self, address, kind, vendor, secondary=None, acs=None, root=True, width_max=16, node=-1, iommu=None,
            resizable=False):
        """One device; `root`: recorded with the rights to read all of its configuration space."""
        at = f"sys/bus/pci/devices/{address}/"
        bus = int(address.split(":")[1], 16)
        header = bytearray(64)
        struct.pack_into("<H", header, 0x00, vendor)
        struct.pack_into("<I", header, 0x08, kind << 8 | 0xA1)
        header[0x0E] = 1 if secondary is not None else 0
        if secondary is not None:
            header[0x18:0x1B] = bytes([bus, secondary, secondary])
        header[0x34] = 0x40
        space = header
        if root:
            space = header + bytes(0x100 - 64)
            # Advanced Error Reporting (1) at 0x100, ACS (0x0D) at 0x148.
            space += struct.pack("<I", 0x0001 | 2 << 16 | (0x148 if acs is not None else 0) << 20) + bytes(0x44)
            if acs is not None:
                space += struct.pack("<IHH", 0x000D | 1 << 16, 0x5F, acs)
        self.put(at + "config", bytes(space))
        self.put(at + "class", f"0x{kind:06x}\n")
        self.put(at + "vendor", f"0x{vendor:04x}\n")
        self.put(at + "max_link_width", f"{width_max}\n")
        self.put(at + "numa_node", f"{node}\n")
        if iommu:
            self.put(at + "iommu_group/type", iommu + "\n")
        if resizable:
            self.put(at + "resource1_resize", "000000000003ffc0\n")


def x86(model, avx512=True):
    flags = "fpu sse2 ssse3 sse4_1 sse4_2 avx f16c fma avx2 bmi2" + (" avx512f avx512bw avx512vl" if avx512 else "")
    return f"model name\t: {model}\nflags\t\t: {flags}\n"


def gpu(name, bus, major, minor, memory, used, watts, clocks, index, **more):
    return {"name": name, "pci_bus_id": bus, "compute_major": major, "compute_minor": minor, "memory_bytes": memory,
            "memory_used_bytes": used, "power_limit_milliwatts": watts * 1000, "power_default_milliwatts": watts * 1000,
            "sm_clock_mhz": 180, "sm_clock_mhz_max": clocks[0], "memory_clock_mhz": 405,
            "memory_clock_mhz_max": clocks[1],
            "throttle_reasons": 1, "compute_mode": 0, "celsius": 34, "busy_percent": 0, "performance_state": 8,
            "cuda_index": index, **more}


def driver(gpus, version, pairs=(), copies=(), **more):
    return {"driver_version": version, "cuda_version": 13000, "error": 0, "error_text": "", "built_with_cuda": True,
            "cuda_error": "", "cuda_count": len(gpus), "gpus": gpus, "pairs": list(pairs),
            "peer_copies": list(copies), **more}


def every_pair(count):
    return [(a, b) for a in range(count) for b in range(count) if a != b]


def rtx_pro_6000_x4():
    """Four cards below one PCIe switch on which Linux has turned ACS on, recorded as root while idle."""
    t = Tree("rtx-pro-6000-x4")
    t.host("6.8.0-85-generic", x86("AMD Ryzen Threadripper PRO 9975WX 32-Cores"), 64, 527_893_120, 511_004_672,
           8_388_604, 8_388_604, "tsc", "performance", "amd-pstate-epp", memory_rate=281_000_000_000)
    t.pci("0000:00:01.1", 0x060400, 0x1022, secondary=1, acs=0x0001, iommu="DMA-FQ")
    t.pci("0000:01:00.0", 0x060400, 0x1000, secondary=2, iommu="DMA-FQ")
    gpus = []
    for i in range(4):
        t.pci(f"0000:02:{i:02x}.0", 0x060400, 0x1000, secondary=3 + i, acs=0x001D, iommu="DMA-FQ")
        t.pci(f"0000:{3 + i:02x}:00.0", 0x030000, 0x10DE, iommu="DMA-FQ", resizable=True)
        gpus.append(gpu("NVIDIA RTX PRO 6000 Blackwell Workstation Edition", f"00000000:{3 + i:02X}:00.0", 12, 0,
                        97_887 * MIB, 3 * MIB, 600, (3090, 14001), i, bar1_bytes=131_072 * MIB, ecc=1, ecc_pending=1,
                        ecc_errors_uncorrected=0, pcie_generation=1, pcie_generation_max=5, pcie_generation_card=5,
                        pcie_width=16, pcie_width_max=16, persistence=0, mig=0, power_milliwatts=14_200,
                        smem_per_block_bytes=101_376, read_bytes_per_second=1_612_000_000_000))
    t.gpus(**driver(gpus, "580.95.05",
                    [{"from": a, "to": b, "p2p_read": 0, "topology": 10} for a, b in every_pair(4)],
                    [{"from": a, "to": b, "direct": True, "result": "equal", "bytes_per_second": 21_300_000_000,
                      "error": ""} for a, b in every_pair(4)]))


def wsl2_rtx_5090():
    """WSL2: the GPU is on no PCI bus that Linux sees, and the driver leaves much unsaid."""
    t = Tree("wsl2-rtx-5090")
    t.host("6.6.87.2-microsoft-standard-WSL2", x86("AMD Ryzen 9 9950X 16-Core Processor"), 32, 49_269_116, 46_321_984,
           12_582_912, 12_582_912, "hyperv_clocksource_tsc_page", locked=65_536_000, memory_rate=52_000_000_000,
           environment=[("CUDA_VISIBLE_DEVICES", "0"), ("VLLM_WORKER_MULTIPROC_METHOD", "set")])
    t.pci("5582:00:00.0", 0x030200, 0x1414, root=False, width_max=0)
    card = gpu("NVIDIA GeForce RTX 5090", "00000000:01:00.0", 12, 0, 32_607 * MIB, 2_141 * MIB, 575, (3090, 14001), 0,
               pcie_generation=5, pcie_generation_max=5, pcie_width=16, pcie_width_max=16, persistence=1,
               smem_per_block_bytes=101_376, read_bytes_per_second=1_523_000_000_000)
    t.gpus(**driver([card], "581.29"))


def dgx_spark():
    """GB10: the memory is one, NVML says neither its size nor a power limit; read without rights."""
    t = Tree("dgx-spark")
    cpu = "CPU implementer\t: 0x41\nCPU part\t: 0xd85\nCPU part\t: 0xd87\nFeatures\t: fp asimd sve sve2 i8mm bf16\n"
    t.host("6.14.0-1013-nvidia", cpu, 20, 125_513_728, 119_201_792, 16_777_212, 16_777_212, "arch_sys_counter",
           "performance", "cppc_cpufreq", memory_rate=118_000_000_000)
    t.pci("000f:00:00.0", 0x060400, 0x10DE, secondary=1, root=False, width_max=1)
    t.pci("000f:01:00.0", 0x030200, 0x10DE, root=False, width_max=16, iommu="identity")
    spark = gpu("NVIDIA GB10", "0000000F:01:00.0", 12, 1, 128_526_057_472, 0, 0, (3003, 0), 0, pcie_generation=1,
                pcie_generation_max=1, pcie_width=1, pcie_width_max=1, persistence=1, smem_per_block_bytes=101_376,
                read_bytes_per_second=241_000_000_000)
    for unsaid in ["memory_used_bytes", "power_limit_milliwatts", "power_default_milliwatts", "memory_clock_mhz",
                   "memory_clock_mhz_max"]:
        del spark[unsaid]
    t.gpus(**driver([spark], "580.95.05"))


def laptop():
    """No NVIDIA GPU, a CPU that saves power by itself, and too little memory for what runs on it."""
    t = Tree("laptop")
    t.host("6.12.48+deb13-amd64", x86("Intel(R) Core(TM) Ultra 7 155H", avx512=False), 22, 32_332_420, 9_120_004,
           33_554_428, 30_932_480, "tsc", "powersave", "intel_pstate", memory_rate=48_000_000_000,
           environment=[("OMP_NUM_THREADS", "set"), ("GGML_CUDA_ENABLE_UNIFIED_MEMORY", "set")])
    t.gpus(driver_version="", cuda_version=0, error=-1, error_text="there is no libnvidia-ml.so.1",
           built_with_cuda=False, cuda_error="", gpus=[], pairs=[], peer_copies=[])


def h200_x4():
    """Four of an NVLink host's GPUs in a container with Docker's defaults, read without rights."""
    t = Tree("h200-x4")
    t.host("6.8.0-1040-nvidia", x86("INTEL(R) XEON(R) PLATINUM 8568Y+"), 96, 2_113_416_720, 2_050_110_004, 0, 0, "tsc",
           "performance", "intel_pstate", nodes=("10 21", "21 10"), balancing=1, shm=65_536,
           cgroup=[("cpu.max", "6400000 100000"), ("memory.max", str(1024 * GIB)), ("memory.current", str(60 * GIB))],
           environment=[("NCCL_DEBUG", "set"), ("NVIDIA_VISIBLE_DEVICES", "set")], memory_rate=402_000_000_000)
    gpus = []
    for i, bus in enumerate([0x19, 0x2D, 0x9B, 0xAB]):
        node = i // 2
        t.pci(f"0000:{bus - 1:02x}:01.0", 0x060400, 0x8086, secondary=bus, root=False, node=node, iommu="identity")
        t.pci(f"0000:{bus:02x}:00.0", 0x030200, 0x10DE, root=False, node=node, iommu="identity")
        gpus.append(gpu("NVIDIA H200", f"00000000:{bus:02X}:00.0", 9, 0, 143_771 * MIB, 0, 700, (1980, 3201), i,
                        bar1_bytes=262_144 * MIB, ecc=1, ecc_pending=1, ecc_errors_uncorrected=0, pcie_generation=5,
                        pcie_generation_max=5, pcie_generation_card=5, pcie_width=16, pcie_width_max=16, persistence=1,
                        mig=0, nvlinks=18, smem_per_block_bytes=232_448, read_bytes_per_second=4_520_000_000_000))
    t.gpus(**driver(gpus, "580.95.05",
                    [{"from": a, "to": b, "p2p_read": 0, "topology": 40 if a // 2 == b // 2 else 50}
                     for a, b in every_pair(4)],
                    [{"from": a, "to": b, "direct": True, "result": "equal", "bytes_per_second": 371_000_000_000,
                      "error": ""} for a, b in every_pair(4)]))


if __name__ == "__main__":
    for make in [rtx_pro_6000_x4, wsl2_rtx_5090, dgx_spark, laptop, h200_x4]:
        make()
