// The ranks that a launcher has started before they are a cluster: for `headrace doctor`.
#include "python/bindings/meeting.h"

#include "python/bindings/run.h"
#include "runtime/bootstrap/launch.h"
#include "runtime/bootstrap/mesh.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdlib>

namespace nb = nanobind;

namespace headrace::python {
namespace {

const char *variable(const char *name) { return std::getenv(name); }

class Meeting {
public:
  Meeting() {
    Launch launch = valueOf(readLaunch(findLauncher(variable), variable));
    Expected<Settings> settings = Settings::fromEnvironment(); // the doctor tells of an error in it
    patience_ = static_cast<double>((settings.ok() ? *settings : Settings()).joinTimeout);
    auto joined = [&] {
      nb::gil_scoped_release release;
      return join(launch, {.patienceSeconds = patience_, .interrupted = interruptedBy(nobody_)});
    }();
    bootstrap_ = taken(std::move(joined));
  }

  int rank() const { return bootstrap_->rank(); }
  int size() const { return bootstrap_->size(); }

  std::vector<std::string> exchange(const std::string &record) {
    auto records = [&] {
      nb::gil_scoped_release release;
      return bootstrap_->exchange(record);
    }();
    return taken(std::move(records));
  }

  void connect() {
    auto links = [&] {
      nb::gil_scoped_release release;
      return connectRanks(*bootstrap_, "doctor", patience_);
    }();
    taken(std::move(links));
  }

private:
  /// Ctrl-C goes before the error that came of it.
  template <typename T> static T taken(Expected<T> found) {
    if (PyErr_Occurred()) {
      throw nb::python_error();
    }
    return valueOf(std::move(found));
  }

  nb::object nobody_ = nb::none(); ///< outlives bootstrap_, which asks for signals
  double patience_ = 0;
  std::unique_ptr<Bootstrap> bootstrap_;
};

} // namespace

void addMeeting(nb::module_ &module) {
  nb::class_<Meeting>(module, "Meeting", "The ranks that a launcher has started, this among them.")
      .def(nb::init<>(), "Waits for all to come.")
      .def_prop_ro("rank", &Meeting::rank)
      .def_prop_ro("size", &Meeting::size)
      .def("exchange", &Meeting::exchange, nb::arg("record"),
           "What each rank gives, by rank, once all have called it.")
      .def("connect", &Meeting::connect, "Makes a connection between each two, and closes it.");
  module.def(
      "launcher", [] { return findLauncher(variable); },
      "The launcher that has started this process; empty if none has.");
}

} // namespace headrace::python
