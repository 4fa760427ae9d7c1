// States by their kind, as kernels for threads have them.
#include "runtime/exec/gpu/device_state.h"

#include "runtime/base/check.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace headrace::exec {

namespace {

constexpr uint64_t kRowsMin = 1024;
/// More than any device has memory for; their bytes can be counted.
constexpr uint64_t kRowsMax = uint64_t{1} << 40;
/// Of a string that a state keeps, until it is known better.
constexpr uint64_t kTextBytesARow = 32;

template <typename T> T *pointer(const DeviceMemory &memory) {
  return reinterpret_cast<T *>(memory ? memory.at().address : 0);
}

uint64_t textFields(const plan::State &state) {
  return static_cast<uint64_t>(
      std::count_if(state.fields.begin(), state.fields.end(),
                    [](const plan::StateField &field) { return field.type == HR_STRING; }));
}

} // namespace

DeviceState::Room DeviceState::firstRoom(const plan::State &state) {
  if (state.kind == plan::StateKind::kScalar) {
    return {1, 0};
  }
  uint64_t rows = std::clamp(state.rows.p95, kRowsMin, kRowsMax);
  rows = state.rows.max > 0 ? std::min(rows, std::max(kRowsMin, state.rows.max)) : rows;
  return {rows, rows * textFields(state) * kTextBytesARow};
}

Expected<std::unique_ptr<DeviceState>> DeviceState::create(std::shared_ptr<GpuContext> gpu,
                                                           const plan::State &described,
                                                           const ReservationRequest &request,
                                                           Room room) {
  std::unique_ptr<DeviceState> state(new DeviceState(std::move(gpu), described, room));
  HR_RETURN_IF_ERROR(state->initialize(request));
  return state;
}

Expected<DeviceMemory> DeviceState::zeros(uint64_t bytes) {
  HR_ASSIGN_OR_RETURN(
      DeviceMemory memory,
      gpu_->device().allocate(Tier::kDevice, static_cast<int64_t>(bytes), reservation_));
  HR_RETURN_IF_ERROR(gpu_->device().fill(memory.at(), 0, static_cast<int64_t>(bytes)).status());
  return memory;
}

Status DeviceState::write(Place target, const void *bytes, size_t count, const DeviceMemory &into) {
  HR_ASSIGN_OR_RETURN(ready_,
                      gpu_->device().copy(Place::of(bytes), target, static_cast<int64_t>(count),
                                          std::span(&into.ready(), 1)));
  return {};
}

template <typename Head> Status DeviceState::writeHead(const Head &head) {
  static_assert(sizeof head <= kHeadsBytes - kHeadOffset);
  return write(heads_.at(kHeadOffset), &head, sizeof head, heads_);
}

Status DeviceState::initialize(const ReservationRequest &request) {
  HR_ASSIGN_OR_RETURN(reservation_, gpu_->budget.reserve(request));
  Device &device = gpu_->device();
  auto allocate = [&](uint64_t bytes) {
    return device.allocate(Tier::kDevice, static_cast<int64_t>(bytes), reservation_);
  };
  uint64_t rowBytes = room_.rows * described_.rowBytes;
  HR_ASSIGN_OR_RETURN(heads_, allocate(kHeadsBytes));
  HR_ASSIGN_OR_RETURN(rowMemory_, allocate(rowBytes + HR_PADDING));
  if (room_.heapBytes > 0) {
    HR_ASSIGN_OR_RETURN(heap_, allocate(room_.heapBytes + HR_PADDING));
  }
  HrDeviceStore store = {pointer<uint8_t>(rowMemory_), pointer<uint8_t>(heap_), room_.heapBytes, 0};
  HR_RETURN_IF_ERROR(write(heads_.at(), &store, sizeof store, heads_));
  void *owner = pointer<void>(heads_);
  switch (described_.kind) {
  case plan::StateKind::kScalar: {
    HR_RETURN_IF_ERROR(
        write(rowMemory_.at(), described_.identity.data(), described_.identity.size(), rowMemory_));
    return writeHead(HrScalarState{pointer<uint8_t>(rowMemory_), owner});
  }
  case plan::StateKind::kGroupTable: {
    uint64_t entries = std::bit_ceil(2 * room_.rows);
    HR_ASSIGN_OR_RETURN(directory_, zeros(entries * 8));
    return writeHead(
        HrGroupTable{pointer<uint64_t>(directory_), entries - 1, 0, room_.rows, owner});
  }
  default:
    return writeHead(HrRowBuffer{pointer<uint8_t>(rowMemory_),
                                 pointer<uint8_t>(rowMemory_) + rowBytes, 0, described_.rowBytes,
                                 owner});
  }
}

Expected<Event> DeviceState::count(Reservation &pinned) {
  HR_ASSIGN_OR_RETURN(counts_, gpu_->device().allocate(Tier::kPinned, kHeadsBytes, pinned));
  // Behind the last launch, and, if there was none, behind what was written at first.
  HR_ASSIGN_OR_RETURN(Event launched, gpu_->device().fill(heads_.at(), 0, 0));
  const Event before[] = {std::move(launched), ready_};
  return gpu_->device().copy(heads_.at(), counts_.at(), kHeadsBytes, before);
}

void DeviceState::takeCount() {
  HrDeviceStore store;
  std::memcpy(&store, counts_.host(), sizeof store);
  heapUsed_ = store.heapUsed;
  const std::byte *head = counts_.host() + kHeadOffset;
  if (described_.kind == plan::StateKind::kScalar) {
    rows_ = 1;
  } else if (described_.kind == plan::StateKind::kGroupTable) {
    HrGroupTable table;
    std::memcpy(&table, head, sizeof table);
    rows_ = table.rows;
  } else {
    HrRowBuffer buffer;
    std::memcpy(&buffer, head, sizeof buffer);
    rows_ = buffer.rows;
  }
  HR_CHECK(rows_ <= room_.rows && heapUsed_ <= room_.heapBytes);
  counts_.reset();
}

Status DeviceState::makeTable() {
  HrJoinTable table = {};
  const bool array = described_.directory == plan::Directory::kArray;
  uint64_t entries = array ? described_.extent : std::bit_ceil(std::max<uint64_t>(rows_, 2));
  HR_ASSIGN_OR_RETURN(directory_, zeros(entries * 8));
  table.directory = pointer<uint64_t>(directory_);
  table.shift = array ? 0 : 64 - static_cast<uint64_t>(std::bit_width(entries) - 1);
  table.rows = rows_;
  table.base = described_.base;
  table.extent = array ? described_.extent : 0;
  table.owner = pointer<void>(heads_);
  return writeHead(table);
}

const uint8_t *DeviceState::Image::heapBegin() const {
  return reinterpret_cast<const uint8_t *>(memory.host()) + memory.bytes() - HR_PADDING -
         static_cast<int64_t>(heapBytes);
}

Expected<DeviceState::Image> DeviceState::readBack(Reservation &pinned) {
  Device &device = gpu_->device();
  Image image;
  image.rows = rows_;
  image.heapBytes = heapUsed_;
  image.heap = heap_ ? heap_.at().address : 0;
  auto rowBytes = static_cast<int64_t>(rows_ * described_.rowBytes);
  auto heapBytes = static_cast<int64_t>(heapUsed_);
  HR_ASSIGN_OR_RETURN(image.memory,
                      device.allocate(Tier::kPinned, rowBytes + heapBytes + HR_PADDING, pinned));
  HR_ASSIGN_OR_RETURN(image.done, device.copy(rowMemory_.at(), image.memory.at(), rowBytes));
  if (heapBytes > 0) {
    HR_ASSIGN_OR_RETURN(image.done, device.copy(heap_.at(), image.memory.at(rowBytes), heapBytes));
  }
  return image;
}

} // namespace headrace::exec
