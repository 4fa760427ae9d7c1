// Clones of the program that end in, or begin with, the rows of one op, priced by the layout
// solver.
#include "passes/driver/commit_points.h"

#include "dialects/frame/FrameOps.h"
#include "passes/analysis/cardinality.h"
#include "passes/driver/phases.h"
#include "runtime/base/log.h"
#include "runtime/base/readable.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

#include <cmath>

using namespace mlir;

namespace headrace::driver {
namespace {

/// What a part takes beside its work: its compilation, files that are opened.
constexpr double kPartSeconds = 0.5;
/// Bytes that a rank writes, assumed: topologies do not know the folder that all ranks see.
constexpr double kWrittenPerSecond = 200e6;

/// Whether files give the values back as they are, in the same type.
bool keepsInFiles(Type type) {
  type = frame::dropNullable(type);
  if (frame::isInteger(type)) {
    return type.getIntOrFloatBitWidth() <= 64;
  }
  return frame::isBoolean(type) || frame::isFloat(type) || frame::isDecimal(type) ||
         frame::isTemporal(type) || frame::isString(type) || frame::isBinary(type);
}

/// Where a program may be cut: the rows of one of its ops.
struct Candidate {
  unsigned op = 0; ///< its number in the function's block
  double bytes = 0;
};

class CommitPoints {
public:
  CommitPoints(const CompileOptions &options, double lossesPerSecond)
      : options_(options), lossesPerSecond_(lossesPerSecond) {}

  /// Cuts `program` as often as it is worth it.
  LogicalResult add(OwningOpRef<ModuleOp> program, std::string table);
  std::vector<CommittedPart> parts;
  llvm::StringSet<> tables; ///< names that are taken

private:
  struct Cut {
    OwningOpRef<ModuleOp> first;
    OwningOpRef<ModuleOp> rest;
    double expectedSeconds = 0; ///< of both and what is written between them
  };
  /// How long a program takes until it has run without a loss, if it begins again after each: of
  /// exponentially distributed times between losses.
  double expected(double seconds) const {
    return std::expm1(lossesPerSecond_ * seconds) / lossesPerSecond_;
  }
  double secondsToKeep(const Candidate &rows) const {
    return rows.bytes / (options_.ranks * kWrittenPerSecond);
  }
  /// Without parts, if they are no programs.
  FailureOr<Cut> cut(ModuleOp program, const Candidate &candidate, StringRef table) const;

  const CompileOptions &options_;
  const double lossesPerSecond_;
};

SmallVector<Candidate> candidatesOf(func::FuncOp function) {
  analysis::CardinalityAnalysis cardinality;
  auto bytesOf = [&](Value table) {
    return cardinality.rowsOf(table).expected * cardinality.bytesPerRow(table);
  };
  Block &block = function.getBody().front();
  llvm::DenseMap<Operation *, unsigned> numbers;
  for (auto [number, op] : llvm::enumerate(block)) {
    numbers[&op] = static_cast<unsigned>(number);
  }
  SmallVector<Candidate> found;
  for (Operation &op : block) {
    auto relation = dyn_cast<frame::RelationalOpInterface>(op);
    if (!relation || (relation.getRowFlow() != frame::RowFlow::kProbe &&
                      relation.getRowFlow() != frame::RowFlow::kState)) {
      continue;
    }
    // What goes row by row behind it may leave fewer bytes.
    Value least = op.getResult(0);
    for (Value next = least; next.hasOneUse();) {
      auto user = dyn_cast<frame::RelationalOpInterface>(*next.user_begin());
      if (!user || user.getRowFlow() != frame::RowFlow::kRowByRow) {
        break;
      }
      next = user->getResult(0);
      least = bytesOf(next) < bytesOf(least) ? next : least;
    }
    const bool isResult = llvm::any_of(least.getUsers(), llvm::IsaPred<func::ReturnOp>);
    ArrayRef<Type> types = cast<frame::TableType>(least.getType()).getColumnTypes();
    if (!isResult && !types.empty() && llvm::all_of(types, keepsInFiles)) {
      found.push_back({numbers[least.getDefiningOp()], bytesOf(least)});
    }
  }
  return found;
}

/// What is estimated of a table, as the statistics that a scan of it has. Of their bounds nothing.
DictionaryAttr statisticsOf(const analysis::TableEstimate &table, frame::TableType type) {
  Builder builder(type.getContext());
  auto count = [&](double number) {
    return builder.getI64IntegerAttr(std::llround(std::min(number, 9e18)));
  };
  NamedAttrList columns;
  for (auto [name, column] : llvm::zip_equal(type.getNames(), table.columns)) {
    NamedAttrList known;
    known.set("nulls", count(column.nullFraction * table.rows.expected));
    known.set("distinct", count(column.distinct));
    known.set("average_bytes", builder.getF64FloatAttr(column.bytes));
    known.set("file_bytes", builder.getF64FloatAttr(column.bytes));
    columns.set(name, known.getDictionary(builder.getContext()));
  }
  NamedAttrList statistics;
  statistics.set("rows", count(table.rows.expected));
  statistics.set("columns", columns.getDictionary(builder.getContext()));
  return statistics.getDictionary(builder.getContext());
}

void eraseUnused(func::FuncOp function) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(function.getBody().front()))) {
    if (op.use_empty() && !op.hasTrait<OpTrait::IsTerminator>()) {
      op.erase();
    }
  }
}

Operation *opOf(ModuleOp program, unsigned number) {
  return &*std::next(programFunction(program).getBody().front().begin(), number);
}

/// The program of the rows of one op, which stay where they are made.
OwningOpRef<ModuleOp> programUpTo(ModuleOp program, unsigned number) {
  OwningOpRef<ModuleOp> made = program.clone();
  func::FuncOp function = programFunction(*made);
  Value rows = opOf(*made, number)->getResult(0);
  function.getBody().front().getTerminator()->setOperands(rows);
  function.setType(
      FunctionType::get(made->getContext(), function.getArgumentTypes(), rows.getType()));
  function->removeAttr(frame::FrameDialect::getResultNamesAttrName());
  function->setAttr(frame::FrameDialect::getResultResidentAttrName(),
                    ArrayAttr::get(made->getContext(), {}));
  eraseUnused(function);
  return made;
}

/// The program with a scan of those rows in place of the op.
OwningOpRef<ModuleOp> programBehind(ModuleOp program, unsigned number, StringRef table) {
  OwningOpRef<ModuleOp> made = program.clone();
  Operation *op = opOf(*made, number);
  Value rows = op->getResult(0);
  auto type = cast<frame::TableType>(rows.getType());
  DictionaryAttr statistics = statisticsOf(analysis::CardinalityAnalysis().of(rows), type);
  OpBuilder builder(op);
  SmallVector<Attribute> columns(type.getNames());
  auto scan =
      frame::ScanOp::create(builder, op->getLoc(), type, builder.getStringAttr(table),
                            builder.getArrayAttr(columns), UnitAttr(), ArrayAttr(), statistics);
  rows.replaceAllUsesWith(scan.getResult());
  eraseUnused(programFunction(*made));
  return made;
}

/// Not, if what is behind the cut has other uses of what makes the rows: then a name stands for a
/// column of the scan and for one that is computed again.
bool isProgram(ModuleOp part, const CompileOptions &options) {
  ScopedDiagnosticHandler quiet(part.getContext(), [](Diagnostic &) { return success(); });
  return succeeded(verifyAfter(Phase::kOptimize, part, options));
}

FailureOr<CommitPoints::Cut> CommitPoints::cut(ModuleOp program, const Candidate &candidate,
                                               StringRef table) const {
  Cut made;
  made.first = programUpTo(program, candidate.op);
  made.rest = programBehind(program, candidate.op, table);
  if (!isProgram(*made.first, options_) || !isProgram(*made.rest, options_)) {
    return Cut();
  }
  FailureOr<double> first = predictedSeconds(*made.first, options_);
  FailureOr<double> rest = predictedSeconds(*made.rest, options_);
  if (failed(first) || failed(rest)) {
    return failure();
  }
  made.expectedSeconds =
      expected(*first + secondsToKeep(candidate) + kPartSeconds) + expected(*rest);
  return made;
}

LogicalResult CommitPoints::add(OwningOpRef<ModuleOp> program, std::string table) {
  FailureOr<double> whole = predictedSeconds(*program, options_);
  if (failed(whole)) {
    return failure();
  }
  // No cut gains more than one in the middle that costs nothing.
  const double gainMax = expected(*whole) - 2 * expected(*whole / 2) - kPartSeconds;
  std::string name;
  for (unsigned number = 0; tables.contains(name = "commit " + std::to_string(number)); ++number) {
  }
  Cut best;
  best.expectedSeconds = expected(*whole);
  double bytes = 0;
  for (const Candidate &candidate : candidatesOf(programFunction(*program))) {
    if (secondsToKeep(candidate) >= gainMax) {
      continue;
    }
    FailureOr<Cut> made = cut(*program, candidate, name);
    if (failed(made)) {
      return failure();
    }
    if (made->first && made->expectedSeconds < best.expectedSeconds) {
      best = std::move(*made);
      bytes = candidate.bytes;
    }
  }
  if (!best.first) {
    parts.push_back({std::move(table), std::move(program)});
    return success();
  }
  tables.insert(name);
  log(LogLevel::kInfo, "about ", formatBytes(bytes), " are kept at a commit point: with losses ",
      formatSeconds(expected(*whole)), " are expected without it, ",
      formatSeconds(best.expectedSeconds), " with it");
  return failure(failed(add(std::move(best.first), name)) ||
                 failed(add(std::move(best.rest), std::move(table))));
}

} // namespace

FailureOr<std::vector<CommittedPart>>
cutAtCommitPoints(ModuleOp module, const CompileOptions &options, double lossesPerSecond) {
  CommitPoints commits(options, lossesPerSecond);
  bool canBeCut = true;
  module.walk([&](Operation *op) {
    canBeCut &= !isa<frame::RunSeedOp>(op);
    if (auto scan = dyn_cast<frame::ScanOp>(op)) {
      commits.tables.insert(scan.getTableName());
    }
  });
  OwningOpRef<ModuleOp> whole = module.clone();
  if (!canBeCut) {
    commits.parts.push_back({"", std::move(whole)});
  } else if (failed(commits.add(std::move(whole), ""))) {
    return failure();
  }
  // What is known of the rows that are kept comes from their files.
  for (CommittedPart &part : commits.parts) {
    part.program->walk([&](frame::ScanOp scan) {
      auto makes = [&](const CommittedPart &other) { return other.table == scan.getTableName(); };
      if (llvm::any_of(commits.parts, makes)) {
        scan.removeStatisticsAttr();
      }
    });
  }
  return std::move(commits.parts);
}

} // namespace headrace::driver
