// What tensor ops and collectives do on one rank, in units of work: as row_work.h, for the layout
// solver and the simulator.
#pragma once

#include "model/cost/row_work.h"

namespace headrace::cost {

/// One rank's part of a matrix product.
struct ProductShape {
  double elements = 0;   ///< of the result
  double inner = 0;      ///< extent that is summed over
  double outRows = 0;    ///< second to last extent of the result
  double rightBytes = 0; ///< of the right operand
  double bytes = 0;      ///< of all operands and the result
  enum class Element : uint8_t { kF32, kF64 } element = Element::kF32;
};
Terms productTerms(const ProductShape &product);
/// The same, of a device with its own memory.
KernelWork productWork(const ProductShape &product);

/// One rank's part of an elementwise kernel or a reduction.
struct ElementShape {
  double points = 0;   ///< elements of the largest operand or result
  double bytes = 0;    ///< of all operands and results
  double ops = 0;      ///< a point
  double math = 0;     ///< of them such as exp
  bool across = false; ///< reduced outputs lie side by side: every step goes to another row
  ProductShape::Element element = ProductShape::Element::kF32;
};
Terms elementTerms(const ElementShape &shape);
KernelWork elementWork(const ElementShape &shape);
/// A device goes through `bytes` of memory in order and computes nothing.
KernelWork copyWork(double bytes);

/// One rank's part of a collective between ranks of one process; `in` and `out` in bytes.
Terms collectiveTerms(topology::CollectiveKind kind, double in, double out, int64_t ranks);

/// Seconds on one rank.
double secondsOf(const CostModel &model, const ProductShape &product);
double secondsOf(const CostModel &model, const ElementShape &shape);
/// Seconds of copying part of a tensor of `in` bytes to one of `out` bytes on the same rank.
double copySeconds(const CostModel &model, double in, double out);
/// Seconds of loading one rank's `bytes` of a tensor that the caller has; ranks of the caller's
/// process read theirs where it is, if it lies in one piece: if only the first dimension is
/// divided.
double tensorLoadSeconds(const CostModel &model, double bytes, bool inOnePiece);
/// Seconds of a collective; `in` and `out` are bytes of one rank before and after.
double secondsOf(const CostModel &model, topology::CollectiveKind kind, AxisSet axes, double in,
                 double out);

} // namespace headrace::cost
