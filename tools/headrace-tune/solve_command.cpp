// Reads the problem, solves it, prints the figures and writes the choice.
#include "tools/headrace-tune/solve_command.h"

#include "model/solve/contest.h"
#include "model/solve/solve.h"
#include "tools/command_line/commands.h"
#include "tools/command_line/options.h"
#include "tools/command_line/text_output.h"
#include "tools/headrace-tune/input_text.h"

#include <nlohmann/json.hpp>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <iostream>

namespace headrace::tune {
namespace {

constexpr int kNothingFits = 3;

struct Request {
  std::string file;
  std::string output;
  solve::SolveOptions options;
};

double secondsNow() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double processorSeconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

Expected<Request> readRequest(const std::vector<std::string> &arguments) {
  Request request;
  request.options.secondsMax = 60;
  request.options.roundsMax = 1000000000;
  auto takeProcessorTime = [&](const std::string &given) -> Status {
    HR_ASSIGN_OR_RETURN(request.options.secondsMax, parseNumber("--cpu-seconds", given, 0, 1e6));
    request.options.now = processorSeconds;
    return {};
  };
  Status read = Options(kSolveUsage)
                    .word("a problem", request.file)
                    .number("--seconds", request.options.secondsMax, 0, 1e6)
                    .value("--cpu-seconds", takeProcessorTime)
                    .count("--seed", request.options.seed, 0, 1e15)
                    .count("--rounds", request.options.roundsMax, 1, 1e9)
                    .path("--output", request.output)
                    .read(arguments);
  return read.ok() ? Expected<Request>(std::move(request)) : Expected<Request>(std::move(read));
}

Expected<solve::ContestProblem> readProblem(const std::string &path) {
  HR_ASSIGN_OR_RETURN(std::string text, readInput(path, "problem"));
  Expected<solve::ContestProblem> problem = solve::parseContest(text);
  return problem.ok() ? std::move(problem)
                      : makeError(ErrorKind::kUser, path, ": ", problem.status().message());
}

/// Prints a line when something changed, at most four a second.
class ProgressLine {
public:
  void operator()(const solve::Progress &progress) {
    bool changed = progress.cost != last_.cost || progress.bound != last_.bound ||
                   progress.excess != last_.excess;
    if (!changed || (progress.round > 0 && progress.seconds < last_.seconds + 0.25)) {
      return;
    }
    last_ = progress;
    std::fprintf(stderr, "%8.2f s  round %d  cost %.10g  bound %.10g", progress.seconds,
                 progress.round, progress.cost, progress.bound);
    if (progress.excess > 0) {
      std::fprintf(stderr, "  over the limit by %.3g %%\n", 100 * progress.excess);
    } else {
      std::fprintf(stderr, "  gap %.3g %%\n",
                   100 * (1 - progress.bound / std::max(progress.cost, 1e-300)));
    }
  }

private:
  solve::Progress last_;
};

struct Figures {
  std::string name;
  size_t nodes = 0;
  size_t edges = 0;
  double readSeconds = 0;
  double seconds = 0;
  double firstSeconds = -1; ///< when a choice that fits was there; negative if there is none
  double limit = 0;
  double peak = 0;

  /// The solver works on one node at least.
  size_t nodesLeft(const solve::Solution &solution) const {
    return std::min(nodes, static_cast<size_t>(solution.nodesLeft));
  }
};

void print(const Figures &figures, const solve::Solution &solution) {
  std::printf("problem    %s: %zu nodes, %zu edges; %zu nodes after exact reductions\n",
              figures.name.c_str(), figures.nodes, figures.edges, figures.nodesLeft(solution));
  std::printf("objective  %.17g\n", solution.cost);
  std::printf("bound      %.17g\n", solution.bound);
  std::printf("gap        %.4g %%%s\n", 100 * solution.gap(),
              solution.gap() <= 1e-6 ? " (optimal)" : "");
  if (figures.limit < std::numeric_limits<double>::max()) {
    std::printf("memory     %s: peak %.17g of %.17g\n", solution.fits() ? "fits" : "does not fit",
                figures.peak, figures.limit);
  } else {
    std::printf("memory     no limit\n");
  }
  if (!solution.fits()) {
    std::printf("reason     %s\n", solution.whyNothingFits.empty()
                                       ? "no choice that fits was found in this time"
                                       : solution.whyNothingFits.c_str());
  }
  if (figures.firstSeconds >= 0) {
    std::printf("first      %.3f s until a choice that fits\n", figures.firstSeconds);
  }
  std::printf("time       %.3f s in %d rounds (reading %.3f s)\n", figures.seconds, solution.rounds,
              figures.readSeconds);
}

Status writeJson(TextOutput &output, const Figures &figures, const solve::Solution &solution) {
  nlohmann::ordered_json json{{"schema", "solution/1"},
                              {"problem", figures.name},
                              {"nodes", figures.nodes},
                              {"edges", figures.edges},
                              {"nodes_after_reductions", figures.nodesLeft(solution)},
                              {"objective", solution.cost},
                              {"bound", solution.bound},
                              {"gap", solution.gap()},
                              {"fits", solution.fits()},
                              {"peak", figures.peak},
                              {"seconds", figures.seconds},
                              {"read_seconds", figures.readSeconds},
                              {"rounds", solution.rounds},
                              {"choice", solution.choice}};
  if (figures.firstSeconds >= 0) {
    json["first_seconds"] = figures.firstSeconds;
  }
  if (figures.limit < std::numeric_limits<double>::max()) {
    json["usage_limit"] = figures.limit;
  }
  if (!solution.whyNothingFits.empty()) {
    json["why_nothing_fits"] = solution.whyNothingFits;
  }
  return output.write(json.dump(1) + "\n");
}

/// The exit status, or what was wrong.
Expected<int> solveRequest(const Request &request) {
  TextOutput output;
  HR_RETURN_IF_ERROR(output.open(request.output));
  auto now = request.options.now ? request.options.now : secondsNow;
  double started = now();
  HR_ASSIGN_OR_RETURN(solve::ContestProblem contest, readProblem(request.file));
  const solve::Problem &problem = contest.problem;
  Figures figures{contest.name,
                  problem.nodes.size(),
                  problem.edges.size(),
                  now() - started,
                  0,
                  -1,
                  problem.tierBytesMax[0],
                  0};
  solve::SolveOptions options = request.options;
  options.progress = [&, line = ProgressLine()](const solve::Progress &progress) mutable {
    line(progress);
    if (progress.excess <= 0 && figures.firstSeconds < 0) {
      figures.firstSeconds = progress.seconds;
    }
  };
  started = now();
  HR_ASSIGN_OR_RETURN(solve::Solution solution, solve::solve(problem, options));
  figures.seconds = now() - started;
  figures.peak = solve::memoryPeak(problem, solution.choice)[0];
  print(figures, solution);
  if (!request.output.empty()) {
    HR_RETURN_IF_ERROR(writeJson(output, figures, solution));
  }
  return solution.fits() ? 0 : kNothingFits;
}

} // namespace

int solveCommand(const std::vector<std::string> &arguments) {
  Expected<Request> request = readRequest(arguments);
  Expected<int> status = request.ok() ? solveRequest(*request) : Expected<int>(request.status());
  return status.ok() ? *status : exitStatus(status.status());
}

} // namespace headrace::tune
