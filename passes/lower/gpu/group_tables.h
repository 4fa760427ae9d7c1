// Tables of groups as code for threads sees them: a state's in the device's memory, and a small one
// of a block in shared memory.
#pragma once

#include "passes/lower/code/code_builder.h"

#include "model/plan/plan.h"
#include "runtime/abi/row_pointer.h"

#include <optional>

namespace headrace::lower {

/// Purpose: how the code that finds a group of a key reaches a table. What entries hold of a row is
/// its address (below 2^48, above abi::kClaimedRow); 0 is none. Lifetime: within the builder's.
class GroupTableCode {
public:
  virtual ~GroupTableCode() = default;

  /// At the begin of a function that is called with `argument`.
  virtual void open(mlir::Value argument) = 0;
  virtual mlir::Value directory() = 0;
  virtual mlir::Value mask() = 0;   ///< entries - 1, i64
  virtual mlir::Value isFull() = 0; ///< i1
  virtual mlir::Value newRow() = 0; ///< the address of an unused row; 0 where there is none
  virtual mlir::Value rowAt(mlir::Value address) = 0;
  virtual mlir::Value keeper() = 0; ///< HrDeviceStore of strings; null: they stay where they are
  virtual llvm::StringRef suffix() = 0; ///< of the function's name
  /// A primitive of runtime/primitives/gpu/device.h that is there for both kinds.
  mlir::Value call(llvm::StringRef name, mlir::Type result, mlir::ValueRange arguments);

protected:
  GroupTableCode(CodeBuilder &builder, const plan::State &state, const char *prefix)
      : b_(builder), state_(state), prefix_(prefix) {}
  CodeBuilder &b_;
  const plan::State &state_;

private:
  const char *prefix_;
};

/// An HrGroupTable; the argument points to it, and addresses are pointers.
class StateGroups final : public GroupTableCode {
public:
  StateGroups(CodeBuilder &builder, const plan::State &state)
      : GroupTableCode(builder, state, "hr_device_") {}
  void open(mlir::Value argument) override { table_ = argument; }
  mlir::Value directory() override;
  mlir::Value mask() override;
  mlir::Value isFull() override;
  mlir::Value newRow() override;
  mlir::Value rowAt(mlir::Value address) override;
  mlir::Value keeper() override;
  llvm::StringRef suffix() override { return ".find_group"; }

private:
  mlir::Value table_;
};

/// Where the parts of a block's table are in shared memory:
///
///   rows in use | directory | groups of codes | rows | each thread's own accumulators
///
/// Groups of codes: where all keys are codes of small dictionaries, the row for each combination
/// of them (its number + 1; 0: not known yet), so that rows find their group without its key. Own
/// accumulators: of the first `ownGroups` rows each thread has one of every field, the threads'
/// side by side, so that few groups do not make threads wait for each other.
class BlockLayout {
public:
  /// `expectedGroups`: nothing if they are not known; then the table has as many rows as fit, which
  /// all threads share.
  BlockLayout(const plan::State &state, std::optional<uint64_t> expectedGroups);

  bool pays() const { return groups >= 16; }
  uint32_t groups;        ///< rows of the table
  uint32_t ownGroups = 0; ///< of which threads have accumulators of their own
  uint32_t threads = 256; ///< of a block, at most
  uint32_t entries() const { return groups * 2; }
  int64_t directory() const { return 16; }
  int64_t codeGroups() const { return directory() + int64_t{8} * entries(); }
  int64_t rows() const { return codeGroups() + int64_t{4} * kCodeGroups; }
  mlir::Value row(CodeBuilder &builder, mlir::Value shared, mlir::Value number) const;
  int64_t own() const { return rows() + int64_t{groups} * rowBytes_; }
  int64_t bytes() const { return own() + ownGroups * ownGroupBytes(); }
  int64_t ownGroupBytes() const { return ownWidth_ * threads; }
  /// The field as the accumulator of a thread: its offset is from the begin of the group's
  /// accumulators plus the thread's number times the field's bytes.
  plan::StateField ownField(const plan::State &state, const plan::StateField &field) const;

  static constexpr uint32_t kCodeGroupBits = 10;
  static constexpr uint32_t kCodeGroups = 1 << kCodeGroupBits;

private:
  uint32_t rowBytes_;
  int64_t ownWidth_; ///< bytes of a thread for a group
};

/// That of the block; the argument points to its shared memory, and addresses are rows' numbers +
/// kFirst.
class BlockGroups final : public GroupTableCode {
public:
  BlockGroups(CodeBuilder &builder, const plan::State &state, const BlockLayout &layout)
      : GroupTableCode(builder, state, "hr_block_"), layout_(layout) {}
  void open(mlir::Value argument) override { shared_ = argument; }
  mlir::Value directory() override { return b_.at(shared_, layout_.directory()); }
  mlir::Value mask() override { return b_.i64(layout_.entries() - 1); }
  mlir::Value isFull() override;
  mlir::Value newRow() override;
  mlir::Value rowAt(mlir::Value address) override;
  mlir::Value keeper() override { return {}; }
  llvm::StringRef suffix() override { return ".find_group_of_block"; }
  static constexpr int64_t kFirst = abi::kClaimedRow + 1;

private:
  const BlockLayout &layout_;
  mlir::Value shared_;
};

} // namespace headrace::lower
