// Reading a Substrait JSON document without trusting it: every look-up is checked, and an error
// names the path.
#ifndef HEADRACE_PASSES_IMPORT_SUBSTRAITJSON_H
#define HEADRACE_PASSES_IMPORT_SUBSTRAITJSON_H

#include "mlir/Support/LLVM.h"
#include "llvm/Support/Allocator.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>

namespace headrace::import::substrait {

/// The first error of an import and the memory of all paths. Lives as long as any Node.
class SubstraitContext {
public:
  /// One step of a path: a key of an object, or an index of an array.
  struct Step {
    const Step *parent;
    llvm::StringRef key; // empty for an index
    size_t index;
  };

  const Step *child(const Step *parent, llvm::StringRef key, size_t index) {
    return new (steps.Allocate()) Step{parent, key, index};
  }

  /// Keeps the first message only. Always fails.
  mlir::LogicalResult fail(const llvm::Twine &message, const Step *where);

  bool hasError() const { return !message.empty(); }
  /// "fragment, at relations[0].root.input".
  const std::string &error() const { return message; }

private:
  llvm::SpecificBumpPtrAllocator<Step> steps;
  std::string message;
};

/// A value of the document and the path to it. Cheap to copy; may be absent.
class Node {
public:
  Node(SubstraitContext &context, const nlohmann::json *value,
       const SubstraitContext::Step *path = nullptr)
      : context(&context), value(value), path(path) {}

  /// Whether there is such a value (JSON null counts as absent).
  explicit operator bool() const { return value != nullptr; }
  bool isObject() const { return value && value->is_object(); }

  /// The member `key`; absent if this is no object or has none.
  Node get(llvm::StringRef key) const;
  /// The elements of an array; none if this is no array.
  llvm::SmallVector<Node, 4> elements() const;
  /// The only member of an object among `known` keys, with its key; absent if there is none.
  Node only(llvm::ArrayRef<llvm::StringRef> known, llvm::StringRef &key) const;

  /// A number, also one written as a string (Substrait's 64-bit integers).
  std::optional<int64_t> integer() const;
  std::optional<double> real() const;
  std::optional<bool> boolean() const;
  std::optional<llvm::StringRef> string() const;

  /// As integer(); an absent value is `ifAbsent`, a value of another kind an error.
  mlir::FailureOr<int64_t> integerOr(int64_t ifAbsent) const;

  mlir::LogicalResult fail(const llvm::Twine &message) const {
    return context->fail(message, path);
  }
  std::string pathText() const;
  /// The keys of an object, for messages.
  std::string keysText() const;

private:
  SubstraitContext *context;
  const nlohmann::json *value;
  const SubstraitContext::Step *path;
};

/// The document of `text`; on malformed JSON an error with line and column in `context`.
std::optional<nlohmann::json> parseJson(SubstraitContext &context, llvm::StringRef text);

} // namespace headrace::import::substrait

#endif // HEADRACE_PASSES_IMPORT_SUBSTRAITJSON_H
