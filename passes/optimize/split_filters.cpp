// optimize-split-filters: a filter of a scan by the columns that its conjuncts read.
#include "passes/optimize/Passes.h"
#include "passes/optimize/expressions.h"

#include "llvm/ADT/MapVector.h"

namespace headrace::optimize {
#define GEN_PASS_DEF_OPTIMIZESPLITFILTERS
#include "passes/optimize/Passes.h.inc"
} // namespace headrace::optimize

using namespace mlir;
using namespace headrace;
using namespace headrace::optimize;
using namespace headrace::frame;

namespace {

using Conjunction = SmallVector<Expression>;

/// What is tried at once: on vectors of numbers, on the entries of a text's dictionary, or row by
/// row.
struct Parts {
  Conjunction numbers;
  llvm::MapVector<StringAttr, Conjunction> texts; ///< those that read one text alone
  Conjunction others;                             ///< after them: on fewer rows

  size_t count() const { return texts.size() + !numbers.empty() + !others.empty(); }
};

Parts partsOf(FilterOp filter) {
  TableType type = filter.getInput().getType();
  auto isText = [&](StringAttr name) {
    return isHeldAsText(dropNullable(type.getColumnType(name)));
  };
  Parts parts;
  for (const Expression &conjunct : conjunctsOf(predicateOf(filter))) {
    ColumnSet columns = columnsOf(conjunct);
    if (canFail(conjunct)) {
      parts.others.push_back(conjunct);
    } else if (llvm::none_of(columns, isText)) {
      parts.numbers.push_back(conjunct);
    } else if (columns.size() == 1) {
      parts.texts[columns.front()].push_back(conjunct);
    } else {
      parts.others.push_back(conjunct);
    }
  }
  return parts;
}

class SplitFilters : public headrace::optimize::impl::OptimizeSplitFiltersBase<SplitFilters> {
public:
  void runOnOperation() override {
    SmallVector<FilterOp> filters;
    getOperation().walk([&](FilterOp filter) {
      if (filter.getInput().getDefiningOp<ScanOp>()) {
        filters.push_back(filter);
      }
    });
    for (FilterOp filter : filters) {
      if (Parts parts = partsOf(filter); parts.count() > 1) {
        split(filter, parts);
      }
    }
  }

private:
  static void split(FilterOp filter, const Parts &parts) {
    OpBuilder builder(filter);
    Value rows = filter.getInput();
    auto keep = [&](const Conjunction &conjuncts) {
      if (!conjuncts.empty()) {
        rows = createFilter(builder, filter.getLoc(), rows, conjuncts);
      }
    };
    keep(parts.numbers);
    for (const auto &[text, conjuncts] : parts.texts) {
      keep(conjuncts);
    }
    keep(parts.others);
    filter.getResult().replaceAllUsesWith(rows);
    filter.erase();
  }
};

} // namespace
