#include "base/resident_bytes.h"

#include <unistd.h>

#include <fstream>

namespace tessera {

size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  size_t all = 0, resident = 0;  // pages
  file >> all >> resident;
  return resident * static_cast<size_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace tessera
