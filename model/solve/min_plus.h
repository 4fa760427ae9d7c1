// The inner loop of message passing and elimination: a row vector times a matrix in (min, +).
// Private to model/solve.
#pragma once

#include <cstdint>

namespace headrace::solve {

/// out[t] = min over s of base[s] + table[s × columns + t]; `rows` is at least 1. The ranges do not
/// overlap. Runs at the width of the machine's vectors, with the same bits at every width.
using MinPlus = void (*)(const double *base, int32_t rows, const double *table, int32_t columns,
                         double *out);
extern const MinPlus minPlus;
/// The same without vectors: the reference.
void minPlusPlain(const double *base, int32_t rows, const double *table, int32_t columns,
                  double *out);

} // namespace headrace::solve
