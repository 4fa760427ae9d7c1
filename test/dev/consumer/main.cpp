// Runs the plan of a directory over the files that it was compiled against, and prints its rows.
#include "runtime/base/version.h"
#include "runtime/exec/inputs.h"
#include "runtime/exec/plan_directory.h"
#include "runtime/exec/result_text.h"

#include <iostream>

using namespace headrace;

static Status run(const char *path) {
  HR_ASSIGN_OR_RETURN(exec::StoredPlan stored, exec::loadPlanDirectory(path));
  auto storage = std::make_shared<storage::Storage>();
  exec::Bindings bindings;
  for (const auto &[table, files] : stored.manifest) {
    std::vector<std::string> paths;
    for (const storage::FileIdentity &file : files) {
      paths.push_back(file.path);
    }
    bindings.tables[table] = exec::openFiles(storage, paths, files);
  }
  exec::Session session({.threads = 2});
  HR_ASSIGN_OR_RETURN(exec::RunResult result,
                      stored.program->run(session, std::move(bindings), {.ranks = 2}));
  exec::writeCsv(*result.table, std::cout);
  return {};
}

int main(int, char **argv) {
  Status status = run(argv[1]);
  if (!status.ok()) {
    std::cerr << "headrace " << version() << ": " << status.toString() << "\n";
  }
  return status.ok() ? 0 : 1;
}
