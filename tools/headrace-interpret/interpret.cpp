// headrace-interpret: runs programs in the reference interpreter and prints what they return. A
// module with a mesh (after `shard`) runs on the mesh's ranks. --check instead compares every stage
// of the compiler, under many layouts, with the program as it is. Input: MLIR, several programs
// split by `// -----`, or Substrait JSON.
#include "tools/compiler/tool_flags.h"
#include "tools/compiler/tools.h"

#include "passes/driver/compile.h"
#include "passes/driver/phases.h"
#include "passes/driver/stage_check.h"
#include "passes/interpreter/text.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace headrace;
using namespace headrace::interpreter;
namespace cl = llvm::cl;

namespace {
/// The command line. Made by interpretTool: flags that are made when the library is loaded would be
/// every tool's.
struct Flags {
  cl::opt<std::string> inputFile{cl::Positional, cl::desc("<program>"), cl::init("-")};
  cl::opt<std::string> tablesFolder{"tables", cl::value_desc("folder"),
                                    cl::desc("has NAME.csv for each table (default: no tables)")};
  cl::opt<std::string> tensorsFolder{
      "tensors", cl::value_desc("folder"),
      cl::desc("has argN.tensor for each argument (default: random arguments)")};
  cl::opt<uint64_t> tensorSeed{"tensor-seed", cl::value_desc("seed"),
                               cl::desc("of random arguments (default: 1)"), cl::init(1)};
  cl::list<std::string> statistics{
      "statistics", cl::value_desc("table=file.json"),
      cl::desc("statistics of a table, for plans in JSON; may be repeated (default: none)")};
  cl::opt<bool> check{"check", cl::desc("compare every stage of the compiler with the program")};
  cl::opt<bool> quiet{"quiet", cl::desc("with --check: do not print results")};
  cl::list<std::string> meshes{
      "mesh", cl::value_desc("axes"),
      cl::desc(
          "with --check: a mesh such as a:2,b:2; may be repeated (default: ranks:1 to ranks:4)")};
  cl::opt<unsigned> layouts{"layouts", cl::value_desc("count"),
                            cl::desc("with --check: random layouts per mesh (default: 5)"),
                            cl::init(5)};
  cl::opt<uint64_t> seed{"seed", cl::value_desc("seed"),
                         cl::desc("with --check: of the first random layout (default: 1)"),
                         cl::init(1)};
  cl::opt<std::string> topologyName{
      "topology", cl::value_desc("file or name"),
      cl::desc("with --check: a topology file or a shipped one (default: this machine)")};
};
Flags *flags;
} // namespace

static std::string fileText(const std::string &path, std::string &error) {
  auto file = llvm::MemoryBuffer::getFileOrSTDIN(path);
  if (!file) {
    error = "cannot read " + path;
    return "";
  }
  return (*file)->getBuffer().str();
}

static llvm::Expected<std::vector<interpreter::Value>> argumentsOf(mlir::func::FuncOp function) {
  std::vector<interpreter::Value> arguments;
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes())) {
    auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type);
    std::string name = "arg" + std::to_string(index);
    if (!tensor) {
      return programError("an argument is not a tensor: " + name);
    }
    if (flags->tensorsFolder.empty()) {
      if (!tensor.hasStaticShape()) {
        return programError("an argument without --tensors needs a static shape: " + name);
      }
      arguments.push_back(valueOf(randomTensor(tensor, flags->tensorSeed + index)));
      continue;
    }
    std::string error;
    std::string text = fileText(flags->tensorsFolder + "/" + name + ".tensor", error);
    if (!error.empty()) {
      return programError(error);
    }
    llvm::Expected<Tensor> value = parseTensor(text, tensor.getElementType());
    if (!value) {
      return value.takeError();
    }
    arguments.push_back(valueOf(std::move(*value)));
  }
  return arguments;
}

static void print(llvm::ArrayRef<interpreter::Value> results) {
  for (const interpreter::Value &result : results) {
    llvm::outs() << textOf(result) << "\n";
  }
}

/// One program. Returns an error text, or nothing.
static std::string runProgram(mlir::ModuleOp module, CsvTables &tables) {
  mlir::func::FuncOp function = driver::programFunction(module);
  if (!function) {
    return "the program has no function: main";
  }
  llvm::Expected<std::vector<interpreter::Value>> arguments = argumentsOf(function);
  if (!arguments) {
    return llvm::toString(arguments.takeError());
  }
  Inputs inputs{[&](frame::ScanOp scan) { return tables.scan(scan); }, std::move(*arguments)};
  if (!flags->check) {
    llvm::Expected<std::vector<interpreter::Value>> results =
        interpret(function, inputs, View::kRanks);
    if (!results) {
      return llvm::toString(results.takeError());
    }
    print(*results);
    return "";
  }
  driver::StageCheckOptions options;
  if (!flags->meshes.empty()) {
    options.meshes = flags->meshes;
  }
  options.layouts = flags->layouts;
  options.firstSeed = flags->seed;
  options.topology = flags->topologyName;
  driver::StageCheckReport report = driver::checkStages(module, inputs, options);
  if (!report.dataError.empty()) {
    llvm::outs() << "data error: " << report.dataError << "\n";
  }
  if (!flags->quiet) {
    print(report.results);
  }
  llvm::outs() << "compared " << report.comparisons << " stages\n";
  return llvm::join(report.differences, "\n");
}

/// A plan in JSON, DuckDB's or Substrait's.
static mlir::OwningOpRef<mlir::ModuleOp> importPlan(mlir::MLIRContext *context,
                                                    const std::string &json,
                                                    const driver::CompileOptions &options,
                                                    driver::CompileError &error) {
  driver::SqlQuery query;
  query.format = llvm::StringRef(json).contains("\"relations\"")
                     ? driver::SqlQuery::Format::kSubstrait
                     : driver::SqlQuery::Format::kDuckdb;
  query.json = json;
  import::ImportError importError;
  mlir::OwningOpRef<mlir::ModuleOp> module =
      driver::importSql(context, query, options, importError);
  error = driver::compileError(importError);
  return module;
}

int headrace::interpretTool(int argc, char **argv) {
  beginToolFlags("headrace-interpret");
  Flags given;
  flags = &given;
  cl::ParseCommandLineOptions(argc, argv, "headrace reference interpreter\n");
  std::string error;
  std::string text = fileText(flags->inputFile, error);
  driver::CompileOptions options;
  for (const std::string &entry : flags->statistics) {
    auto [table, path] = llvm::StringRef(entry).split('=');
    options.statistics[table.str()] = fileText(path.str(), error);
  }
  CsvTables tables;
  if (error.empty() && !flags->tablesFolder.empty()) {
    error = llvm::toString(tables.addDirectory(flags->tablesFolder));
  }
  if (!error.empty()) {
    llvm::errs() << "headrace-interpret: " << error << "\n";
    return 1;
  }
  std::unique_ptr<mlir::MLIRContext> context = driver::makeContext();
  llvm::SmallVector<llvm::StringRef> programs;
  bool plan = llvm::StringRef(flags->inputFile).ends_with(".json");
  if (plan) {
    programs.push_back(text);
  } else {
    llvm::StringRef(text).split(programs, "// -----\n");
  }
  int failures = 0;
  for (auto [index, program] : llvm::enumerate(programs)) {
    driver::CompileError refused;
    mlir::OwningOpRef<mlir::ModuleOp> module =
        plan ? importPlan(context.get(), text, options, refused)
             : driver::importMlir(context.get(), program.str(), {}, refused);
    error = refused.message;
    if (module) {
      error = runProgram(*module, tables);
    }
    if (!error.empty()) {
      llvm::outs().flush();
      llvm::SmallVector<llvm::StringRef> lines;
      llvm::StringRef(error).split(lines, '\n');
      for (llvm::StringRef line : lines) {
        llvm::errs() << flags->inputFile << ": program " << index + 1 << ": " << line << "\n";
      }
      ++failures;
      error.clear();
    }
  }
  return failures == 0 ? 0 : 1;
}
