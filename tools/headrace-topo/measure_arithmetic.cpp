// The same loop of multiply-adds for each width of vectors; the machine takes its widest.
#include "tools/headrace-topo/measure_arithmetic.h"
#include "tools/headrace-topo/repeated.h"

#include <chrono>
#include <cstdint>

#pragma clang fp contract(fast)

namespace headrace::topo {
namespace {

constexpr int kChains = 10; // enough to hide the latency of a multiply-add
constexpr int kRounds = 2000;

template <typename Vector>
[[gnu::always_inline]] inline void multiplyAdd(Vector (&sums)[kChains], const Vector &factor,
                                               const Vector &addend) {
  for (int round = 0; round < kRounds; ++round) {
#pragma clang loop unroll(full)
    for (int chain = 0; chain < kChains; ++chain) {
      sums[chain] = sums[chain] * factor + addend;
    }
  }
}

template <typename Element, int kBytes> struct Wide {
  typedef Element Vector __attribute__((vector_size(kBytes)));
};

#define HR_ARITHMETIC(NAME, ELEMENT, BYTES, TARGET)                                                \
  TARGET double NAME(ELEMENT seed) {                                                               \
    using Vector = Wide<ELEMENT, BYTES>::Vector;                                                   \
    volatile ELEMENT start = seed; /* nothing of the sums is known when this is compiled */        \
    Vector sums[kChains];                                                                          \
    for (Vector &sum : sums) {                                                                     \
      sum = start - Vector{};                                                                      \
    }                                                                                              \
    Vector factor = start - Vector{};                                                              \
    multiplyAdd(sums, factor, factor);                                                             \
    Vector total = {};                                                                             \
    for (const Vector &sum : sums) {                                                               \
      total += sum;                                                                                \
    }                                                                                              \
    return static_cast<double>(total[0]);                                                          \
  }

HR_ARITHMETIC(f32Plain, float, 16, )
HR_ARITHMETIC(f64Plain, double, 16, )
#if defined(__x86_64__)
HR_ARITHMETIC(f32Avx2, float, 32, __attribute__((target("avx2,fma"))))
HR_ARITHMETIC(f64Avx2, double, 32, __attribute__((target("avx2,fma"))))
HR_ARITHMETIC(f32Avx512, float, 64, __attribute__((target("avx512f,fma"))))
HR_ARITHMETIC(f64Avx512, double, 64, __attribute__((target("avx512f,fma"))))
#endif
#undef HR_ARITHMETIC

/// Calls per second of `work`.
template <typename Work> double callsPerSecond(double seconds, const Work &work) {
  using Clock = std::chrono::steady_clock;
  volatile double keep = 0;
  double calls = 0;
  Clock::time_point start = Clock::now();
  double spent = 0;
  do {
    keep = keep + work();
    ++calls;
    spent = std::chrono::duration<double>(Clock::now() - start).count();
  } while (spent < seconds);
  return calls / spent;
}

template <typename Element> double flops(double seconds, double (*work)(Element), int vectorBytes) {
  double each = 2.0 * kRounds * kChains * vectorBytes / static_cast<double>(sizeof(Element));
  return each * callsPerSecond(seconds, [&] { return work(static_cast<Element>(0.999)); });
}

/// Three dependent integer operations a step, in four chains: what a row costs without vectors.
double scalarRate(double seconds) {
  constexpr int kSteps = 20000;
  uint64_t state[4] = {1, 2, 3, 4};
  double calls = callsPerSecond(seconds, [&] {
    for (int step = 0; step < kSteps; ++step) {
      for (uint64_t &value : state) {
        value = (value ^ (value >> 7)) * 0x9e3779b97f4a7c15u;
        asm volatile("" : "+r"(value)); // one by one, never as a vector
      }
    }
    return static_cast<double>(state[0]);
  });
  return calls * kSteps * 4 * 3;
}

} // namespace

std::map<std::string, Measured> measureArithmetic(double seconds) {
  std::map<std::string, Measured> rates;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) {
    rates["f32"] = repeated([&] { return flops(seconds, f32Avx512, 64); });
    rates["f64"] = repeated([&] { return flops(seconds, f64Avx512, 64); });
  } else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    rates["f32"] = repeated([&] { return flops(seconds, f32Avx2, 32); });
    rates["f64"] = repeated([&] { return flops(seconds, f64Avx2, 32); });
  }
#endif
  if (rates.empty()) {
    rates["f32"] = repeated([&] { return flops(seconds, f32Plain, 16); });
    rates["f64"] = repeated([&] { return flops(seconds, f64Plain, 16); });
  }
  rates["scalar"] = repeated([&] { return scalarRate(seconds); });
  return rates;
}

} // namespace headrace::topo
