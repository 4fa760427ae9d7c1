// What measures of any front end are made of: conditions become CASEs, variances sums and a count.
#ifndef HEADRACE_PASSES_IMPORT_MEASUREPARTS_H
#define HEADRACE_PASSES_IMPORT_MEASUREPARTS_H

#include "passes/import/RelationBuilder.h"

namespace headrace::import {

/// Measures over computed columns, of an aggregate or of window frames. Several parts may belong to
/// one measure; `finished` puts them together.
class MeasureParts {
public:
  /// A function as `frame` has it, and which of the inputs it takes.
  struct Part {
    frame::AggregateFunction function;
    std::optional<size_t> input;
    mlir::Type type; ///< of the result; null: as `frame` has it
    mlir::Location at;
  };

  /// Inputs of measures are numbered behind `leading`, which they are computed beside.
  explicit MeasureParts(llvm::SmallVector<Computed> leading) : inputs_(std::move(leading)) {}

  void add(const MeasureRequest &measure);
  llvm::ArrayRef<Computed> inputs() const { return inputs_; }
  llvm::ArrayRef<Part> parts() const { return parts_; }
  size_t size() const { return wholes_.size(); }
  /// Whether every measure is one part.
  bool arePlain() const { return formulas_ == 0; }
  /// The type of a part's column over an input of that type; fails if the function has none.
  static mlir::FailureOr<mlir::Type> typeOf(const Part &part, mlir::Type input,
                                            frame::Grouping grouping, ImportContext &context);
  /// A measure over fields of which the one of the first part is `firstField`.
  Computed finished(size_t measure, int64_t firstField, mlir::Location at) const;

private:
  /// A measure: its part, or those of a formula (see `Deviations`).
  struct Whole {
    size_t firstPart;
    std::optional<DeviationFormula> formula;
    size_t arguments;
    mlir::Type type;
    bool inOrder = false, meanOfIntervals = false, meanOfMoments = false;
    std::optional<double> ofNone = {};
  };
  /// Gives the part's input.
  size_t addPart(frame::AggregateFunction function, Computed argument, mlir::Type type,
                 mlir::Location at);
  void addSums(const MeasureRequest &measure);
  void addSumsOfIntervals(const MeasureRequest &measure);
  void addSumOfMoments(const MeasureRequest &measure);
  static size_t partsOf(const Whole &whole);

  llvm::SmallVector<Computed> inputs_;
  llvm::SmallVector<Part> parts_;
  llvm::SmallVector<Whole> wholes_;
  size_t formulas_ = 0;
};

/// What a formula makes of deviations, NULL of too few rows; as `type` if that is not null.
MaybeExpression valueOf(ExpressionBuilder &b, const DeviationFormula &formula,
                        const Deviations &deviations, mlir::Type type, mlir::Location at);

} // namespace headrace::import

#endif // HEADRACE_PASSES_IMPORT_MEASUREPARTS_H
