// headrace-run: runs a compiled plan on the ranks of this process and prints or writes its result.
#include "tools/headrace-run/run_main.h"

int main(int argc, char **argv) {
  return headrace::run::runMain({argv + 1, argv + argc}, headrace::cuda::machineDriver);
}
