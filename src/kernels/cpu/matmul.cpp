#include "kernels/cpu/matmul.h"

#include <algorithm>
#include <functional>

#include "base/check.h"
#include "kernels/cpu/matmul_kernel.h"
#include "kernels/cpu/weight.h"

namespace tessera::kernels::cpu {
namespace {

// Rows of x that share one decoding of a weight panel. 256 rows of 128 columns (128 KB) and the sums of four panels
// (256 KB) fit a second-level cache; decoding is then below 1 % of the work. With few rows a task may have more panels,
// for small ones are soon done.
constexpr int64_t kMaxTaskRows = 256;
constexpr int64_t kMaxTaskSums = 4 * kMaxTaskRows;  // panels x rows
constexpr int64_t kMaxTaskPanels = 16;

/// How one product is cut: tasks [first_task, first_task + row_tasks * panel_tasks), those of the same rows together.
struct Cut {
  int64_t first_task = 0;
  int64_t task_rows = 0, row_tasks = 0;
  int64_t task_panels = 0, panel_tasks = 0;
};

/// Work of one panel and `rows` rows of x, in multiply-adds of 64 rows; reading and decoding cost about two.
int64_t panel_work(const Weight& weight, int64_t rows) { return weight.cols * (rows + 2); }

Cut cut_product(const Matmul& product, int64_t first_task, int64_t task_work) {
  const int64_t panels = panel_count(product.weight->rows);
  Cut cut;
  cut.first_task = first_task;
  cut.row_tasks = (product.rows + kMaxTaskRows - 1) / kMaxTaskRows;
  cut.task_rows = (product.rows + cut.row_tasks - 1) / cut.row_tasks;
  const int64_t most = std::min(kMaxTaskPanels, kMaxTaskSums / cut.task_rows);
  cut.task_panels = std::clamp<int64_t>(task_work / panel_work(*product.weight, cut.task_rows), 1, most);
  cut.panel_tasks = (panels + cut.task_panels - 1) / cut.task_panels;
  return cut;
}

MatmulTask make_task(const Matmul& product, const Cut& cut, int64_t index) {
  const int64_t panels = panel_count(product.weight->rows);
  MatmulTask task;
  task.product = &product;
  task.first_row = index / cut.panel_tasks * cut.task_rows;
  task.rows = std::min(cut.task_rows, product.rows - task.first_row);
  task.first_panel = index % cut.panel_tasks * cut.task_panels;
  task.panels = std::min(cut.task_panels, panels - task.first_panel);
  return task;
}

}  // namespace

void matmul(const Context& context, std::span<const Matmul> products) {
  Workspace::Frame frame(*context.workspace);
  const int threads = context.pool->size();
  int64_t work = 0;
  for (const Matmul& product : products) {
    if (product.rows > 0) work += panel_count(product.weight->rows) * panel_work(*product.weight, product.rows);
  }
  // 16 tasks a thread even out their ends; less than 32768 columns of 64 rows is not worth the taking.
  const int64_t task_work = std::max<int64_t>(work / (16 * threads), 1 << 14);
  Cut* cuts = frame.take<Cut>(products.size());
  int64_t tasks = 0;
  size_t scratch_floats = 0;
  for (size_t i = 0; i < products.size(); ++i) {
    if (products[i].rows <= 0) {
      cuts[i] = {.first_task = tasks};
      continue;
    }
    cuts[i] = cut_product(products[i], tasks, task_work);
    tasks += cuts[i].row_tasks * cuts[i].panel_tasks;
    scratch_floats = std::max(scratch_floats, matmul_scratch_floats(cuts[i].task_panels, cuts[i].task_rows));
  }
  float* scratch = frame.take<float>(scratch_floats * static_cast<size_t>(threads));
  const auto run = [&](int64_t index, int thread) {
    // The last product that begins at or before the task; products without rows have none.
    const Cut* cut = std::upper_bound(cuts, cuts + products.size(), index,
                                      [](int64_t i, const Cut& c) { return i < c.first_task; }) -
                     1;
    MatmulTask task = make_task(products[static_cast<size_t>(cut - cuts)], *cut, index - cut->first_task);
    task.to_bf16 = context.compute == Compute::bf16;
    task.scratch = scratch + scratch_floats * static_cast<size_t>(thread);
    run_matmul_task(task);
  };
  context.pool->run_chunks(tasks, std::cref(run));
}

}  // namespace tessera::kernels::cpu
