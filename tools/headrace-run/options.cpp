// Flags in the order they come; each setting of the settings table is one.
#include "tools/headrace-run/options.h"

#include "runtime/exec/plan_directory.h"

#include <cstdlib>
#include <optional>

namespace headrace::run {
namespace {

Status addTables(Options &options, const std::string &text) {
  size_t equals = text.find('=');
  if (equals == std::string::npos) {
    HR_ASSIGN_OR_RETURN(auto tables, exec::tablesInDirectory(text));
    options.tables.merge(tables);
    return {};
  }
  // NAME=DIR or NAME=FILE; the same name again adds a file.
  std::string name = text.substr(0, equals);
  std::string path = text.substr(equals + 1);
  if (name.empty() || path.empty()) {
    return makeError(ErrorKind::kUser, "--tables: DIR or NAME=PATH expected, got: ", text);
  }
  Expected<std::vector<std::string>> files = exec::tableFiles(path);
  if (!files.ok()) {
    return files.status();
  }
  std::vector<std::string> &bound = options.tables[name];
  bound.insert(bound.end(), files->begin(), files->end());
  return {};
}

Status setFormat(Options &options, const std::string &text) {
  if (text == "table") {
    options.format = Format::kTable;
  } else if (text == "csv") {
    options.format = Format::kCsv;
  } else if (text == "arrow") {
    options.format = Format::kArrow;
  } else {
    return makeError(ErrorKind::kUser, "--format: table, csv or arrow expected, got: ", text);
  }
  return {};
}

const SettingInfo *findFlag(const std::string &flag) {
  for (const SettingInfo &setting : settingTable()) {
    if (settingFlag(setting) == flag) {
      return &setting;
    }
  }
  return nullptr;
}

} // namespace

Expected<Options> parseOptions(const std::vector<std::string> &arguments) {
  Options options;
  HR_ASSIGN_OR_RETURN(options.settings, Settings::fromEnvironment());
  options.ranksGiven = std::getenv("HEADRACE_RANKS") != nullptr;
  for (size_t i = 0; i < arguments.size(); ++i) {
    std::string flag = arguments[i];
    if (flag.substr(0, 2) != "--") {
      if (!options.plan.empty()) {
        return makeError(ErrorKind::kUser, "one plan expected, got another: ", flag);
      }
      options.plan = flag;
      continue;
    }
    if (flag == "--profile") {
      options.profile = ProfileOutput::kOn;
      continue;
    }
    if (flag == "--processes") {
      options.placement = Placement::kProcesses;
      continue;
    }
    std::optional<std::string> value;
    if (size_t equals = flag.find('='); equals != std::string::npos) {
      value = flag.substr(equals + 1);
      flag.resize(equals);
    }
    const SettingInfo *setting = findFlag(flag);
    if (!setting && flag != "--tables" && flag != "--format" && flag != "--output") {
      return makeError(ErrorKind::kUser, "unknown option (see --help): ", flag);
    }
    if (!value && setting && setting->type == SettingType::kFlag) {
      value = "on";
    }
    if (!value) {
      if (i + 1 == arguments.size()) {
        return makeError(ErrorKind::kUser, "a value is missing after: ", flag);
      }
      value = arguments[++i];
    }
    if (setting) {
      HR_RETURN_IF_ERROR(options.settings.set(flag, *value));
      options.ranksGiven |= flag == "--ranks";
    } else if (flag == "--tables") {
      HR_RETURN_IF_ERROR(addTables(options, *value));
    } else if (flag == "--format") {
      HR_RETURN_IF_ERROR(setFormat(options, *value));
    } else {
      options.output = *value;
    }
  }
  if (options.plan.empty()) {
    return makeError(ErrorKind::kUser, "the directory of a plan is missing (see --help)");
  }
  if (options.format == Format::kArrow && options.output.empty()) {
    return makeError(ErrorKind::kUser, "--format arrow needs --output FILE");
  }
  return options;
}

std::string helpText() {
  std::string text =
      "usage: headrace-run NAME.plan [options]\n\n"
      "runs a compiled plan and prints its result\n\n"
      "  --tables DIR        every NAME.parquet and folder NAME of Parquet files in DIR\n"
      "  --tables NAME=PATH  one table: a file, or a folder of files; may be repeated\n"
      "                      (default: the files that the plan was compiled against)\n"
      "  --format FORMAT     table (default), csv or arrow\n"
      "  --output FILE       where to write; appears only when it is complete\n"
      "  --processes         every rank is a process of its own; threads and memory are divided\n"
      "  --profile           seconds, rows and bytes per task, as JSON, on standard error\n\n"
      "settings:\n";
  for (const SettingInfo &setting : settingTable()) {
    text += "  " + settingFlag(setting) + ": " + setting.doc + "\n";
  }
  return text;
}

} // namespace headrace::run
