#include "base/status.h"
#include "selftest/moe_timer.h"
#include "selftest/selftest.h"

// Linked in place of the CUDA kernels unless TESSERA_CUDA is on.
namespace tessera::kernels {
namespace {

Status built_without_cuda() {
  return error(StatusCode::unsupported,
               "built without CUDA, so there are no GPU kernels; configure with -DTESSERA_CUDA=ON (CUDA 13 or later)");
}

}  // namespace

Expected<std::string> selftest_environment(int /*gpu*/) { return built_without_cuda(); }
Status selftest(int /*gpu*/, const std::function<void(const SelftestCheck&)>& /*report*/) {
  return built_without_cuda();
}

struct MoeTimer::State {};
MoeTimer::MoeTimer(std::unique_ptr<State> state) : state_(std::move(state)) {}
MoeTimer::MoeTimer(MoeTimer&&) noexcept = default;
MoeTimer::~MoeTimer() = default;
Expected<MoeTimer> MoeTimer::make(int /*gpu*/, const plan::DeviceFacts& /*device*/, const plan::Desc& /*desc*/) {
  return built_without_cuda();
}
Expected<MoeTime> MoeTimer::time(int64_t /*tokens*/, const plan::TuningCache& /*tuning*/) const {
  return built_without_cuda();
}
Expected<MoeTime> MoeTimer::time(int64_t /*tokens*/, const plan::Tile& /*gate_up*/, const plan::Tile& /*down*/) const {
  return built_without_cuda();
}
double MoeTimer::weight_bytes(int64_t /*tokens*/) const { return 0; }
bool MoeTimer::can_run(const plan::Desc& /*desc*/, const plan::Tile& /*tile*/) { return false; }

}  // namespace tessera::kernels
