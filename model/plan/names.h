// Names of the plan's enums: one table each, used by JSON, text and messages. Also the version
// strings.
#pragma once

#include "model/plan/plan.h"
#include "runtime/abi/type_bytes.h" // the compiler's way to abi::bytesOf

#include <optional>
#include <string>
#include <string_view>

namespace headrace::plan {

/// One enumerator and its stable lower-case name.
template <typename E> struct EnumName {
  E value;
  const char *name;
};

/// The table of an enum, specialised for each enum that a plan holds.
template <typename E> struct EnumNames;

#define HR_PLAN_ENUM_NAMES(E, ...)                                                                 \
  template <> struct EnumNames<E> {                                                                \
    static constexpr EnumName<E> kTable[] = {__VA_ARGS__};                                         \
  };
HR_PLAN_ENUM_NAMES(HrType, {HR_BOOL, "bool"}, {HR_I8, "i8"}, {HR_I16, "i16"}, {HR_I32, "i32"},
                   {HR_I64, "i64"}, {HR_I128, "i128"}, {HR_F32, "f32"}, {HR_F64, "f64"},
                   {HR_STRING, "string"})
HR_PLAN_ENUM_NAMES(StateKind, {StateKind::kScalar, "scalar"},
                   {StateKind::kGroupTable, "group_table"}, {StateKind::kJoinTable, "join_table"},
                   {StateKind::kSortBuffer, "sort_buffer"}, {StateKind::kRowBuffer, "row_buffer"},
                   {StateKind::kWindow, "window"})
HR_PLAN_ENUM_NAMES(Combine, {Combine::kKey, "key"}, {Combine::kSum, "sum"},
                   {Combine::kSumDoubleDouble, "sum_double_double"}, {Combine::kMin, "min"},
                   {Combine::kMax, "max"}, {Combine::kPayload, "payload"},
                   {Combine::kComputed, "computed"}, {Combine::kBitAnd, "bit_and"},
                   {Combine::kBitOr, "bit_or"}, {Combine::kBitXor, "bit_xor"},
                   {Combine::kProduct, "product"})
HR_PLAN_ENUM_NAMES(WindowFunction, {WindowFunction::kRowNumber, "row_number"},
                   {WindowFunction::kRank, "rank"}, {WindowFunction::kDenseRank, "dense_rank"},
                   {WindowFunction::kPercentRank, "percent_rank"},
                   {WindowFunction::kCumeDist, "cume_dist"}, {WindowFunction::kNtile, "ntile"},
                   {WindowFunction::kLag, "lag"}, {WindowFunction::kLead, "lead"},
                   {WindowFunction::kFirstValue, "first_value"},
                   {WindowFunction::kLastValue, "last_value"},
                   {WindowFunction::kNthValue, "nth_value"}, {WindowFunction::kCount, "count"},
                   {WindowFunction::kFold, "fold"}, {WindowFunction::kCollect, "collect"},
                   {WindowFunction::kMode, "mode"}, {WindowFunction::kQuantiles, "quantiles"})
HR_PLAN_ENUM_NAMES(QuantileKind, {QuantileKind::kDiscrete, "discrete"},
                   {QuantileKind::kBetween, "between"}, {QuantileKind::kRounded, "rounded"},
                   {QuantileKind::kFront, "front"})
HR_PLAN_ENUM_NAMES(FrameUnit, {FrameUnit::kRows, "rows"}, {FrameUnit::kRange, "range"},
                   {FrameUnit::kGroups, "groups"})
HR_PLAN_ENUM_NAMES(FrameEdge, {FrameEdge::kUnboundedPreceding, "unbounded_preceding"},
                   {FrameEdge::kPreceding, "preceding"}, {FrameEdge::kCurrentRow, "current_row"},
                   {FrameEdge::kFollowing, "following"},
                   {FrameEdge::kUnboundedFollowing, "unbounded_following"})
HR_PLAN_ENUM_NAMES(FrameExclusion, {FrameExclusion::kNone, "none"},
                   {FrameExclusion::kCurrentRow, "current_row"}, {FrameExclusion::kGroup, "group"},
                   {FrameExclusion::kTies, "ties"})
HR_PLAN_ENUM_NAMES(BoundKind, {BoundKind::kEq, "eq"}, {BoundKind::kLt, "lt"},
                   {BoundKind::kLe, "le"}, {BoundKind::kGt, "gt"}, {BoundKind::kGe, "ge"})
HR_PLAN_ENUM_NAMES(LiteralKind, {LiteralKind::kInteger, "integer"}, {LiteralKind::kI128, "i128"},
                   {LiteralKind::kReal, "real"}, {LiteralKind::kString, "string"})
HR_PLAN_ENUM_NAMES(TaskKind, {TaskKind::kLoad, "load"}, {TaskKind::kInput, "input"},
                   {TaskKind::kRun, "run"}, {TaskKind::kExchange, "exchange"},
                   {TaskKind::kCollective, "collective"}, {TaskKind::kCompute, "compute"},
                   {TaskKind::kToTensor, "to_tensor"}, {TaskKind::kReserve, "reserve"},
                   {TaskKind::kRelease, "release"}, {TaskKind::kChoose, "choose"},
                   {TaskKind::kRepeat, "repeat"}, {TaskKind::kResult, "result"},
                   {TaskKind::kTensorResult, "tensor_result"})
HR_PLAN_ENUM_NAMES(Device, {Device::kCpu, "cpu"}, {Device::kGpu, "gpu"})
HR_PLAN_ENUM_NAMES(Tier, {Tier::kDevice, tierName(Tier::kDevice)},
                   {Tier::kPinned, tierName(Tier::kPinned)}, {Tier::kHost, tierName(Tier::kHost)},
                   {Tier::kFile, tierName(Tier::kFile)})
HR_PLAN_ENUM_NAMES(Element, {Element::kF32, "f32"}, {Element::kF64, "f64"}, {Element::kI64, "i64"})
HR_PLAN_ENUM_NAMES(SlotKind, {SlotKind::kTable, "table"}, {SlotKind::kTensor, "tensor"},
                   {SlotKind::kValues, "values"})
HR_PLAN_ENUM_NAMES(CollectiveKind, {CollectiveKind::kAllReduce, "all_reduce"},
                   {CollectiveKind::kAllGather, "all_gather"},
                   {CollectiveKind::kReduceScatter, "reduce_scatter"},
                   {CollectiveKind::kAllToAll, "all_to_all"})
HR_PLAN_ENUM_NAMES(Reduction, {Reduction::kSum, "sum"}, {Reduction::kMax, "max"},
                   {Reduction::kMin, "min"})
HR_PLAN_ENUM_NAMES(ComputeKind, {ComputeKind::kMatmul, "matmul"}, {ComputeKind::kKernel, "kernel"},
                   {ComputeKind::kReshape, "reshape"}, {ComputeKind::kSlice, "slice"},
                   {ComputeKind::kConcat, "concat"}, {ComputeKind::kGather, "gather"})
HR_PLAN_ENUM_NAMES(HeavyRows, {HeavyRows::kStay, "stay"}, {HeavyRows::kSpread, "spread"},
                   {HeavyRows::kCover, "cover"}, {HeavyRows::kOnce, "once"})
HR_PLAN_ENUM_NAMES(ExchangeKind, {ExchangeKind::kHash, "hash"},
                   {ExchangeKind::kBroadcast, "broadcast"}, {ExchangeKind::kGather, "gather"},
                   {ExchangeKind::kRange, "range"})
HR_PLAN_ENUM_NAMES(Directory, {Directory::kHash, "hash"}, {Directory::kArray, "array"},
                   {Directory::kRanks, "ranks"})
HR_PLAN_ENUM_NAMES(StateUse, {StateUse::kPerWorker, "per_worker"}, {StateUse::kShared, "shared"})
HR_PLAN_ENUM_NAMES(
    WorkKind, {WorkKind::kRow, "row"}, {WorkKind::kDecode, "decode"},
    {WorkKind::kDecodeCode, "decode_code"}, {WorkKind::kDecodeGathered, "decode_gathered"},
    {WorkKind::kDecodeByte, "decode_byte"}, {WorkKind::kDecodeString, "decode_string"},
    {WorkKind::kDecodeText, "decode_text"}, {WorkKind::kPageByte, "page_byte"},
    {WorkKind::kPageTextByte, "page_text_byte"}, {WorkKind::kMapped, "mapped"},
    {WorkKind::kTake, "take"}, {WorkKind::kTakeString, "take_string"},
    {WorkKind::kSelect, "select"}, {WorkKind::kVectorByte, "vector_byte"},
    {WorkKind::kScalar, "scalar"}, {WorkKind::kWide, "wide"}, {WorkKind::kDivide, "divide"},
    {WorkKind::kDatePart, "date_part"}, {WorkKind::kCompareString, "compare_string"},
    {WorkKind::kMatchString, "match_string"}, {WorkKind::kSearchByte, "search_byte"},
    {WorkKind::kText, "text"}, {WorkKind::kTextByte, "text_byte"}, {WorkKind::kHash, "hash"},
    {WorkKind::kHashString, "hash_string"}, {WorkKind::kHashByte, "hash_byte"},
    {WorkKind::kProbe, "probe"}, {WorkKind::kMatch, "match"}, {WorkKind::kFold, "fold"},
    {WorkKind::kFoldGroup, "fold_group"}, {WorkKind::kFoldReal, "fold_real"},
    {WorkKind::kGroup, "group"}, {WorkKind::kInsert, "insert"},
    {WorkKind::kInsertByte, "insert_byte"}, {WorkKind::kEmit, "emit"},
    {WorkKind::kEmitByte, "emit_byte"}, {WorkKind::kEmitString, "emit_string"},
    {WorkKind::kKeepString, "keep_string"}, {WorkKind::kCopyByte, "copy_byte"},
    {WorkKind::kPartition, "partition"}, {WorkKind::kReadRow, "read_row"},
    {WorkKind::kElement, "element"}, {WorkKind::kElementOp, "element_op"},
    {WorkKind::kElementMath, "element_math"}, {WorkKind::kElementAcross, "element_across"})
#undef HR_PLAN_ENUM_NAMES
template <> struct EnumNames<LogicalKind> {
  static constexpr const auto &kTable = kLogicalKindNames;
};
template <> struct EnumNames<TimeUnit> {
  static constexpr const auto &kTable = kTimeUnitNames;
};

/// The name of an enumerator; "?" for a value outside the enum.
template <typename E> const char *nameOf(E value) {
  for (const auto &entry : EnumNames<E>::kTable) {
    if (entry.value == value) {
      return entry.name;
    }
  }
  return "?";
}

template <typename E> std::optional<E> enumOf(std::string_view name) {
  for (const auto &entry : EnumNames<E>::kTable) {
    if (name == entry.name) {
      return entry.value;
    }
  }
  return std::nullopt;
}

/// Plan.importsHash of kernels compiled against this build's catalogue: 16 lower-case hex digits.
std::string importsHashText();

/// "task 3 'build orders' (run)": how messages name a task.
std::string describeTask(const Plan &plan, int32_t task);

} // namespace headrace::plan
