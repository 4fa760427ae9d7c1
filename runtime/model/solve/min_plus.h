// The inner loop of message passing and elimination: a row vector times a matrix in (min, +).
// Private to model/solve.
#pragma once

#include <cstddef>
#include <cstdint>

namespace headrace::solve {

/// out[t] = min over s of base[s] + table[s × columns + t]; `rows` is at least 1.
inline void minPlus(const double *__restrict base, int32_t rows, const double *__restrict table,
                    int32_t columns, double *__restrict out) {
  for (int32_t t = 0; t < columns; ++t) {
    out[t] = base[0] + table[t];
  }
  for (int32_t s = 1; s < rows; ++s) {
    const double *row = table + static_cast<size_t>(s) * columns;
    double own = base[s];
    for (int32_t t = 0; t < columns; ++t) {
      double sum = own + row[t];
      out[t] = sum < out[t] ? sum : out[t];
    }
  }
}

} // namespace headrace::solve
