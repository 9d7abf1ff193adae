#include "device/nvml.h"

#include <dlfcn.h>

namespace tessera::device::nvml {

Library::Library(const char* name) : library_(::dlopen(name, RTLD_NOW | RTLD_LOCAL)) {
  auto* const init = symbol<Return()>("nvmlInit_v2");
  if (init != nullptr && symbol<Return()>("nvmlShutdown") != nullptr) opened_ = init();
}

Library::~Library() {
  if (opened_ == kSuccess) (void)symbol<Return()>("nvmlShutdown")();
  if (library_ != nullptr) ::dlclose(library_);
}

void* Library::address(const char* name) const { return library_ == nullptr ? nullptr : ::dlsym(library_, name); }

std::string Library::error_text(Return code) const {
  if (library_ == nullptr) return "there is no libnvidia-ml.so.1";
  auto* const text = symbol<const char*(Return)>("nvmlErrorString");
  return text != nullptr && code >= 0 ? text(code) : "libnvidia-ml.so.1 is not NVML";
}

}  // namespace tessera::device::nvml
