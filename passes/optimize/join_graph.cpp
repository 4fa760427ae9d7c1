// A tree of inner joins taken apart.
#include "passes/optimize/join_graph.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::optimize;
using namespace headrace::frame;

namespace {

bool isKeepOnly(ProjectOp project) { return project.getComputed().empty(); }

bool isTotal(ArrayRef<Expression> conjuncts) { return llvm::none_of(conjuncts, canFail); }

/// An inner join that may be taken apart.
bool isOpen(JoinOp join) {
  return join.getKind() == JoinKind::Inner && !join.hasNullSafe() &&
         (!join.hasResidual() || isTotal(conjunctsOf(residualOf(join))));
}

/// Whether below `table`, behind filters and column-dropping projects, there is an inner join to
/// open.
bool leadsToJoin(Value table) {
  Operation *op = table.getDefiningOp();
  if (!op || !op->hasOneUse()) {
    return false;
  }
  if (auto join = dyn_cast<JoinOp>(op)) {
    return isOpen(join);
  }
  if (auto project = dyn_cast<ProjectOp>(op)) {
    return isKeepOnly(project) && leadsToJoin(project.getInput());
  }
  auto filter = dyn_cast<FilterOp>(op);
  return filter && isTotal(conjunctsOf(predicateOf(filter))) && leadsToJoin(filter.getInput());
}

class Collector {
public:
  explicit Collector(JoinGraph &graph) : graph_(graph) {}

  void open(JoinOp join) {
    ++relations_; // where a join was one, there are two
    collect(join.getLeft());
    collect(join.getRight());
    for (auto [left, right] : llvm::zip_equal(join.getLeftKeys().getAsRange<StringAttr>(),
                                              join.getRightKeys().getAsRange<StringAttr>())) {
      equate(left, right, join.getLoc());
    }
    if (join.hasResidual()) {
      addPredicates(conjunctsOf(residualOf(join)));
    }
  }

  /// Which relations the predicates need is known only when all are collected.
  void finish() {
    for (JoinPredicate &predicate : graph_.predicates) {
      for (StringAttr column : columnsOf(predicate.expression)) {
        predicate.relations |= RelationSet(1) << relationOf(column);
      }
      if (predicate.relations == 0) {
        predicate.relations = graph_.all();
      }
    }
  }

private:
  void collect(Value table) {
    if (!leadsToJoin(table) || relations_ == kRelationsMax) {
      graph_.relations.push_back(table);
      return;
    }
    Operation *op = table.getDefiningOp();
    if (auto join = dyn_cast<JoinOp>(op)) {
      open(join);
    } else if (auto filter = dyn_cast<FilterOp>(op)) {
      collect(filter.getInput());
      addPredicates(conjunctsOf(predicateOf(filter)));
    } else {
      collect(op->getOperand(0));
    }
  }

  void addPredicates(ArrayRef<Expression> conjuncts) {
    for (const Expression &conjunct : conjuncts) {
      graph_.predicates.push_back({conjunct, 0});
    }
  }

  unsigned relationOf(StringAttr column) const {
    for (auto [index, relation] : llvm::enumerate(graph_.relations)) {
      if (cast<TableType>(relation.getType()).hasColumn(column)) {
        return index;
      }
    }
    llvm_unreachable("a column of a join comes from one of its relations");
  }

  EqualityClass *classOf(StringAttr column) {
    for (EqualityClass &equal : graph_.classes) {
      if (llvm::any_of(equal.members, [&](auto &member) { return member.column == column; })) {
        return &equal;
      }
    }
    return nullptr;
  }

  void equate(StringAttr a, StringAttr b, Location location) {
    EqualityClass *first = classOf(a);
    EqualityClass *second = classOf(b);
    if (first && first == second) {
      return;
    }
    if (!first && !second) {
      graph_.classes.push_back({{{relationOf(a), a}, {relationOf(b), b}}, location});
    } else if (!second) {
      first->members.push_back({relationOf(b), b});
    } else if (!first) {
      second->members.push_back({relationOf(a), a});
    } else {
      llvm::append_range(first->members, second->members);
      graph_.classes.erase(second);
    }
  }

  JoinGraph &graph_;
  unsigned relations_ = 1; ///< of the tree as far as it is open, those to be collected included
};

} // namespace

bool JoinGraph::connects(RelationSet a, RelationSet b) const {
  return llvm::any_of(classes, [&](const EqualityClass &equal) {
    auto has = [&](RelationSet set) {
      return llvm::any_of(equal.members, [&](auto &m) { return set >> m.relation & 1; });
    };
    return has(a) && has(b);
  });
}

void JoinGraph::keysBetween(RelationSet a, RelationSet b, SmallVectorImpl<StringAttr> &aKeys,
                            SmallVectorImpl<StringAttr> &bKeys) const {
  for (const EqualityClass &equal : classes) {
    auto memberOf = [&](RelationSet set) {
      return llvm::find_if(equal.members, [&](auto &m) { return set >> m.relation & 1; });
    };
    auto inA = memberOf(a);
    auto inB = memberOf(b);
    if (inA != equal.members.end() && inB != equal.members.end()) {
      aKeys.push_back(inA->column);
      bKeys.push_back(inB->column);
    }
  }
}

SmallVector<std::pair<StringAttr, StringAttr>> JoinGraph::equalWithin(unsigned relation) const {
  SmallVector<std::pair<StringAttr, StringAttr>> pairs;
  for (const EqualityClass &equal : classes) {
    StringAttr first;
    for (const EqualityClass::Member &member : equal.members) {
      if (member.relation != relation) {
        continue;
      }
      if (first) {
        pairs.push_back({first, member.column});
      } else {
        first = member.column;
      }
    }
  }
  return pairs;
}

SmallVector<const JoinPredicate *> JoinGraph::predicatesOf(RelationSet whole, RelationSet a,
                                                           RelationSet b) const {
  auto within = [](RelationSet inner, RelationSet outer) { return (inner & ~outer) == 0; };
  SmallVector<const JoinPredicate *> result;
  for (const JoinPredicate &predicate : predicates) {
    RelationSet needed = predicate.relations;
    if (within(needed, whole) && !(a && within(needed, a)) && !(b && within(needed, b))) {
      result.push_back(&predicate);
    }
  }
  return result;
}

JoinGraph headrace::optimize::collectJoinGraph(JoinOp root) {
  JoinGraph graph;
  Collector collector(graph);
  collector.open(root);
  collector.finish();
  return graph;
}
