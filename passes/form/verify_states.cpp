// The checks of what pipelines ask of states.
#include "passes/form/verify_states.h"

#include "dialects/pipe/PipeDialect.h"
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
  explicit StateUses(ModuleOp module) : symbols_(module) {}

  LogicalResult verify(Operation *op) {
    return llvm::TypeSwitch<Operation *, LogicalResult>(op)
        .Case<ReadOp, LookupOp, InsertOp, CombineOp>([&](auto user) -> LogicalResult {
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
    for (StringAttr name : read.getRows().getType().getNames()) {
      if (failed(requireField(read, state, name))) {
        return failure();
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
    if (failed(requireColumns(lookup, lookup.getKeys(), rows))) {
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
    if (marksState && failed(requireField(lookup, state, lookup.getMarkAttr()))) {
      return failure();
    }
    return verifyResult(lookup, state);
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
  LogicalResult verifyUse(CombineOp combine, StateOp state) {
    if (failed(verifyFill(combine, state, {StateKind::Scalar, StateKind::Group}))) {
      return failure();
    }
    RowsType rows = combine.getInput().getType();
    auto widthOf = [](Type type) { return type.isInteger() ? type.getIntOrFloatBitWidth() : 0; };
    for (auto field : state.getFields().getAsRange<FieldAttr>()) {
      Type column = rows.getTypes()[rows.indexOf(field.getName().getValue())];
      if (widthOf(column) > widthOf(field.getType())) {
        return combine.emitOpError("has a column that is wider than its field: ") << field;
      }
    }
    return success();
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
    return success();
  }

  SymbolTable symbols_;
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
