// By name.
#include "runtime/device/cuda/open_accelerator.h"

#include "runtime/device/cuda/cuda_device.h"

namespace headrace::cuda {

Expected<std::shared_ptr<Accelerator>>
openAccelerator(const std::string &device, int64_t memoryBytes, const FindDriver &find) {
  if (device == "cpu") {
    return std::shared_ptr<Accelerator>();
  }
  Expected<const DriverCalls *> driver = find();
  if (!driver.ok()) {
    return device == "auto" && driver.status().kind() == ErrorKind::kUnsupported
               ? Expected<std::shared_ptr<Accelerator>>(std::shared_ptr<Accelerator>())
               : driver.status();
  }
  return Accelerator::create(
      [&](Reservation &staging) -> Expected<std::unique_ptr<Device>> {
        HR_ASSIGN_OR_RETURN(std::unique_ptr<CudaDevice> opened,
                            CudaDevice::open(**driver, {.memoryBytes = memoryBytes}, staging));
        return std::unique_ptr<Device>(std::move(opened));
      },
      memoryBytes);
}

} // namespace headrace::cuda
