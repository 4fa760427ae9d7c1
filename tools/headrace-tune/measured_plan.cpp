// Binding, repeating, and keeping the quickest run.
#include "tools/headrace-tune/measured_plan.h"

#include "model/plan/mesh.h"
#include "runtime/base/settings.h"
#include "runtime/exec/inputs.h"
#include "runtime/exec/run_settings.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <numeric>

namespace headrace::tune {
namespace {

namespace fs = std::filesystem;

/// Memory of a bound tensor: small numbers, so that sums stay finite.
std::vector<uint8_t> tensorData(const plan::Slot &slot) {
  size_t elements = 1;
  for (int64_t extent : slot.shape) {
    elements *= static_cast<size_t>(std::max<int64_t>(extent, 0));
  }
  auto width = static_cast<size_t>(plan::bytesOf(slot.element));
  std::vector<uint8_t> data(elements * width);
  for (size_t i = 0; i < elements; ++i) {
    double value = static_cast<double>(i * 7919 % 1009) / 1009 - 0.5;
    float narrow = static_cast<float>(value);
    int64_t whole = static_cast<int64_t>(i % 100);
    const void *from = slot.element == plan::Element::kF32   ? static_cast<const void *>(&narrow)
                       : slot.element == plan::Element::kF64 ? static_cast<const void *>(&value)
                                                             : &whole;
    std::memcpy(data.data() + i * width, from, width);
  }
  return data;
}

/// Rows of one task on one rank as the model takes them.
cost::TaskRows rowsOf(const exec::TaskProfile &profile) {
  cost::TaskRows rows;
  rows.source = static_cast<double>(profile.rowsIn);
  rows.stages.assign(profile.stageRows.begin(), profile.stageRows.end());
  rows.bytes = static_cast<double>(profile.bytes);
  rows.pieces = static_cast<double>(profile.morsels);
  return rows;
}

/// Whether a rank had more to do: ranks that read the same rows may keep different parts of them.
bool isMore(const cost::TaskRows &rows, const cost::TaskRows &than) {
  auto kept = [](const cost::TaskRows &of) {
    return std::accumulate(of.stages.begin(), of.stages.end(), 0.0);
  };
  return std::pair(rows.source, kept(rows)) >= std::pair(than.source, kept(than));
}

void addRows(cost::TaskRows &sum, const cost::TaskRows &rows) {
  sum.source += rows.source;
  sum.bytes += rows.bytes;
  sum.pieces += rows.pieces;
  sum.stages.resize(std::max(sum.stages.size(), rows.stages.size()), 0);
  for (size_t stage = 0; stage < rows.stages.size(); ++stage) {
    sum.stages[stage] += rows.stages[stage];
  }
}

/// A kernel that lets nothing through at the end counts fewer stages than it has.
void padStages(const plan::Plan &plan, const plan::Task &task, cost::TaskRows &rows) {
  size_t stages = 0;
  for (const plan::Work &work : plan.kernels[task.kernel()].work) {
    stages = std::max<size_t>(stages, work.level);
  }
  rows.stages.resize(std::min<size_t>(stages, HR_COUNTED_STAGES), 0);
}

/// Rows of each state on one rank: what the tasks that fill it say at their end.
std::map<int32_t, double> stateRows(const plan::Plan &plan, const exec::Profile &profile) {
  std::map<int32_t, double> rows;
  for (const exec::TaskProfile &entry : profile.tasks) {
    for (const plan::StateArgument &argument : plan.tasks[entry.task].states()) {
      if (argument.use == plan::StateUse::kPerWorker) {
        rows[argument.state] = std::max(rows[argument.state], static_cast<double>(entry.stateRows));
      }
    }
  }
  return rows;
}

/// The words of keys that the rows of sorts needed.
void countOrderWords(plan::Plan &plan, const exec::Profile &profile) {
  for (size_t state = 0; state < plan.states.size(); ++state) {
    double words = 0, rows = 0;
    for (const exec::TaskProfile &entry : profile.tasks) {
      for (const plan::StateArgument &argument : plan.tasks[entry.task].states()) {
        if (argument.state == static_cast<int32_t>(state) &&
            argument.use == plan::StateUse::kPerWorker) {
          words += static_cast<double>(entry.orderWords);
          rows += static_cast<double>(entry.stateRows);
        }
      }
    }
    plan::State &sorted = plan.states[state];
    if (sorted.kind == plan::StateKind::kSortBuffer && sorted.limit == 0 && rows > 0) {
      sorted.orderWords = 1 + words / rows;
    }
  }
}

void setOrder(MeasuredPlan &plan) {
  std::map<int32_t, double> ordered = cost::orderedStreams(plan.plan());
  for (auto &[id, task] : plan.tasks) {
    auto found = ordered.find(plan.plan().tasks[id].inputStream());
    if (found != ordered.end()) {
      for (cost::TaskRows *rows : {&task.sum, &task.most}) {
        rows->order = cost::RowOrder::kClustered;
        rows->orderExtent = found->second;
      }
    }
  }
}

/// What each task took in a run.
void record(MeasuredPlan &plan, const exec::Profile &profile) {
  std::map<int32_t, MeasuredTask> tasks;
  for (const exec::TaskProfile &entry : profile.tasks) {
    MeasuredTask &task = tasks[entry.task];
    task.busySeconds += entry.busySeconds - entry.loadSeconds;
    task.loadSeconds += entry.loadSeconds;
    task.finishSeconds = std::max(task.finishSeconds, entry.finishBusySeconds);
    task.passedSeconds = std::max(task.passedSeconds, entry.endSeconds - entry.startSeconds);
    cost::TaskRows rows = rowsOf(entry);
    addRows(task.sum, rows);
    if (isMore(rows, task.most)) {
      task.most = rows;
    }
  }
  countOrderWords(plan.counted, profile);
  std::map<int32_t, double> states = stateRows(plan.plan(), profile);
  for (auto &[id, task] : tasks) {
    const plan::Task &described = plan.plan().tasks[id];
    for (cost::TaskRows *rows : {&task.sum, &task.most}) {
      if (described.kernel() != plan::kNone) {
        padStages(plan.plan(), described, *rows);
      }
      for (const plan::StateArgument &argument : described.states()) {
        rows->states.push_back(states[argument.state]);
      }
    }
    task.most.lanes =
        std::ceil(static_cast<double>(profile.threads) / static_cast<double>(profile.ranks));
    task.sum.ranks = static_cast<double>(profile.ranks);
    task.sum.lanes = task.most.lanes * task.sum.ranks;
    task.sum.copies = task.most.copies = static_cast<double>(profile.ranks);
  }
  plan.tasks = std::move(tasks);
}

MeasuredPlan unmeasured(const std::string &directory, const exec::StoredPlan &stored) {
  MeasuredPlan plan;
  plan.name = fs::path(directory).stem().string();
  plan.program = stored.program;
  plan.counted = stored.program->plan();
  plan.ranks = plan::rankCount(plan.counted);
  return plan;
}

} // namespace

Expected<MeasuredPlan> unmeasuredPlan(const std::string &directory) {
  HR_ASSIGN_OR_RETURN(exec::StoredPlan stored, exec::loadPlanDirectory(directory));
  return unmeasured(directory, stored);
}

Measurer::Measurer(int threads)
    : threads_(threads), storage_(std::make_shared<storage::Storage>()) {}

Expected<MeasuredPlan> Measurer::measure(const std::string &directory, int runs) {
  HR_ASSIGN_OR_RETURN(exec::StoredPlan stored, exec::loadPlanDirectory(directory));
  MeasuredPlan measured = unmeasured(directory, stored);
  exec::RunOptions options;
  options.ranks = static_cast<uint32_t>(measured.ranks);
  exec::Bindings bindings;
  std::map<std::string, std::vector<uint8_t>> tensors;
  for (const plan::Slot &slot : stored.program->plan().slots) {
    if (slot.kind == plan::SlotKind::kTensor) {
      std::vector<uint8_t> &data = tensors[slot.name] = tensorData(slot);
      bindings.tensors[slot.name] = {data.data(), slot.element, slot.shape, {}};
      continue;
    }
    auto files = stored.manifest.find(slot.name);
    if (files == stored.manifest.end()) {
      return makeError(ErrorKind::kUser, directory,
                       ": the manifest has no files of table: ", slot.name);
    }
    std::vector<std::string> paths;
    for (const storage::FileIdentity &file : files->second) {
      paths.push_back(file.path);
    }
    bindings.tables[slot.name] = exec::openFiles(storage_, paths, files->second);
  }
  // A session of its own: memory that other plans left is nearer to the caches or farther.
  exec::SessionOptions sessionOptions = exec::sessionOptions(Settings());
  sessionOptions.threads = threads_;
  exec::Session session(sessionOptions);
  storage_->keepWithin(session.hostTier());
  for (int run = -1; run < runs; ++run) {
    HR_ASSIGN_OR_RETURN(exec::RunResult result, stored.program->run(session, bindings, options));
    if (run >= 0) { // before, pages and memory come in
      double seconds = result.profile.wallSeconds;
      if (run == 0 || seconds < measured.seconds) {
        measured.seconds = seconds;
        record(measured, result.profile);
      }
      measured.allSeconds.push_back(seconds);
    }
  }
  setOrder(measured);
  return measured;
}

void MeasuredPlan::add(const MeasuredPlan &more) {
  allSeconds.insert(allSeconds.end(), more.allSeconds.begin(), more.allSeconds.end());
  if (more.seconds < seconds) {
    seconds = more.seconds;
    tasks = more.tasks;
    counted = more.counted;
  }
}

Expected<std::vector<std::string>> planDirectories(const std::string &path) {
  std::error_code error;
  if (fs::exists(fs::path(path) / "plan.json", error)) {
    return std::vector<std::string>{path};
  }
  std::vector<std::string> found;
  for (const fs::directory_entry &entry : fs::directory_iterator(path, error)) {
    if (entry.path().extension() == ".plan") {
      found.push_back(entry.path().string());
    }
  }
  if (found.empty()) {
    return makeError(ErrorKind::kUser, "no plan, and no folder with plans: ", path);
  }
  std::sort(found.begin(), found.end());
  return found;
}

} // namespace headrace::tune
