// The loop for three widths of vectors, chosen at load.
#include "model/solve/min_plus.h"

#include <cstddef>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace headrace::solve {
namespace {

#if defined(__x86_64__)
// Columns in blocks of one register: the minimum over the rows stays in it, and a mask takes the
// place of a tail loop. Tables are small (4 to 40 columns), so the tail is most of the work.
[[gnu::target("avx2")]] void avx2(const double *base, int32_t rows, const double *table,
                                  int32_t columns, double *out) {
  constexpr int32_t kLanes = 4;
  const __m256i lanes = _mm256_set_epi64x(3, 2, 1, 0);
  for (int32_t t = 0; t < columns; t += kLanes) {
    __m256i mask = _mm256_cmpgt_epi64(_mm256_set1_epi64x(columns - t), lanes);
    const double *row = table + t;
    __m256d least = _mm256_add_pd(_mm256_set1_pd(base[0]), _mm256_maskload_pd(row, mask));
    for (int32_t s = 1; s < rows; ++s) {
      row += columns;
      __m256d sum = _mm256_add_pd(_mm256_set1_pd(base[s]), _mm256_maskload_pd(row, mask));
      least = _mm256_min_pd(sum, least);
    }
    _mm256_maskstore_pd(out + t, mask, least);
  }
}

[[gnu::target("avx512f")]] void avx512(const double *base, int32_t rows, const double *table,
                                       int32_t columns, double *out) {
  constexpr int32_t kLanes = 8;
  for (int32_t t = 0; t < columns; t += kLanes) {
    auto mask = static_cast<__mmask8>(columns - t >= kLanes ? 0xff : (1 << (columns - t)) - 1);
    const double *row = table + t;
    __m512d least = _mm512_add_pd(_mm512_set1_pd(base[0]), _mm512_maskz_loadu_pd(mask, row));
    for (int32_t s = 1; s < rows; ++s) {
      row += columns;
      __m512d sum = _mm512_add_pd(_mm512_set1_pd(base[s]), _mm512_maskz_loadu_pd(mask, row));
      least = _mm512_min_pd(sum, least);
    }
    _mm512_mask_storeu_pd(out + t, mask, least);
  }
}
#endif

MinPlus widest() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f")) {
    return avx512;
  }
  if (__builtin_cpu_supports("avx2")) {
    return avx2;
  }
#endif
  return minPlusPlain;
}

} // namespace

void minPlusPlain(const double *base, int32_t rows, const double *table, int32_t columns,
                  double *out) {
  for (int32_t t = 0; t < columns; ++t) {
    out[t] = base[0] + table[t];
  }
  for (int32_t s = 1; s < rows; ++s) {
    const double *row = table + static_cast<size_t>(s) * columns;
    for (int32_t t = 0; t < columns; ++t) {
      double sum = base[s] + row[t];
      out[t] = sum < out[t] ? sum : out[t];
    }
  }
}

const MinPlus minPlus = widest();

} // namespace headrace::solve
