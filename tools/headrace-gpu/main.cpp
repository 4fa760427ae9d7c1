// The runner of the GPU bundle (`./dev gpu-bundle`): checks all cases and measures, each in a
// process of its own with an end to its time, and writes what was found as JSON.
#include "tools/headrace-gpu/checks.h"
#include "tools/headrace-gpu/child_process.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <thread>
#include <unistd.h>

using namespace headrace;
using namespace headrace::gpu;

namespace {

constexpr const char *kUsage =
    R"(usage: run [--json FILE] [--emulated] [--only TEXT] [--timeout SECONDS] [--sanitizer FILE] [--list]
  checks every kernel of this bundle on the machine's first NVIDIA GPU and measures; needs the driver alone
  --json FILE        all results as one JSON document
  --emulated         on an emulated GPU: whether the bundle is whole; its figures mean nothing
  --only TEXT        what has TEXT in its name
  --timeout SECONDS  of each part, after which it is killed (default 180)
  --sanitizer FILE   compute-sanitizer (default: that on the PATH, if there is one)
  --list             names of all parts
)";

struct Request {
  Session::Options session;
  std::string json, only, part, sanitizer;
  double timeoutSeconds = 180;
  bool isList = false;
};

/// A case by its name; a figure as "figure:…".
std::vector<std::string> partsOf(const std::filesystem::path &bundle) {
  std::vector<std::string> parts = caseNames(bundle);
  std::vector<std::string> scans;
  for (const std::string &name : parts) {
    Expected<std::unique_ptr<Case>> example = readCase(bundle / "cases" / name);
    if (example.ok() && (*example)->document.contains("figure")) {
      scans.push_back("figure:scan:" + name);
    }
  }
  parts.insert(parts.end(),
               {"figure:memory", "figure:launches", "figure:decoding", "figure:product"});
  parts.insert(parts.end(), scans.begin(), scans.end());
  return parts;
}

void runPart(Session &session, const std::string &part) {
  constexpr std::string_view kScan = "figure:scan:";
  if (part == "figure:memory") {
    measureMemory(session);
  } else if (part == "figure:launches") {
    measureLaunches(session);
  } else if (part == "figure:decoding") {
    measureDecoding(session);
  } else if (part == "figure:product") {
    measureProduct(session);
  } else if (part.starts_with(kScan)) {
    measureScan(session, part.substr(kScan.size()));
  } else {
    checkCase(session, part);
  }
}

/// The process of one part: a line a result.
int childMain(const Request &request) {
  Expected<std::unique_ptr<Session>> session = Session::open(request.session);
  if (!session.ok()) {
    std::cerr << session.status().toString() << "\n";
    return 1;
  }
  runPart(**session, request.part);
  return 0;
}

/// All results so far, and what is printed of each.
class Results {
public:
  void add(Json result) {
    bool pass = result.value("pass", false);
    (pass ? passed_ : failed_)++;
    std::cout << (pass ? "pass  " : "FAIL  ") << result.value("name", "");
    if (result.contains("value")) {
      std::printf("  %.4g ", result.at("value").get<double>());
      std::fflush(stdout);
      std::cout << result.value("unit", "");
    }
    for (const char *key : {"detail", "skipped"}) {
      std::cout << (result.contains(key) ? "  " + result.value(key, "") : "");
    }
    std::cout << std::endl;
    all_.push_back(std::move(result));
  }
  void addFailure(const std::string &name, const char *kind, const std::string &detail) {
    add({{"name", name}, {"kind", kind}, {"pass", false}, {"detail", detail}});
  }
  int failed() const { return failed_; }
  Json document(const Json &machine) const {
    return {{"machine", machine}, {"passed", passed_}, {"failed", failed_}, {"results", all_}};
  }

private:
  Json all_ = Json::array();
  int passed_ = 0, failed_ = 0;
};

/// Lines of JSON that a part wrote; anything else that went wrong with it is a result too.
void collect(Results &results, const std::string &part, const char *kind, const ChildResult &child,
             const Json &machine) {
  std::istringstream lines(child.output);
  int found = 0;
  for (std::string line; std::getline(lines, line);) {
    Json result = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (result.is_object() && result.contains("pass")) {
      results.add(std::move(result));
      ++found;
    }
  }
  std::string failure = child.failure;
  if (failure.empty() && found == 0) {
    failure = "no result";
  }
  if (!failure.empty()) {
    Json result = {{"name", part},
                   {"kind", kind},
                   {"pass", false},
                   {"detail", failure + (child.errors.empty() ? "" : "; " + child.errors)}};
    result.update(machine);
    results.add(std::move(result));
  }
}

std::string sanitizerPath() {
  std::istringstream folders(std::string(std::getenv("PATH") ? std::getenv("PATH") : "") +
                             ":/usr/local/cuda/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::filesystem::path path = std::filesystem::path(folder) / "compute-sanitizer";
    if (access(path.c_str(), X_OK) == 0) {
      return path;
    }
  }
  return "";
}

bool hasNoFailure(const std::string &output) {
  return output.find("\"pass\":false") == std::string::npos &&
         output.find("\"pass\":true") != std::string::npos;
}

/// Blocks whose threads share rows of shared memory: a row is written, published by an atomic,
/// read. racecheck knows barriers alone, and finds each of these reads.
bool sharesRows(const std::filesystem::path &bundle, const std::string &part) {
  Expected<std::unique_ptr<Case>> example = readCase(bundle / "cases" / part);
  return example.ok() &&
         std::ranges::any_of((*example)->document.at("manifest").at("kernels"),
                             [](const Json &kernel) { return kernel.value("shares_rows", false); });
}

/// Each case under NVIDIA's checkers of memory, races and barriers, several at once: what takes
/// their time is on the host.
void sanitize(Results &results, const Request &request, const std::vector<std::string> &command,
              const std::vector<std::string> &parts, const Json &machine) {
  constexpr unsigned kAtOnceMost = 8;
  const std::string sanitizer = request.sanitizer.empty() ? sanitizerPath() : request.sanitizer;
  struct Check {
    std::string tool, part;
    Json result;
  };
  std::vector<Check> checks;
  for (const char *tool : {"memcheck", "racecheck", "synccheck"}) {
    if (sanitizer.empty()) {
      checks.push_back({tool, "", {{"skipped", "compute-sanitizer is not on the PATH"}}});
      continue;
    }
    for (const std::string &part : parts) {
      if (part.starts_with("figure:")) {
        continue;
      }
      checks.push_back({tool, part, Json::object()});
      if (checks.back().tool == "racecheck" && sharesRows(request.session.bundle, part)) {
        checks.back().result["skipped"] =
            "its threads share rows by atomics, which racecheck does not know";
      }
    }
  }
  auto run = [&](Check &check) {
    std::vector<std::string> words = {sanitizer, "--tool", check.tool, "--error-exitcode", "9"};
    words.insert(words.end(), command.begin(), command.end());
    words.insert(words.end(), {"--part", check.part, "--quick"});
    ChildResult child = runChild(words, 3 * request.timeoutSeconds);
    check.result["pass"] = child.failure.empty() && hasNoFailure(child.output);
    if (!check.result.at("pass")) {
      size_t begin = child.output.size() > 3000 ? child.output.size() - 3000 : 0;
      check.result["detail"] = child.failure + "\n" + child.output.substr(begin) + child.errors;
    }
  };
  std::atomic<size_t> next = 0;
  std::vector<std::jthread> workers;
  for (unsigned i = 0; i < std::clamp(std::thread::hardware_concurrency(), 1u, kAtOnceMost); ++i) {
    workers.emplace_back([&] {
      for (size_t index; (index = next.fetch_add(1)) < checks.size();) {
        if (!checks[index].result.contains("skipped")) {
          run(checks[index]);
        }
      }
    });
  }
  workers.clear();
  for (Check &check : checks) {
    Json result = {
        {"name", "sanitizer/" + check.tool + (check.part.empty() ? "" : "/") + check.part},
        {"kind", "sanitizer"},
        {"pass", true}};
    result.update(check.result);
    result.update(machine);
    results.add(std::move(result));
  }
}

/// The device, in a process of its own too: a driver may hang when it is opened.
int describeMain(const Request &request) {
  Expected<std::unique_ptr<Session>> session = Session::open(request.session);
  if (!session.ok()) {
    std::cerr << session.status().toString() << "\n";
    return 1;
  }
  const DeviceDescription &device = (*session)->device().description();
  Json out = {{"device", device.name},
              {"driver", device.driver},
              {"capability", device.capability()},
              {"multiprocessors", device.multiprocessors},
              {"memory_bytes", device.memoryBytes}};
  // The version of NVIDIA's kernel module, where there is one; "driver" is that of CUDA.
  std::ifstream module("/proc/driver/nvidia/version");
  if (std::string line; std::getline(module, line)) {
    out["kernel_module"] = line;
  }
  std::cout << out.dump(-1, ' ', false, Json::error_handler_t::replace) << std::endl;
  return 0;
}

int runAll(const Request &request, const std::string &self) {
  std::vector<std::string> command = {self};
  if (request.session.target == Session::Target::kEmulated) {
    command.push_back("--emulated");
  }
  std::vector<std::string> describe = command;
  describe.push_back("--describe");
  ChildResult described = runChild(describe, request.timeoutSeconds);
  Json machine = Json::parse(described.output, nullptr, /*allow_exceptions=*/false);
  Results results;
  if (!described.failure.empty() || !machine.is_object()) {
    machine = Json::object();
    results.addFailure("device", "device", described.failure + "; " + described.errors);
  } else {
    std::cout << machine.dump() << std::endl;
    Json device = {{"device", machine.at("device")},
                   {"driver", machine.at("driver")},
                   {"capability", machine.at("capability")}};
    std::vector<std::string> parts;
    for (const std::string &part : partsOf(request.session.bundle)) {
      if (part.find(request.only) != std::string::npos) {
        parts.push_back(part);
      }
    }
    for (const std::string &part : parts) {
      std::vector<std::string> words = command;
      words.insert(words.end(), {"--part", part});
      const char *kind = part.starts_with("figure:") ? "figure" : "case";
      collect(results, part, kind, runChild(words, request.timeoutSeconds), device);
    }
    if (request.session.target == Session::Target::kMachine || !request.sanitizer.empty()) {
      sanitize(results, request, command, parts, device);
    }
  }
  Json document = results.document(machine);
  if (!request.json.empty()) {
    std::ofstream file(request.json);
    file << document.dump(1, ' ', false, Json::error_handler_t::replace) << "\n";
    if (!file.flush()) {
      std::cerr << "cannot write the results: " << request.json << "\n";
      return 2;
    }
  }
  std::cout << document.at("passed") << " passed, " << document.at("failed") << " failed\n";
  return results.failed() == 0 ? 0 : 1;
}

} // namespace

int main(int argc, char **argv) {
  std::error_code none;
  std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", none);
  Request request;
  request.session.bundle = self.parent_path();
  bool isDescribe = false;
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    auto value = [&]() -> std::string { return i + 1 < argc ? argv[++i] : ""; };
    if (word == "--emulated") {
      request.session.target = Session::Target::kEmulated;
    } else if (word == "--quick") {
      request.session.isQuick = true;
    } else if (word == "--list") {
      request.isList = true;
    } else if (word == "--describe") {
      isDescribe = true;
    } else if (word == "--json") {
      request.json = value();
    } else if (word == "--only") {
      request.only = value();
    } else if (word == "--sanitizer") {
      request.sanitizer = value();
    } else if (word == "--part") {
      request.part = value();
    } else if (word == "--timeout") {
      request.timeoutSeconds = std::atof(value().c_str());
    } else {
      std::cerr << kUsage;
      return 2;
    }
  }
  if (request.isList) {
    for (const std::string &part : partsOf(request.session.bundle)) {
      std::cout << part << "\n";
    }
    return 0;
  }
  if (isDescribe) {
    return describeMain(request);
  }
  return request.part.empty() ? runAll(request, self) : childMain(request);
}
