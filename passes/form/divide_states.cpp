// States that memory has no room for are filled and read in rounds, each with a part of the keys:
// pipelines are cut where they meet such a state, and their rows wait in parts between the pieces.
// Where rounds would wait for what becomes of their rows, these are kept.
#include "passes/form/passes.h"

#include "dialects/pipe/PipeDialect.h"
#include "passes/analysis/operator_location.h"
#include "passes/analysis/physical.h"
#include "passes/analysis/state_bytes.h"
#include "passes/form/piece_order.h"
#include "passes/form/waiting_bytes.h"

#include "mlir/IR/SymbolTable.h"
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

class Divider {
public:
  Divider(ModuleOp module, uint64_t memoryBytes)
      : module_(module), symbols_(module), b_(module.getContext()), memoryBytes_(memoryBytes) {}

  void run() {
    const llvm::StringMap<double> rowTexts = textBytes();
    SmallVector<Candidate> candidates;
    for (auto state : module_.getOps<StateOp>()) {
      if (state.getKind() == StateKind::Rows || state.getKind() == StateKind::Sort) {
        continue; // their rows leave memory when others need it
      }
      if (analysis::rangeBytes(layoutState(state)) > memoryBytes_ / kRangePart) {
        state.removeDirectAttr();
      }
      candidates.push_back(
          {state, analysis::likelyBytes(state, rowTexts.lookup(state.getSymName()))});
    }
    choose(candidates);
    for (const Candidate &each : chosen_) {
      if (kept_.contains(each.name())) {
        keepRows(each.state, rowTexts.lookup(each.name()));
      }
      divide(each.state, partsFor(each.bytes));
    }
    if (!chosen_.empty()) {
      dropPairs();
    }
  }

private:
  struct Candidate {
    StateOp state;
    uint64_t bytes = 0;
    double waiting = 0; ///< bytes of rows, if it is divided
    StringRef name() const { return StateOp(state).getSymName(); }
  };

  /// Divides until the others fit: first what makes the fewest rows wait for the memory that it
  /// gives. Of what that does not need in the end, those come out again that most rows wait for.
  void choose(MutableArrayRef<Candidate> candidates) {
    uint64_t whole = 0;
    for (Candidate &each : candidates) {
      whole = llvm::SaturatingAdd(whole, each.bytes);
      each.waiting = waitingBytes(module_, symbols_, each.state);
    }
    const uint64_t room = memoryBytes_ / kWholeShare;
    llvm::stable_sort(candidates, [](const Candidate &a, const Candidate &b) {
      const double ofA = a.waiting * static_cast<double>(b.bytes);
      const double ofB = b.waiting * static_cast<double>(a.bytes);
      return ofA != ofB ? ofA < ofB : a.bytes > b.bytes;
    });
    for (const Candidate &each : candidates) {
      if (whole > room && isDivisible(each.state) && add(each)) {
        whole -= std::min(whole, each.bytes);
      }
    }
    llvm::stable_sort(chosen_,
                      [](const Candidate &a, const Candidate &b) { return a.waiting > b.waiting; });
    llvm::erase_if(chosen_, [&](const Candidate &each) {
      const bool fits = llvm::SaturatingAdd(whole, each.bytes) <= room && remove(each);
      whole += fits ? each.bytes : 0;
      return fits;
    });
    llvm::stable_sort(chosen_,
                      [](const Candidate &a, const Candidate &b) { return a.bytes > b.bytes; });
  }

  bool possible() const { return PieceOrder(module_, divided_, kept_).possible(); }

  bool add(const Candidate &candidate) {
    divided_.insert(candidate.name());
    if (!possible() && StateOp(candidate.state).getKind() != StateKind::Join) {
      kept_.insert(candidate.name());
    }
    if (!possible()) {
      divided_.erase(candidate.name());
      kept_.erase(candidate.name());
      return false;
    }
    chosen_.push_back(candidate);
    return true;
  }

  bool remove(const Candidate &candidate) {
    const bool isKept = kept_.erase(candidate.name());
    divided_.erase(candidate.name());
    if (possible()) {
      return true;
    }
    divided_.insert(candidate.name());
    if (isKept) {
      kept_.insert(candidate.name());
    }
    return false;
  }

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

  /// Who reads the state reads rows that are kept of it.
  void keepRows(StateOp state, double rowTexts) {
    SmallVector<ReadOp> readers;
    for (auto pipeline : module_.getOps<PipelineOp>()) {
      auto read = dyn_cast<ReadOp>(pipeline.getBody().front().front());
      if (read && read.getState() == state.getSymName() && !pipeline.getMerges()) {
        readers.push_back(read);
      }
    }
    SmallVector<StringAttr> names;
    SmallVector<Type> types;
    SmallVector<bool> nullable;
    SmallVector<Attribute> fields;
    for (FieldAttr field : state.getFields().getAsRange<FieldAttr>()) {
      if (llvm::any_of(readers, [&](ReadOp read) {
            return read.getRows().getType().indexOf(field.getName()) >= 0;
          })) {
        names.push_back(field.getName());
        types.push_back(field.getType());
        nullable.push_back(field.getNullable());
        fields.push_back(FieldAttr::get(b_.getContext(), field.getName(), field.getType(),
                                        Combine::Payload, field.getNullable(), {}, {}));
      }
    }
    b_.setInsertionPointAfter(state);
    Location location = analysis::withoutOperator(state.getLoc());
    auto rows = StateOp::create(b_, location, (state.getSymName() + "_kept").str(), StateKind::Rows,
                                fields, state.getHoldsAttr());
    symbols_.insert(rows);
    auto name = FlatSymbolRefAttr::get(rows.getSymNameAttr());
    for (ReadOp read : readers) {
      read.setStateAttr(name);
    }
    b_.setInsertionPoint(readers.front()->getParentOp());
    auto keeps = PipelineOp::create(b_, location, (state.getSymName() + "_keeps").str());
    symbols_.insert(keeps);
    b_.setInsertionPointToStart(&keeps.getBody().emplaceBlock());
    auto read = ReadOp::create(b_, location, RowsType::get(b_.getContext(), names, types, nullable),
                               state.getSymName());
    InsertOp::create(b_, location, read.getRows(), name, b_.getArrayAttr({}), UnitAttr(),
                     rowTexts > 0 ? b_.getF64FloatAttr(rowTexts) : FloatAttr());
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
  SmallVector<Candidate> chosen_;
  llvm::StringSet<> divided_, kept_; ///< of those chosen; whose rows are kept for who reads them
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
