#include "cli/step_plan.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/status.h"
#include "cli/console.h"
#include "cli/table.h"

namespace tessera::cli {
namespace {

using kernels::PlannedKernel;
using kernels::PlannedOperation;

Status run_step(const model::Model& model, kernels::Backend& backend, const StepPlanOptions& options,
                const StepSize& size) {
  const auto rows = static_cast<int32_t>(size.rows), sequences = size.prefill ? 1 : rows;
  const auto blocks = static_cast<int32_t>(kernels::blocks_for(options.max_model_len));
  TESSERA_ASSIGN_OR_RETURN(const auto cache, model.make_cache(options.kv_dtype, blocks, sequences, /*with_mtp=*/false));
  TESSERA_ASSIGN_OR_RETURN(const auto pass, model.make_pass({.rows_max = rows,
                                                             .sequences_max = sequences,
                                                             .logit_rows_max = sequences,
                                                             .state_slots = sequences,
                                                             .sequence_blocks_max = blocks}));
  std::vector<kernels::SequenceRows> all(static_cast<size_t>(sequences));
  for (int32_t i = 0; i < sequences; ++i) {
    all[static_cast<size_t>(i)] = {.first_row = i,
                                   .rows = size.prefill ? rows : 1,
                                   .row_class = size.prefill ? kernels::RowClass::prefill : kernels::RowClass::decode,
                                   .state_slot = i,
                                   .block_table = {}};
  }
  const std::vector<int32_t> tokens(static_cast<size_t>(rows));
  std::vector<int32_t> logit_rows(static_cast<size_t>(sequences), rows - 1);
  if (!size.prefill) std::iota(logit_rows.begin(), logit_rows.end(), 0);
  TESSERA_RETURN_IF_ERROR(backend.begin(*pass, *cache, {.tokens = tokens, .sequences = all}, logit_rows));
  return model.forward(*pass);
}

std::vector<StepPart> gather(std::vector<PlannedOperation>& operations) {
  std::vector<StepPart> parts;
  for (PlannedOperation& operation : operations) {
    const auto same =
        std::find_if(parts.begin(), parts.end(), [&](const StepPart& part) { return part.operation == operation; });
    if (same != parts.end()) {
      ++same->count;
    } else {
      parts.push_back({std::move(operation), 1});
    }
  }
  operations.clear();
  return parts;
}

std::string heading(const StepPlan& step, const StepPlanOptions& options) {
  const double bytes = step.weight_bytes();
  return fmt::format(
      "{} of {} row{} on {} ({} SMs), contexts of up to {} tokens: {} launches and those of sampling, {} "
      "of weights, {:.0f} us at {:.0f} GB/s\n",
      step.size.prefill ? "prefill" : "decode", step.size.rows, step.size.rows == 1 ? "" : "s", options.gpu.name,
      options.gpu.sm_count, options.max_model_len, step.launches(), format_bytes(static_cast<uint64_t>(bytes)),
      bytes / options.gpu.read_gb_s * 1e-3, options.gpu.read_gb_s);
}

}  // namespace

int64_t StepPlan::launches() const {
  int64_t sum = 0;
  for (const StepPart& part : parts) sum += part.count * static_cast<int64_t>(part.operation.kernels.size());
  return sum;
}

double StepPlan::weight_bytes() const {
  double sum = 0;
  for (const StepPart& part : parts) sum += part.count * part.operation.weight_bytes;
  return sum;
}

Expected<std::vector<StepPlan>> plan_steps(const LoadOnBackend& load, const StepPlanOptions& options) {
  std::vector<PlannedOperation> operations;
  TESSERA_ASSIGN_OR_RETURN(const auto backend, kernels::make_planning_backend(options.gpu, options.tuning, operations));
  TESSERA_ASSIGN_OR_RETURN(const auto model, load(*backend));
  std::vector<StepPlan> steps;
  for (const StepSize& size : options.steps) {
    TESSERA_RETURN_IF_ERROR(run_step(*model, *backend, options, size));
    steps.push_back({size, gather(operations)});
  }
  return steps;
}

std::string step_plan_text(const std::vector<StepPlan>& steps, const StepPlanOptions& options) {
  std::string text;
  for (const StepPlan& step : steps) {
    std::vector<std::vector<std::string>> rows = {
        {"operation", "times", "weights", "kernel", "tile", "blocks", "threads", "shared B"}};
    for (const StepPart& part : step.parts) {
      const double bytes = part.operation.weight_bytes;
      std::vector<std::string> first = {part.operation.name, std::to_string(part.count),
                                        bytes > 0 ? format_bytes(static_cast<uint64_t>(bytes)) : "-"};
      for (const PlannedKernel& kernel : part.operation.kernels) {
        std::vector<std::string> row = std::exchange(first, {"", "", ""});
        row.insert(row.end(), {kernel.name.empty() ? "?" : kernel.name, kernel.tile, std::to_string(kernel.blocks),
                               std::to_string(kernel.threads), std::to_string(kernel.smem_bytes)});
        rows.push_back(std::move(row));
      }
    }
    if (!text.empty()) text += "\n";
    text += heading(step, options) + format_table("<>><<>>>", rows);
  }
  return text;
}

}  // namespace tessera::cli
