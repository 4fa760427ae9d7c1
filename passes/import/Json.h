// Reading a JSON document without trusting it: every look-up is checked, and an error names the
// path.
#ifndef HEADRACE_PASSES_IMPORT_JSON_H
#define HEADRACE_PASSES_IMPORT_JSON_H

#include "passes/import/ImportContext.h"
#include "llvm/Support/Allocator.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>

namespace headrace::import {

/// The memory of all paths of a document. Lives as long as any Node.
class JsonPaths {
public:
  explicit JsonPaths(ImportContext &context) : context(context) {}

  /// One step of a path: a key of an object, or an index of an array.
  struct Step {
    const Step *parent;
    llvm::StringRef key; // empty for an index
    size_t index;
  };
  const Step *child(const Step *parent, llvm::StringRef key, size_t index) {
    return new (steps.Allocate()) Step{parent, key, index};
  }

  ImportContext &context;

private:
  llvm::SpecificBumpPtrAllocator<Step> steps;
};

/// A value of the document and the path to it. Cheap to copy; may be absent.
class Node {
public:
  /// An absent one.
  Node() = default;
  Node(JsonPaths &paths, const nlohmann::json *value, const JsonPaths::Step *path = nullptr)
      : paths(&paths), value(value), path(path) {}

  /// Whether there is such a value (JSON null counts as absent).
  explicit operator bool() const { return value != nullptr; }
  bool isObject() const { return value && value->is_object(); }
  bool isArray() const { return value && value->is_array(); }

  /// The member `key`; absent if this is no object or has none.
  Node get(llvm::StringRef key) const;
  /// The elements of an array; none if this is no array.
  llvm::SmallVector<Node, 4> elements() const;
  /// The only member of an object among `known` keys, with its key; absent if there is none.
  Node only(llvm::ArrayRef<llvm::StringRef> known, llvm::StringRef &key) const;
  /// The keys of an object.
  llvm::SmallVector<llvm::StringRef> keys() const;

  /// A number, also one written as a string (Substrait's 64-bit integers).
  std::optional<int64_t> integer() const;
  std::optional<uint64_t> natural() const;
  std::optional<double> real() const;
  std::optional<bool> boolean() const;
  std::optional<llvm::StringRef> string() const;
  /// The same for the same place of the document.
  const void *identity() const { return value; }
  /// Whether this is null, false, 0, "" or empty.
  bool isNothing() const;

  /// As integer(); an absent value is `ifAbsent`, a value of another kind an error.
  mlir::FailureOr<int64_t> integerOr(int64_t ifAbsent) const;

  /// Fails with this path as the place.
  mlir::LogicalResult fail(const llvm::Twine &message,
                           ImportError::Kind kind = ImportError::Kind::kMalformed) const {
    return paths->context.fail(location(), message, kind);
  }
  /// Fails for what is not supported.
  mlir::LogicalResult refuse(const llvm::Twine &message) const {
    return fail(message, ImportError::Kind::kUnsupported);
  }
  /// Where in the document this is.
  mlir::Location location() const;
  std::string pathText() const;
  /// The keys of an object, for messages about something unknown.
  std::string keysText() const;
  /// Whether both hold the same, but for these fields of objects at any depth.
  bool equals(const Node &other, llvm::ArrayRef<llvm::StringRef> ignored) const;
  /// A scalar as it is written, for messages.
  std::string valueText() const;

private:
  Node absent() const {
    Node node = *this;
    node.value = nullptr;
    return node;
  }

  JsonPaths *paths = nullptr;
  const nlohmann::json *value = nullptr;
  const JsonPaths::Step *path = nullptr;
};

/// The document; absent (with an error that has line and column) if `text` is not JSON. Bare
/// Infinity and NaN, which DuckDB writes, become strings.
std::optional<nlohmann::json> parseJson(ImportContext &context, llvm::StringRef text);

} // namespace headrace::import

#endif // HEADRACE_PASSES_IMPORT_JSON_H
