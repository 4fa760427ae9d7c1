// optimize-null-safe: keys that are equal also where both are NULL, as ordinary keys.
#include "passes/optimize/null_safe.h"
#include "dialects/frame/FrameConstants.h"
#include "passes/optimize/Passes.h"
#include "passes/optimize/expressions.h"
#include "passes/optimize/provenance.h"
#include "runtime/base/uuid.h"

namespace headrace::optimize {
#define GEN_PASS_DEF_OPTIMIZENULLSAFE
#include "passes/optimize/Passes.h.inc"
} // namespace headrace::optimize

using namespace mlir;
using namespace headrace;
using namespace headrace::optimize;
using namespace headrace::frame;

namespace {

/// A NULL that only one side can have equals nothing: such a pair is an ordinary one.
void dropNeedless(JoinOp join) {
  SmallVector<bool> flags;
  for (auto [index, keys] :
       llvm::enumerate(llvm::zip_equal(join.getLeftKeys(), join.getRightKeys()))) {
    auto [left, right] = keys;
    flags.push_back(join.isNullSafe(index) && canBeNull(join.getLeft(), cast<StringAttr>(left)) &&
                    canBeNull(join.getRight(), cast<StringAttr>(right)));
  }
  join.setNullSafeAttr(nullSafeAttr(join.getContext(), flags));
}

/// What stands for NULL beside its flag.
Attribute someValue(Type value) {
  const bool isNumber = isUnsigned128(value);
  return isUuid(value)                      ? literalAttr(std::string(kUuidBytes, '\0'), value)
         : isHeldAsText(value) && !isNumber ? literalAttr(std::string(), value)
         : isBoolean(value)                 ? literalAttr(false, value)
         : isFloat(value)                   ? literalAttr(0.0, value)
                                            : literalAttr(llvm::APInt(kLiteralBits, 0), value);
}

/// `table` with two columns for each of `names`, equal together exactly where the column is the
/// same, NULL or not.
Value withFlagAndValue(OpBuilder &builder, Location location, Value table,
                       ArrayRef<StringAttr> names, llvm::function_ref<StringAttr(StringAttr)> flag,
                       llvm::function_ref<StringAttr(StringAttr)> plain) {
  auto type = cast<TableType>(table.getType());
  SmallVector<Column> columns(type.getColumns());
  SmallVector<Attribute> kept = llvm::to_vector_of<Attribute>(type.getNames()), computed;
  for (StringAttr name : names) {
    columns.push_back({flag(name), builder.getI64Type()});
    columns.push_back({plain(name), dropNullable(type.getColumnType(name))});
    computed.append({flag(name), plain(name)});
  }
  auto project = ProjectOp::create(builder, location, TableType::get(builder.getContext(), columns),
                                   table, builder.getArrayAttr(kept),
                                   builder.getArrayAttr(computed), builder.getArrayAttr({}));
  RegionBuilder inside(builder, project.getExpressions(), type);
  OpBuilder &b = inside.builder();
  auto number = [&](int64_t value) -> Value {
    return ConstantOp::create(b, location, b.getI64Type(), b.getI64IntegerAttr(value));
  };
  SmallVector<Value> values;
  for (StringAttr name : names) {
    Value key = inside.column(name);
    Type value = dropNullable(key.getType());
    Value null = IsNullOp::create(b, location, b.getI1Type(), key);
    values.push_back(CaseOp::create(b, location, b.getI64Type(), ValueRange{null},
                                    ValueRange{number(1)}, number(0)));
    Value some = ConstantOp::create(b, location, value, someValue(value));
    values.push_back(CoalesceOp::create(b, location, value, ValueRange{key, some}));
  }
  inside.yield(location, values);
  project.setColumnsAttr(inside.columns());
  return project.getResult();
}

/// Each null_safe pair as two pairs: whether it is NULL, and the value. Either side may have the
/// same column names.
void expand(OpBuilder &builder, JoinOp join) {
  builder.setInsertionPoint(join);
  Location location = join.getLoc();
  auto named = [&](StringRef side, StringRef suffix) {
    return [&builder, side, suffix](StringAttr name) {
      return builder.getStringAttr(name.getValue() + side + suffix);
    };
  };
  auto addColumns = [&](Value table, ArrayAttr keys, StringRef side,
                        SmallVectorImpl<Attribute> &all) {
    auto flag = named(side, ".null"), plain = named(side, ".value");
    llvm::SetVector<StringAttr> names;
    for (auto [index, key] : llvm::enumerate(keys.getAsRange<StringAttr>())) {
      if (!join.isNullSafe(index)) {
        all.push_back(key);
        continue;
      }
      names.insert(key);
      all.append({flag(key), plain(key)});
    }
    return withFlagAndValue(builder, location, table, names.getArrayRef(), flag, plain);
  };
  SmallVector<Attribute> leftKeys, rightKeys;
  Value left = addColumns(join.getLeft(), join.getLeftKeys(), ".left", leftKeys);
  Value right = addColumns(join.getRight(), join.getRightKeys(), ".right", rightKeys);
  TableType type = JoinOp::inferResultType(join.getKind(), cast<TableType>(left.getType()),
                                           cast<TableType>(right.getType()), join.getMark());
  auto result =
      JoinOp::create(builder, location, type, join.getKind(), left, right,
                     builder.getArrayAttr(leftKeys), builder.getArrayAttr(rightKeys),
                     DenseBoolArrayAttr(), join.getResidualColumnsAttr(), join.getNullAware());
  result.getResidual().takeBody(join.getResidual());
  Value kept = createKeep(builder, location, result, join.getType().getNames());
  join.getResult().replaceAllUsesWith(kept);
  join.erase();
}

struct NullSafePass : optimize::impl::OptimizeNullSafeBase<NullSafePass> {
  using OptimizeNullSafeBase::OptimizeNullSafeBase;

  void runOnOperation() override {
    OpBuilder builder(&getContext());
    SmallVector<JoinOp> joins;
    getOperation().walk([&](JoinOp join) {
      if (join.getNullSafe()) {
        joins.push_back(join);
      }
    });
    for (JoinOp join : joins) {
      dropNeedless(join);
      if (asTwoKeys && join.hasNullSafe()) {
        expand(builder, join);
      }
    }
  }
};

} // namespace

DenseBoolArrayAttr headrace::optimize::nullSafeAttr(MLIRContext *context, ArrayRef<bool> flags) {
  return llvm::is_contained(flags, true) ? DenseBoolArrayAttr::get(context, flags)
                                         : DenseBoolArrayAttr();
}
