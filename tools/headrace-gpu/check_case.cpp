// Forms × shapes of a case, each in an arena of its own.
#include "tools/headrace-gpu/case_run.h"
#include "tools/headrace-gpu/checks.h"

#include <set>

namespace headrace::gpu {

namespace {

std::vector<CaseShape> shapesOf(Session &session, Form form) {
  auto multiprocessors = static_cast<uint32_t>(session.device().description().multiprocessors);
  if (session.options().isQuick) {
    return {{form, 4, 0}};
  }
  if (session.isEmulated()) {
    return {{form, 3, 0}, {form, 1, 96}};
  }
  return {{form, 1, 32},
          {form, 7, 96},
          {form, 2 * multiprocessors, 0},
          {form, 16 * multiprocessors, 0}};
}

/// What the kernels of the steps take of a thread: once for each.
void reportKernels(Session &session, const Case &example, KernelModule &module) {
  std::set<std::string> symbols;
  for (const Json &step : example.document.at("steps")) {
    symbols.insert(step.at("kernel"));
  }
  for (const std::string &symbol : symbols) {
    std::string name = example.name + "/" + symbol;
    Expected<Kernel> kernel = module.find(symbol);
    if (!kernel.ok()) {
      session.report(name, "kernel", kernel.status());
      continue;
    }
    session.report(name, "kernel", "",
                   {{"registers", kernel->registers},
                    {"local_bytes", kernel->localBytes},
                    {"shared_bytes", kernel->sharedBytes},
                    {"threads_max", kernel->threadsMax}});
  }
}

} // namespace

Expected<PageKernels> pageKernels(Session &session) {
  PageKernels kernels;
  for (auto [kernel, name] : {std::pair(&kernels.decodeCodes, "decode_codes"),
                              std::pair(&kernels.packLevels, "pack_levels"),
                              std::pair(&kernels.countLevels, "count_levels"),
                              std::pair(&kernels.sumChunks, "sum_chunks"),
                              std::pair(&kernels.spreadValues, "spread_values")}) {
    HR_ASSIGN_OR_RETURN(*kernel, session.handKernel("decode_kernels", name));
  }
  return kernels;
}

void checkCase(Session &session, const std::string &name) {
  std::filesystem::path folder = session.options().bundle / "cases" / name;
  Expected<std::unique_ptr<Case>> example = readCase(folder);
  if (!example.ok()) {
    return session.report(name, "case", example.status());
  }
  Expected<std::unique_ptr<KernelModule>> module = session.load(folder, "kernels");
  if (!module.ok()) {
    return session.report(name, "case", module.status());
  }
  reportKernels(session, **example, **module);
  Expected<PageKernels> pages = pageKernels(session);
  if (!pages.ok()) {
    return session.report(name, "case", pages.status());
  }
  for (std::string form : (*example)->document.at("forms")) {
    for (const CaseShape &shape : shapesOf(session, formOf(form))) {
      DeviceArena arena(session.device(), session.reservation());
      Expected<std::string> wrong = CaseRun(**example, **module, *pages, arena, shape).run();
      std::string result = name + "/" + shape.text();
      session.report(result, "case", wrong.ok() ? *wrong : wrong.status().toString());
      if (!session.device().status().ok()) {
        return; // lost: nothing else can run in this process
      }
    }
  }
}

} // namespace headrace::gpu
