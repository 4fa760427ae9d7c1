// The case `product` at size: our kernel beside cuBLASLt, in 32-bit floats.
#include "runtime/abi/device_kernel.h"
#include "tools/headrace-gpu/checks.h"
#include "tools/headrace-gpu/cublas_lt.h"
#include "tools/headrace-gpu/measure.h"

#include <chrono>
#include <cmath>

namespace headrace::gpu {

namespace {

constexpr double kShareLeast = 0.9; ///< of cuBLASLt's speed: the target
constexpr int kRounds = 5;

/// Small whole numbers: sums of products are exact in any order.
std::vector<float> numbers(int64_t count, uint32_t seed) {
  std::vector<float> out(count);
  for (float &value : out) {
    seed = seed * 1664525 + 1013904223;
    value = static_cast<float>(static_cast<int>(seed >> 29) - 4);
  }
  return out;
}

struct Product {
  DeviceArena arena;
  int64_t n;
  std::vector<float> left, right;
  uint64_t a, b, out;

  Product(Session &session, int64_t extent)
      : arena(session.device(), session.reservation()), n(extent), left(numbers(n * n, 1)),
        right(numbers(n * n, 2)), a(arena.put(left)), b(arena.put(right)),
        out(arena.zeros(n * n * 4)) {}

  /// Some elements, by the host; empty if they are right.
  std::string difference() {
    std::vector<std::byte> bytes = arena.read(out, n * n * 4);
    const auto *found = reinterpret_cast<const float *>(bytes.data());
    for (int64_t i = 0; i < n; i += std::max<int64_t>(1, n / 7)) {
      for (int64_t j = 0; j < n; j += std::max<int64_t>(1, n / 13)) {
        float expected = 0;
        for (int64_t k = 0; k < n; ++k) {
          expected += left[i * n + k] * right[k * n + j];
        }
        if (found[i * n + j] != expected) {
          return "element " + std::to_string(i) + ", " + std::to_string(j) + " is " +
                 std::to_string(found[i * n + j]) + ", expected " + std::to_string(expected);
        }
      }
    }
    return "";
  }
  double operations() const { return 2.0 * static_cast<double>(n) * n * n; }
};

Expected<double> ourSeconds(Session &session, Product &product) {
  Device &device = session.device();
  HR_ASSIGN_OR_RETURN(std::unique_ptr<KernelModule> module,
                      session.load(session.options().bundle / "cases" / "product", "kernels"));
  HR_ASSIGN_OR_RETURN(Kernel kernel, module->find("product"));
  DeviceArena &arena = product.arena;
  std::vector<HrColumn> columns;
  for (uint64_t address : {product.a, product.b, product.out}) {
    HrSegment segment = {};
    segment.data = reinterpret_cast<void *>(address);
    HrColumn column = {};
    column.segments = reinterpret_cast<HrSegment *>(arena.put(segment));
    column.segmentCount = 1;
    columns.push_back(column);
  }
  int64_t n = product.n;
  HrMorsel morsel = {};
  morsel.rows = static_cast<uint32_t>(n);
  morsel.columnCount = 3;
  morsel.columns = reinterpret_cast<HrColumn *>(arena.put(columns));
  HrArgs args = {};
  args.morsel = reinterpret_cast<HrMorsel *>(arena.put(morsel));
  args.literals = reinterpret_cast<void *>(arena.put(std::vector<int64_t>(6, n)));
  args.states = reinterpret_cast<void **>(arena.zeros(8));
  uint64_t arguments[] = {arena.put(args), arena.put(HrDevice{})}, first = arena.allocate(8);
  HR_RETURN_IF_ERROR(arena.status());
  auto blocks = static_cast<uint32_t>(8 * device.description().multiprocessors);
  KernelLaunch launch{kernel, blocks, static_cast<uint32_t>(std::min(256, kernel.threadsMax)),
                      arguments};
  return medianSeconds(device, first, kRounds,
                       [&](const Event &) { return device.launch(launch); });
}

Expected<double> theirSeconds(Session &session, Product &product) {
  HR_ASSIGN_OR_RETURN(CublasLt library, CublasLt::open());
  HR_RETURN_IF_ERROR(session.device().synchronise());
  std::vector<double> seconds;
  for (int round = 0; round <= kRounds; ++round) {
    auto begin = std::chrono::steady_clock::now();
    HR_RETURN_IF_ERROR(library.product(product.a, product.b, product.out, product.n));
    HR_RETURN_IF_ERROR(cuda::statusOf(session.driver(), session.driver().streamSynchronize(nullptr),
                                      "waiting for cuBLASLt"));
    std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
    seconds.push_back(time.count());
  }
  return *std::ranges::min_element(seconds);
}

} // namespace

void measureProduct(Session &session) {
  Product product(session, session.isEmulated() ? 24 : 2048);
  Expected<double> ours = ourSeconds(session, product);
  if (!ours.ok()) {
    return session.report("product/ours", "figure", ours.status());
  }
  std::string wrong = product.difference();
  auto speed = [&](double seconds) { return product.operations() / seconds / 1e12; };
  session.report("product/ours", "figure", wrong,
                 {{"value", speed(*ours)}, {"unit", "TFLOP/s"}, {"extent", product.n}});
  if (session.isEmulated()) {
    return; // the library knows no emulated device
  }
  Expected<double> theirs = theirSeconds(session, product);
  if (!theirs.ok()) {
    bool isMissing = theirs.status().kind() == ErrorKind::kUnsupported;
    return session.report("product/cublasLt", "figure", isMissing ? "" : theirs.status().toString(),
                          isMissing ? Json{{"skipped", theirs.status().message()}}
                                    : Json::object());
  }
  session.report("product/cublasLt", "figure", product.difference(),
                 {{"value", speed(*theirs)},
                  {"unit", "TFLOP/s"},
                  {"our_share", *theirs / *ours},
                  {"target", kShareLeast},
                  {"reached", *theirs / *ours >= kShareLeast}});
}

} // namespace headrace::gpu
