// A type of `frame` as plans have it.
#include "dialects/frame/LogicalTypes.h"

#include "dialects/frame/FrameTypes.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace headrace {

static LogicalKind kindOf(IntegerType type) {
  const int bits = static_cast<int>(type.getWidth());
  return bits == 1 ? LogicalKind::kBool : integerKind(bits, type.isUnsigned());
}

LogicalType logicalType(Type type) {
  return TypeSwitch<Type, LogicalType>(type)
      .Case([](IntegerType integer) { return LogicalType{kindOf(integer)}; })
      .Case([](Float32Type) { return LogicalType{LogicalKind::kF32}; })
      .Case([](Float64Type) { return LogicalType{LogicalKind::kF64}; })
      .Case([](frame::DecimalType decimal) {
        return LogicalType{LogicalKind::kDecimal, static_cast<int32_t>(decimal.getPrecision()),
                           static_cast<int32_t>(decimal.getScale())};
      })
      .Case([](frame::Unsigned128Type) { return LogicalType{LogicalKind::kU128}; })
      .Case([](frame::DateType) { return LogicalType{LogicalKind::kDate}; })
      .Case([](frame::TimeType time) {
        LogicalType logical{LogicalKind::kTime};
        logical.unit = time.getUnit();
        return logical;
      })
      .Case([](frame::TimestampType timestamp) {
        LogicalType logical{LogicalKind::kTimestamp};
        logical.unit = timestamp.getUnit();
        logical.zoned = timestamp.getZoned();
        return logical;
      })
      .Case([](frame::ListType list) {
        LogicalType logical{LogicalKind::kList};
        logical.children.push_back(logicalType(list.getElementType()));
        logical.size = list.getSize();
        return logical;
      })
      .Case([](frame::StructType type) {
        LogicalType logical{LogicalKind::kStruct};
        for (auto [name, field] : llvm::zip_equal(type.getNames(), type.getFieldTypes())) {
          logical.names.push_back(name.str());
          logical.children.push_back(logicalType(field));
        }
        return logical;
      })
      .Case([](frame::MapType map) {
        LogicalType logical{LogicalKind::kMap};
        logical.children.push_back(logicalType(map.getKeyType()));
        logical.children.push_back(logicalType(map.getValueType()));
        return logical;
      })
      .Case([](frame::IntervalType) { return LogicalType{LogicalKind::kInterval}; })
      .Case([](frame::BinaryType) { return LogicalType{LogicalKind::kBinary}; })
      .Case([](frame::EnumType type) {
        LogicalType logical{LogicalKind::kEnum};
        for (StringAttr value : type.getValues()) {
          logical.names.push_back(value.str());
        }
        return logical;
      })
      .Case([](frame::UuidType) { return LogicalType{LogicalKind::kUuid}; })
      .Case([](frame::DoubleDoubleType) { return LogicalType{LogicalKind::kDoubleDouble}; })
      .Case([](frame::StringType) { return LogicalType{LogicalKind::kString}; });
}

} // namespace headrace
