#pragma once

// Included ahead of every file of xgrammar (cmake/xgrammar.cmake), which calls tessera_guide_poll() where its time goes
// (cmake/xgrammar_changes.py). budget.h has the rest.

extern __thread int tessera_guide_polls_left;
void tessera_guide_poll_slowly();  // throws guide::BudgetExceeded

inline void tessera_guide_poll() {
  if (--tessera_guide_polls_left < 0) tessera_guide_poll_slowly();
}
