// Preparing, launching and checking the steps of a case.
#include "tools/headrace-gpu/case_run.h"

#include "runtime/abi/device_kernel.h"
#include "runtime/abi/type_bytes.h"
#include "tools/headrace-gpu/compare_rows.h"

#include <algorithm>
#include <bit>

namespace headrace::gpu {

namespace {
template <typename T> T *pointer(uint64_t address) { return reinterpret_cast<T *>(address); }

constexpr double kTolerance = 1e-9;
constexpr uint64_t kOutputRoomLeast = 4; ///< too little for most: a launch with room follows
} // namespace

std::string CaseShape::text() const {
  return std::string(nameOf(form)) + "/" + std::to_string(blocks) + "x" +
         (threads == 0 ? "max" : std::to_string(threads));
}

Expected<std::string> CaseRun::run() {
  for (const Json &step : case_.document.at("steps")) {
    HR_ASSIGN_OR_RETURN(std::string wrong,
                        step.contains("tensors") ? runTensor(step) : runStep(step));
    if (!wrong.empty()) {
      return step.at("kernel").get<std::string>() + ": " + wrong;
    }
  }
  return difference();
}

Expected<std::string> CaseRun::difference() {
  for (const Json &expected : case_.document.at("expect")) {
    std::vector<std::string> columns = expected.at("columns");
    std::vector<Json> rows = expected.at("rows"), found;
    if (!expected.contains("state") && repeated_ > 1) {
      continue; // of a step that a figure leaves out
    }
    if (expected.contains("state")) {
      std::string name = expected.at("state");
      auto state = states_.find(name);
      if (state == states_.end()) {
        return "no step makes the state " + name;
      }
      found = state->second->rows(columns);
      for (Json &row : rows) {
        for (size_t column = 0; column < columns.size() && repeated_ > 1; ++column) {
          if (state->second->combineOf(columns[column]) == "sum" && row[column].is_string()) {
            row[column] = timesInteger(row[column], repeated_);
          }
        }
      }
    } else {
      found = outputRows_;
    }
    HR_RETURN_IF_ERROR(arena_.status());
    std::string wrong = differenceOf(std::move(found), std::move(rows), kTolerance);
    if (!wrong.empty()) {
      return wrong;
    }
  }
  return std::string();
}

// ---- states ----

Expected<CaseState *> CaseRun::stateFor(const std::string &layout, const std::string &name,
                                        uint64_t capacity) {
  std::unique_ptr<CaseState> &state = states_[name];
  if (!state) {
    const Json *described = case_.state(layout);
    if (described == nullptr) {
      return makeError(ErrorKind::kCorrupt, "the manifest has no state: ", layout);
    }
    state = std::make_unique<CaseState>(arena_, *described, capacity);
    HR_RETURN_IF_ERROR(arena_.status());
  }
  return state.get();
}

Status CaseRun::link(CaseState &state) {
  state.makeTable();
  std::string symbol = "link_" + state.name();
  HR_ASSIGN_OR_RETURN(Kernel kernel, module_.find(symbol));
  HrMorsel morsel = {};
  morsel.rows = static_cast<uint32_t>(state.count());
  HrArgs args = {};
  args.morsel = pointer<HrMorsel>(arena_.put(morsel));
  args.states = pointer<void *>(arena_.put(std::vector<uint64_t>{state.head()}));
  PreparedLaunch prepared{kernel, 0, arena_.put(args), arena_.put(HrDevice{})};
  HR_RETURN_IF_ERROR(launch(prepared));
  std::string wrong = errorOf(prepared.device);
  return wrong.empty() ? arena_.status() : makeError(ErrorKind::kData, symbol, ": ", wrong);
}

// ---- one step ----

uint64_t CaseRun::rowsOf(const Json &kernel, const Json &step) {
  if (kernel.contains("table")) {
    auto table = case_.tables.find(kernel.at("table").get<std::string>());
    return table == case_.tables.end() ? 0 : table->second.rows * repeated_;
  }
  std::string name = step.value("from", kernel.value("reads", ""));
  auto state = states_.find(name);
  return state == states_.end() ? 0 : state->second->count();
}

Expected<PreparedLaunch> CaseRun::prepare(const Json &step) {
  std::string symbol = step.at("kernel");
  const Json *kernel = case_.kernel(symbol);
  if (kernel == nullptr) {
    return makeError(ErrorKind::kCorrupt, "the manifest has no kernel: ", symbol);
  }
  PreparedLaunch out;
  HR_ASSIGN_OR_RETURN(out.kernel, module_.find(symbol));
  out.threads = kernel->at("threads");
  uint64_t rows = rowsOf(*kernel, step);
  HrMorsel morsel = {};
  morsel.rows = static_cast<uint32_t>(rows);
  morsel.columnCount = static_cast<uint32_t>(kernel->at("columns").size());
  if (kernel->contains("table")) {
    std::string name = kernel->at("table");
    auto table = case_.tables.find(name);
    if (table == case_.tables.end()) {
      return makeError(ErrorKind::kCorrupt, "the case has no table: ", name);
    }
    ColumnPlacer placer(arena_, pages_, shape_.form, repeated_);
    HR_ASSIGN_OR_RETURN(uint64_t columns, placer.place(table->second, kernel->at("columns")));
    morsel.columns = pointer<HrColumn>(columns);
  } else {
    std::string name = step.value("from", kernel->value("reads", ""));
    auto state = states_.find(name);
    if (state == states_.end()) {
      return makeError(ErrorKind::kCorrupt, "no step before it makes the state: ", name);
    }
    morsel.stateRows = pointer<const uint8_t *const>(state->second->rowPointers());
  }
  Json names = step.value("states", Json::object()), room = step.value("capacity", Json::object());
  std::vector<uint64_t> heads;
  for (std::string layout : kernel->at("states")) {
    std::string name = names.value(layout, layout);
    uint64_t capacity = room.value(name, std::max<uint64_t>(16, rows));
    HR_ASSIGN_OR_RETURN(CaseState * state, stateFor(layout, name, capacity));
    if (state->needsLink() && layout != kernel->value("fills", "")) {
      HR_RETURN_IF_ERROR(link(*state));
    }
    heads.push_back(state->head());
  }
  heads.push_back(0);
  HrArgs args = {};
  args.morsel = pointer<HrMorsel>(arena_.put(morsel));
  args.literals = pointer<void>(putLiterals(*kernel));
  args.states = pointer<void *>(arena_.put(heads));
  out.args = arena_.put(args);
  HrDevice device = {};
  device.size = 1;
  if (!kernel->at("outputs").empty()) {
    outputRoom_ = std::max(outputRoom_, kOutputRoomLeast);
    HR_ASSIGN_OR_RETURN(output_, placeOutputs(*kernel, outputRoom_));
    device.outputs = pointer<HrOutput>(output_);
  }
  out.device = arena_.put(device);
  HR_RETURN_IF_ERROR(arena_.status());
  return out;
}

Status CaseRun::launch(const PreparedLaunch &prepared) {
  uint64_t arguments[] = {prepared.args, prepared.device};
  auto most = static_cast<uint32_t>(prepared.kernel.threadsMax);
  uint32_t threads = prepared.threads == 0 ? std::min<uint32_t>(256, most) : prepared.threads;
  threads = shape_.threads == 0 ? threads : std::min(shape_.threads, threads);
  HR_ASSIGN_OR_RETURN(Event done, arena_.device().launch(KernelLaunch{
                                      prepared.kernel, shape_.blocks, threads, arguments}));
  return arena_.device().wait(done);
}

std::string CaseRun::errorOf(uint64_t device) {
  HrError error = arena_.read<HrDevice>(device).error;
  return error.code == HR_OK
             ? ""
             : "error " + std::to_string(error.code) + " in row " + std::to_string(error.row);
}

Expected<std::string> CaseRun::runStep(const Json &step) {
  const Json *kernel = case_.kernel(step.at("kernel"));
  HR_ASSIGN_OR_RETURN(PreparedLaunch prepared, prepare(step));
  HR_RETURN_IF_ERROR(launch(prepared));
  std::string wrong = errorOf(prepared.device);
  if (step.contains("error")) { // the first error of a step is what is expected of it
    std::string expected = "error " + std::to_string(step.at("error").get<int>());
    bool isExpected = wrong == expected || wrong.starts_with(expected + " ");
    return isExpected ? std::string()
                      : "expected " + expected + ", got " + (wrong.empty() ? "none" : wrong);
  }
  if (wrong.empty() && !kernel->at("outputs").empty()) {
    uint32_t rows = arena_.read<HrOutput>(output_).rows;
    if (rows > outputRoom_) {
      // What did not fit was counted: once more with room, as a runtime does.
      outputRoom_ = rows;
      return runStep(step);
    }
    HR_RETURN_IF_ERROR(readOutputs(*kernel, outputRoom_, rows));
  }
  HR_RETURN_IF_ERROR(arena_.status());
  return wrong;
}

uint64_t CaseRun::putLiterals(const Json &kernel, Bytes given) {
  uint64_t size = kernel.at("literal_bytes").get<uint64_t>() + 16;
  std::vector<std::byte> block(std::max<size_t>(size, given.size()));
  std::ranges::copy(given, block.begin());
  for (const Json &literal : kernel.at("literals")) {
    std::string text = literal.at("text");
    HrString view = {static_cast<uint32_t>(text.size()), {}, nullptr};
    std::memcpy(view.prefix, text.data(), std::min<size_t>(4, text.size()));
    view.data = pointer<const uint8_t>(arena_.put(std::as_bytes(std::span(text))));
    std::memcpy(block.data() + literal.at("offset").get<size_t>(), &view, sizeof view);
  }
  return arena_.put(block);
}

// ---- output rows ----

Expected<uint64_t> CaseRun::placeOutputs(const Json &kernel, uint64_t capacity) {
  std::vector<HrOutputColumn> columns;
  for (const Json &column : kernel.at("outputs")) {
    HrOutputColumn out = {};
    uint64_t bytes = abi::bytesOf(static_cast<HrType>(column.at("type").get<int>()));
    out.data = pointer<void>(arena_.allocate(capacity * bytes));
    if (column.value("nullable", false)) {
      out.validity = pointer<uint8_t>(arena_.allocate(capacity));
    }
    columns.push_back(out);
  }
  outputColumns_ = arena_.put(columns);
  HrOutput output = {0, static_cast<uint32_t>(capacity), pointer<HrOutputColumn>(outputColumns_)};
  uint64_t address = arena_.put(output);
  HR_RETURN_IF_ERROR(arena_.status());
  return address;
}

Status CaseRun::readOutputs(const Json &kernel, uint64_t capacity, uint64_t rows) {
  outputRows_.assign(rows, Json::array());
  arena_.forget();
  size_t index = 0;
  for (const Json &column : kernel.at("outputs")) {
    auto type = static_cast<HrType>(column.at("type").get<int>());
    auto head = arena_.read<HrOutputColumn>(outputColumns_ + index++ * sizeof(HrOutputColumn));
    uint64_t width = abi::bytesOf(type);
    std::vector<std::byte> data = arena_.read(reinterpret_cast<uint64_t>(head.data), rows * width);
    std::vector<std::byte> valid(rows, std::byte(1));
    if (head.validity != nullptr) {
      valid = arena_.read(reinterpret_cast<uint64_t>(head.validity), rows);
    }
    for (uint64_t row = 0; row < rows && arena_.status().ok(); ++row) {
      outputRows_[row].push_back(
          valid[row] == std::byte(0) ? Json() : valueOf(arena_, type, data.data() + row * width));
    }
  }
  return arena_.status();
}

// ---- tensors ----

Expected<std::string> CaseRun::runTensor(const Json &step) {
  std::string symbol = step.at("kernel");
  const Json *kernel = case_.kernel(symbol);
  if (kernel == nullptr) {
    return makeError(ErrorKind::kCorrupt, "the manifest has no kernel: ", symbol);
  }
  std::vector<HrColumn> columns;
  std::vector<int64_t> extents;
  uint64_t output = 0;
  Bytes expected;
  for (const Json &tensor : step.at("tensors")) {
    Bytes data = case_.slice(tensor, "offset", "bytes");
    bool isOutput = tensor.at("output");
    HrSegment segment = {};
    uint64_t address = isOutput ? arena_.allocate(data.size()) : arena_.put(data);
    segment.data = pointer<void>(address);
    if (isOutput) {
      output = address;
      expected = data;
    }
    HrColumn column = {};
    column.segments = pointer<HrSegment>(arena_.put(segment));
    column.segmentCount = 1;
    columns.push_back(column);
    for (int64_t extent : tensor.at("shape")) {
      extents.push_back(extent);
    }
  }
  HrMorsel morsel = {};
  morsel.rows = static_cast<uint32_t>(extents.front());
  morsel.columnCount = static_cast<uint32_t>(columns.size());
  morsel.columns = pointer<HrColumn>(arena_.put(columns));
  HrArgs args = {};
  args.morsel = pointer<HrMorsel>(arena_.put(morsel));
  args.literals = pointer<void>(putLiterals(*kernel, bytesOf(extents)));
  args.states = pointer<void *>(arena_.zeros(8));
  PreparedLaunch prepared;
  HR_ASSIGN_OR_RETURN(prepared.kernel, module_.find(symbol));
  prepared.threads = kernel->at("threads");
  prepared.args = arena_.put(args);
  prepared.device = arena_.put(HrDevice{});
  HR_RETURN_IF_ERROR(arena_.status());
  HR_RETURN_IF_ERROR(launch(prepared));
  std::vector<std::byte> found = arena_.read(output, expected.size());
  HR_RETURN_IF_ERROR(arena_.status());
  const auto *a = reinterpret_cast<const float *>(found.data());
  const auto *b = reinterpret_cast<const float *>(expected.data());
  double tolerance = step.at("tolerance");
  for (size_t i = 0; i < expected.size() / sizeof(float); ++i) {
    if (!(std::abs(a[i] - b[i]) <= tolerance * std::max(1.0f, std::abs(b[i])))) {
      return "element " + std::to_string(i) + " is " + std::to_string(a[i]) + ", expected " +
             std::to_string(b[i]);
    }
  }
  return errorOf(prepared.device);
}

} // namespace headrace::gpu
