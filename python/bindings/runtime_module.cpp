// `headrace._runtime`: plans loaded and run for Python, without LLVM.
#include "model/plan/explain.h"
#include "model/plan/json.h"
#include "model/plan/measured_operators.h"
#include "model/plan/names.h"
#include "model/plan/text.h"
#include "model/simulate/program_cost.h"
#include "model/simulate/workload_text.h"
#include "model/topology/rank_nodes.h"
#include "python/bindings/arrow_stream.h"
#include "python/bindings/cluster.h"
#include "python/bindings/meeting.h"
#include "python/bindings/process.h"
#include "python/bindings/run.h"
#include "python/bindings/stores.h"
#include "python/bindings/temporary_files.h"
#include "python/bindings/tensors.h"
#include "runtime/base/log.h"
#include "runtime/base/version.h"
#include "runtime/device/cuda/open_accelerator.h"
#include "runtime/exec/kernel/instruction_set.h"
#include "runtime/exec/plan_directory.h"
#include "runtime/exec/table_paths.h"
#include "runtime/storage/arrow/table_part.h"
#include "runtime/storage/arrow/united_statistics.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <pthread.h>

namespace nb = nanobind;

namespace headrace::python {
namespace {

/// Set once when the module is made.
PyObject *errorClass = nullptr;

std::vector<int64_t> ranksOfNodes(const std::string &text, int64_t ranks) {
  return topology::ranksOfNodes(valueOf(topology::openTopology(text, ranks)), ranks);
}

std::string planCost(const std::string &planJson, const std::string &topology, int64_t ranks,
                     int64_t threads, const std::map<std::string, double> &rows, double memory,
                     const std::vector<std::string> &skews) {
  auto priced = [&]() -> Expected<std::string> {
    HR_ASSIGN_OR_RETURN(plan::Plan plan, plan::fromJson(planJson));
    HR_ASSIGN_OR_RETURN(topology::Topology known, topology::openTopology(topology, ranks));
    simulate::Workload workload;
    workload.ranks = ranks;
    workload.threads = threads > 0 ? threads : cost::workersOf(known, ranks, /*threads=*/0).threads;
    HR_RETURN_IF_ERROR(simulate::checkRows(plan, rows));
    workload.rows = rows;
    workload.memoryBytes = memory;
    for (const std::string &skew : skews) {
      HR_RETURN_IF_ERROR(simulate::addSkew(workload, skew));
    }
    HR_ASSIGN_OR_RETURN(simulate::ProgramCost cost, simulate::programCost(plan, known, workload));
    return cost.json();
  };
  Expected<std::string> json = [&] {
    nb::gil_scoped_release release;
    return priced();
  }();
  return valueOf(std::move(json));
}

std::string explainPlan(const std::string &planJson, bool runnersUp, const std::string &profile) {
  plan::Plan plan = valueOf(plan::fromJson(planJson));
  plan::ExplainOptions options;
  options.runnersUp = runnersUp ? plan::ExplainOptions::RunnersUp::kShown
                                : plan::ExplainOptions::RunnersUp::kLeftOut;
  plan::Profile measured;
  if (!profile.empty()) {
    measured = valueOf(plan::Profile::fromJson(profile));
    options.measured = &measured;
  }
  return plan::explain(plan, options);
}

std::map<std::string, double> rowsOf(const std::vector<std::string> &texts) {
  simulate::Workload workload;
  for (const std::string &text : texts) {
    if (Status status = simulate::addRows(workload, text); !status.ok()) {
      raise(status);
    }
  }
  return workload.rows;
}

/// Of ranks of this process, in their order.
ImportedTable parted(const std::vector<ImportedTable> &tables,
                     const std::vector<uint64_t> &firstRows, const std::string &identity) {
  std::vector<storage::TablePart> parts;
  for (size_t rank = 0; rank < tables.size(); ++rank) {
    parts.push_back({static_cast<uint32_t>(rank), firstRows.at(rank), tables[rank].table});
  }
  auto ranks = static_cast<uint32_t>(parts.size());
  return {storage::partedTable(std::move(parts), ranks, identity)};
}

ImportedTable joined(const std::vector<ImportedTable> &tables,
                     const std::vector<std::pair<size_t, size_t>> &batches) {
  std::vector<std::shared_ptr<const storage::ArrowTable>> sources;
  for (const ImportedTable &each : tables) {
    sources.push_back(each.table);
  }
  std::vector<storage::ChosenBatch> chosen;
  for (const auto &[table, batch] : batches) {
    chosen.push_back({table, batch});
  }
  return {storage::ArrowTable::joined(sources, chosen)};
}

std::string unitedStatistics(const std::vector<std::string> &documents,
                             const std::vector<std::string> &keys) {
  std::vector<nlohmann::json> parts;
  for (const std::string &document : documents) {
    parts.push_back(nlohmann::json::parse(document));
  }
  nlohmann::json whole = storage::unitedStatistics(parts);
  whole["resident"] = keys;
  return whole.dump();
}

std::string statistics(nb::handle data, const std::map<std::string, std::string> &settings) {
  if (isArrow(data)) {
    return arrowTableOf(data)->statistics().dump();
  }
  std::vector<std::string> paths = pathsOf(data);
  useTemporarySpace(settings);
  Expected<nlohmann::json> document = [&] {
    nb::gil_scoped_release release;
    return Process::instance().storage()->statistics(paths);
  }();
  return valueOf(std::move(document)).dump();
}

} // namespace

void raise(const Status &status) {
  nb::object error = nb::borrow(errorClass)(status.message());
  error.attr("kind") = errorKindName(status.kind());
  error.attr("place") = status.place();
  PyErr_SetObject(errorClass, error.ptr());
  throw nb::python_error();
}

} // namespace headrace::python

NB_MODULE(_runtime, module) {
  using namespace headrace;
  using namespace headrace::python;
  module.doc() = "The headrace runtime: loads and runs plans.";
  errorClass = PyErr_NewExceptionWithDoc(
      "headrace._runtime.Error", "A failure with `kind` and `place` (see headrace.HeadraceError).",
      PyExc_RuntimeError, nullptr);
  module.attr("version") = version();
  pthread_atfork(nullptr, nullptr, &Process::beginAnewInChild);
  module.attr("Error") = nb::borrow(errorClass);

  nb::class_<ImportedTable>(module, "ArrowTable",
                            "Arrow data read once: for statistics and any number of runs.")
      .def("__init__", [](ImportedTable *self,
                          nb::handle data) { new (self) ImportedTable{importStream(data)}; })
      .def(
          "part",
          [](const ImportedTable &table, uint32_t rank, uint32_t size, uint64_t firstRow,
             const std::string &identity) {
            return ImportedTable{
                storage::partedTable({{rank, firstRow, table.table}}, size, identity)};
          },
          nb::arg("rank"), nb::arg("size"), nb::arg("first_row"), nb::arg("identity"),
          "These rows as what a rank of so many has of a table that is called `identity`.")
      .def_static(
          "joined", &joined, nb::arg("tables"), nb::arg("batches"),
          "The table of some batches of tables that have the same columns, which are not "
          "looked at again. batches: the place of their table, and their number there among "
          "those with rows.");
  nb::class_<KeptTensor>(module, "KeptTensor",
                         "What this process has of a tensor that stays on the ranks.")
      .def_rw("identity", &KeptTensor::identity, "By which ranks know that they mean the same.")
      .def_prop_ro("dtype", [](const KeptTensor &tensor) { return plan::nameOf(tensor.element); })
      .def_prop_ro("shape",
                   [](const KeptTensor &tensor) { return nb::tuple(nb::cast(tensor.shape)); })
      .def_prop_ro(
          "parts",
          [](const KeptTensor &tensor) {
            std::vector<std::vector<int64_t>> shapes;
            for (const exec::TensorPart &part : tensor.parts) {
              shapes.push_back(part.shape);
            }
            return shapes;
          },
          "The shapes of the parts of the ranks of this process.");
  nb::class_<Result>(module, "Result",
                     "Rows of a run (take them with pyarrow.table(result)) and its tensors.")
      .def(
          "__arrow_c_stream__",
          [](const Result &result, nb::handle) {
            if (!result.table) {
              raise(makeError(ErrorKind::kUser, "the program has no table as its result"));
            }
            return exportCapsule(result.table);
          },
          nb::arg("requested_schema") = nb::none())
      .def_prop_ro(
          "tensors",
          [](const Result &result) {
            nb::list arrays;
            for (const exec::TensorResult &tensor : result.tensors) {
              arrays.append(arrayOf(tensor));
            }
            return arrays;
          },
          "The tensors of a run as NumPy arrays, without copies.")
      .def_prop_ro(
          "kept",
          [](const Result &result) { // each alone, so that memory comes back with it
            nb::list tensors;
            for (const KeptTensor &tensor : result.kept) {
              tensors.append(nb::cast(KeptTensor(tensor)));
            }
            return tensors;
          },
          "Of a resident result: its tensors.")
      .def_ro("parts", &Result::parts,
              "Of a resident result: the rows of each rank of this process.")
      .def_ro("part_statistics", &Result::partStatistics,
              "Of a resident result: the statistics document of each rank's rows.")
      .def_ro("part_keys", &Result::partKeys,
              "Of a resident result: the columns by whose hash its rows are divided, if they are.")
      .def_ro("rows", &Result::rows,
              "Of one that goes into a sink, instead: the rows of each rank of this process.")
      .def_ro("written", &Result::written,
              "Of one that went into a sink, in a cluster: what each rank tells of it.");
  nb::class_<LoadedProgram>(module, "Program", "A checked plan with its kernels.")
      .def("run", &LoadedProgram::run, nb::arg("bindings"), nb::arg("ranks") = 1,
           nb::arg("threads") = nb::none(), nb::arg("memory") = nb::none(),
           nb::arg("simulation_seed") = nb::none(),
           nb::arg("faults") = std::map<std::string, double>(),
           nb::arg("tuned") = std::map<std::string, std::string>(),
           nb::arg("settings") = std::map<std::string, std::string>(), nb::arg("poll") = nb::none(),
           nb::arg("progress") = nb::none(), nb::arg("sink") = "",
           nb::arg("key_shares") = std::vector<uint32_t>(),
           "Runs it. bindings: table name to path(s) or Arrow data, tensor name "
           "to an array in host memory. simulation_seed: on a simulated "
           "network, in one thread, with the faults of tests by name. tuned, settings: of the run, "
           "by name; the environment's go "
           "over the first, under the second. poll: called about every 50 ms. progress: called "
           "twice a second with tasks ended, tasks, rows so far and the name of a running task. "
           "key_shares: for tests, the parts of the keys that the ranks are to have. "
           "What either raises stops the run. sink: not empty if the rows of a resident result go "
           "elsewhere, and are not kept.")
      .def("mirrored", &LoadedProgram::mirrored, nb::arg("bindings"), nb::arg("ranks"),
           nb::arg("rank"), nb::arg("memory") = nb::none(),
           nb::arg("settings") = std::map<std::string, std::string>(),
           "Runs one rank of so many, to which each other rank does what it does to it: what it "
           "sends on each channel, and the memory that it takes, as JSON.")
      .def("keep_profile", &LoadedProgram::keepProfile, nb::arg("profile"),
           "Takes that of a run in another process.")
      .def("profile", &LoadedProgram::profile, "The last run's profile as JSON.");
  bindPartRows(module);
  addCluster(module);
  addMeeting(module);
  module.def(
      "load_plan",
      [](const std::string &planJson, nb::bytes kernels) {
        return new LoadedProgram(
            valueOf(exec::loadProgram(planJson, std::string(kernels.c_str(), kernels.size()))));
      },
      nb::arg("plan_json"), nb::arg("kernels"), "Checks a plan and loads its kernels.");
  module.def(
      "instruction_set", [] { return valueOf(exec::instructionSet()); },
      "The level of x86-64 that kernels are made for: the processor's, or HEADRACE_ISA.");
  module.def(
      "cost", &planCost, nb::arg("plan_json"), nb::arg("topology"), nb::arg("ranks"),
      nb::arg("threads") = 0, nb::arg("rows") = std::map<std::string, double>(),
      nb::arg("memory") = 0.0, nb::arg("skews") = std::vector<std::string>(),
      "The simulated cost of a plan in parts, as JSON. topology: JSON, the name of a shipped "
      "one, or empty: this machine. threads: workers of all ranks, if they share a process; 0: "
      "as many as the topology has cores, if it is one machine. rows: by slot or stream; skews: "
      "\"3:1:speed=0.5\".");
  module.def("rows_of", &rowsOf, nb::arg("texts"), "The rows of texts such as \"lineitem=1e9\".");
  module.def(
      "topologies",
      [] {
        std::map<std::string, int64_t> ranks;
        for (const std::string &name : topology::shippedTopologyNames()) {
          ranks[name] = valueOf(topology::shippedTopology(name)).rankCount();
        }
        return ranks;
      },
      "The topologies that are shipped, with the number of ranks that each has room for.");
  module.def(
      "topology_hash",
      [](const std::string &topology, int64_t ranks) {
        return valueOf(topology::openTopology(topology, ranks)).hash;
      },
      nb::arg("topology"), nb::arg("ranks"), "The content hash of a topology; see cost.");
  module.def("ranks_of_nodes", &ranksOfNodes, nb::arg("topology"), nb::arg("ranks"),
             "How many of the first ranks each node of a topology has; see cost.");
  module.def(
      "check_is_this_machine",
      [](const std::string &topology, int64_t ranks) {
        Status status = cost::checkIsThisMachine(valueOf(topology::openTopology(topology, ranks)));
        if (!status.ok()) {
          raise(status);
        }
      },
      nb::arg("topology"), nb::arg("ranks"),
      "Raises Error unless what runs here says something of a topology; see cost.");
  module.def(
      "calibration_file", &topology::calibrationFile,
      "The path of what `headrace calibrate` found of this machine; empty if it is switched off.");
  module.def(
      "memory_limit", [] { return valueOf(Settings::fromEnvironment()).memoryBytes(); },
      "The bytes that all ranks of a process may use together, by the settings.");
  module.def(
      "parse_bytes", [](const std::string &text) { return valueOf(parseBytes(text)); },
      nb::arg("text"), "The bytes of a text such as 512MiB, 4GB or 1048576.");
  module.def(
      "table_files",
      [](const std::string &text) {
        return valueOf([&] {
          nb::gil_scoped_release release; // stores take their time
          return exec::tableFiles(text);
        }());
      },
      nb::arg("text"), "The files of one table: of a file, a folder or a pattern.");
  module.def(
      "tables",
      [](const std::vector<std::string> &texts) {
        exec::TablePaths tables;
        for (const std::string &text : texts) {
          Status status = [&] {
            nb::gil_scoped_release release;
            return exec::addTables(tables, text);
          }();
          if (!status.ok()) {
            raise(status);
          }
        }
        return tables;
      },
      nb::arg("texts"), "Files by table name, of texts: DIR, FILE, a pattern or NAME=PATH.");
  module.def("settings_markdown", &settingsMarkdown,
             "The table of settings for the documentation.");
  module.def("explain", &explainPlan, nb::arg("plan_json"), nb::arg("runners_up") = false,
             nb::arg("profile") = "",
             "What was decided for a plan, as a tree. profile: JSON of a run, to stand beside it.");
  module.def(
      "measured_rows",
      [](const std::string &planJson, const std::string &profile) {
        plan::Plan plan = valueOf(plan::fromJson(planJson));
        std::vector<double> rows;
        for (const plan::MeasuredOperator &each :
             plan::measuredOperators(plan, valueOf(plan::Profile::fromJson(profile)))) {
          rows.push_back(each.rows);
        }
        return rows;
      },
      nb::arg("plan_json"), nb::arg("profile"),
      "Rows of each operator's result in a run; -1 where nothing counts them.");
  module.def(
      "plan_text",
      [](const std::string &planJson) { return plan::toText(valueOf(plan::fromJson(planJson))); },
      nb::arg("plan_json"), "The tables and tasks of a plan as text.");
  module.def(
      "settings",
      [] {
        std::vector<std::map<std::string, std::string>> table;
        for (const SettingInfo &setting : settingTable()) {
          table.push_back({{"name", setting.name},
                           {"flag", settingFlag(setting)},
                           {"variable", settingVariable(setting)},
                           {"default", settingDefault(setting)},
                           {"range", settingRange(setting)},
                           {"doc", setting.doc}});
        }
        return table;
      },
      "The settings of a run, as the command line names and explains them.");
  module.def(
      "setting",
      [](const std::string &name, const std::map<std::string, std::string> &given) {
        Settings settings = valueOf(Settings::fromEnvironment());
        applySettings(settings, given);
        return valueOf(settings.get(name));
      },
      nb::arg("name"), nb::arg("settings"), "The value of a setting of a run, as text.");
  module.def(
      "apply_log",
      [](const std::map<std::string, std::string> &given) {
        Settings settings = valueOf(Settings::fromEnvironment());
        applySettings(settings, given);
        settings.applyLog();
      },
      nb::arg("settings"), "Makes the setting log, or HEADRACE_LOG, the level of the process.");
  module.def(
      "device",
      [](const std::map<std::string, std::string> &given) -> std::string {
        Settings settings = valueOf(Settings::fromEnvironment());
        applySettings(settings, given);
        bool found =
            settings.device == "cuda" || (settings.device == "auto" && cuda::machineDriver().ok());
        return found ? "cuda" : "cpu";
      },
      nb::arg("settings"), "What plans are made for by the setting device: cpu or cuda.");
  module.def(
      "log",
      [](const std::string &level, const std::string &text) {
        if (std::optional<LogLevel> known = parseLogLevel(level)) {
          log(*known, text);
        }
      },
      nb::arg("level"), nb::arg("text"), "Writes a line to standard error, if the level is on.");
  module.def(
      "write_csv",
      [](nb::handle data, const std::string &path, const std::string &name,
         const std::string &separator, bool header, int threads, const std::string &quote,
         const std::string &escape, const std::string &null,
         const std::vector<std::string> &quoted) {
        return writeCsv(data, {path, name, separator, header, threads, quote.c_str()[0],
                               escape.c_str()[0], null, quoted});
      },
      nb::arg("data"), nb::arg("path"), nb::arg("name"), nb::arg("separator"), nb::arg("header"),
      nb::arg("threads"), nb::arg("quote"), nb::arg("escape"), nb::arg("null"), nb::arg("quoted"),
      "Writes Arrow data as CSV; the number of rows.");
  module.def(
      "write_parquet",
      [](nb::handle data, nb::handle target, const std::string &name, const std::string &codec,
         int level, uint64_t rowGroupRows, uint64_t rowGroupBytes, int threads) {
        return writeParquet(data, target, name,
                            {codec, level, rowGroupRows, rowGroupBytes, threads});
      },
      nb::arg("data"), nb::arg("target"), nb::arg("name"), nb::arg("codec"), nb::arg("level"),
      nb::arg("row_group_rows"), nb::arg("row_group_bytes"), nb::arg("threads"),
      "Writes Arrow data as Parquet to a path or an object with write(bytes); the number of "
      "rows. name: of the file in messages.");
  bindStores(module);
  bindTemporaryFiles(module);
  module.def("statistics", &statistics, nb::arg("data"),
             nb::arg("settings") = std::map<std::string, std::string>(),
             "The statistics document (JSON) of paths of files or Arrow data. settings: where "
             "copies of files lie that are read in another form.");
  module.def("parted", &parted, nb::arg("tables"), nb::arg("first_rows"), nb::arg("identity"),
             "The parts of a table on ranks of this process, each of which reads its own.");
  module.def(
      "united_statistics", &unitedStatistics, nb::arg("documents"), nb::arg("keys"),
      "The statistics document of a table whose parts, on ranks, have these. keys: the columns "
      "by whose hash the rows are divided.");
}
