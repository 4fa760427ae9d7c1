// Tensors of a plan on one rank, and tensors that a caller binds or receives.
#pragma once

#include "model/plan/mesh.h"
#include "runtime/communication/reduction.h"
#include "runtime/exec/memory/memory_account.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace headrace::exec {

/// A caller's tensor in host memory; borrowed while a program runs.
struct TensorView {
  const void *data = nullptr;
  plan::Element element = plan::Element::kF32;
  std::vector<int64_t> shape;       ///< global extents
  std::vector<int64_t> strideBytes; ///< per dimension; empty: row-major without gaps
};

/// Rows [first, end) of a dimension of `extent` that this part has when it is split evenly.
struct Part {
  int64_t first = 0;
  int64_t end = 0;
  int64_t count() const { return end - first; }
};
Part evenPart(int64_t extent, plan::GroupPlace place);

ElementType elementTypeOf(plan::Element element);
ReduceOp reduceOpOf(plan::Reduction reduction);

/// Rows that a to_tensor task got; -1: not known yet.
struct RowCount {
  int64_t here = -1;
  int64_t total = -1; ///< on all ranks
};

/// Memory of a tensor, charged to the run that made it for as long as somebody has it.
struct TensorMemory {
  std::shared_ptr<MemoryAccount> account;
  Block block; ///< goes before its account
};

/// Purpose: what a rank has of a tensor between runs, row-major. Ownership: shares its memory with
/// the buffers of the programs that read it. Nobody writes to it once the run that made it has
/// ended. Thread-safety: of a plain value.
struct TensorPart {
  plan::Element element = plan::Element::kF32;
  std::vector<int64_t> shape; ///< of the part
  std::shared_ptr<const TensorMemory> memory;
};

/// Purpose: the local part of Plan.buffers[i], row-major. Ownership: owns its memory, shares that
/// of a part that was there before, or borrows the caller's while the program runs. Thread-safety:
/// none; the tasks that use it are ordered by the plan.
class TensorBuffer {
public:
  /// Unknown extents are `rows.total`, but for a ragged split, which is `rows.here`.
  static Expected<std::unique_ptr<TensorBuffer>> create(const plan::Buffer &buffer,
                                                        const plan::MeshPosition &place,
                                                        std::shared_ptr<RankMemory> memory,
                                                        RowCount rows = {});
  /// Of a part that is there; kMismatch if it is another than the rank has of such a buffer.
  static Expected<std::unique_ptr<TensorBuffer>>
  share(const plan::Buffer &buffer, const plan::MeshPosition &place, const TensorPart &part);

  /// Of a caller's tensor, if this rank's part of it lies in one piece; null if it does not. Nobody
  /// may write to it, and it has no part() for after the run.
  static Expected<std::unique_ptr<TensorBuffer>>
  borrow(const plan::Buffer &buffer, const plan::MeshPosition &place, const TensorView &view);

  const plan::Buffer &described() const { return *described_; }
  uint8_t *data() const { return data_; }
  const std::vector<int64_t> &localShape() const { return localShape_; }
  /// Of each dimension, the first element of the whole that is here; 0 where a split is ragged.
  const std::vector<int64_t> &first() const { return first_; }
  int64_t elements() const { return elements_; }
  int64_t bytes() const { return elements_ * plan::bytesOf(described_->element); }
  /// Copies this rank's part out of a caller's tensor of the same shape and element.
  Status copyFrom(const TensorView &view);
  /// What stays of it after the run.
  TensorPart part() const { return {described_->element, localShape_, memory_}; }

private:
  TensorBuffer() = default;
  /// Without memory.
  static Expected<std::unique_ptr<TensorBuffer>>
  shaped(const plan::Buffer &buffer, const plan::MeshPosition &place, RowCount rows);

  Status check(const TensorView &view) const;
  /// Where this rank's part of a caller's tensor begins.
  const uint8_t *beginOf(const TensorView &view, const std::vector<int64_t> &strides) const;

  const plan::Buffer *described_ = nullptr;
  std::shared_ptr<const TensorMemory> memory_; ///< none: borrowed
  uint8_t *data_ = nullptr;
  std::vector<int64_t> localShape_;
  std::vector<int64_t> first_;
  int64_t elements_ = 0;
};

} // namespace headrace::exec
