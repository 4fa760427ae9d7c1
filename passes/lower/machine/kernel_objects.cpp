// LLVM IR is in a context of its own for each kernel, so that any thread can work on it.
#include "passes/lower/machine/kernel_objects.h"

using namespace mlir;

namespace headrace::lower {

std::unique_ptr<CodeGenerator> CodeGenerators::take(const CompileOptions &options) {
  {
    std::lock_guard lock(mutex_);
    auto &waiting = waiting_[{options.isa, options.effort}];
    if (!waiting.empty()) {
      std::unique_ptr<CodeGenerator> generator = std::move(waiting.back());
      waiting.pop_back();
      return generator;
    }
  }
  return std::make_unique<CodeGenerator>(options);
}

void CodeGenerators::giveBack(const CompileOptions &options,
                              std::unique_ptr<CodeGenerator> generator) {
  std::lock_guard lock(mutex_);
  waiting_[{options.isa, options.effort}].push_back(std::move(generator));
}

void KernelObjects::add(KernelCode code, const std::string &key, const CompileOptions &options) {
  auto job = std::make_shared<Job>();
  jobs_.push_back(job);
  if (backend_.cache.find && backend_.cache.find(key, &job->object)) {
    ++cached_;
    return;
  }
  ++compiled_;
  job->code = std::move(code);
  size_t weight = job->code.module->getInstructionCount();
  backend_.workers->add(weight, [job, key, options, backend = backend_] {
    std::unique_ptr<CodeGenerator> generator = backend.generators->take(options);
    job->object = generator->compile(std::move(job->code), job->error);
    backend.generators->giveBack(options, std::move(generator));
    if (job->error.empty() && backend.cache.put) {
      backend.cache.put(key, job->object);
    }
  });
}

FailureOr<std::vector<std::vector<char>>> KernelObjects::finish(ModuleOp program) {
  if (!backend_.workers->finish()) {
    return failure(); // the driver knows why
  }
  std::vector<std::vector<char>> objects;
  for (const std::shared_ptr<Job> &job : jobs_) {
    if (!job->error.empty()) {
      // no test: what LLVM's code generator says, if it ever does
      return program.emitError("no machine code for a kernel: ") << job->error;
    }
    objects.push_back(std::move(job->object));
  }
  return objects;
}

} // namespace headrace::lower
