// The checks of what pipelines ask of states.
#include "passes/form/verify_states.h"

#include "dialects/pipe/PipeDialect.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace headrace::pipe;

namespace headrace::form {
namespace {

bool hasField(StateOp state, StringAttr name) {
  return llvm::any_of(state.getFields().getAsRange<FieldAttr>(),
                      [&](FieldAttr field) { return field.getName() == name; });
}

LogicalResult requireColumns(Operation *op, ArrayAttr names, RowsType rows) {
  for (auto name : names.getAsRange<StringAttr>()) {
    if (rows.indexOf(name.getValue()) < 0) {
      return op->emitOpError("has no such column in its rows: ") << name;
    }
  }
  return success();
}

LogicalResult requireField(Operation *op, StateOp state, StringAttr name) {
  if (!hasField(state, name)) {
    return op->emitOpError("has no such field in its state: ") << name;
  }
  return success();
}

class StateUses {
public:
  explicit StateUses(ModuleOp module) : symbols_(module) {
    module.walk(
        [&](InsertOp insert) { inserts_[insert.getStateAttr().getAttr()].push_back(insert); });
    module.walk([&](EmitOp emit) { emits_[emit.getStreamAttr().getAttr()].push_back(emit); });
  }

  LogicalResult verify(Operation *op) {
    return llvm::TypeSwitch<Operation *, LogicalResult>(op)
        .Case<ReadOp, LookupOp, InsertOp, CombineOp, BoundOp>([&](auto user) -> LogicalResult {
          auto state = symbols_.lookup<StateOp>(user.getState());
          if (!state) {
            return user.emitOpError("refers to no state of the module: @") << user.getState();
          }
          return verifyUse(user, state);
        })
        .Case([](EmitOp emit) {
          return requireColumns(emit, emit.getKeys(), emit.getInput().getType());
        })
        .Default([](Operation *) { return success(); });
  }

private:
  LogicalResult verifyUse(ReadOp read, StateOp state) {
    RowsType rows = read.getRows().getType();
    for (auto [name, type, nullable] :
         llvm::zip_equal(rows.getNames(), rows.getTypes(), rows.getNullable())) {
      if (failed(requireField(read, state, name))) {
        return failure();
      }
      FieldAttr field = state.getField(name);
      if (type != field.getType() || nullable != field.getNullable()) {
        return read.emitOpError("gives a column that is not of its field's type: ") << field;
      }
    }
    return success();
  }

  LogicalResult verifyUse(LookupOp lookup, StateOp state) {
    RowsType rows = lookup.getInput().getType();
    if (state.getKind() != StateKind::Join) {
      return lookup.emitOpError("looks into a state that is no join table: @") << lookup.getState();
    }
    if (state.countKeys() != static_cast<int64_t>(lookup.getKeys().size())) {
      return lookup.emitOpError("needs one key for each of its state, got ")
             << lookup.getKeys().size() << " for " << state.countKeys();
    }
    if (failed(requireColumns(lookup, lookup.getKeys(), rows)) ||
        failed(verifyKeys(lookup, state))) {
      return failure();
    }
    for (auto name : lookup.getPayload().getAsRange<StringAttr>()) {
      if (failed(requireField(lookup, state, name))) {
        return failure();
      }
    }
    for (auto name : lookup.getColumns().getAsRange<StringAttr>()) {
      if (rows.indexOf(name.getValue()) < 0 && failed(requireField(lookup, state, name))) {
        return failure();
      }
    }
    bool marksState = lookup.getKind() == LookupKind::Full || lookup.getKind() == LookupKind::Seen;
    if (marksState && failed(verifyMark(lookup, state))) {
      return failure();
    }
    return verifyResult(lookup, state);
  }

  /// Nothing else is in the field that is set, and nothing has set it before.
  LogicalResult verifyMark(LookupOp lookup, StateOp state) {
    StringAttr mark = lookup.getMarkAttr();
    if (failed(requireField(lookup, state, mark))) {
      return failure();
    }
    for (InsertOp insert : inserts_.lookup(state.getSymNameAttr())) {
      if (!isFalse(insert.getInput(), mark)) {
        return lookup.emitOpError("marks a field that is not filled with false: ") << mark;
      }
    }
    return success();
  }

  /// Whether a column is `false` in every row, as the maps of its pipelines say.
  bool isFalse(Value rows, StringAttr column) const {
    Operation *op = rows.getDefiningOp();
    if (auto receive = dyn_cast<ReceiveOp>(op)) {
      const SmallVector<EmitOp> emits = emits_.lookup(receive.getStreamAttr().getAttr());
      return !emits.empty() &&
             llvm::all_of(emits, [&](EmitOp emit) { return isFalse(emit.getInput(), column); });
    }
    auto map = dyn_cast<MapOp>(op);
    if (map && llvm::is_contained(map.getNames(), Attribute(column))) {
      int64_t index = map.getRows().getType().indexOf(column.getValue());
      auto yield = cast<YieldOp>(map.getBody().front().back());
      return index >= 0 && matchPattern(yield.getOperand(yieldedAt(map, column)), m_Zero());
    }
    return op->getNumOperands() == 1 && isFalse(op->getOperand(0), column);
  }

  /// Which operand of a map's yield is the value of a column: validities stand between them.
  static unsigned yieldedAt(MapOp map, StringAttr column) {
    RowsType rows = map.getRows().getType();
    unsigned at = 0;
    for (auto name : map.getNames().getAsRange<StringAttr>()) {
      if (name == column) {
        break;
      }
      int64_t index = rows.indexOf(name.getValue());
      at += 1 + (index >= 0 && rows.getNullable()[index]);
    }
    return at;
  }

  /// Equal keys have equal bytes only in one type.
  LogicalResult verifyKeys(LookupOp lookup, StateOp state) {
    RowsType rows = lookup.getInput().getType();
    auto keys = lookup.getKeys().getAsRange<StringAttr>().begin();
    for (auto field : state.getFields().getAsRange<FieldAttr>()) {
      if (field.getCombine() == Combine::Key &&
          rows.getTypes()[rows.indexOf((*keys++).getValue())] != field.getType()) {
        return lookup.emitOpError("has a key that is not of its field's type: ") << field;
      }
    }
    return success();
  }

  /// A column that comes out is one that came in, a payload field or the mark.
  LogicalResult verifyResult(LookupOp lookup, StateOp state) {
    RowsType from = lookup.getInput().getType(), to = lookup.getRows().getType();
    bool adds = lookup.getKind() == LookupKind::Inner || lookup.getKind() == LookupKind::Left ||
                lookup.getKind() == LookupKind::Full;
    bool mayMiss = lookup.getKind() == LookupKind::Left || lookup.getKind() == LookupKind::Full;
    auto isPayload = [&](StringAttr name, Type type, bool nullable) {
      return adds && llvm::is_contained(lookup.getPayload(), Attribute(name)) &&
             llvm::any_of(state.getFields().getAsRange<FieldAttr>(), [&](FieldAttr field) {
               return field.getName() == name && field.getType() == type &&
                      (field.getNullable() || mayMiss) == nullable;
             });
    };
    for (auto [index, name] : llvm::enumerate(to.getNames())) {
      Type type = to.getTypes()[index];
      bool nullable = to.getNullable()[index];
      int64_t source = from.indexOf(name.getValue());
      bool passed =
          source >= 0 && from.getTypes()[source] == type && from.getNullable()[source] == nullable;
      bool mark = lookup.getKind() == LookupKind::Mark && name == lookup.getMarkAttr() &&
                  type.isInteger(1) && !nullable;
      if (!passed && !mark && !isPayload(name, type, nullable)) {
        return lookup.emitOpError("gives a column that is neither its input's nor payload: ")
               << name;
      }
    }
    for (auto name : lookup.getPayload().getAsRange<StringAttr>()) {
      if (!adds || to.indexOf(name.getValue()) < 0) {
        return lookup.emitOpError("has a payload that does not come out of it: ") << name;
      }
    }
    return success();
  }

  LogicalResult verifyUse(InsertOp insert, StateOp state) {
    return verifyFill(insert, state,
                      {StateKind::Join, StateKind::Sort, StateKind::Rows, StateKind::Window});
  }
  LogicalResult verifyUse(BoundOp bound, StateOp state) {
    auto sink = dyn_cast<InsertOp>(bound->getParentOfType<PipelineOp>().getBody().front().back());
    if (!sink || sink.getState() != bound.getState()) {
      return bound.emitOpError("C1: asks a state that its pipeline does not fill: @")
             << bound.getState();
    }
    ArrayAttr keys = state.getSortKeysAttr();
    if (state.getKind() != StateKind::Sort || !state.getLimit() || !keys || keys.empty()) {
      return bound.emitOpError("C1: asks a state that does not keep the first rows of an order: @")
             << bound.getState();
    }
    FieldAttr first = state.getField(cast<SortKeyAttr>(keys[0]).getField());
    if (bound.getKey().getType() != first.getType()) {
      return bound.emitOpError("C1: is not of its field's type: ") << first;
    }
    return success();
  }
  LogicalResult verifyUse(CombineOp combine, StateOp state) {
    if (failed(verifyFill(combine, state, {StateKind::Scalar, StateKind::Group}))) {
      return failure();
    }
    RowsType rows = combine.getInput().getType();
    for (auto field : state.getFields().getAsRange<FieldAttr>()) {
      int64_t index = rows.indexOf(field.getName().getValue());
      if (field.getCombine() != Combine::Key && !canFold(rows.getTypes()[index], field)) {
        return combine.emitOpError("has a column that its field cannot take: ") << field;
      }
      if (rows.getNullable()[index] && !field.getNullable()) {
        return combine.emitOpError("has a column of NULLs for a field without: ") << field;
      }
    }
    return success();
  }

  /// Integers are folded into wider ones, and doubles into sums of more than their precision.
  static bool canFold(Type column, FieldAttr field) {
    Type type = field.getType();
    bool widens = column.isInteger() && type.isInteger() &&
                  column.getIntOrFloatBitWidth() <= type.getIntOrFloatBitWidth();
    return column == type || widens ||
           (field.getCombine() == Combine::SumDoubleDouble && column.isF64());
  }

  template <typename Sink>
  LogicalResult verifyFill(Sink sink, StateOp state, std::initializer_list<StateKind> kinds) {
    if (!llvm::is_contained(kinds, state.getKind())) {
      return sink.emitOpError("does not fill states of kind: ")
             << stringifyStateKind(state.getKind());
    }
    SmallVector<Attribute> fields;
    bool computes = state.getKind() == StateKind::Window;
    for (auto field : state.getFields().getAsRange<FieldAttr>()) {
      bool filled =
          field.getCombine() == Combine::Key || field.getCombine() == Combine::Payload || !computes;
      if (filled) {
        fields.push_back(field.getName());
      }
    }
    RowsType rows = sink.getInput().getType();
    SmallVector<Attribute> keys;
    for (auto field : state.getFields().getAsRange<FieldAttr>()) {
      if (field.getCombine() == Combine::Key) {
        keys.push_back(field.getName());
      }
    }
    if (failed(requireColumns(sink, ArrayAttr::get(sink.getContext(), fields), rows)) ||
        failed(requireColumns(sink, sink.getKeys(), rows))) {
      return failure();
    }
    if (sink.getKeys() != ArrayAttr::get(sink.getContext(), keys)) {
      return sink.emitOpError("needs the keys of its state in their order, got ") << sink.getKeys();
    }
    auto insert = dyn_cast<InsertOp>(sink.getOperation());
    bool dropsNulls = insert && insert.getDropNullKeys();
    for (auto field : state.getFields().getAsRange<FieldAttr>()) {
      const bool key = field.getCombine() == Combine::Key;
      if (!key && field.getCombine() != Combine::Payload) {
        continue; // is computed, or folded
      }
      int64_t index = rows.indexOf(field.getName().getValue());
      bool nullable = rows.getNullable()[index] && !(key && dropsNulls && !field.getNullable());
      if (rows.getTypes()[index] != field.getType() || nullable != field.getNullable()) {
        return sink.emitOpError("has a column that is not of its field's type: ") << field;
      }
    }
    return success();
  }

  SymbolTable symbols_;
  llvm::DenseMap<StringAttr, SmallVector<InsertOp>> inserts_; ///< by state
  llvm::DenseMap<StringAttr, SmallVector<EmitOp>> emits_;     ///< by stream
};

} // namespace

LogicalResult verifyStateUses(ModuleOp module) {
  StateUses uses(module);
  WalkResult walked = module.walk([&](Operation *op) {
    return failed(uses.verify(op)) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

} // namespace headrace::form
