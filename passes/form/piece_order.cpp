// Edges between pieces come from the states that they fill and read and the streams between them.
#include "passes/form/piece_order.h"

#include "llvm/ADT/BitVector.h"

#include <optional>

using namespace mlir;
using namespace headrace::pipe;

namespace headrace::form {

FlatSymbolRefAttr stateOf(Operation &op) {
  if (auto lookup = dyn_cast<LookupOp>(op)) {
    return lookup.getStateAttr();
  }
  if (auto read = dyn_cast<ReadOp>(op)) {
    return read.getStateAttr();
  }
  if (auto insert = dyn_cast<InsertOp>(op)) {
    return insert.getStateAttr();
  }
  if (auto combine = dyn_cast<CombineOp>(op)) {
    return combine.getStateAttr();
  }
  return {};
}

bool isSink(Operation &op) { return isa<InsertOp, CombineOp>(op); }

/// The column of its input that a column behind a map is, with its NULLs; null if it is computed.
static StringAttr copiedBy(MapOp map, StringAttr column) {
  auto given = cast<RowsType>(map.getInput().getType());
  auto made = cast<RowsType>(map.getRows().getType());
  auto width = [](RowsType rows, StringAttr name) -> unsigned {
    return rows.getNullable()[static_cast<size_t>(rows.indexOf(name))] ? 2 : 1;
  };
  Block &body = map.getBody().front();
  OperandRange yielded = body.getTerminator()->getOperands();
  for (auto name : map.getNames().getAsRange<StringAttr>()) {
    const unsigned values = width(made, name);
    if (name == column) {
      unsigned argument = 0;
      for (auto source : map.getColumns().getAsRange<StringAttr>()) {
        const unsigned arguments = width(given, source);
        if (values == arguments && llvm::equal(yielded.take_front(values),
                                               body.getArguments().slice(argument, arguments))) {
          return source;
        }
        argument += arguments;
      }
      return {};
    }
    yielded = yielded.drop_front(values);
  }
  return column; // it is passed on
}

static std::optional<size_t> placeOf(StringAttr name, ArrayAttr names) {
  const auto *found = llvm::find(names, name);
  return found == names.end() ? std::nullopt : std::optional<size_t>(found - names.begin());
}

/// Which key of the divided state a column of the rows is that come to an op: these are of the part
/// in which the state was read, or looked into.
static std::optional<size_t> keyOf(StateOp divided, Operation *at, StringAttr column) {
  for (Operation *op = at->getPrevNode(); op; op = op->getPrevNode()) {
    if (auto read = dyn_cast<ReadOp>(op)) {
      SmallVector<Attribute> keys;
      for (FieldAttr field : divided.getFields().getAsRange<FieldAttr>()) {
        if (field.getCombine() == Combine::Key) {
          keys.push_back(field.getName());
        }
      }
      return read.getState() == divided.getSymName()
                 ? placeOf(column, ArrayAttr::get(op->getContext(), keys))
                 : std::nullopt;
    }
    if (auto lookup = dyn_cast<LookupOp>(op)) {
      if (lookup.getState() == divided.getSymName()) {
        return placeOf(column, lookup.getKeys());
      }
      if (placeOf(column, lookup.getPayload())) {
        return std::nullopt;
      }
    } else if (auto map = dyn_cast<MapOp>(op)) {
      column = copiedBy(map, column);
    }
    auto rows = column && op->getNumOperands() != 0
                    ? dyn_cast<RowsType>(op->getOperand(0).getType())
                    : RowsType();
    if (!rows || rows.indexOf(column) < 0) {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

/// Whether rows that meet in a state are of one part of the divided one, in whose rounds it is
/// filled and looked into: they meet by all of its keys.
static bool meetInParts(StateOp divided, Operation *sink, LookupOp lookup) {
  llvm::BitVector met(static_cast<unsigned>(divided.countKeys()));
  for (auto [filled, asked] :
       llvm::zip(sink->getAttrOfType<ArrayAttr>("keys").getAsRange<StringAttr>(),
                 lookup.getKeys().getAsRange<StringAttr>())) {
    std::optional<size_t> key = keyOf(divided, sink, filled);
    if (key && key == keyOf(divided, lookup, asked)) {
      met.set(static_cast<unsigned>(*key));
    }
  }
  return met.all();
}

PieceOrder::PieceOrder(ModuleOp module, const llvm::StringSet<> &divided,
                       const llvm::StringSet<> &kept)
    : module_(module), divided_(divided), kept_(kept) {
  SmallVector<PipelineOp> pipelines;
  for (auto pipeline : module.getOps<PipelineOp>()) {
    if (!pipeline.getMerges()) {
      pipelines.push_back(pipeline);
      addPieces(pipeline);
    }
  }
  for (PipelineOp pipeline : pipelines) {
    addEdges(pipeline);
  }
  for (auto choice : module.getOps<ChoiceOp>()) {
    for (Operation *filler : fillers_[choice.getState()]) {
      contradicts_ |= isRepeat(nodes_[filler]); // what is chosen by is counted once
    }
  }
}

bool PieceOrder::possible() const {
  if (contradicts_) {
    return false;
  }
  std::vector<uint8_t> seen(edges_.size(), 0);
  for (size_t node = 0; node < edges_.size(); ++node) {
    if (inCircle(node, seen)) {
      return false;
    }
  }
  return true;
}

size_t PieceOrder::newNode() {
  edges_.emplace_back();
  return edges_.size() - 1;
}

bool PieceOrder::isRepeat(size_t node) const {
  return llvm::any_of(repeats_, [&](const auto &entry) { return entry.second == node; });
}

StateOp PieceOrder::dividedOf(size_t repeat) const {
  const auto found =
      llvm::find_if(repeats_, [&](const auto &entry) { return entry.second == repeat; });
  return cast<StateOp>(SymbolTable::lookupSymbolIn(module_, found->first()));
}

size_t PieceOrder::nodeOfRepeat(StringRef state) {
  auto [found, added] = repeats_.try_emplace(state, 0);
  if (added) {
    found->second = newNode();
  }
  return found->second;
}

void PieceOrder::addPieces(PipelineOp pipeline) {
  size_t node = newNode();
  firsts_[pipeline.getSymName()] = node;
  for (Operation &op : pipeline.getBody().front()) {
    if (FlatSymbolRefAttr state = stateOf(op); state && divided_.contains(state.getValue())) {
      size_t repeat = nodeOfRepeat(state.getValue());
      if (isa<ReadOp>(op) && kept_.contains(state.getValue())) {
        nodes_[&op] = node;
        continue; // it waits for all that fill the state
      }
      if (isa<ReadOp>(op)) {
        firsts_[pipeline.getSymName()] = repeat;
      } else {
        wait(repeat, node, Edge::kRows);
      }
      node = repeat;
    }
    nodes_[&op] = node;
  }
  lasts_[pipeline.getSymName()] = node;
  Operation &sink = pipeline.getBody().front().back();
  if (auto emit = dyn_cast<EmitOp>(sink)) {
    emitters_[emit.getStream()].push_back(node);
  } else {
    fillers_[stateOf(sink).getValue()].push_back(&sink);
  }
}

void PieceOrder::addEdges(PipelineOp pipeline) {
  if (FlatSymbolRefAttr before = pipeline.getAfterAttr()) {
    wait(firsts_[pipeline.getSymName()], lasts_[before.getValue()], Edge::kEnd);
  }
  for (Operation &op : pipeline.getBody().front()) {
    if (auto receive = dyn_cast<ReceiveOp>(op)) {
      for (size_t emitter : emitters_[receive.getStream()]) {
        wait(nodes_[&op], emitter, Edge::kRows);
      }
    } else if (FlatSymbolRefAttr state = stateOf(op); state && !isSink(op)) {
      for (Operation *filler : fillers_[state.getValue()]) {
        wait(nodes_[&op], nodes_[filler], Edge::kEnd);
        auto lookup = dyn_cast<LookupOp>(op);
        const size_t node = nodes_[&op];
        const bool inRound = node == nodes_[filler] && isRepeat(node) && isSink(*filler);
        if (lookup && inRound && !divided_.contains(state.getValue())) {
          // What the rounds alone use is new in each of them; else it would be filled after it is
          // looked into.
          contradicts_ |= !meetInParts(dividedOf(node), filler, lookup) ||
                          llvm::any_of(nodes_, [&](auto &entry) {
                            return stateOf(*entry.first) == state && entry.second != node;
                          });
        }
      }
    }
  }
}

void PieceOrder::wait(size_t node, size_t before, Edge edge) {
  if (node == before) {
    contradicts_ |= edge == Edge::kRows && isRepeat(node);
  } else {
    edges_[node].push_back(before);
  }
}

bool PieceOrder::inCircle(size_t node, std::vector<uint8_t> &seen) const {
  if (seen[node] != 0) {
    return seen[node] == 1; // 1: its edges are being followed, 2: it is in no circle
  }
  seen[node] = 1;
  for (size_t before : edges_[node]) {
    if (inCircle(before, seen)) {
      return true;
    }
  }
  seen[node] = 2;
  return false;
}

} // namespace headrace::form
