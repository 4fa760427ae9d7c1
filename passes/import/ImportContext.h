// What an import carries along: MLIR's context, and the first error with its kind and place.
#ifndef HEADRACE_PASSES_IMPORT_IMPORTCONTEXT_H
#define HEADRACE_PASSES_IMPORT_IMPORTCONTEXT_H

#include "mlir/IR/Location.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Support/LLVM.h"
#include "passes/analysis/ranges.h"
#include "passes/import/Zones.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/Twine.h"

#include <optional>
#include <string>

namespace headrace::import {

/// Why a document was refused.
struct ImportError {
  enum class Kind {
    kNone,
    kMalformed,   ///< the document is not one that the front end writes
    kUnsupported, ///< the query asks for something that headrace does not have
    kUser,        ///< the query is wrong
  };
  Kind kind = Kind::kNone;
  std::string message; ///< without the place
  std::string place;   ///< a path in the document, or LINE:COLUMN of the query; may be empty
  std::optional<uint64_t> position; ///< in bytes of the query's text
  uint64_t length = 0;

  /// "message, at place".
  std::string text() const;
};

/// Of one import. Ops get locations that name the expression and then its place.
class ImportContext {
public:
  explicit ImportContext(mlir::MLIRContext *mlirContext, Zones zones = {})
      : mlirContext(mlirContext), knownZones(std::move(zones)) {}

  mlir::MLIRContext *getContext() const { return mlirContext; }

  /// Keeps the first message only. Always fails.
  mlir::LogicalResult fail(mlir::Location at, const llvm::Twine &message,
                           ImportError::Kind kind = ImportError::Kind::kUnsupported);
  bool hasError() const { return firstError.kind != ImportError::Kind::kNone; }
  const ImportError &error() const { return firstError; }

  /// What is known of the values of relations that have been made.
  analysis::RangeAnalysis &ranges() { return rangeAnalysis; }

  Zones &zones() { return knownZones; }

  /// The location of `length` bytes at `position` of the query.
  mlir::Location queryLocation(unsigned line, unsigned column, uint64_t position, uint64_t length);
  /// The location of what reads `text` and stands at `place`.
  mlir::Location named(llvm::StringRef text, mlir::Location place) const;

private:
  /// A stretch of the query's text, in bytes.
  struct Stretch {
    uint64_t position, length;
  };
  mlir::MLIRContext *mlirContext;
  analysis::RangeAnalysis rangeAnalysis;
  Zones knownZones;
  ImportError firstError;
  llvm::DenseMap<mlir::Attribute, Stretch> stretches; ///< of the locations made here
};

/// Counts one level of nesting of relations or expressions while it lives, so that no document
/// exhausts the stack.
class NestingGuard {
public:
  static constexpr unsigned kDepthMax = 1000;
  explicit NestingGuard(unsigned &depth) : depth(depth) { ++depth; }
  ~NestingGuard() { --depth; }
  NestingGuard(const NestingGuard &) = delete;
  mlir::LogicalResult check(ImportContext &context, mlir::Location at) const;

private:
  unsigned &depth;
};

} // namespace headrace::import

#endif // HEADRACE_PASSES_IMPORT_IMPORTCONTEXT_H
