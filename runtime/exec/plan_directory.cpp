// Reading of plan directories.
#include "runtime/exec/plan_directory.h"

#include "runtime/model/plan/json.h"

#include <filesystem>
#include <fstream>
#include <iterator>

namespace headrace::exec {
namespace {

namespace fs = std::filesystem;

Expected<std::string> readText(const fs::path &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return makeError(ErrorKind::kIo, "cannot read: ", path.string());
  }
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (file.bad()) {
    return makeError(ErrorKind::kIo, "cannot read: ", path.string());
  }
  return text;
}

/// The error with the file that it is about in front.
Status inFile(const fs::path &path, const Status &status) {
  return Status(status.kind(), path.string() + ": " + status.message(), status.place());
}

Expected<std::map<std::string, std::vector<storage::FileIdentity>>>
readManifest(const fs::path &path) {
  std::map<std::string, std::vector<storage::FileIdentity>> manifest;
  std::error_code ignored;
  if (!fs::exists(path, ignored)) {
    return manifest;
  }
  HR_ASSIGN_OR_RETURN(std::string text, readText(path));
  nlohmann::json document = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!document.is_object()) {
    return makeError(ErrorKind::kCorrupt, path.string(), ": not a JSON object of tables");
  }
  for (const auto &[table, files] : document.items()) {
    Expected<std::vector<storage::FileIdentity>> identities = storage::manifestFromJson(files);
    if (!identities.ok()) {
      return inFile(path, identities.status());
    }
    manifest[table] = *std::move(identities);
  }
  return manifest;
}

Expected<std::shared_ptr<const KernelLibrary>> readKernels(const fs::path &folder,
                                                           const plan::Plan &plan) {
  if (plan.kernels.empty()) {
    return KernelLibrary::fromFunctions({});
  }
  std::error_code ignored;
  fs::path path = folder / ("kernels." + plan.isa + ".so");
  if (!fs::exists(path, ignored)) {
    path = folder / "kernels.so";
  }
  return KernelLibrary::open(fs::absolute(path, ignored).string());
}

} // namespace

Expected<StoredPlan> loadPlanDirectory(const std::string &path) {
  fs::path folder(path);
  HR_ASSIGN_OR_RETURN(std::string text, readText(folder / "plan.json"));
  Expected<plan::Plan> plan = plan::fromJson(text);
  if (!plan.ok()) {
    return inFile(folder / "plan.json", plan.status());
  }
  StoredPlan stored;
  HR_ASSIGN_OR_RETURN(stored.manifest, readManifest(folder / "manifest.json"));
  HR_ASSIGN_OR_RETURN(auto library, readKernels(folder, *plan));
  Expected<std::shared_ptr<const Program>> program =
      Program::load(*std::move(plan), std::move(library));
  if (!program.ok()) {
    return inFile(folder, program.status());
  }
  stored.program = *std::move(program);
  return stored;
}

} // namespace headrace::exec
