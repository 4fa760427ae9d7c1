// Foresees by the sizes of dictionaries what storage decides by the pages.
#include "passes/analysis/scan_statistics.h"

#include <cmath>

using namespace mlir;
using namespace headrace::frame;

namespace headrace::analysis {

std::optional<double> numberOf(DictionaryAttr statistics, StringRef field) {
  Attribute value = statistics ? statistics.get(field) : Attribute();
  if (auto integer = dyn_cast_or_null<IntegerAttr>(value)) {
    return integer.getValue().signedRoundToDouble();
  }
  if (auto real = dyn_cast_or_null<FloatAttr>(value)) {
    return real.getValueAsDouble();
  }
  return std::nullopt;
}

DictionaryAttr statisticsOf(ScanOp scan, StringRef fileColumn) {
  DictionaryAttr statistics = scan.getStatistics().value_or(DictionaryAttr());
  auto columns =
      statistics ? dyn_cast_or_null<DictionaryAttr>(statistics.get("columns")) : DictionaryAttr();
  return columns ? dyn_cast_or_null<DictionaryAttr>(columns.get(fileColumn)) : DictionaryAttr();
}

bool isOrdered(DictionaryAttr column) {
  auto ordered = column ? column.getAs<BoolAttr>("ordered") : BoolAttr();
  return ordered && ordered.getValue();
}

double readOfStretches(ScanOp scan, StringAttr column, double cycle, double ranks) {
  const auto names = scan.getResult().getType().getNames();
  const auto index = static_cast<size_t>(llvm::find(names, column) - names.begin());
  DictionaryAttr known = index < scan.getFileColumns().size()
                             ? statisticsOf(scan, cast<StringAttr>(scan.getFileColumns()[index]))
                             : DictionaryAttr();
  std::optional<double> min = numberOf(known, "min"), max = numberOf(known, "max");
  if (!isOrdered(known) || !min || !max) {
    return 1;
  }
  const double groups = std::max(
      1.0, numberOf(scan.getStatistics().value_or(DictionaryAttr()), "row_groups").value_or(1));
  const double cycles = std::max(1.0, (*max - *min + 1) / cycle);
  return std::min(1.0, 1 / ranks + cycles / groups);
}

ColumnPages pagesOf(ScanOp scan, StringRef fileColumn, Type type, double width) {
  bool text = isHeldAsText(dropNullable(type));
  DictionaryAttr column = statisticsOf(scan, fileColumn);
  ColumnPages pages;
  constexpr double kStringHandle = 16;
  pages.bytes = text ? kStringHandle : width;
  pages.textBytes = text ? numberOf(column, "average_bytes").value_or(kUnknownStringBytes) : 0;
  std::optional<double> entries = numberOf(column, "dictionary_entries");
  DictionaryAttr table = scan.getStatistics().value_or(DictionaryAttr());
  double groups = std::max(1.0, numberOf(table, "row_groups").value_or(1));
  double rows = numberOf(table, "rows").value_or(0) / groups;
  pages.fileBytes = numberOf(column, "file_bytes").value_or(text ? pages.textBytes : width);
  bool nulls = isNullable(type) && numberOf(column, "nulls").value_or(1) > 0;
  if (!entries || rows <= 0 || nulls) { // NULLs are spread when a page is loaded
    return pages;
  }
  double dictionary = *entries / groups;
  double codeBytes = std::ceil(std::log2(std::max(2.0, dictionary))) / 8;
  if (!text && plan::keepsValues(rows, width, dictionary, rows * codeBytes)) {
    return pages;
  }
  constexpr double kInRegisters = 64;
  pages.form = dictionary <= kInRegisters ? plan::PageForm::kCode : plan::PageForm::kGathered;
  pages.bytes = codeBytes;
  pages.tried = dictionary / rows; // once, by all lanes together
  return pages;
}

} // namespace headrace::analysis
