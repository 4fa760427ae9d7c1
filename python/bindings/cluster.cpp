// Processes that a launcher has started, for Python: rank 0 runs plans, the others follow.
#include "python/bindings/cluster.h"

#include "python/bindings/interrupt.h"
#include "python/bindings/run.h"
#include "runtime/base/content_hash.h"
#include "runtime/exec/run_settings.h"
#include "runtime/session/cluster.h"
#include "runtime/storage/files/store_limits.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdlib>
#include <cstring>

namespace nb = nanobind;

namespace headrace::python {
namespace {

using Texts = std::map<std::string, std::string>;

/// Of a large array not more elements are looked at, evenly spread.
constexpr int64_t kPrintElementsMax = 1 << 16;

std::string printOf(const exec::TensorView &tensor) {
  ContentHasher hasher;
  hasher.add(static_cast<uint64_t>(tensor.element));
  int64_t count = 1;
  for (int64_t extent : tensor.shape) {
    hasher.add(static_cast<uint64_t>(extent));
    count *= extent;
  }
  int64_t step = count / kPrintElementsMax + 1;
  for (int64_t index = 0; index < count; index += step) {
    int64_t rest = index, offset = 0;
    for (size_t d = tensor.shape.size(); d-- > 0; rest /= tensor.shape[d]) {
      offset += rest % tensor.shape[d] * tensor.strideBytes[d];
    }
    uint64_t element = 0;
    std::memcpy(&element, static_cast<const std::byte *>(tensor.data) + offset,
                static_cast<size_t>(plan::bytesOf(tensor.element)));
    hasher.add(element);
  }
  return hasher.key().hex();
}

std::string printOf(const storage::ArrowTable &table) {
  ContentHasher hasher;
  hasher.add(table.statistics().dump());
  return hasher.key().hex();
}

class LaunchedCluster {
public:
  LaunchedCluster(std::string launcher, const Texts &given, std::optional<Texts> variables) {
    Environment variable = [&variables](const char *name) -> const char * {
      if (!variables) {
        return std::getenv(name);
      }
      auto found = variables->find(name);
      return found == variables->end() ? nullptr : found->second.c_str();
    };
    if (launcher.empty()) {
      launcher = findLauncher(variable);
    }
    if (launcher.empty()) {
      raise(makeError(ErrorKind::kUser,
                      "no launcher has started this process, for none of their variables is there: "
                      "start it by torchrun, mpirun or srun, or set HEADRACE_RANK, HEADRACE_SIZE "
                      "and HEADRACE_MEETING"));
    }
    Launch launch = valueOf(readLaunch(launcher, variable));
    Settings settings = settingsOf({}, given, std::nullopt, std::nullopt);
    nb::object nobody = nb::none();
    std::function<bool()> interrupted = interruptedBy(nobody);
    auto joined = [&] {
      nb::gil_scoped_release release;
      return session::Cluster::join(launch, settings, interrupted);
    }();
    if (PyErr_Occurred()) {
      throw nb::python_error();
    }
    cluster_ = valueOf(std::move(joined));
  }

  int rank() const { return open().rank(); }
  int size() const { return open().size(); }
  std::string name() const { return open().name(); }
  uint64_t epoch() const { return open().epoch(); }
  int64_t memory() const {
    return open().ownPart(settingsOf({}, {}, std::nullopt, std::nullopt)).memoryBytes();
  }

  Result run(LoadedProgram &program, const std::string &plan, const nb::bytes &kernels,
             const std::string &call, const nb::dict &offered, std::optional<int> threads,
             std::optional<int64_t> memory, const Texts &tuned, const Texts &given,
             const nb::object &poll, const nb::object &progress, const std::string &sink) {
    session::Order order;
    order.sink = sink;
    order.call = call;
    order.plan = plan;
    order.kernels = std::string(kernels.c_str(), kernels.size());
    nb::dict inMemory;
    for (const plan::Slot &slot : program.program()->plan().slots) {
      if (!offered.contains(slot.name.c_str())) {
        continue; // exec names a slot that is missing
      }
      nb::object object = offered[slot.name.c_str()];
      if (slot.kind == plan::SlotKind::kTensor || isArrow(object)) {
        inMemory[slot.name.c_str()] = object;
      } else {
        order.tables[slot.name] = pathsOf(object);
      }
    }
    Holding holding{inMemory};
    const Settings settings = settingsOf(tuned, given, threads, memory);
    checkTrace(settings, given);
    session::Part part = partOf(settings, poll, holding, nb::list());
    part.progress = tellerOf(progress);
    if (Status status = order.setShared(part.settings); !status.ok()) {
      raise(status);
    }
    Expected<session::Ran> ran = [&]() -> Expected<session::Ran> {
      exec::Bindings own; // again for the run
      HR_ASSIGN_OR_RETURN(order.prints, part.bind(program.program()->plan(), own));
      nb::gil_scoped_release release;
      return open().run(order, program.program(), part);
    }();
    if (!ran.ok()) {
      return program.take(ran.status(), part.settings, sink);
    }
    Result result = program.take(std::move(ran->result), part.settings, sink);
    result.parts = holding.parts();
    result.kept = holding.tensors;
    (sink.empty() ? result.partStatistics : result.written) = std::move(ran->kept);
    return result;
  }

  void end(const std::string &kind, const std::string &message, const std::string &place,
           const std::string &note) {
    const ErrorKind named = errorKindNamed(kind);
    open().end(named == ErrorKind::kOk ? Status() : Status(named, message, place), note);
  }

  nb::tuple follow(const std::string &call, const nb::dict &tables, const nb::list &arrays,
                   std::optional<int> threads, std::optional<int64_t> memory, const Texts &given,
                   const nb::object &poll) {
    Holding holding{tables};
    session::Part part = partOf(settingsOf({}, given, threads, memory), poll, holding, arrays);
    Expected<std::string> note = [&] {
      nb::gil_scoped_release release;
      return open().follow(call, part);
    }();
    if (PyErr_Occurred()) {
      throw nb::python_error();
    }
    std::string told = valueOf(std::move(note));
    return nb::make_tuple(holding.tensors.empty() ? nb::cast(holding.parts())
                                                  : nb::cast(holding.tensors),
                          std::move(told));
  }

  std::string lost() const { return open().lost().message(); }

  bool awaited() const { return open().isAwaited(); }

  void regroup(const nb::object &poll) {
    std::function<bool()> interrupted = interruptedBy(poll);
    Status status = [&] {
      nb::gil_scoped_release release;
      return open().regroup(interrupted);
    }();
    if (PyErr_Occurred()) {
      throw nb::python_error();
    }
    if (!status.ok()) {
      raise(status);
    }
  }

  void leave() {
    nb::gil_scoped_release release;
    cluster_.reset();
  }

private:
  /// What Python keeps for the run, and of it.
  struct Holding {
    nb::dict offered;
    std::vector<TensorArgument> arrays = {};
    // Of the last resident result:
    std::shared_ptr<const storage::ArrowTable> kept = nullptr;
    std::vector<KeptTensor> tensors = {};

    std::vector<ImportedTable> parts() const {
      return kept ? std::vector<ImportedTable>{{kept}} : std::vector<ImportedTable>();
    }
  };

  session::Cluster &open() const {
    if (!cluster_) {
      raise(makeError(ErrorKind::kUser, "this process has left the cluster"));
    }
    return *cluster_;
  }

  /// `arrays`: for the plan's tensors, in their order; None for those that are among the tables.
  session::Part partOf(const Settings &settings, const nb::object &poll, Holding &holding,
                       const nb::list &arrays) {
    session::Part part;
    part.settings = open().ownPart(settings);
    part.session = Process::instance().session(exec::sessionOptions(part.settings));
    part.storage = Process::instance().storage();
    part.storage->keepWithin(part.session->hostTier());
    storage::setStoreLimits(part.settings);
    part.interrupted = interruptedBy(poll);
    part.keep = [this, &holding, &poll, threads = part.session->options().threads](
                    exec::RunResult &result, const std::string &sink) -> Expected<std::string> {
      holding.tensors = keptOf(result);
      if (result.parts.empty()) {
        return std::string(); // rank 0 knows where the parts of tensors lie
      }
      std::shared_ptr<const exec::ResultRows> rows = std::move(result.parts.front());
      result.parts.clear(); // are held
      if (!sink.empty()) {
        return writePart(sink, open().rank(), {std::move(rows), threads}, poll);
      }
      HR_ASSIGN_OR_RETURN(holding.kept, importRows(std::move(rows)));
      return holding.kept->statistics().dump();
    };
    part.bind = [&holding, arrays](const plan::Plan &plan,
                                   exec::Bindings &bindings) -> Expected<Texts> {
      nb::gil_scoped_acquire acquire;
      try {
        size_t next = 0;
        for (const plan::Slot &slot : plan.slots) {
          if (slot.kind == plan::SlotKind::kTensor && next < arrays.size()) {
            nb::object array = arrays[next++];
            if (!array.is_none()) {
              holding.offered[slot.name.c_str()] = array;
            }
          }
        }
        exec::Bindings own = python::bind(plan, holding.offered, holding.arrays);
        Texts prints;
        for (const auto &[slot, tensor] : own.tensors) {
          prints[slot] = printOf(tensor);
        }
        for (const auto &[slot, parts] : own.parts) {
          prints[slot] = keptTensorOf(holding.offered[slot.c_str()], slot).identity;
        }
        for (const auto &[slot, open] : own.tables) {
          prints[slot] = printOf(*arrowTableOf(holding.offered[slot.c_str()]));
        }
        bindings.tables.merge(own.tables);
        bindings.tensors.merge(own.tensors);
        bindings.parts.merge(own.parts);
        return prints;
      } catch (nb::python_error &error) {
        return makeError(ErrorKind::kUser, error.what());
      }
    };
    return part;
  }

  std::unique_ptr<session::Cluster> cluster_;
};

} // namespace

void addCluster(nb::module_ &module) {
  nb::class_<LaunchedCluster>(module, "Cluster",
                              "This process as one of the ranks that a launcher has started.")
      .def(nb::init<std::string, const Texts &, std::optional<Texts>>(), nb::arg("launcher"),
           nb::arg("settings"), nb::arg("variables") = nb::none(),
           "Meets the other ranks. launcher: its name, or empty for the one whose variables are "
           "there. variables: instead of those of the environment.")
      .def_prop_ro("rank", &LaunchedCluster::rank)
      .def_prop_ro("size", &LaunchedCluster::size)
      .def_prop_ro("name", &LaunchedCluster::name, "\"rank 2 on host node7\".")
      .def_prop_ro("epoch", &LaunchedCluster::epoch, "Another number once the ranks have changed.")
      .def_prop_ro("memory", &LaunchedCluster::memory,
                   "The bytes that this rank may use, by the settings and the ranks beside it.")
      .def("run", &LaunchedCluster::run, nb::arg("program"), nb::arg("plan"), nb::arg("kernels"),
           nb::arg("call"), nb::arg("bindings"), nb::arg("threads") = nb::none(),
           nb::arg("memory") = nb::none(), nb::arg("tuned") = Texts(),
           nb::arg("settings") = Texts(), nb::arg("poll") = nb::none(),
           nb::arg("progress") = nb::none(), nb::arg("sink") = "",
           "Of rank 0: runs a program on all ranks, as Program.run() does in this process. sink: "
           "what each rank's part_files.write_part is given for its rows of a resident result.")
      .def("end", &LaunchedCluster::end, nb::arg("kind") = "", nb::arg("message") = "",
           nb::arg("place") = "", nb::arg("note") = "",
           "Of rank 0: ends the call on all ranks, with an error if it has a kind. note: for the "
           "other ranks.")
      .def("follow", &LaunchedCluster::follow, nb::arg("call"), nb::arg("tables"),
           nb::arg("arrays"), nb::arg("threads") = nb::none(), nb::arg("memory") = nb::none(),
           nb::arg("settings") = Texts(), nb::arg("poll") = nb::none(),
           "Of the others: takes part in what rank 0 runs until it ends the call. This rank's part "
           "of the last resident result, if there was one, in a list, or of each of its tensors, "
           "and rank 0's note.")
      .def_prop_ro("lost", &LaunchedCluster::lost,
                   "Which rank is lost and how that is known; empty if none is.")
      .def_prop_ro("awaited", &LaunchedCluster::awaited,
                   "Of rank 0: whether ranks that were lost are there again.")
      .def("regroup", &LaunchedCluster::regroup, nb::arg("poll") = nb::none(),
           "Of rank 0, after a loss, or if it is awaited: goes on with the ranks that are there, "
           "numbered anew.")
      .def("leave", &LaunchedCluster::leave);
}

} // namespace headrace::python
