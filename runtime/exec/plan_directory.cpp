// Reading of plan directories and of directories of tables.
#include "runtime/exec/plan_directory.h"

#include "runtime/model/plan/json.h"

#include <algorithm>
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

std::vector<std::string> parquetFiles(const fs::path &folder) {
  std::vector<std::string> paths;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().extension() == ".parquet") {
      paths.push_back(entry->path().string());
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
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

Expected<std::map<std::string, std::vector<std::string>>>
tablesInDirectory(const std::string &path) {
  std::map<std::string, std::vector<std::string>> tables;
  std::error_code error;
  for (fs::directory_iterator entry(path, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    const fs::path &child = entry->path();
    if (entry->is_directory(ignored)) {
      if (std::vector<std::string> files = parquetFiles(child); !files.empty()) {
        tables[child.filename().string()] = std::move(files);
      }
    } else if (child.extension() == ".parquet") {
      tables[child.stem().string()] = {child.string()};
    }
  }
  if (error) {
    return makeError(ErrorKind::kIo, "cannot read the directory of tables (", error.message(),
                     "): ", path);
  }
  if (tables.empty()) {
    return makeError(ErrorKind::kIo, "no Parquet files in: ", path);
  }
  return tables;
}

Expected<std::vector<std::string>> tableFiles(const std::string &path) {
  std::error_code error;
  fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) {
    return makeError(ErrorKind::kIo, "no such file: ", path);
  }
  if (!fs::is_directory(status)) {
    return std::vector<std::string>{path};
  }
  std::vector<std::string> files = parquetFiles(path);
  if (files.empty()) {
    return makeError(ErrorKind::kIo, "no Parquet files in: ", path);
  }
  return files;
}

} // namespace headrace::exec
