// States by their kind, as exec makes them for workers.
#include "tools/headrace-gpu/case_state.h"

#include "runtime/abi/device_kernel.h"

#include <algorithm>
#include <bit>

namespace headrace::gpu {

namespace {

std::string textOf(__int128 value) {
  bool isNegative = value < 0;
  auto rest =
      isNegative ? -static_cast<unsigned __int128>(value) : static_cast<unsigned __int128>(value);
  std::string digits;
  do {
    digits.push_back(static_cast<char>('0' + static_cast<int>(rest % 10)));
    rest /= 10;
  } while (rest != 0);
  if (isNegative) {
    digits.push_back('-');
  }
  std::ranges::reverse(digits);
  return digits;
}

template <typename T> T load(const std::byte *from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

std::vector<std::byte> fromHex(const std::string &text) {
  std::vector<std::byte> bytes;
  for (size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes.push_back(static_cast<std::byte>(std::stoi(text.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

template <typename T> T *pointer(uint64_t address) { return reinterpret_cast<T *>(address); }

} // namespace

Json valueOf(DeviceArena &arena, HrType type, const std::byte *value) {
  switch (type) {
  case HR_BOOL:
  case HR_I8:
    return std::to_string(load<int8_t>(value));
  case HR_I16:
    return std::to_string(load<int16_t>(value));
  case HR_I32:
    return std::to_string(load<int32_t>(value));
  case HR_I64:
    return std::to_string(load<int64_t>(value));
  case HR_I128:
    return textOf(load<__int128>(value));
  case HR_F32:
    return load<float>(value);
  case HR_F64:
    return load<double>(value);
  case HR_STRING: {
    auto view = load<HrString>(value);
    return arena.text(reinterpret_cast<uint64_t>(view.data), view.length);
  }
  }
  return nullptr;
}

CaseState::CaseState(DeviceArena &arena, const Json &layout, uint64_t capacity)
    : arena_(arena), layout_(layout), name_(layout.at("name")), capacity_(capacity),
      rowBytes_(layout.at("row_bytes")), isScalar_(layout.at("kind") == "scalar"),
      isGroup_(layout.at("kind") == "group_table"), isJoin_(layout.at("kind") == "join_table") {
  constexpr uint64_t kHeapBytesARow = 256, kHeapBytesLeast = 4096;
  rows_ =
      isScalar_ ? arena.put(fromHex(layout.at("identity"))) : arena.allocate(capacity * rowBytes_);
  uint64_t heapBytes = isScalar_ ? 0 : kHeapBytesLeast + capacity * kHeapBytesARow;
  HrDeviceStore store = {pointer<uint8_t>(rows_), nullptr, heapBytes, 0};
  bool keepsTexts = std::ranges::any_of(layout.at("fields"), [](const Json &field) {
    return field.at("type") == static_cast<int>(HR_STRING);
  });
  if (keepsTexts) {
    store.heap = pointer<uint8_t>(arena.allocate(heapBytes));
  }
  store_ = arena.put(store);
  auto *owner = pointer<void>(store_);
  if (isScalar_) {
    head_ = arena.put(HrScalarState{pointer<uint8_t>(rows_), owner});
  } else if (isGroup_) {
    uint64_t entries = std::bit_ceil(2 * capacity);
    head_ = arena.put(
        HrGroupTable{pointer<uint64_t>(arena.zeros(entries * 8)), entries - 1, 0, capacity, owner});
  } else {
    head_ =
        arena.put(HrRowBuffer{pointer<uint8_t>(rows_),
                              pointer<uint8_t>(rows_ + capacity * rowBytes_), 0, rowBytes_, owner});
  }
}

uint64_t CaseState::count() {
  if (isScalar_) {
    return 1;
  }
  uint64_t rows = isGroup_  ? arena_.read<HrGroupTable>(head_).rows
                  : linked_ ? arena_.read<HrJoinTable>(head_).rows
                            : arena_.read<HrRowBuffer>(head_).rows;
  if (rows > capacity_) {
    // no test: what a broken kernel might give
    arena_.fail(makeError(ErrorKind::kCorrupt, "state ", name_, " has more rows than room, ",
                          capacity_, ", got: ", rows));
    return 0;
  }
  return rows;
}

void CaseState::makeTable() {
  uint64_t rows = count();
  bool direct = layout_.contains("direct");
  uint64_t entries = direct ? layout_.at("direct").at("extent").get<uint64_t>()
                            : std::bit_ceil(std::max<uint64_t>(2, rows));
  HrJoinTable table = {};
  table.directory = pointer<uint64_t>(arena_.zeros(entries * 8));
  table.shift = direct ? 0 : 64 - std::countr_zero(entries);
  table.rows = rows;
  table.base = direct ? layout_.at("direct").at("base").get<int64_t>() : 0;
  table.extent = direct ? entries : 0;
  table.owner = pointer<void>(store_);
  head_ = arena_.put(table);
  linked_ = true;
}

uint64_t CaseState::rowPointers() {
  std::vector<uint64_t> pointers(count());
  for (size_t row = 0; row < pointers.size(); ++row) {
    pointers[row] = rows_ + row * rowBytes_;
  }
  pointers.push_back(0); // so that there is something to point to
  return arena_.put(pointers);
}

std::string CaseState::combineOf(const std::string &wanted) const {
  for (const Json &field : layout_.at("fields")) {
    if (field.at("name") == wanted) {
      return field.at("combine");
    }
  }
  return "";
}

std::vector<Json> CaseState::rows(const std::vector<std::string> &fields) {
  uint64_t number = count();
  std::vector<std::byte> memory = arena_.read(rows_, number * rowBytes_);
  arena_.forget();
  std::vector<Json> out;
  for (uint64_t row = 0; row < number && arena_.status().ok(); ++row) {
    const std::byte *at = memory.data() + row * rowBytes_;
    Json values = Json::array();
    for (const std::string &wanted : fields) {
      for (const Json &field : layout_.at("fields")) {
        if (field.at("name") != wanted) {
          continue;
        }
        bool isNull = field.contains("valid_offset") &&
                      at[field.at("valid_offset").get<size_t>()] == std::byte(0);
        values.push_back(isNull ? Json()
                                : valueOf(arena_, static_cast<HrType>(field.at("type").get<int>()),
                                          at + field.at("offset").get<size_t>()));
      }
    }
    out.push_back(std::move(values));
  }
  return out;
}

} // namespace headrace::gpu
