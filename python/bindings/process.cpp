// Tables and arrays of Python as bindings, and settings by name.
#include "python/bindings/process.h"

#include "runtime/base/writable_file.h"
#include "runtime/device/cuda/open_accelerator.h"
#include "runtime/exec/inputs.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;

namespace headrace::python {

Expected<std::shared_ptr<Accelerator>> Process::accelerator(const Settings &settings) {
  std::lock_guard lock(mutex_);
  if (settings.device == "cpu") {
    return std::shared_ptr<Accelerator>();
  }
  std::string asked = settings.device + " " + std::to_string(settings.deviceMemory);
  if (asked != acceleratorAsked_) {
    session_.reset(); // which keeps the other one open
    HR_ASSIGN_OR_RETURN(accelerator_,
                        cuda::openAccelerator(settings.device, settings.deviceMemory));
    acceleratorAsked_ = asked;
  }
  return accelerator_;
}

std::shared_ptr<const storage::ArrowTable> arrowTableOf(nb::handle object) {
  return nb::isinstance<ImportedTable>(object) ? nb::cast<ImportedTable &>(object).table
                                               : importStream(object);
}

bool isArrow(nb::handle object) {
  return nb::isinstance<ImportedTable>(object) || nb::hasattr(object, "__arrow_c_stream__");
}

std::vector<std::string> pathsOf(nb::handle object) {
  if (nb::isinstance<nb::str>(object)) {
    return {nb::cast<std::string>(object)};
  }
  return nb::cast<std::vector<std::string>>(object);
}

TensorArgument tensorOf(nb::handle object, const std::string &name) {
  try {
    return nb::cast<TensorArgument>(object);
  } catch (const nb::cast_error &) {
    raise(makeError(ErrorKind::kUser, "not an array in host memory is bound to tensor: ", name));
  }
}

/// Of all that the caller offers only what the plan reads. `held` keeps bound arrays for the run.
exec::Bindings bind(const plan::Plan &plan, const nb::dict &offered,
                    std::vector<TensorArgument> &held) {
  exec::Bindings bindings;
  for (const plan::Slot &slot : plan.slots) {
    if (!offered.contains(slot.name.c_str())) {
      continue; // exec names a slot that is missing
    }
    nb::handle object = offered[slot.name.c_str()];
    if (slot.resident) {
      bindings.parts[slot.name] = keptTensorOf(object, slot.name).parts;
      continue;
    }
    if (slot.kind == plan::SlotKind::kTensor) {
      held.push_back(tensorOf(object, slot.name));
      bindings.tensors[slot.name] = viewOf(held.back(), slot.name);
      continue;
    }
    bindings.tables[slot.name] =
        isArrow(object) ? exec::openArrow(arrowTableOf(object))
                        : exec::openFiles(Process::instance().storage(), pathsOf(object));
  }
  return bindings;
}

void applySettings(Settings &settings, const std::map<std::string, std::string> &given) {
  for (const auto &[name, value] : given) {
    if (Status status = settings.set(name, value); !status.ok()) {
      raise(status);
    }
  }
}

Settings settingsOf(const std::map<std::string, std::string> &tuned,
                    const std::map<std::string, std::string> &given, std::optional<int> threads,
                    std::optional<int64_t> memory) {
  Settings settings;
  applySettings(settings, tuned);
  if (Status status = settings.readEnvironment(); !status.ok()) {
    raise(status);
  }
  applySettings(settings, given);
  settings.applyLog();
  settings.memory = memory.value_or(settings.memory);
  // By name, as a flag is: within its range.
  if (Status status = settings.set("threads", std::to_string(threads.value_or(settings.threads)));
      !status.ok()) {
    raise(status);
  }
  if (settings.memory < 0) {
    raise(makeError(ErrorKind::kUser, "memory must not be negative: ", settings.memory));
  }
  return settings;
}

void checkTrace(const Settings &settings, const std::map<std::string, std::string> &given) {
  if (settings.trace.empty()) {
    return;
  }
  std::string where = "environment variable HEADRACE_TRACE";
  for (const auto &[name, value] : given) {
    if (Settings told; told.set(name, value).ok() && !told.trace.empty()) {
      where = name.starts_with("--") ? name : "setting " + name;
    }
  }
  if (Status status = checkWritable(settings.trace, "the trace").at(where); !status.ok()) {
    raise(status);
  }
}

} // namespace headrace::python
