// Edges between pieces come from the states that they fill and read and the streams between them.
#include "passes/form/piece_order.h"

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

PieceOrder::PieceOrder(ModuleOp module, const llvm::StringSet<> &divided,
                       const llvm::StringSet<> &kept)
    : divided_(divided), kept_(kept) {
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
    for (size_t filler : fillers_[choice.getState()]) {
      contradicts_ |= isRepeat(filler); // what is chosen by is counted once
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
    fillers_[stateOf(sink).getValue()].push_back(node);
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
      for (size_t filler : fillers_[state.getValue()]) {
        wait(nodes_[&op], filler, Edge::kEnd);
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
