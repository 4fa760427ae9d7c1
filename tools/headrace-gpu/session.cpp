// Opening the device; lines of JSON.
#include "tools/headrace-gpu/session.h"

#include <iostream>

namespace headrace::gpu {

namespace {
constexpr int64_t kGibi = int64_t(1) << 30;
}

Expected<std::unique_ptr<Session>> Session::open(Options options) {
  std::unique_ptr<Session> session(new Session(std::move(options)));
  if (session->isEmulated()) {
    session->emulated_.emplace(emulated::EmulatedDriver::Options{.memoryBytes = kGibi});
    session->driver_ = &session->emulated_->calls();
  } else {
    HR_ASSIGN_OR_RETURN(session->driver_, cuda::machineDriver());
  }
  HR_ASSIGN_OR_RETURN(std::vector<DeviceDescription> devices, cuda::devices(*session->driver_));
  int64_t bytes = devices.empty() ? kGibi : devices.front().memoryBytes / 10 * 9;
  session->budget_.emplace(Budget::Options{Tier::kDevice, bytes, "the device's memory"});
  session->pinnedBudget_.emplace(Budget::Options{Tier::kPinned, 2 * kGibi, "pinned memory"});
  HR_ASSIGN_OR_RETURN(session->reservation_, session->budget_->reserve({.operatorName = "case"}));
  HR_ASSIGN_OR_RETURN(session->pinned_, session->pinnedBudget_->reserve({.operatorName = "copy"}));
  HR_ASSIGN_OR_RETURN(session->device_,
                      cuda::CudaDevice::open(*session->driver_, {.timed = true}, session->pinned_));
  return session;
}

Session::~Session() = default;

Expected<std::unique_ptr<KernelModule>> Session::load(const std::filesystem::path &folder,
                                                      const std::string &stem) {
  HR_ASSIGN_OR_RETURN(std::vector<std::byte> image,
                      readFile(folder / (stem + (isEmulated() ? ".so" : ".ptx"))));
  return device_->load(image);
}

Expected<Kernel> Session::handKernel(const std::string &stem, const std::string &name) {
  std::unique_ptr<KernelModule> &module = handKernels_[stem];
  if (!module) {
    HR_ASSIGN_OR_RETURN(module, load(options_.bundle / "kernels", stem));
  }
  return module->find(name);
}

void Session::report(const std::string &name, const char *kind, const std::string &wrong,
                     const Json &extra) {
  const DeviceDescription &device = device_->description();
  Json line = {{"name", name},
               {"kind", kind},
               {"pass", wrong.empty()},
               {"device", device.name},
               {"driver", device.driver},
               {"capability", device.capability()}};
  if (!wrong.empty()) {
    line["detail"] = wrong;
  }
  line.update(extra);
  std::cout << line.dump(-1, ' ', false, Json::error_handler_t::replace) << std::endl;
}

void Session::report(const std::string &name, const char *kind, const Status &status) {
  report(name, kind, status.ok() ? std::string() : status.toString());
}

} // namespace headrace::gpu
