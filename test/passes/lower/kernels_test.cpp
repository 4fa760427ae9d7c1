// What kernels are worth, cost and become beside their code.
#include "passes/lower/code/describe_kernels.h"
#include "passes/lower/code/work_log.h"
#include "passes/lower/machine/effort.h"
#include "passes/lower/machine/kernel_objects.h"
#include "passes/lower/machine/pass_pipeline.h"

#include "dialects/AllDialects.h"
#include "dialects/sched/SchedDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "model/plan/names.h"

#include "llvm/MC/TargetRegistry.h"
#include <gtest/gtest.h>

#include <cstdlib>

namespace headrace::lower {
namespace {

using plan::WorkKind;

class Kernels : public testing::Test {
protected:
  Kernels() {
    mlir::DialectRegistry registry;
    registerAllDialects(registry);
    registerCompileDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadDialect<sched::SchedDialect>(); // what the tests make themselves
  }
  mlir::OwningOpRef<mlir::ModuleOp> parsed(const std::string &text) {
    mlir::OwningOpRef<mlir::ModuleOp> module =
        mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    EXPECT_TRUE(module) << text;
    return module;
  }
  mlir::MLIRContext context;
};

//===----------------------------------------------------------------------===//
// Effort
//===----------------------------------------------------------------------===//

/// Of rows that come in, looked up with a selectivity.
std::string looksUp(const char *carries, const char *selectivity, const char *branch = "") {
  return std::string(R"(
    pipe.state @table join [#pipe.field<"k", i32, key>]
    pipe.stream @in local )") +
         carries + R"( : !pipe.rows<"a": i32>
    pipe.stream @out result : !pipe.rows<"a": i32>
    pipe.pipeline @p )" +
         branch + R"( {
      %0 = pipe.receive @in : !pipe.rows<"a": i32>
      %1 = pipe.lookup %0, @table semi keys ["a"] payload [] columns [] {
      })" +
         selectivity + R"( : !pipe.rows<"a": i32> -> !pipe.rows<"a": i32>
      pipe.emit %1, @out keys [] : !pipe.rows<"a": i32>
    })";
}

TEST_F(Kernels, FewRowsAreQuick) {
  auto effort = [&](const std::string &text) {
    mlir::OwningOpRef<mlir::ModuleOp> module = parsed(text);
    mlir::SymbolTable symbols(*module);
    return effortFor(symbols.lookup<pipe::PipelineOp>("p"), symbols);
  };
  const char *even = " {selectivity = 1.0 : f64}";
  EXPECT_EQ(effort(looksUp("carries <expected = 10, p95 = 50000>", even)), Effort::kQuick);
  EXPECT_EQ(effort(looksUp("carries <expected = 10, p95 = 50001>", even)), Effort::kNormal);
  EXPECT_EQ(effort(looksUp("", even)), Effort::kNormal); // nobody says
  // Rows that come to be more on the way count, too, and those of which nobody says how many.
  const char *many = "carries <expected = 10, p95 = 30000>";
  EXPECT_EQ(effort(looksUp(many, " {selectivity = 2.0 : f64}")), Effort::kNormal);
  EXPECT_EQ(effort(looksUp(many, " {selectivity = 0.5 : f64}")), Effort::kQuick);
  EXPECT_EQ(effort(looksUp(many, "")), Effort::kNormal);
  setenv("HEADRACE_QUICK_ROWS", "20000", 1);
  EXPECT_EQ(effort(looksUp(many, even)), Effort::kNormal);
  unsetenv("HEADRACE_QUICK_ROWS");
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

std::string textOf(const std::vector<plan::Work> &entries) {
  std::string text;
  for (const plan::Work &work : entries) {
    text += std::string(text.empty() ? "" : ", ") + plan::nameOf(work.kind) + "@" +
            std::to_string(work.level) + " " + std::to_string(work.amount).substr(0, 4);
  }
  return text;
}

TEST_F(Kernels, WorkOfOneKindAddsUp) {
  WorkLog log;
  log.add(WorkKind::kHash, 0, 1);
  log.add(WorkKind::kHash, 1, 1);
  log.add(WorkKind::kHash, 0, 2);
  log.add(WorkKind::kProbe, 0, 0);
  log.set(WorkLog::Counting::kPaused);
  log.add(WorkKind::kHash, 0, 100);
  log.set(WorkLog::Counting::kOn);
  log.setTimes(3);
  log.add(WorkKind::kHash, 1, 2);
  EXPECT_EQ(textOf(log.take()), "hash@0 3.00, hash@1 7.00");
}

TEST_F(Kernels, OpsAreWorkByWhatTheyAre) {
  mlir::OwningOpRef<mlir::ModuleOp> module = parsed(R"(
    func.func @f(%a: i64, %w: i128, %d: i32, %s: !pipe.string) {
      %one = arith.constant 1 : i64
      %0 = arith.addi %a, %one : i64
      %1 = arith.divsi %a, %a : i64
      %2 = arith.divsi %w, %w : i128
      %3 = arith.muli %w, %w : i128
      %m = pipe.literal "m"
      %4 = pipe.string_compare eq %s, %m
      return
    })");
  WorkLog scalar, vector;
  module->walk([&](mlir::func::FuncOp function) {
    for (mlir::Operation &op : function.getBody().front().without_terminator()) {
      scalar.addOp(&op, 0, 0, 10);
      if (mlir::isa<mlir::arith::AddIOp>(op)) {
        vector.addOp(&op, 0, 16, 0);
      }
    }
  });
  EXPECT_EQ(textOf(scalar.take()),
            "scalar@0 1.00, divide@0 5.00, wide@0 1.00, match_string@0 0.15");
  EXPECT_EQ(textOf(vector.take()), "vector_byte@0 8.00");
}

TEST_F(Kernels, TextsAreSearchedOrOnlyCounted) {
  mlir::OwningOpRef<mlir::ModuleOp> module = parsed(R"(
    func.func @f(%s: !pipe.string) {
      %0 = pipe.string_match %s "%a%b%"
      %1 = pipe.text "length"(%s) : (!pipe.string) -> i64
      return
    })");
  WorkLog log;
  module->walk([&](mlir::func::FuncOp function) {
    for (mlir::Operation &op : function.getBody().front().without_terminator()) {
      log.addOp(&op, 0, 0, 10);
    }
  });
  EXPECT_EQ(textOf(log.take()), "match_string@0 1.50, search_byte@0 15.0");
}

//===----------------------------------------------------------------------===//
// Descriptions
//===----------------------------------------------------------------------===//

TEST_F(Kernels, DescriptionsTakeThePlaceOfOthers) {
  mlir::OwningOpRef<mlir::ModuleOp> module = parsed("");
  KernelDescription made;
  made.kernel.symbol = "groups0";
  made.kernel.scratchBytes = 64;
  made.kernel.work = {{WorkKind::kHash, 1, 2, plan::kNone}};
  plan::Literal wide;
  wide.kind = plan::LiteralKind::kI128;
  wide.integer = 5;
  wide.high = -1;
  made.kernel.literals = {wide};
  made.kernel.literalBytes = 16;
  made.places = {"a / b"};
  describeKernels(*module, "x86-64", {made, made});
  made.kernel.threads = 256;
  describeDeviceKernels(*module, "sm_80", {made});
  std::vector<std::string> isas;
  for (auto kernels : module->getOps<sched::KernelsOp>()) {
    isas.push_back(kernels.getIsa().str());
  }
  EXPECT_EQ(isas, (std::vector<std::string>{"x86-64", "sm_80"}));
  auto first =
      *(*module->getOps<sched::KernelsOp>().begin()).getBody().getOps<sched::KernelOp>().begin();
  EXPECT_EQ(first.getSymName(), "groups0");
  EXPECT_EQ(first.getScratchBytes(), 64u);
  auto literal = mlir::cast<sched::LiteralAttr>((*first.getLiterals())[0]);
  const llvm::APInt value = mlir::cast<mlir::IntegerAttr>(literal.getValue()).getValue();
  EXPECT_EQ(value.getBitWidth(), 128u);
  EXPECT_EQ(value.trunc(64).getSExtValue(), 5);
  EXPECT_EQ(value.lshr(64).trunc(64).getSExtValue(), -1);
  describeKernels(*module, "x86-64-v3", {made}); // of all instruction sets there were
  auto all = module->getOps<sched::KernelsOp>();
  ASSERT_TRUE(llvm::hasSingleElement(all));
  EXPECT_EQ((*all.begin()).getIsa(), "x86-64-v3");
}

//===----------------------------------------------------------------------===//
// Objects
//===----------------------------------------------------------------------===//

/// Runs the heaviest first, all at the end.
class LateWorkers final : public Workers {
public:
  void add(size_t weight, std::function<void()> piece) override {
    pieces_.emplace(weight, std::move(piece));
  }
  bool finish() override {
    for (auto piece = pieces_.rbegin(); piece != pieces_.rend(); ++piece) {
      piece->second();
    }
    pieces_.clear();
    return !isDead;
  }
  bool isDead = false;

private:
  std::multimap<size_t, std::function<void()>> pieces_;
};

TEST_F(Kernels, ObjectsComeInTheirOrderAndEachIsCompiledOnce) {
  std::map<std::string, std::vector<char>> kept;
  LateWorkers workers;
  CodeGenerators generators;
  Backend backend;
  backend.workers = &workers;
  backend.generators = &generators;
  backend.cache.find = [&](const std::string &key, std::vector<char> *object) {
    auto found = kept.find(key);
    *object = found == kept.end() ? std::vector<char>() : found->second;
    return found != kept.end();
  };
  backend.cache.put = [&](const std::string &key, const std::vector<char> &object) {
    kept[key] = object;
  };
  auto code = [&](int adds) {
    std::string text = "llvm.func @f(%0: i32) -> i32 {\n";
    for (int add = 0; add < adds; ++add) {
      text +=
          "%" + std::to_string(add + 1) + " = llvm.mul %" + std::to_string(add) + ", %0 : i32\n";
    }
    return std::move(
        *translateKernel(*parsed(text + "llvm.return %" + std::to_string(adds) + " : i32\n}")));
  };
  mlir::OwningOpRef<mlir::ModuleOp> program = parsed("");
  auto compile = [&](int *compiled) {
    KernelObjects objects(backend);
    objects.add(code(1), "short", {});
    objects.add(code(9), "long", {});
    auto made = objects.finish(*program);
    *compiled = objects.compiled();
    EXPECT_EQ(objects.compiled() + objects.cached(), 2);
    return made;
  };
  int compiled = 0;
  const auto first = compile(&compiled);
  ASSERT_TRUE(succeeded(first));
  EXPECT_EQ(compiled, 2);
  EXPECT_EQ((*first)[0], kept["short"]);
  EXPECT_EQ((*first)[1], kept["long"]);
  EXPECT_NE((*first)[0], (*first)[1]);
  const auto second = compile(&compiled);
  EXPECT_EQ(compiled, 0);
  EXPECT_EQ(*second, *first);
  workers.isDead = true;
  EXPECT_TRUE(failed(compile(&compiled)));
}

//===----------------------------------------------------------------------===//
// Passes
//===----------------------------------------------------------------------===//

TEST_F(Kernels, PassesRunOnOneModuleAfterTheOther) {
  CodeGenerator initializes((CompileOptions()));
  std::string error;
  const llvm::Triple triple("x86_64-unknown-linux-gnu");
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  ASSERT_TRUE(target) << error;
  std::unique_ptr<llvm::TargetMachine> machine(
      target->createTargetMachine(triple, "x86-64", "", {}, std::nullopt));
  PassPipeline passes(*machine, "function(instcombine)");
  for (const char *difference : {"llvm.sub %0, %0", "llvm.xor %0, %0"}) {
    KernelCode code = std::move(
        *translateKernel(*parsed("llvm.func @f(%0: i32) -> i32 {\n%1 = " + std::string(difference) +
                                 " : i32\nllvm.return %1 : i32\n}")));
    EXPECT_EQ(code.module->getInstructionCount(), 2u);
    passes.run(*code.module);
    EXPECT_EQ(code.module->getInstructionCount(), 1u); // it returns 0
  }
}

} // namespace
} // namespace headrace::lower
