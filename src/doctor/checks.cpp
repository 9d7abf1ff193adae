#include <array>

#include "base/check.h"
#include "doctor/check.h"

namespace tessera::doctor {
namespace {

constexpr std::array kChecks = {
    Check{"gpu-driver", "without a driver that answers, no GPU can be used"},
    Check{"driver-version", "this engine is built with CUDA 13, which an older driver does not run"},
    Check{"cuda", "kernels are started through CUDA; where it sees no GPU, models run on the CPU"},
    Check{"wsl2",
          "Windows owns the GPU: it may take memory back, pinned memory is limited, GPUs cannot see each other"},
    Check{"compute-capability", "there is machine code for 9.0 and 12.x, and nothing is compiled at run time"},
    Check{"gpu-shared-memory",
          "tiles are chosen for the shared memory of the architecture; with less, kernels do not start"},
    Check{"gpu-memory", "weights, KV cache and states must fit in what is free; what others hold is missing"},
    Check{"ecc", "an uncorrected error changes weights or answers in silence"},
    Check{"bar1",
          "through a small BAR other GPUs see a part of the memory only: copies between GPUs go through the host"},
    Check{"pcie-link", "loading, and later GPUs that work together, are as fast as the link"},
    Check{"power-limit",
          "under a lower limit clocks fall as soon as the GPU works: prefill and large batches are slower"},
    Check{"clocks", "a GPU that is held back by heat, its supply or fixed clocks is slower than its data sheet"},
    Check{"persistence", "without it the driver is initialised anew for each program: the start takes seconds longer"},
    Check{"mig", "a MIG instance has a part of the SMs, the memory and its bandwidth, and cannot work with others"},
    Check{"compute-mode", "in an exclusive mode a second program on the GPU, a measurement too, gets no context"},
    Check{"mixed-gpus",
          "cuda:N may count differently than nvidia-smi, and GPUs that work together wait for the slowest"},
    Check{"p2p",
          "GPUs that cannot reach each other's memory exchange everything through the host: half the rate and less"},
    Check{"p2p-copy", "data that is lost between GPUs hangs or corrupts every engine that splits a model over them"},
    Check{"acs",
          "with these redirects on, traffic between GPUs below a switch goes up to the CPU and back, or gets lost"},
    Check{"iommu", "translated copies between GPUs are slower, and on some boards never arrive"},
    Check{"gpu-numa",
          "GPUs on different sockets talk through the link between the sockets; threads on the other one are far from "
          "the GPU"},
    Check{"nvlink", "a link that is down halves the bandwidth between its GPUs, and nothing else says so"},
    Check{"cpu-cores",
          "the engine, the server and the loader have threads of their own; too few cores hold up the GPU"},
    Check{"cpu-instructions", "the CPU's kernels are four to eight times slower without wide vectors"},
    Check{"cpu-governor", "between steps a core that saves power takes long to answer: each step waits for it"},
    Check{"memory", "a model is read through the page cache, and on the CPU it has to fit"},
    Check{"memory-bandwidth", "a model on the CPU is as fast as its memory is read"},
    Check{"swap", "weights that were swapped out come back at the speed of the disk"},
    Check{"huge-pages", "the CPU's weights and caches take fewer misses of the address cache in pages of 2 MB"},
    Check{"locked-memory",
          "pinned memory is the CUDA driver's and not counted here; other engines and RDMA are bound by it"},
    Check{"open-files",
          "each client of a server takes a descriptor, each shard of a checkpoint one while it is loaded"},
    Check{"shared-memory", "Tessera is one process and needs none; engines of several processes end with a bus error"},
    Check{"container-limits",
          "more threads than the quota of cores are stopped for most of each period: steps take ten times longer"},
    Check{"clock-source", "reading the time by a slow source is a call into the kernel, thousands of times a second"},
    Check{"numa", "pages that the kernel moves between sockets while they are read are read slowly"},
    Check{"environment", "a variable that was set for something else may slow steps down or hide a GPU"},
    Check{"environment-unused", "what is meant by these variables does not happen here"},
    Check{"port", "a server cannot listen where another one does"},
    Check{"cache-directory", "what `tessera tune` measures is kept there"},
    Check{"model-files", "a checkpoint that is not complete cannot be loaded"},
    Check{"model-text", "without tokenizer and template a model takes token ids only"},
    Check{"model-disk", "weights are read once at each start"},
    Check{"model-space", "quantising, logs and caches need room"},
    Check{"model-formats", "formats decide what a step reads, and with it the speed"},
    Check{"model-fit", "a model that does not fit on the GPU runs on the CPU, or not at all"},
    Check{"model-kernels", "what no kernel is made for is done in a slower way, or refused"},
    Check{"expected-speed", "a server that is far below has something wrong with it"},
};

}  // namespace

std::span<const Check> checks() { return kChecks; }

const Check& find_check(std::string_view name) {
  for (const Check& check : kChecks) {
    if (check.name == name) return check;
  }
  TESSERA_CHECK(false);
  return kChecks.front();
}

}  // namespace tessera::doctor
