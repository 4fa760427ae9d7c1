// Every stage of the compiler against the interpreter.
#include "passes/driver/stage_check.h"

#include "dialects/frame/FrameOps.h"
#include "passes/driver/phases.h"
#include "passes/interpreter/compare.h"
#include "passes/shard/passes.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace headrace::interpreter;
using InterpretedValue = headrace::interpreter::Value;

namespace headrace::driver {
namespace {

/// Gathers error texts while it lives.
class ErrorTexts {
public:
  explicit ErrorTexts(MLIRContext *context)
      : handler_(context, [this](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() == DiagnosticSeverity::Error) {
            text += (text.empty() ? "" : "; ") + diagnostic.str();
          }
          return success();
        }) {}
  std::string text;

private:
  ScopedDiagnosticHandler handler_;
};

/// What of a run is compared.
enum class Depth {
  kResults,   ///< what the program returns
  kPlacement, ///< also: every value is where its layout says
  kValues,    ///< also: every value is what it is without layouts
};

bool succeedsWith(ModuleOp module, std::unique_ptr<Pass> pass) {
  PassManager manager(module.getContext());
  manager.addPass(std::move(pass));
  return succeeded(manager.run(module));
}

class StageCheck {
public:
  StageCheck(ModuleOp module, const Inputs &inputs, const StageCheckOptions &options)
      : module_(module), inputs_(inputs), options_(options) {}

  StageCheckReport run() {
    func::FuncOp function = programFunction(module_);
    if (!function) {
      report_.differences.push_back("the program has no function: main");
      return std::move(report_);
    }
    llvm::Expected<std::vector<InterpretedValue>> expected =
        interpret(function, inputs_, View::kWhole);
    if (!expected) {
      llvm::Error other = llvm::handleErrors(expected.takeError(), [&](const DataError &error) {
        report_.dataError = error.message();
      });
      if (other) {
        report_.differences.push_back("import: " + llvm::toString(std::move(other)));
      }
      return std::move(report_);
    }
    report_.results = std::move(*expected);
    for (mlir::Value result : function.getBody().front().getTerminator()->getOperands()) {
      orders_.push_back(isa<frame::TableType>(result.getType()) ? orderOf(result) : RowOrder());
    }
    OwningOpRef<ModuleOp> optimized = module_.clone();
    bool ready = transform("optimize", [&] { return succeeded(runOptimize(*optimized)); });
    if (ready) {
      compare("optimize", *optimized, View::kWhole, Depth::kResults);
    }
    for (const std::string &mesh : options_.meshes) {
      for (unsigned layout = 0; layout <= options_.layouts; ++layout) {
        if (layout > 1 && mesh == "ranks:1") {
          break; // one layout only
        }
        uint64_t seed = layout == 0 ? 0 : options_.firstSeed + layout - 1;
        // Some layouts of the program as it was imported, too: optimize takes some ops away.
        if (ready) {
          shardAndCompare(*optimized, mesh, seed, "");
        }
        if (layout == 1) {
          shardAndCompare(module_, mesh, seed, " not optimized");
        }
      }
    }
    return std::move(report_);
  }

private:
  bool transform(const std::string &stage, llvm::function_ref<bool()> change) {
    ErrorTexts errors(module_.getContext());
    if (change()) {
      return true;
    }
    report_.differences.push_back(stage + ": the phase fails: " + errors.text);
    return false;
  }

  void shardAndCompare(ModuleOp source, const std::string &mesh, uint64_t seed,
                       const std::string &note) {
    OwningOpRef<ModuleOp> module = source.clone();
    std::string place = "mesh " + mesh + " seed " + std::to_string(seed) + note;
    auto stage = [&](const std::string &name) { return name + " (" + place + ")"; };
    shard::ShardOptions sharding;
    sharding.mesh = mesh;
    sharding.topology = options_.topology;
    sharding.seed = seed;
    if (!transform(stage("shard-solve"), [&] {
          return succeeded(shard::solveLayouts(*module, sharding, nullptr)) &&
                 succeedsWith(*module, shard::createShardInsertReshardsPass()) &&
                 succeeded(verify(*module));
        })) {
      return;
    }
    compare(stage("shard-insert-reshards"), *module, View::kRanks, Depth::kValues);
    if (!transform(stage("shard-lower-reshards"), [&] {
          return succeedsWith(*module, shard::createShardExpandChoicesPass()) &&
                 succeedsWith(*module, shard::createShardLowerReshardsPass()) &&
                 succeeded(verify(*module));
        })) {
      return;
    }
    // Between the steps of a reshard a value is not yet what it becomes.
    compare(stage("shard-lower-reshards"), *module, View::kRanks, Depth::kPlacement);
    if (transform(stage("dist-localize"), [&] {
          return succeedsWith(*module, shard::createShardCarryWindowsPass()) &&
                 succeedsWith(*module, shard::createShardPairExchangesPass()) &&
                 succeedsWith(*module, shard::createDistLocalizePass()) &&
                 succeedsWith(*module, shard::createVerifyShardPass()) &&
                 succeeded(verify(*module));
        })) {
      compare(stage("dist-localize"), *module, View::kRanks, Depth::kResults);
    }
  }

  void compare(const std::string &stage, ModuleOp module, View view, Depth depth) {
    ++report_.comparisons;
    func::FuncOp function = programFunction(module);
    llvm::DenseMap<mlir::Value, InterpretedValue> wholes;
    Observer observer;
    topo::MeshAttr mesh = topo::meshOf(function);
    if (mesh && depth == Depth::kValues) {
      auto keep = [&](mlir::Value value, ArrayRef<InterpretedValue> parts) {
        wholes[value] = parts.front();
        return llvm::Error::success();
      };
      llvm::Expected<std::vector<InterpretedValue>> whole =
          interpret(function, inputs_, View::kWhole, keep);
      if (!whole) {
        report_.differences.push_back(stage +
                                      ", without layouts: " + llvm::toString(whole.takeError()));
        return;
      }
    }
    if (mesh && depth != Depth::kResults) {
      observer = [&, ranks = MeshRanks(mesh)](mlir::Value value, ArrayRef<InterpretedValue> parts) {
        return checkParts(value, parts, wholes, ranks);
      };
    }
    llvm::Expected<std::vector<InterpretedValue>> found =
        interpret(function, inputs_, view, observer);
    if (!found) {
      report_.differences.push_back(stage + ": " + llvm::toString(found.takeError()));
      return;
    }
    for (auto [index, expected] : llvm::enumerate(report_.results)) {
      if (std::optional<std::string> difference =
              differenceOf(expected, (*found)[index], orders_[index])) {
        report_.differences.push_back(stage + ": result " + std::to_string(index) + ": " +
                                      *difference);
      }
    }
  }

  static llvm::Error checkParts(mlir::Value value, ArrayRef<InterpretedValue> parts,
                                const llvm::DenseMap<mlir::Value, InterpretedValue> &wholes,
                                const MeshRanks &ranks) {
    dist::LayoutAttr layout = layoutOf(value);
    if (!layout || isa<BlockArgument>(value)) {
      return llvm::Error::success();
    }
    auto blame = [&](const std::string &text) {
      std::string place;
      llvm::raw_string_ostream stream(place);
      value.print(stream, OpPrintingFlags().skipRegions().elideLargeElementsAttrs(4));
      return programError(text + " at " + place);
    };
    llvm::Expected<InterpretedValue> whole = assemble(parts, layout, ranks, value.getDefiningOp());
    if (!whole) {
      return blame(llvm::toString(whole.takeError()));
    }
    auto expected = wholes.find(value);
    // Rows become a tensor in any order.
    bool ragged = llvm::any_of(layout.getDims(), [](dist::DimSplitAttr dim) {
      return dim.getKind() == dist::SplitKind::Ragged;
    });
    if (expected == wholes.end() || ragged || isAnyChoice(value)) {
      return llvm::Error::success();
    }
    if (auto difference = differenceOf(expected->second, *whole, {})) {
      return blame(*difference);
    }
    return llvm::Error::success();
  }

  /// Whether the rows may be others on other ranks: a limit without an order behind it, or what
  /// follows.
  static bool isAnyChoice(mlir::Value value) {
    Operation *op = value.getDefiningOp();
    if (!op) {
      return false;
    }
    auto relation = dyn_cast<frame::RelationalOpInterface>(op);
    if (relation && relation.getState().choosesRows() && orderOf(value).empty()) {
      return true;
    }
    return llvm::any_of(op->getOperands(), isAnyChoice);
  }

  ModuleOp module_;
  const Inputs &inputs_;
  const StageCheckOptions &options_;
  StageCheckReport report_;
  SmallVector<RowOrder> orders_;
};

} // namespace

StageCheckReport checkStages(ModuleOp module, const Inputs &inputs,
                             const StageCheckOptions &options) {
  return StageCheck(module, inputs, options).run();
}

} // namespace headrace::driver
