// The process that stands for a GPU: maps the device's memory, loads emulated kernels and runs
// their threads, in a shuffled order and two at once.
#include "runtime/abi/device_kernel.h"
#include "runtime/base/check.h"
#include "runtime/device/emulated/device_messages.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <memory>
#include <random>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace headrace::emulated {

const char kProcessName[] = "headrace-emulated-device";

/// What DeviceProcess talks to.
class DeviceMain {
public:
  DeviceMain(int socket, int memory, uint64_t bytes, uint64_t seed)
      : socket_(socket), random_(seed) {
    void *mapped = mmap(reinterpret_cast<void *>(kDeviceBase), bytes, PROT_NONE,
                        MAP_SHARED | MAP_FIXED_NOREPLACE, memory, 0);
    HR_CHECK(mapped == reinterpret_cast<void *>(kDeviceBase));
  }

  /// Until the host closes its end.
  void serve() {
    Request request;
    while (readAll(socket_, &request, sizeof request)) {
      std::string tail(request.tailBytes, '\0');
      if (!readAll(socket_, tail.data(), tail.size())) {
        return;
      }
      Answer answer;
      act(request, tail, answer);
      if (!writeAll(socket_, &answer, sizeof answer)) {
        return;
      }
    }
  }

private:
  void act(const Request &request, const std::string &tail, Answer &answer) {
    switch (request.task) {
    case Task::kProtect:
      HR_CHECK(mprotect(reinterpret_cast<void *>(request.arguments[0]), request.arguments[1],
                        request.accessible ? PROT_READ | PROT_WRITE : PROT_NONE) == 0);
      return;
    case Task::kLoad:
      answer.outcome = load(request.module, tail);
      return;
    case Task::kFind:
    case Task::kLaunch: {
      void *module = request.module < modules_.size() ? modules_[request.module] : nullptr;
      auto *kernel =
          module ? reinterpret_cast<HrEmulatedSuperstep>(dlsym(module, tail.c_str())) : nullptr;
      auto *shape =
          module ? static_cast<const HrEmulatedShape *>(dlsym(module, (tail + ".shape").c_str()))
                 : nullptr;
      if (kernel == nullptr || shape == nullptr) {
        answer.outcome = Outcome::kNotFound;
        return;
      }
      answer.shape = *shape;
      if (request.task == Task::kLaunch) {
        run(kernel, *shape, request);
      }
      return;
    }
    }
  }

  Outcome load(uint32_t number, const std::string &image) {
    int file = memfd_create("kernels", MFD_CLOEXEC);
    HR_CHECK(file >= 0);
    for (size_t done = 0; done < image.size();) {
      ssize_t put = write(file, image.data() + done, image.size() - done);
      HR_CHECK(put > 0);
      done += put;
    }
    void *module = dlopen(("/proc/self/fd/" + std::to_string(file)).c_str(), RTLD_NOW | RTLD_LOCAL);
    modules_.resize(std::max<size_t>(modules_.size(), number + 1));
    modules_[number] = module; // the descriptor stays open: its number tells objects apart
    return module ? Outcome::kDone : Outcome::kNotFound;
  }

  void run(HrEmulatedSuperstep kernel, const HrEmulatedShape &shape, const Request &request) {
    constexpr uint32_t kTogether = 32; // threads that run one after the other, as a warp might
    constexpr uint8_t kGarbage = 0xa5; // shared memory is not zero at first
    auto *args = reinterpret_cast<const HrArgs *>(request.arguments[0]);
    auto *device = reinterpret_cast<HrDevice *>(request.arguments[1]);
    size_t sharedBytes = (shape.sharedBytes + 31) / 16 * 16;
    std::vector<std::unique_ptr<uint8_t[]>> shared(request.blocks);
    for (auto &block : shared) {
      block = std::make_unique_for_overwrite<uint8_t[]>(sharedBytes); // aligned to 16
      std::memset(block.get(), kGarbage, sharedBytes);
    }
    std::vector<std::pair<uint32_t, uint32_t>> work; // block, first thread
    for (uint32_t block = 0; block < request.blocks; ++block) {
      for (uint32_t first = 0; first < request.threads; first += kTogether) {
        work.push_back({block, first});
      }
    }
    for (uint32_t superstep = 0; superstep < shape.supersteps; ++superstep) {
      std::shuffle(work.begin(), work.end(), random_);
      std::atomic<size_t> next = 0;
      auto worker = [&] {
        for (size_t i = next++; i < work.size(); i = next++) {
          auto [block, first] = work[i];
          kernel(args, device, shared[block].get(), superstep, block, request.blocks, first,
                 std::min(first + kTogether, request.threads), request.threads);
        }
      };
      std::thread other(worker);
      worker();
      other.join();
    }
  }

  const int socket_;
  std::mt19937_64 random_;
  std::vector<void *> modules_;
};

namespace {

int answerTo = -1;

/// A kernel went wrong: the last answer of this process.
void onSignal(int number, siginfo_t *, void *) {
  Answer answer{
      number == SIGSEGV || number == SIGBUS ? Outcome::kIllegalAddress : Outcome::kTrapped, {}};
  writeAll(answerTo, &answer, sizeof answer);
  kill(getpid(), SIGKILL); // other threads are under way
}

/// Before main: a process that was started under this name is a device and nothing else. So every
/// executable that has the emulation linked in can start its own.
__attribute__((constructor)) void becomeDevice(int count, char **words, char **) {
  if (count != 5 || std::strcmp(words[0], kProcessName) != 0) {
    return;
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  answerTo = std::atoi(words[1]);
  struct sigaction action = {};
  action.sa_sigaction = onSignal;
  action.sa_flags = SA_SIGINFO;
  for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT}) {
    sigaction(number, &action, nullptr);
  }
  DeviceMain(answerTo, std::atoi(words[2]), std::strtoull(words[3], nullptr, 10),
             std::strtoull(words[4], nullptr, 10))
      .serve();
  _exit(0);
}

} // namespace
} // namespace headrace::emulated
