// A CUDA driver for tests: two devices whose memory is the host's. Of a call named in
// HEADRACE_FAKE_CUDA_FAILS it returns 999; HEADRACE_FAKE_CUDA_DEVICES says how many devices there
// are.
#include <cstdlib>
#include <cstring>

namespace {

using Address = unsigned long long;

int answer(const char *call) {
  const char *fails = std::getenv("HEADRACE_FAKE_CUDA_FAILS");
  return fails && std::strcmp(fails, call) == 0 ? 999 : 0;
}

void *at(Address address) { return reinterpret_cast<void *>(address); }

int contexts[2];

} // namespace

#pragma GCC visibility push(default)
extern "C" {

int cuInit(unsigned) { return answer("cuInit"); }
int cuDeviceGetCount(int *count) {
  const char *devices = std::getenv("HEADRACE_FAKE_CUDA_DEVICES");
  *count = devices ? std::atoi(devices) : 2;
  return answer("cuDeviceGetCount");
}
int cuDeviceGet(int *device, int index) {
  *device = index;
  return answer("cuDeviceGet");
}
int cuDevicePrimaryCtxRetain(void **context, int device) {
  *context = &contexts[device];
  return answer("cuDevicePrimaryCtxRetain");
}
int cuDevicePrimaryCtxRelease_v2(int) { return 0; }
int cuCtxSetCurrent(void *context) { return context ? answer("cuCtxSetCurrent") : 1; }
int cuStreamCreate(void **stream, unsigned) {
  *stream = std::malloc(1);
  return answer("cuStreamCreate");
}
int cuStreamSynchronize(void *) { return answer("cuStreamSynchronize"); }
int cuStreamDestroy_v2(void *stream) {
  std::free(stream);
  return 0;
}
int cuMemAlloc_v2(Address *address, size_t bytes) {
  int result = answer("cuMemAlloc");
  *address = result ? 0 : reinterpret_cast<Address>(std::malloc(bytes));
  return result;
}
int cuMemFree_v2(Address address) {
  std::free(at(address));
  return 0;
}
int cuMemAllocHost_v2(void **address, size_t bytes) {
  *address = std::malloc(bytes);
  return answer("cuMemAllocHost");
}
int cuMemFreeHost(void *address) {
  std::free(address);
  return 0;
}
int cuMemcpyHtoDAsync_v2(Address target, const void *source, size_t bytes, void *) {
  std::memcpy(at(target), source, bytes);
  return 0;
}
int cuMemcpyDtoHAsync_v2(void *target, Address source, size_t bytes, void *) {
  std::memcpy(target, at(source), bytes);
  return answer("copy");
}
int cuMemcpyDtoDAsync_v2(Address target, Address source, size_t bytes, void *) {
  std::memcpy(at(target), at(source), bytes);
  return 0;
}
int cuMemcpyPeerAsync(Address target, void *, Address source, void *, size_t bytes, void *) {
  std::memcpy(at(target), at(source), bytes);
  return 0;
}
int cuDeviceCanAccessPeer(int *can, int, int) {
  *can = answer("peer") == 0;
  return 0;
}
int cuCtxEnablePeerAccess(void *, unsigned) { return answer("cuCtxEnablePeerAccess"); }
}
#pragma GCC visibility pop
