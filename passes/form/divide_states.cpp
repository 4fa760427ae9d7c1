// States that memory has no room for are filled and read in rounds, each with a part of the keys:
// pipelines are cut where they meet such a state, and their rows wait in parts between the pieces.
#include "passes/form/passes.h"

#include "dialects/pipe/PipeDialect.h"
#include "passes/analysis/operator_location.h"
#include "passes/analysis/physical.h"
#include "passes/analysis/state_bytes.h"

#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace headrace::pipe;

namespace headrace::form {

#define GEN_PASS_DEF_DIVIDESTATES
#include "passes/form/Passes.h.inc"

namespace {

/// Parts are several times as many as rounds are expected: small ones share a round, and an
/// estimate may be wrong.
constexpr uint64_t kPartsMin = 16;
constexpr uint64_t kPartsMax = 128;
constexpr uint64_t kPartsARound = 4;
/// Of the memory: what the states that are not divided may take together, and what one round of a
/// divided one may.
constexpr uint64_t kWholeShare = 2;
constexpr uint64_t kRoundShare = 4;
/// The part of the memory that the range of a direct table's keys may take beside its rows.
constexpr uint64_t kRangePart = 16;

/// The state that an op looks into, reads or fills; null if it is another op.
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

/// The order of the pieces that pipelines would be cut into, those of one repeat taken together.
class PieceOrder {
public:
  PieceOrder(ModuleOp module, const llvm::StringSet<> &divided) : divided_(divided) {
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

  bool possible() {
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

private:
  size_t newNode() {
    edges_.emplace_back();
    return edges_.size() - 1;
  }

  bool isRepeat(size_t node) const {
    return llvm::any_of(repeats_, [&](const auto &entry) { return entry.second == node; });
  }

  size_t nodeOfRepeat(StringRef state) {
    auto [found, added] = repeats_.try_emplace(state, 0);
    if (added) {
      found->second = newNode();
    }
    return found->second;
  }

  void addPieces(PipelineOp pipeline) {
    size_t node = newNode();
    firsts_[pipeline.getSymName()] = node;
    for (Operation &op : pipeline.getBody().front()) {
      if (FlatSymbolRefAttr state = stateOf(op); state && divided_.contains(state.getValue())) {
        size_t repeat = nodeOfRepeat(state.getValue());
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

  void addEdges(PipelineOp pipeline) {
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

  enum class Edge : uint8_t {
    kEnd,  ///< of a task, which may be one of the same round
    kRows, ///< through a stream, which leaves the round
  };
  void wait(size_t node, size_t before, Edge edge) {
    if (node == before) {
      contradicts_ |= edge == Edge::kRows && isRepeat(node);
    } else {
      edges_[node].push_back(before);
    }
  }

  bool inCircle(size_t node, std::vector<uint8_t> &seen) const {
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

  const llvm::StringSet<> &divided_;
  std::vector<SmallVector<size_t>> edges_; ///< node -> what it waits for
  llvm::StringMap<size_t> repeats_, firsts_, lasts_;
  llvm::StringMap<SmallVector<size_t>> emitters_, fillers_;
  llvm::DenseMap<Operation *, size_t> nodes_;
  bool contradicts_ = false;
};

class Divider {
public:
  Divider(ModuleOp module, uint64_t memoryBytes)
      : module_(module), symbols_(module), b_(module.getContext()), memoryBytes_(memoryBytes) {}

  void run() {
    const llvm::StringMap<double> rowTexts = textBytes();
    llvm::MapVector<StateOp, uint64_t> bytes;
    uint64_t whole = 0;
    for (auto state : module_.getOps<StateOp>()) {
      if (analysis::rangeBytes(layoutState(state)) > memoryBytes_ / kRangePart) {
        state.removeDirectAttr();
      }
      bytes[state] = analysis::likelyBytes(state, rowTexts.lookup(state.getSymName()));
      whole = llvm::SaturatingAdd(whole, bytes[state]);
    }
    auto largestFirst = bytes.takeVector();
    llvm::stable_sort(largestFirst, [](auto &a, auto &b) { return a.second > b.second; });
    SmallVector<std::pair<StateOp, uint64_t>> chosen;
    llvm::StringSet<> divided;
    for (auto [state, size] : largestFirst) {
      if (whole <= memoryBytes_ / kWholeShare) {
        break;
      }
      if (!isDivisible(state)) {
        continue;
      }
      divided.insert(state.getSymName());
      if (!PieceOrder(module_, divided).possible()) {
        divided.erase(state.getSymName());
        continue;
      }
      chosen.push_back({state, size});
      whole -= std::min(whole, size);
    }
    for (auto [state, size] : chosen) {
      divide(state, partsFor(size));
    }
    if (!chosen.empty()) {
      dropPairs();
    }
  }

private:
  /// Two exchanges that wait for each other's first rows may not get them in rounds: the first
  /// round may have none for one of them, and too many for the other.
  void dropPairs() {
    llvm::DenseSet<int64_t> dropped;
    for (auto stream : module_.getOps<StreamOp>()) {
      if (stream.getSkewAttr() && comesInRounds(stream.getSymName())) {
        dropped.insert(stream.getSkewAttr().getPair());
      }
    }
    for (auto stream : module_.getOps<StreamOp>()) {
      if (stream.getSkewAttr() && dropped.contains(stream.getSkewAttr().getPair())) {
        stream.removeSkewAttr();
      }
    }
  }

  /// Whether a pipeline on the way to the stream is repeated.
  bool comesInRounds(StringRef stream) {
    return llvm::any_of(module_.getOps<PipelineOp>(), [&](PipelineOp pipeline) {
      Block &body = pipeline.getBody().front();
      auto emit = dyn_cast<EmitOp>(body.back());
      if (!emit || emit.getStream() != stream) {
        return false;
      }
      auto receive = dyn_cast<ReceiveOp>(body.front());
      return pipeline.getRepeatAttr() || (receive && comesInRounds(receive.getStream()));
    });
  }

  /// Of a row of each state, as the sinks that fill it say.
  llvm::StringMap<double> textBytes() {
    llvm::StringMap<double> most;
    for (auto pipeline : module_.getOps<PipelineOp>()) {
      Operation &sink = pipeline.getBody().front().back();
      auto bytes = isSink(sink) ? sink.getAttrOfType<FloatAttr>("text_bytes") : FloatAttr();
      if (bytes) {
        double &known = most[stateOf(sink).getValue()];
        known = std::max(known, bytes.getValueAsDouble());
      }
    }
    return most;
  }

  uint64_t partsFor(uint64_t bytes) const {
    uint64_t round = std::max<uint64_t>(memoryBytes_ / kRoundShare, 1);
    uint64_t rounds = std::min<uint64_t>(llvm::divideCeil(bytes, round), kPartsMax);
    return std::clamp(llvm::PowerOf2Ceil(kPartsARound * rounds), kPartsMin, kPartsMax);
  }

  /// Whether rows meet only those with the same keys, and all that use the state may run in rounds.
  bool isDivisible(StateOp state) {
    bool keyed = state.getKind() == StateKind::Group || state.getKind() == StateKind::Join ||
                 state.getKind() == StateKind::Window;
    if (!keyed || state.countKeys() == 0) {
      return false;
    }
    int fillers = 0;
    for (auto pipeline : module_.getOps<PipelineOp>()) {
      if (pipeline.getMerges()) {
        continue;
      }
      for (Operation &op : pipeline.getBody().front()) {
        FlatSymbolRefAttr used = stateOf(op);
        if (!used || used.getValue() != state.getSymName()) {
          continue;
        }
        if (pipeline.getChoiceAttr()) {
          return false; // it is made once
        }
        fillers += isSink(op);
      }
    }
    return fillers == 1;
  }

  void divide(StateOp state, uint64_t parts) {
    b_.setInsertionPoint(state);
    auto repeat = RepeatOp::create(b_, state.getLoc(), (state.getSymName() + "_rounds").str(),
                                   static_cast<int64_t>(memoryBytes_ / kRoundShare));
    symbols_.insert(repeat);
    auto name = FlatSymbolRefAttr::get(repeat.getSymNameAttr());
    state.removeDirectAttr(); // the ranks of all keys would be there in each round
    SmallVector<PipelineOp> pipelines(module_.getOps<PipelineOp>());
    for (PipelineOp pipeline : pipelines) {
      if (pipeline.getMerges()) {
        continue;
      }
      SmallVector<Operation *> uses;
      for (Operation &op : pipeline.getBody().front()) {
        FlatSymbolRefAttr used = stateOf(op);
        if (used && used.getValue() == state.getSymName()) {
          uses.push_back(&op);
        }
      }
      for (Operation *use : uses) {
        if (isa<ReadOp>(use)) {
          pipeline.setRepeatAttr(name);
        } else {
          cutBefore(use, state, parts, name);
        }
      }
    }
  }

  /// The op and what follows become a pipeline of their own, which repeats.
  void cutBefore(Operation *at, StateOp state, uint64_t parts, FlatSymbolRefAttr repeat) {
    auto pipeline = at->getParentOfType<PipelineOp>();
    Location location = analysis::withoutOperator(at->getLoc());
    Value rows = at->getOperand(0);
    auto keys = at->getAttrOfType<ArrayAttr>("keys");
    bool fills = isSink(*at);
    b_.setInsertionPoint(state);
    auto stream =
        StreamOp::create(b_, location, (state.getSymName() + (fills ? "_parts" : "_probes")).str(),
                         StreamKind::Parted, cast<RowsType>(rows.getType()),
                         fills ? state.getHoldsAttr() : CardinalityAttr());
    stream.setParts(parts);
    symbols_.insert(stream);
    b_.setInsertionPointAfter(pipeline);
    auto piece =
        PipelineOp::create(b_, pipeline.getLoc(), (pipeline.getSymName() + "_rounds").str());
    symbols_.insert(piece);
    piece.setRepeatAttr(repeat);
    Block &body = piece.getBody().emplaceBlock();
    body.getOperations().splice(body.end(), pipeline.getBody().front().getOperations(),
                                at->getIterator(), pipeline.getBody().front().end());
    auto name = FlatSymbolRefAttr::get(stream.getSymNameAttr());
    b_.setInsertionPointToStart(&body);
    auto received = ReceiveOp::create(b_, location, rows.getType(), name);
    at->setOperand(0, received.getRows());
    b_.setInsertionPointToEnd(&pipeline.getBody().front());
    // What was counted for the operator so far was on the way to it.
    EmitOp::create(b_, at->getLoc(), rows, name, keys, at->getAttrOfType<FloatAttr>("text_bytes"),
                   b_.getUnitAttr());
    for (auto other : module_.getOps<PipelineOp>()) {
      if (other.getAfter() == pipeline.getSymName()) {
        other.setAfterAttr(FlatSymbolRefAttr::get(piece.getSymNameAttr()));
      }
    }
  }

  ModuleOp module_;
  SymbolTable symbols_;
  OpBuilder b_;
  const uint64_t memoryBytes_;
};

class DivideStatesPass : public impl::DivideStatesBase<DivideStatesPass> {
public:
  using DivideStatesBase::DivideStatesBase;
  void runOnOperation() override {
    if (memoryBytes > 0) {
      Divider(getOperation(), static_cast<uint64_t>(memoryBytes)).run();
    }
  }
};

} // namespace

} // namespace headrace::form
