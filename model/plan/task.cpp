// The edges of tasks, whatever their kind.
#include "model/plan/task.h"

#include <type_traits>

namespace headrace::plan {
namespace {

template <typename... Visits> struct Overloaded : Visits... {
  using Visits::operator()...;
};

template <TaskKind kind, typename Work>
constexpr bool kIs =
    std::is_same_v<std::variant_alternative_t<static_cast<size_t>(kind), TaskWork>, Work>;
static_assert(kIs<TaskKind::kLoad, LoadTask> && kIs<TaskKind::kInput, InputTask> &&
              kIs<TaskKind::kRun, RunTask> && kIs<TaskKind::kExchange, ExchangeTask> &&
              kIs<TaskKind::kCollective, CollectiveTask> && kIs<TaskKind::kCompute, ComputeTask> &&
              kIs<TaskKind::kToTensor, ToTensorTask> && kIs<TaskKind::kReserve, ReserveTask> &&
              kIs<TaskKind::kRelease, ReleaseTask> && kIs<TaskKind::kChoose, ChooseTask> &&
              kIs<TaskKind::kRepeat, RepeatTask> && kIs<TaskKind::kResult, ResultTask> &&
              kIs<TaskKind::kTensorResult, TensorResultTask>);

/// A field that is one id as a list of none or one.
std::span<const int32_t> listOf(const int32_t &id) {
  return id == kNone ? std::span<const int32_t>() : std::span(&id, 1);
}

} // namespace

int32_t Task::slot() const {
  return std::visit(Overloaded{[](const LoadTask &x) { return x.slot; },
                               [](const InputTask &x) { return x.slot; },
                               [](const auto &) { return kNone; }},
                    work);
}

int32_t Task::kernel() const {
  return std::visit(Overloaded{[](const RunTask &x) { return x.kernel; },
                               [](const ComputeTask &x) { return x.kernel; },
                               [](const auto &) { return kNone; }},
                    work);
}

int32_t Task::inputStream() const {
  return std::visit(
      [](const auto &x) {
        if constexpr (requires { x.inputStream; }) {
          return x.inputStream;
        } else {
          return kNone;
        }
      },
      work);
}

int32_t Task::outputStream() const {
  return std::visit(
      [](const auto &x) {
        if constexpr (requires { x.outputStream; }) {
          return x.outputStream;
        } else {
          return kNone;
        }
      },
      work);
}

int32_t Task::sourceState() const {
  const auto *run = as<RunTask>();
  return run ? run->sourceState : kNone;
}

const std::vector<StateArgument> &Task::states() const {
  static const std::vector<StateArgument> kNoStates;
  const auto *run = as<RunTask>();
  return run ? run->states : kNoStates;
}

std::span<const int32_t> Task::inputs() const {
  using List = std::span<const int32_t>;
  return std::visit(Overloaded{[](const CollectiveTask &x) { return listOf(x.input); },
                               [](const ComputeTask &x) { return List(x.inputs); },
                               [](const auto &) { return List(); }},
                    work);
}

std::span<const int32_t> Task::outputs() const {
  using List = std::span<const int32_t>;
  return std::visit(Overloaded{[](const InputTask &x) { return listOf(x.output); },
                               [](const CollectiveTask &x) { return listOf(x.output); },
                               [](const ComputeTask &x) { return List(x.outputs); },
                               [](const ToTensorTask &x) { return List(x.outputs); },
                               [](const auto &) { return List(); }},
                    work);
}

std::vector<int32_t> Task::body() const {
  std::vector<int32_t> all;
  if (const auto *choose = as<ChooseTask>()) {
    all = choose->thenTasks;
    all.insert(all.end(), choose->elseTasks.begin(), choose->elseTasks.end());
  }
  if (const auto *repeat = as<RepeatTask>()) {
    all = repeat->tasks;
  }
  return all;
}

bool Task::partitioned() const {
  const auto *run = as<RunTask>();
  return run && run->partitioned;
}

} // namespace headrace::plan
