// Each setting of the settings table is an option.
#include "tools/headrace-run/request.h"

#include "runtime/bootstrap/launch.h"
#include "tools/command_line/options.h"

#include <cstdlib>
#include <filesystem>
#include <utility>

namespace headrace::run {
namespace {

/// Flags may say off ("--flag=off").
void addSettings(Options &options, Request &request) {
  for (const SettingInfo &setting : settingTable()) {
    std::string flag = settingFlag(setting);
    auto take = [&request, flag](const std::string &given) -> Status {
      request.ranksGiven |= flag == "--ranks";
      return request.settings.set(flag, given);
    };
    if (setting.type == SettingType::kFlag) {
      options.optionalValue(flag, "on", take);
    } else {
      options.value(flag, take);
    }
  }
}

/// Of a file, by the ending of its name; a table on standard output.
Expected<Format> formatOf(const std::string &output) {
  if (output.empty()) {
    return Format::kTable;
  }
  std::string ending = std::filesystem::path(output).extension();
  for (auto [known, format] :
       {std::pair(".arrow", Format::kArrow), {".csv", Format::kCsv}, {".txt", Format::kTable}}) {
    if (ending == known) {
      return format;
    }
  }
  return makeError(ErrorKind::kUser, "the output must end in one of .arrow, .csv, .txt, got ",
                   output, " (--format says what to write whatever the name)");
}

} // namespace

Expected<Request> readRequest(const std::vector<std::string> &arguments) {
  Request request;
  HR_ASSIGN_OR_RETURN(request.settings, Settings::fromEnvironment());
  request.ranksGiven = std::getenv("HEADRACE_RANKS") != nullptr;
  request.launcher =
      findLauncher([](const char *name) { return static_cast<const char *>(std::getenv(name)); });
  Options options("see headrace-run --help");
  options.word("the directory of a plan", request.plan)
      .value("--tables",
             [&](const std::string &given) { return exec::addTables(request.tables, given); })
      .choice("--format", request.format,
              {{"table", Format::kTable}, {"csv", Format::kCsv}, {"arrow", Format::kArrow}})
      .path("--output", request.output)
      .path("--topology", request.topology)
      .value("--launcher",
             [&](const std::string &given) -> Status {
               request.launcher = given == "none" ? "" : given;
               return {};
             })
      .count("--repeat", request.repeat, 1, 1e6)
      .flag("--processes", [&] { request.placement = Placement::kProcesses; })
      .flag("--profile", [&] { request.profile = ProfileOutput::kOn; })
      .flag("--explain", [&] { request.explain = ExplainOutput::kOn; });
  addSettings(options, request);
  HR_RETURN_IF_ERROR(options.read(arguments));
  if (request.format == Format::kOfOutput) {
    HR_ASSIGN_OR_RETURN(request.format, formatOf(request.output));
  }
  if (request.format == Format::kArrow && request.output.empty()) {
    return makeError(ErrorKind::kUser, "--format arrow needs --output FILE");
  }
  if (request.repeat > 1 &&
      (request.placement == Placement::kProcesses || !request.launcher.empty())) {
    return makeError(ErrorKind::kUser,
                     "--repeat is for ranks that share this process: leave out --processes and "
                     "launchers");
  }
  return request;
}

std::string helpText() {
  std::string text =
      "usage: headrace-run NAME.plan [options]\n\n"
      "runs a compiled plan and prints its result\n\n"
      "  --tables DIR        every NAME.parquet and folder NAME of Parquet files in DIR; may be\n"
      "                      repeated, and be a file or a pattern such as 'data/*.parquet'\n"
      "  --tables NAME=PATH  one table: a file, a folder of files or a pattern; may be repeated\n"
      "                      (default: the files that the plan was compiled against)\n"
      "  --format FORMAT     table, csv or arrow (default: by the ending of the output, .txt, .csv "
      "or\n"
      "                      .arrow, else table)\n"
      "  --output FILE       where to write; appears only when it is complete (default: standard "
      "output)\n"
      "  --topology NAME     what the plan must have been compiled for: a file, a shipped one or\n"
      "                      machine; any runs every plan, on any number of ranks (default: for "
      "as\n"
      "                      many ranks, and, without a launcher, for this machine)\n"
      "  --launcher NAME     torchrun, mpi, slurm, kubernetes, environment: this process is one "
      "of\n"
      "                      the ranks that it has started, and rank 0 writes the result; or none\n"
      "                      (default: the one whose variables are there)\n"
      "  --processes         every rank is a process of its own; threads and memory are divided\n"
      "                      (default: the ranks share this process)\n"
      "  --repeat N          runs it N times, as a service would that keeps what it has read; the\n"
      "                      seconds of each go to standard error, the last one's result is "
      "written\n"
      "                      (default: 1)\n"
      "  --profile           seconds, rows and bytes per task, as JSON, on standard error\n"
      "  --explain           what was decided, as a tree of operators with what the run took "
      "beside\n"
      "                      the estimates, on standard error\n"
      "  --version           the version\n"
      "  --help              this text\n\n"
      "settings, also from the environment (--exchange-buffer is HEADRACE_EXCHANGE_BUFFER):\n" +
      settingsHelp();
  return text;
}

} // namespace headrace::run
