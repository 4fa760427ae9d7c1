// What all enumerations share: axis sets, available layouts, duplicates.
#include "passes/shard/strategies.h"

#include <algorithm>
#include <bit>

using namespace mlir;
using namespace headrace::dist;

namespace headrace::shard {

SmallVector<AxisSet> StrategyContext::axisSets() const {
  SmallVector<AxisSet> sets;
  AxisSet all = allAxes();
  for (AxisSet set = 1; set <= all; ++set) {
    if ((set & ~all) == 0) {
      sets.push_back(set);
    }
  }
  llvm::sort(sets, [](AxisSet a, AxisSet b) {
    return std::pair(std::popcount(a), a) < std::pair(std::popcount(b), b);
  });
  return sets;
}

AxisSet StrategyContext::allAxes() const {
  AxisSet axes = 0;
  for (auto [index, size] : llvm::enumerate(mesh.getAxisSizes())) {
    axes |= size > 1 ? AxisSet{1} << index : 0;
  }
  return axes;
}

ArrayRef<Layout> StrategyContext::available(Value value) const {
  auto it = available_.find(value);
  return it == available_.end() ? ArrayRef<Layout>() : ArrayRef<Layout>(it->second);
}

void StrategyContext::publish(const PlacedNode &node) {
  for (auto [index, value] : llvm::enumerate(node.results)) {
    SmallVector<Layout, 0> &layouts = available_[value];
    auto offer = [&](Layout layout) {
      if (!llvm::is_contained(layouts, layout)) {
        layouts.push_back(std::move(layout));
      }
    };
    offer(replicatedLayout(value.getType()));
    for (const Strategy &strategy : node.strategies) {
      const Layout &given = strategy.gives[index];
      if (!given.unreduced) {
        offer(given);
        continue;
      }
      // An unreduced table can be finished to a split by its group keys, or by one of them.
      if (!given.groupKeys.empty()) {
        offer(splitRows(RowKind::Hash, given.unreduced, given.groupKeys));
        for (StringAttr key : given.groupKeys) {
          offer(splitRows(RowKind::Hash, given.unreduced, {key}));
        }
      }
    }
    if (isa<frame::TableType>(value.getType()) && allAxes()) {
      offer(splitRows(RowKind::Root, allAxes()));
    }
  }
}

void addStrategy(PlacedNode &node, Strategy strategy) {
  for (Strategy &known : node.strategies) {
    if (known.needs == strategy.needs && known.gives == strategy.gives) {
      if (strategy.seconds < known.seconds) {
        known = std::move(strategy);
      }
      return;
    }
  }
  node.strategies.push_back(std::move(strategy));
}

} // namespace headrace::shard
