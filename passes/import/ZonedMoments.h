// Dates and timestamps where clocks show a zone's time: those with a zone, in the session's, and
// AT TIME ZONE. What clocks show has the type of a moment, as if they showed UTC.
#ifndef HEADRACE_PASSES_IMPORT_ZONEDMOMENTS_H
#define HEADRACE_PASSES_IMPORT_ZONEDMOMENTS_H

#include "passes/import/Moments.h"

namespace headrace::import {

class ZonedMoments : public Moments {
public:
  using Moments::Moments;

  /// Whether it has a zone, and the session's clocks do not show UTC.
  bool isElsewhere(const Expression &moment);
  /// Whether a type, or one inside of it, is that of such moments.
  bool holdsElsewhere(mlir::Type type);
  /// What the session's clocks show, and the moment when they do; of others themselves.
  Expression shown(const Expression &moment);
  Expression momentOf(const Expression &shown);

  /// As `Moments` has them, of what clocks show.
  MaybeExpression part(TimePart part, const Expression &moment);
  MaybeExpression truncated(TimePart part, const Expression &moment);
  MaybeExpression boundaries(TimePart part, const Expression &from, const Expression &to);
  MaybeExpression elapsed(TimePart part, const Expression &from, const Expression &to);
  Interval age(const Expression &to, const Expression &from);
  /// What a moment with a zone becomes by an interval: ICU, which DuckDB asks, adds months, days
  /// and the time, but the time first where one of them is negative.
  MaybeExpression inOrder(const Interval &interval,
                          llvm::function_ref<MaybeExpression(bool timeFirst)> built);
  MaybeExpression lastDay(const Expression &moment) { return Moments::lastDay(shown(moment)); }
  MaybeExpression dayName(const Expression &moment) { return Moments::dayName(shown(moment)); }
  MaybeExpression monthName(const Expression &moment) { return Moments::monthName(shown(moment)); }
  MaybeExpression formatted(llvm::StringRef format, const Expression &moment);

  /// Only of moments elsewhere: moved by an interval; how many days, and what time, they lie apart;
  /// and their texts.
  MaybeExpression later(const Expression &moment, const Interval &interval);
  Interval difference(const Expression &to, const Expression &from);
  MaybeExpression printed(const Expression &moment);
  /// A text as a moment with a zone.
  MaybeExpression parsed(const Expression &text, frame::TimestampType type,
                         ExpressionBuilder::Misfit misfit);

  /// The moment of a constant text with the name of a zone behind it; nothing of others.
  std::optional<Expression> parsedByName(const Expression &text, frame::TimestampType type);

  /// A moment as clocks in a zone show it, or the moment when they show a timestamp.
  MaybeExpression atZone(const Expression &zone, const Expression &given);

private:
  /// The rules of the session's zone.
  Expression rules();
  /// Moved by how far clocks are ahead by rules, forward or back.
  Expression moved(const Expression &moment, llvm::StringRef offset, const Expression &rules,
                   int64_t sign);
  MaybeExpression offsetOf(const Expression &moment);
  frame::TimestampType zonedMicros();
  /// A moment of microseconds that a text says, in the units of `type`, with the digits that the
  /// text has behind microseconds.
  MaybeExpression inUnits(frame::TimestampType type, const Expression &moment,
                          const Expression &text, ExpressionBuilder::Misfit misfit);
  Expression monthsLater(const Expression &moment, const Expression &months);
  Expression monthsBetween(const Expression &from, const Expression &to);
  MaybeExpression daysBetween(const Expression &from, const Expression &to);
  MaybeExpression daysLater(const Expression &moment, const Expression &days);
};

} // namespace headrace::import

#endif // HEADRACE_PASSES_IMPORT_ZONEDMOMENTS_H
