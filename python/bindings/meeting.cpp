// The ranks that a launcher has started before they are a cluster: for `headrace doctor`; and ranks
// as threads that only meet: for `./dev bench scale`.
#include "python/bindings/meeting.h"

#include "python/bindings/interrupt.h"
#include "python/bindings/run.h"
#include "runtime/base/clock.h"
#include "runtime/bootstrap/launch.h"
#include "runtime/bootstrap/mesh.h"
#include "runtime/bootstrap/store_bootstrap.h"
#include "runtime/transport/connect.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <future>
#include <thread>

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

/// A bootstrap that counts what is exchanged.
class CountedBootstrap final : public Bootstrap {
public:
  explicit CountedBootstrap(std::unique_ptr<Bootstrap> inner) : inner_(std::move(inner)) {}
  int rank() const override { return inner_->rank(); }
  int size() const override { return inner_->size(); }
  const std::string &address() const override { return inner_->address(); }
  const Credentials &credentials() const override { return inner_->credentials(); }
  Expected<std::vector<std::string>> exchange(std::string_view record) override {
    auto records = inner_->exchange(record);
    ++exchanges;
    recordBytes += record.size();
    for (const std::string &each : records.ok() ? *records : std::vector<std::string>()) {
      receivedBytes += each.size();
    }
    return records;
  }

  uint64_t exchanges = 0, recordBytes = 0, receivedBytes = 0;

private:
  std::unique_ptr<Bootstrap> inner_;
};

/// Ranks as threads of this process, which meet over a store and connect as those of a cluster do.
class Rehearsal {
public:
  Rehearsal(int ranks, bool connects) : ranks_(ranks), connects_(connects) {}

  Status run() {
    std::vector<Status> outcomes(static_cast<size_t>(ranks_));
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks_; ++rank) {
      threads.emplace_back([&, rank] { outcomes[static_cast<size_t>(rank)] = take(rank); });
    }
    for (std::thread &thread : threads) {
      thread.join();
    }
    for (const Status &outcome : outcomes) {
      HR_RETURN_IF_ERROR(outcome);
    }
    return {};
  }

  std::string json(double seconds) const {
    return nlohmann::json{{"exchanges", exchanges_},
                          {"record_bytes", recordBytes_},
                          {"received_bytes", receivedBytes_},
                          {"connections", connections_},
                          {"seconds", seconds}}
        .dump();
  }

private:
  static constexpr double kPatienceSeconds = 120;

  Status take(int rank) {
    StoreBootstrap::Options options;
    options.store = {"127.0.0.1", 0};
    options.credentials = {.secret = "of one process", .session = "rehearsal"};
    options.rank = rank;
    options.size = ranks_;
    options.patienceSeconds = kPatienceSeconds;
    if (rank == 0) {
      options.listening = [this](const HostPort &where) { store_.set_value(where); };
    } else {
      options.store = known_.get();
    }
    HR_ASSIGN_OR_RETURN(auto bootstrap, StoreBootstrap::join(std::move(options)));
    CountedBootstrap counted(std::move(bootstrap));
    int64_t connections = 0;
    std::unique_ptr<StreamTransport> transport;
    Links control;
    if (connects_) {
      HR_ASSIGN_OR_RETURN(transport,
                          connectTransport(counted, {.patienceSeconds = kPatienceSeconds}));
      HR_ASSIGN_OR_RETURN(control, connectRanks(counted, "control", kPatienceSeconds));
      connections =
          transport->size() - 1 +
          std::ranges::count_if(control.sockets, [](const Socket &each) { return each.isOpen(); });
    } else {
      HR_RETURN_IF_ERROR(counted.exchange(std::string(kCardBytes, ' ')).status());
    }
    HR_RETURN_IF_ERROR(counted.fence()); // nobody leaves before all are connected
    if (rank == ranks_ - 1) {
      exchanges_ = counted.exchanges; // with the fence of all joins in the place of this one
      recordBytes_ = counted.recordBytes;
      receivedBytes_ = counted.receivedBytes;
      connections_ = connections;
    }
    return {};
  }

  /// About what a rank tells of itself.
  static constexpr size_t kCardBytes = 90;

  const int ranks_;
  const bool connects_;
  std::promise<HostPort> store_;
  std::shared_future<HostPort> known_ = store_.get_future().share();
  uint64_t exchanges_ = 0, recordBytes_ = 0, receivedBytes_ = 0;
  int64_t connections_ = 0;
};

std::string rehearsedMeeting(int ranks, bool connects) {
  Rehearsal rehearsal(ranks, connects);
  const int64_t start = RealClock::instance().nowNanoseconds();
  Status status = [&] {
    nb::gil_scoped_release release;
    return rehearsal.run();
  }();
  if (!status.ok()) {
    raise(status);
  }
  return rehearsal.json(static_cast<double>(RealClock::instance().nowNanoseconds() - start) * 1e-9);
}

} // namespace

void addMeeting(nb::module_ &module) {
  nb::class_<Meeting>(module, "Meeting", "The ranks that a launcher has started, this among them.")
      .def(nb::init<>(), "Waits for all to come.")
      .def_prop_ro("rank", &Meeting::rank)
      .def_prop_ro("size", &Meeting::size)
      .def("exchange", &Meeting::exchange, nb::arg("record"),
           "What each rank gives, by rank, once all have called it.")
      .def("connect", &Meeting::connect, "Makes a connection between each two, and closes it.");
  module.def("rehearsed_meeting", &rehearsedMeeting, nb::arg("ranks"), nb::arg("connects"),
             "Lets so many ranks meet as threads of this process, and connect: what one of them "
             "exchanged, received and connected with, as JSON.");
  module.def(
      "launcher", [] { return findLauncher(variable); },
      "The launcher that has started this process; empty if none has.");
}

} // namespace headrace::python
