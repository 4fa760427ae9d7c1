// headrace-run with GPUs that exist in memory alone: SEED BYTES and the arguments of headrace-run.
// With FAIL=SYMBOL in front of these, that call of the driver is lost to an illegal address.
#include "runtime/device/emulated/emulated_driver.h"
#include "tools/headrace-run/run_main.h"

#include <cstdlib>

using namespace headrace;

int main(int argc, char **argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  auto next = [&] {
    std::string word = arguments.empty() ? "" : arguments.front();
    arguments.erase(arguments.begin(), arguments.begin() + (arguments.empty() ? 0 : 1));
    return word;
  };
  std::string failing;
  if (!arguments.empty() && arguments.front().starts_with("FAIL=")) {
    failing = next().substr(5);
  }
  emulated::EmulatedDriver::Options options;
  options.seed = std::strtoull(next().c_str(), nullptr, 10);
  options.memoryBytes = std::strtoll(next().c_str(), nullptr, 10);
  emulated::EmulatedDriver driver(options);
  if (!failing.empty()) {
    driver.failAt(failing, /*successes=*/0, cuda::kIllegalAddress);
  }
  return run::runMain(arguments, [&] { return Expected(&driver.calls()); });
}
