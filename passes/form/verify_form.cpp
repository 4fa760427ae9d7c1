// The checks between form, and lower and schedule.
#include "passes/form/verify_form.h"

#include "passes/analysis/matrix_product.h"
#include "passes/form/verify_places.h"
#include "passes/form/verify_states.h"

#include "dialects/pipe/PipeDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace headrace::pipe;

namespace headrace::form {
namespace {

/// How often a state or stream is written and read.
struct Uses {
  unsigned written = 0;
  unsigned read = 0;
};

class FormVerifier {
public:
  explicit FormVerifier(ModuleOp module) : module_(module), symbols_(module) {}

  LogicalResult run() {
    WalkResult ops = module_.walk([&](Operation *op) {
      return failed(verifyLevel(op)) || failed(countUse(op)) ? WalkResult::interrupt()
                                                             : WalkResult::advance();
    });
    return failure(ops.wasInterrupted() || failed(verifyStates()) || failed(verifyStreams()));
  }

private:
  LogicalResult verifyLevel(Operation *op) {
    if (op->getName().getDialectNamespace() == "frame") {
      return op->emitOpError("must be gone after form");
    }
    if (auto structured = dyn_cast<linalg::LinalgOp>(op)) {
      bool kernel = isa<linalg::GenericOp>(op) && op->hasAttr("library_call");
      if (!kernel && !matrixProduct(op) && !isa<linalg::FillOp>(op)) {
        return op->emitOpError("is neither a kernel nor a library call after form");
      }
      return success();
    }
    bool onTensors = llvm::any_of(op->getOperandTypes(), llvm::IsaPred<TensorType>);
    if (onTensors && OpTrait::hasElementwiseMappableTraits(op)) {
      return op->emitOpError("on tensors must be part of a kernel after form");
    }
    return success();
  }

  LogicalResult countUse(Operation *op) {
    return llvm::TypeSwitch<Operation *, LogicalResult>(op)
        .Case<InsertOp, CombineOp>([&](auto sink) {
          // A merge adds copies of a state to each other; it does not fill it.
          auto pipeline = sink->template getParentOfType<PipelineOp>();
          bool merges = pipeline && pipeline.getMerges();
          return use<StateOp>(sink, sink.getState(), merges ? nullptr : &Uses::written);
        })
        .Case<ReadOp, LookupOp>(
            [&](auto user) { return use<StateOp>(user, user.getState(), &Uses::read); })
        .Case([&](EmitOp emit) {
          auto stream = symbols_.lookup<StreamOp>(emit.getStream());
          bool parted = stream && stream.getKind() == StreamKind::Parted;
          bool hashes = stream && (parted || stream.getKind() == StreamKind::Hash);
          if (stream && (hashes == emit.getKeys().empty() || parted != emit.getParted())) {
            emit.emitOpError("has keys if its stream goes by hash or is parted, and only then: @")
                << emit.getStream();
            return LogicalResult(failure());
          }
          if (stream && stream.getCycle() && failed(verifyCycle(emit))) {
            return LogicalResult(failure());
          }
          return use<StreamOp>(emit, emit.getStream(), &Uses::written);
        })
        .Case<ReceiveOp, ToTensorOp>(
            [&](auto receive) { return use<StreamOp>(receive, receive.getStream(), &Uses::read); })
        .Default([](Operation *) { return success(); });
  }

  static LogicalResult verifyCycle(EmitOp emit) {
    RowsType rows = emit.getInput().getType();
    int64_t index = emit.getKeys().size() == 1
                        ? rows.indexOf(cast<StringAttr>(emit.getKeys()[0]).getValue())
                        : -1;
    Type key = index < 0 ? Type() : rows.getTypes()[index];
    if (!key || !key.isSignlessInteger() || key.getIntOrFloatBitWidth() > 64) {
      return emit.emitOpError("goes in a cycle by one integer, got ") << emit.getKeys();
    }
    return success();
  }

  template <typename Symbol>
  LogicalResult use(Operation *user, StringRef name, unsigned Uses::*counter) {
    auto symbol = symbols_.lookup<Symbol>(name);
    if (!symbol) {
      return user->emitOpError("refers to no stream of the module: @") << name;
    }
    if (counter) {
      ++(uses_[symbol].*counter);
    }
    return success();
  }

  LogicalResult verifyStates() {
    for (auto state : module_.getOps<StateOp>()) {
      if (uses_[state].written == 0) {
        return state.emitOpError("is filled by no pipeline: @") << state.getSymName();
      }
    }
    return success();
  }

  LogicalResult verifyStreams() {
    for (auto stream : module_.getOps<StreamOp>()) {
      Uses uses = uses_[stream];
      unsigned receivers = stream.getKind() == StreamKind::Result ? 0 : 1;
      // Both ways of a choice write one stream, or all parts of a union.
      unsigned senders =
          stream.getKind() == StreamKind::Local ? stream.getWriters().value_or(2) : 1;
      if (uses.written != senders || uses.read != receivers) {
        return stream.emitOpError("needs ")
               << (senders == 1 ? "one sender" : "the senders of both ways") << " and " << receivers
               << (receivers == 1 ? " receiver, got " : " receivers, got ") << uses.written
               << " and " << uses.read;
      }
    }
    return success();
  }

  ModuleOp module_;
  SymbolTable symbols_;
  llvm::DenseMap<Operation *, Uses> uses_;
};

} // namespace

LogicalResult verifyForm(ModuleOp module) {
  return failure(failed(verifyStateUses(module)) || failed(FormVerifier(module).run()) ||
                 failed(verifyPlaces(module)));
}

} // namespace headrace::form
