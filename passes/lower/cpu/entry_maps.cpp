// Finds what bodies make of one text alone, and moves it to maps behind the scan.
#include "passes/lower/cpu/entry_maps.h"
#include "model/plan/coded_groups.h"

#include "model/plan/page_form.h"
#include "passes/analysis/physical.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/Twine.h"

using namespace mlir;

namespace headrace::lower {

namespace {

/// Whether the op can run for entries that no row has: without effects, the same each time.
bool runsForAny(Operation *op) {
  if (op->getNumResults() == 0 ||
      isa<pipe::RunSeedOp, pipe::PlaceOp, pipe::OwnsOp, pipe::BoundOp>(op)) {
    return false;
  }
  for (Region &region : op->getRegions()) {
    for (Operation &inner : region.getOps()) {
      if (!inner.hasTrait<OpTrait::IsTerminator>() && !runsForAny(&inner)) {
        return false;
      }
    }
  }
  return isPure(op); // a division is, by a number that is known not to trap
}

/// Whether columns have values of this type.
bool isStored(Type type) {
  return isa<pipe::StringType, Float32Type, Float64Type>(type) || type.isInteger(1) ||
         type.isInteger(8) || type.isInteger(16) || type.isInteger(32) || type.isInteger(64) ||
         type.isInteger(128);
}

/// What a body makes of one of its arguments.
struct MadeOfText {
  llvm::SetVector<Operation *> ops;      ///< of the argument
  llvm::SetVector<Operation *> constant; ///< of nothing; some of them may be needed
  SmallVector<Value> read;               ///< by the rest of the body
};

MadeOfText madeOf(BlockArgument text) {
  MadeOfText made;
  Block *body = text.getOwner();
  for (Operation &op : body->without_terminator()) {
    if (!runsForAny(&op)) {
      continue;
    }
    bool alone = true, reads = false;
    op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands()) {
        Operation *maker = operand.getDefiningOp();
        const bool isInside = operand.getParentBlock() != body;
        reads |= operand == text || made.ops.contains(maker);
        alone &= isInside || operand == text || made.ops.contains(maker) ||
                 made.constant.contains(maker);
      }
    });
    if (alone) {
      (reads ? made.ops : made.constant).insert(&op);
    }
  }
  for (Operation *op : made.ops) {
    for (Value result : op->getResults()) {
      bool isRead = llvm::any_of(result.getUsers(), [&](Operation *user) {
        return !made.ops.contains(body->findAncestorOpInBlock(*user));
      });
      if (isRead && isStored(result.getType())) {
        made.read.push_back(result);
      }
    }
  }
  return made;
}

ArrayAttr columnsOf(Operation *op) { return op->getAttrOfType<ArrayAttr>("columns"); }

/// The argument of a filter's or map's body that is a column which is not nullable.
BlockArgument argumentOf(Operation *op, StringAttr column) {
  auto rows = cast<pipe::RowsType>(op->getOperand(0).getType());
  unsigned number = 0;
  for (auto name : columnsOf(op).getAsRange<StringAttr>()) {
    if (name == column) {
      return op->getRegion(0).getArgument(number);
    }
    number += rows.getNullable()[rows.indexOf(name.getValue())] ? 2 : 1;
  }
  return {};
}

pipe::RowsType withColumn(pipe::RowsType rows, StringAttr name, Type type) {
  SmallVector<StringAttr> names(rows.getNames());
  SmallVector<Type> types(rows.getTypes());
  SmallVector<bool> nullable(rows.getNullable());
  names.push_back(name);
  types.push_back(type);
  nullable.push_back(false);
  return pipe::RowsType::get(rows.getContext(), names, types, nullable);
}

void eraseUnused(Block &body) {
  SmallVector<Operation *> ops;
  for (Operation &op : body.without_terminator()) {
    ops.push_back(&op);
  }
  for (Operation *op : llvm::reverse(ops)) {
    if (op->use_empty() && runsForAny(op)) {
      op->erase();
    }
  }
}

class Taker {
public:
  Taker(PipelineWithEntryMaps &out, SymbolTable &symbols)
      : out_(out), symbols_(symbols), scan_(scanOf(out.pipeline)) {}

  static pipe::ScanOp scanOf(pipe::PipelineOp pipeline) {
    return dyn_cast<pipe::ScanOp>(pipeline.getBody().front().front());
  }

  void run() {
    findTexts();
    bool firstFilters = true;
    double reached = 1; // the share of rows
    for (Operation &op :
         llvm::make_early_inc_range(llvm::drop_begin(scan_->getBlock()->getOperations()))) {
      auto filter = dyn_cast<pipe::FilterOp>(op);
      firstFilters &= filter != nullptr;
      if (filter || isa<pipe::MapOp>(op)) {
        for (const Text &text : texts_) {
          const bool isCondition = firstFilters && columnsOf(&op).size() == 1;
          if (isCondition || plan::triesEntries(text.triedEntries, lookedUp_, reached)) {
            takeOut(&op, text);
          }
        }
      }
      if (auto keys = op.getAttrOfType<ArrayAttr>("keys"); keys && !isGroupedByCodes(&op)) {
        for (const Text &text : texts_) {
          if (llvm::is_contained(keys, Attribute(text.name)) &&
              plan::triesEntries(text.triedEntries, lookedUp_, reached)) {
            takeOutHash(&op, text);
          }
        }
      }
      if (auto selectivity = op.getAttrOfType<FloatAttr>("selectivity")) {
        reached *= selectivity.getValueAsDouble();
        lookedUp_ = filter && firstFilters ? reached : lookedUp_;
      }
      forgetTexts(&op);
    }
    for (StringAttr text : taken_) {
      if (!isRead(text)) {
        dropColumn(text);
      }
    }
  }

private:
  /// Whether rows are expected to find their groups without a hash.
  bool isGroupedByCodes(Operation *op) {
    auto combine = dyn_cast<pipe::CombineOp>(op);
    auto state = combine ? symbols_.lookup<pipe::StateOp>(combine.getState()) : pipe::StateOp();
    return state && cardinalityOf(state.getHoldsAttr()).expected <= plan::kCodedGroupsMax;
  }

  struct Text {
    StringAttr name;
    double triedEntries; ///< for each row; 0: not known
  };

  void findTexts() {
    pipe::RowsType rows = scan_.getRows().getType();
    for (auto [index, column] :
         llvm::enumerate(scan_.getColumns().getAsRange<pipe::ScanColumnAttr>())) {
      if (isa<pipe::StringType>(rows.getTypes()[index]) && !rows.getNullable()[index]) {
        texts_.push_back({rows.getNames()[index], column.triedEntries()});
      }
    }
  }

  /// Those that rows have no longer, or another column's values under their name.
  void forgetTexts(Operation *op) {
    if (op->getNumResults() == 0) {
      return;
    }
    auto rows = cast<pipe::RowsType>(op->getResult(0).getType());
    auto map = dyn_cast<pipe::MapOp>(op);
    llvm::erase_if(texts_, [&](const Text &text) {
      return rows.indexOf(text.name) < 0 ||
             (map && llvm::is_contained(map.getNames(), Attribute(text.name)));
    });
  }

  void takeOut(Operation *op, const Text &text) {
    BlockArgument argument = argumentOf(op, text.name);
    if (!argument) {
      return;
    }
    MadeOfText made = madeOf(argument);
    if (made.read.empty()) {
      return;
    }
    SmallVector<Type> types = llvm::map_to_vector(made.read, [](Value v) { return v.getType(); });
    pipe::MapOp map = createMap(op, text.name, types, [&](OpBuilder &b, Value entry) {
      IRMapping mapping;
      mapping.map(argument, entry);
      for (Operation &part : *argument.getOwner()) {
        if (made.ops.contains(&part) || made.constant.contains(&part)) {
          b.clone(part, mapping);
        }
      }
      return llvm::map_to_vector(made.read, [&](Value value) { return mapping.lookup(value); });
    });
    auto columns = llvm::to_vector(columnsOf(op));
    for (auto [name, value] : llvm::zip_equal(map.getNames().getAsRange<StringAttr>(), made.read)) {
      passColumn(name, value.getType(), op);
      columns.push_back(name);
      Value looked = argument.getOwner()->addArgument(value.getType(), value.getLoc());
      value.replaceUsesWithIf(looked, [&](OpOperand &use) {
        return !made.ops.contains(argument.getOwner()->findAncestorOpInBlock(*use.getOwner()));
      });
    }
    eraseUnused(*argument.getOwner());
    if (argument.use_empty()) {
      llvm::erase(columns, Attribute(text.name));
      argument.getOwner()->eraseArgument(argument.getArgNumber());
    }
    op->setAttr("columns", ArrayAttr::get(op->getContext(), columns));
    taken_.insert(text.name);
  }

  /// The op's keys are hashed so often that it is worth while.
  void takeOutHash(Operation *op, const Text &text) {
    const Type type = IntegerType::get(op->getContext(), 64);
    pipe::MapOp map = createMap(op, text.name, type, [&](OpBuilder &b, Value entry) {
      return SmallVector<Value>{pipe::KeyHashOp::create(b, op->getLoc(), type, entry)};
    });
    auto hash = cast<StringAttr>(map.getNames()[0]);
    passColumn(hash, type, op);
    out_.keyHashes[text.name] = hash.str();
  }

  /// What `fill` makes of an entry of the text are new columns, for `op`.
  pipe::MapOp createMap(Operation *op, StringAttr text, TypeRange types,
                        llvm::function_ref<SmallVector<Value>(OpBuilder &, Value)> fill) {
    Operation *before = out_.maps.empty() ? scan_.getOperation() : out_.maps.back().getOperation();
    OpBuilder b(op->getContext());
    b.setInsertionPointAfter(before);
    Value input = before->getResult(0);
    auto rows = cast<pipe::RowsType>(input.getType());
    SmallVector<Attribute> names;
    for (Type type : types) {
      StringAttr name = newName(text);
      names.push_back(name);
      rows = withColumn(rows, name, type);
    }
    auto map =
        pipe::MapOp::create(b, op->getLoc(), rows, input, b.getArrayAttr(names),
                            b.getArrayAttr({text}), op->getAttrOfType<FloatAttr>("text_bytes"));
    input.replaceAllUsesExcept(map.getRows(), map);
    Block *body = b.createBlock(&map.getBody());
    Value entry = body->addArgument(pipe::StringType::get(op->getContext()), op->getLoc());
    pipe::YieldOp::create(b, op->getLoc(), fill(b, entry));
    eraseUnused(*body);
    out_.maps.push_back(map);
    return map;
  }

  /// One that no column of the pipeline has.
  StringAttr newName(StringAttr text) {
    auto isUsed = [&](StringAttr name) {
      return llvm::any_of(*scan_->getBlock(), [&](Operation &op) {
        return op.getNumResults() != 0 &&
               cast<pipe::RowsType>(op.getResult(0).getType()).indexOf(name) >= 0;
      });
    };
    for (;; ++names_) {
      auto name =
          StringAttr::get(text.getContext(), text.getValue() + Twine('[') + Twine(names_) + "]");
      if (!isUsed(name)) {
        ++names_;
        return name;
      }
    }
  }

  /// Rows have the column, which the newest map makes, up to the op that reads it.
  void passColumn(StringAttr name, Type type, Operation *reader) {
    for (Operation *op = out_.maps.back()->getNextNode(); op != reader; op = op->getNextNode()) {
      Value rows = op->getResult(0);
      rows.setType(withColumn(cast<pipe::RowsType>(rows.getType()), name, type));
    }
  }

  /// Whether anything but maps for entries reads the scan's column.
  bool isRead(StringAttr name) {
    auto has = [&](Operation &op, StringRef attribute) {
      auto names = op.getAttrOfType<ArrayAttr>(attribute);
      return names && llvm::is_contained(names, Attribute(name));
    };
    Operation *first = out_.maps.back()->getNextNode();
    for (Operation *op = first; op; op = op->getNextNode()) {
      auto input = cast<pipe::RowsType>(op->getOperand(0).getType());
      if (input.indexOf(name) < 0) {
        return false;
      }
      if (has(*op, "columns") || has(*op, "keys") || op->getNumResults() == 0) {
        return true;
      }
      if (has(*op, "names")) { // another one
        return false;
      }
    }
    return true;
  }

  void dropColumn(StringAttr name) {
    for (Operation *op = out_.maps.back(); op && op->getNumResults() != 0; op = op->getNextNode()) {
      Value rows = op->getResult(0);
      auto map = dyn_cast<pipe::MapOp>(op);
      if (map && llvm::is_contained(map.getNames(), Attribute(name))) {
        return;
      }
      rows.setType(withoutColumn(cast<pipe::RowsType>(rows.getType()), name));
    }
  }

  PipelineWithEntryMaps &out_;
  SymbolTable &symbols_;
  pipe::ScanOp scan_;
  SmallVector<Text> texts_;
  llvm::SetVector<StringAttr> taken_;
  double lookedUp_ = 1; ///< the share of rows that codes are looked up for
  unsigned names_ = 0;
};

} // namespace

pipe::RowsType withoutColumn(pipe::RowsType rows, StringRef name) {
  SmallVector<StringAttr> names;
  SmallVector<Type> types;
  SmallVector<bool> nullable;
  for (size_t index = 0; index < rows.size(); ++index) {
    if (rows.getNames()[index].getValue() != name) {
      names.push_back(rows.getNames()[index]);
      types.push_back(rows.getTypes()[index]);
      nullable.push_back(rows.getNullable()[index]);
    }
  }
  return pipe::RowsType::get(rows.getContext(), names, types, nullable);
}

PipelineWithEntryMaps takeOutEntryMaps(pipe::PipelineOp pipeline, SymbolTable &symbols) {
  PipelineWithEntryMaps out;
  out.module = ModuleOp::create(pipeline.getLoc());
  (*out.module)->setAttrs(pipeline->getParentOfType<ModuleOp>()->getAttrs());
  out.pipeline = pipeline.clone();
  out.module->push_back(out.pipeline);
  if (Taker::scanOf(out.pipeline)) {
    Taker(out, symbols).run();
  }
  return out;
}

} // namespace headrace::lower
