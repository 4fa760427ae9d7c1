// Reading of plan directories.
#include "runtime/exec/plan_directory.h"

#include "model/plan/json.h"
#include "runtime/base/sha256.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <sys/stat.h>
#include <unistd.h>

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

/// A plan is code: what others could have changed is not loaded.
Status onlyOwnerWrites(const fs::path &path) {
  struct stat info;
  if (::stat(path.c_str(), &info) != 0) {
    return makeError(ErrorKind::kIo, "cannot read: ", path.string());
  }
  if (info.st_uid != ::geteuid() && info.st_uid != 0) {
    return makeError(
        ErrorKind::kUser,
        "a plan is code, and this one belongs to another user (copy it if you trust it): ",
        path.string());
  }
  if (info.st_mode & (S_IWGRP | S_IWOTH)) {
    return makeError(
        ErrorKind::kUser,
        "a plan is code, and others may write to this one (chmod go-w if you trust it): ",
        path.string());
  }
  return Status();
}

/// The files of a plan, read whole and found to be what its meta.json says, so that nothing that
/// was damaged or put in its place is believed or run.
class PlanFiles {
public:
  static Expected<PlanFiles> open(const fs::path &folder) {
    PlanFiles files(folder);
    std::error_code ignored;
    if (!fs::exists(folder / "plan.json", ignored)) {
      return makeError(ErrorKind::kIo, "cannot read: ", (folder / "plan.json").string());
    }
    HR_RETURN_IF_ERROR(onlyOwnerWrites(folder));
    HR_ASSIGN_OR_RETURN(std::string text, files.readOwned("meta.json"));
    files.meta_ = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (!files.meta_.is_object()) {
      return makeError(ErrorKind::kCorrupt, (folder / "meta.json").string(),
                       ": damaged: not a JSON object; recompile");
    }
    return files;
  }

  Expected<std::string> read(const char *name) const {
    HR_ASSIGN_OR_RETURN(std::string content, readOwned(name));
    nlohmann::json found = nlohmann::json::array({content.size(), sha256(content)});
    nlohmann::json::json_pointer place = nlohmann::json::json_pointer() / "files" / name;
    if (!meta_.contains(place) || meta_[place] != found) {
      return makeError(ErrorKind::kCorrupt, (folder_ / name).string(),
                       ": not what meta.json says that the plan was compiled to; recompile");
    }
    return content;
  }

private:
  explicit PlanFiles(fs::path folder) : folder_(std::move(folder)) {}

  Expected<std::string> readOwned(const char *name) const {
    HR_RETURN_IF_ERROR(onlyOwnerWrites(folder_ / name));
    return readText(folder_ / name);
  }

  fs::path folder_;
  nlohmann::json meta_;
};

Expected<std::shared_ptr<const KernelLibrary>> kernelsOf(const std::string &object) {
  if (object.empty()) {
    return KernelLibrary::fromFunctions({});
  }
  return KernelLibrary::fromBytes(
      std::span(reinterpret_cast<const uint8_t *>(object.data()), object.size()));
}

} // namespace

Expected<Manifest> parseManifest(const std::string &text) {
  Manifest manifest;
  if (text.empty()) {
    return manifest;
  }
  nlohmann::json document = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!document.is_object()) {
    return makeError(ErrorKind::kCorrupt, "not a JSON object of tables");
  }
  for (const auto &[table, files] : document.items()) {
    HR_ASSIGN_OR_RETURN(manifest[table], storage::manifestFromJson(files));
  }
  return manifest;
}

Expected<std::shared_ptr<const Program>> loadProgram(const std::string &planText,
                                                     const std::string &kernels) {
  HR_ASSIGN_OR_RETURN(plan::Plan plan, plan::fromJson(planText));
  HR_ASSIGN_OR_RETURN(auto library, kernelsOf(kernels));
  return Program::load(std::move(plan), std::move(library));
}

Expected<StoredPlan> loadPlanDirectory(const std::string &path) {
  fs::path folder(path);
  HR_ASSIGN_OR_RETURN(PlanFiles files, PlanFiles::open(folder));
  StoredPlan stored;
  HR_ASSIGN_OR_RETURN(stored.planText, files.read("plan.json"));
  Expected<plan::Plan> plan = plan::fromJson(stored.planText);
  if (!plan.ok()) {
    return inFile(folder / "plan.json", plan.status());
  }
  if (plan->resident) {
    return inFile(folder, makeError(ErrorKind::kUnsupported,
                                    "this plan's result stays on the ranks; who runs it from a "
                                    "folder has no use for it"));
  }
  for (const plan::Slot &slot : plan->slots) {
    if (slot.resident) {
      return inFile(folder, makeError(ErrorKind::kUnsupported,
                                      "an argument of this plan lies on the ranks, which no run "
                                      "from a folder has: ",
                                      slot.name));
    }
  }
  HR_ASSIGN_OR_RETURN(stored.manifestText, files.read("manifest.json"));
  Expected<Manifest> manifest = parseManifest(stored.manifestText);
  if (!manifest.ok()) {
    return inFile(folder / "manifest.json", manifest.status());
  }
  stored.manifest = *std::move(manifest);
  if (!plan->kernels.empty()) {
    HR_ASSIGN_OR_RETURN(stored.kernels, files.read("kernels.so"));
  }
  Expected<std::shared_ptr<const KernelLibrary>> library = kernelsOf(stored.kernels);
  if (!library.ok()) {
    return inFile(folder / "kernels.so", library.status());
  }
  Expected<std::shared_ptr<const Program>> program =
      Program::load(*std::move(plan), *std::move(library));
  if (!program.ok()) {
    return inFile(folder, program.status());
  }
  stored.program = *std::move(program);
  return stored;
}

} // namespace headrace::exec
