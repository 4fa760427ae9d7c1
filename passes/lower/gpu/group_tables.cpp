// Both kinds of tables, and what a block's takes of shared memory.
#include "passes/lower/gpu/group_tables.h"

#include "runtime/abi/device_kernel.h"
#include "runtime/abi/type_bytes.h"

#include <bit>
#include <cstddef>

using namespace mlir;

namespace headrace::lower {

namespace {
/// Of the table and its rows: with 256 threads, room for two blocks a multiprocessor with the
/// default carve-out.
constexpr uint32_t kTableBytes = 16384;
constexpr uint32_t kGroupsMax = 256;

/// With more groups than this threads do not wait for each other often enough to have accumulators
/// of their own.
constexpr uint64_t kOwnExpectedMax = 32;
constexpr uint32_t kOwnGroupsMax = 8;
/// Shared memory of a block with them: five blocks of 128 threads a multiprocessor on sm_90.
constexpr int64_t kOwnBlockBytes = 40960;
constexpr uint32_t kOwnThreads = 128;
/// Fewer leave too many rows to the shared rows.
constexpr uint32_t kOwnGroupsMin = 2;

int64_t ownBytes(const plan::StateField &field) {
  return int64_t{abi::bytesOf(field.type)} * (field.nullable ? 2 : 1);
}
} // namespace

Value GroupTableCode::call(StringRef name, Type result, ValueRange arguments) {
  return b_.callNamed((Twine(prefix_) + name).str(), result, arguments);
}

// ---- a state's ----

Value StateGroups::directory() {
  return b_.loadField(b_.ptrType(), table_, offsetof(HrGroupTable, directory));
}
Value StateGroups::mask() {
  return b_.loadField(b_.getI64Type(), table_, offsetof(HrGroupTable, mask));
}
Value StateGroups::isFull() {
  Value full = call("full", b_.getI32Type(), {table_});
  return b_.compare(arith::CmpIPredicate::ne, full, b_.i32(0));
}
Value StateGroups::newRow() {
  return call("new_group", b_.getI64Type(), {table_, b_.i32(state_.rowBytes)});
}
Value StateGroups::rowAt(Value address) {
  return LLVM::IntToPtrOp::create(b_, b_.loc(), b_.ptrType(), address);
}
Value StateGroups::keeper() {
  return b_.loadField(b_.ptrType(), table_, offsetof(HrGroupTable, owner));
}

// ---- a block's ----

BlockLayout::BlockLayout(const plan::State &state, std::optional<uint64_t> expectedGroups)
    : groups(std::min(kGroupsMax, std::bit_floor(kTableBytes / (state.rowBytes + 16)))),
      rowBytes_(state.rowBytes), ownWidth_(0) {
  for (const plan::StateField &field : state.fields) {
    ownWidth_ += field.combine == plan::Combine::kKey ? 0 : ownBytes(field);
  }
  if (!pays() || !expectedGroups || *expectedGroups > kOwnExpectedMax || ownWidth_ == 0) {
    return;
  }
  BlockLayout own = *this;
  own.threads = kOwnThreads;
  own.groups =
      std::min(groups, std::bit_ceil(std::max(16u, static_cast<uint32_t>(2 * *expectedGroups))));
  const int64_t left = kOwnBlockBytes - own.bytes();
  const auto fits = static_cast<uint32_t>(std::max<int64_t>(0, left) / own.ownGroupBytes());
  own.ownGroups = std::min(kOwnGroupsMax, fits);
  if (own.ownGroups >= kOwnGroupsMin) {
    *this = own;
  }
}

Value BlockLayout::row(CodeBuilder &builder, Value shared, Value number) const {
  return builder.element(builder.at(shared, rows()), number, rowBytes_);
}

plan::StateField BlockLayout::ownField(const plan::State &state,
                                       const plan::StateField &field) const {
  plan::StateField own = field;
  int64_t at = 0;
  for (const plan::StateField &other : state.fields) {
    if (other.name == field.name) {
      break;
    }
    at += other.combine == plan::Combine::kKey ? 0 : ownBytes(other) * threads;
  }
  own.offset = static_cast<uint32_t>(at);
  own.validOffset = static_cast<uint32_t>(at + int64_t{abi::bytesOf(field.type)} * threads);
  return own;
}

Value BlockGroups::isFull() {
  Value full = call("full", b_.getI32Type(), {shared_, b_.i32(layout_.groups)});
  return b_.compare(arith::CmpIPredicate::ne, full, b_.i32(0));
}
Value BlockGroups::newRow() {
  Value number = call("new_group", b_.getI32Type(), {shared_, b_.i32(layout_.groups)}); // or -1
  Value isNone = b_.compare(arith::CmpIPredicate::eq, number, b_.i32(-1));
  Value address = b_.add(b_.zeroExtend(number, b_.getI64Type()), b_.i64(kFirst));
  return b_.select(isNone, b_.i64(0), address);
}
Value BlockGroups::rowAt(Value address) {
  return layout_.row(b_, shared_, b_.add(address, b_.i64(-kFirst)));
}

} // namespace headrace::lower
