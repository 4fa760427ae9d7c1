// Literals of `frame` scalars: which attribute keeps a value of a type, and how it is written.
#ifndef HEADRACE_DIALECTS_FRAME_FRAMECONSTANTS_H
#define HEADRACE_DIALECTS_FRAME_FRAMECONSTANTS_H

#include "dialects/frame/FrameTypes.h"
#include "mlir/IR/OpImplementation.h"

#include <variant>

namespace headrace::frame {

/// A literal as written, before its type is known. Integers have `kLiteralBits` bits.
using Literal = std::variant<std::monostate /* null */, bool, llvm::APInt, double, std::string>;
inline constexpr unsigned kLiteralBits = 192;

/// Parses `null`, `true`, `false`, a number or a string.
mlir::ParseResult parseLiteral(mlir::OpAsmParser &parser, Literal &literal);

/// The attribute that keeps `literal` as a `type`; null if it does not fit the type.
mlir::Attribute literalAttr(const Literal &literal, mlir::Type type);

/// Writes `value` (an attribute as `literalAttr` makes it for `type`) so that it parses again.
void printLiteral(mlir::OpAsmPrinter &printer, mlir::Attribute value, mlir::Type type);

/// Whether `value` is what `literalAttr` makes for `type`.
bool isLiteralOf(mlir::Attribute value, mlir::Type type);

/// A date, time or timestamp of text (runtime/base/moment_text.h), nothing if it is none of that
/// type; and back.
std::optional<int64_t> parseTemporal(llvm::StringRef text, mlir::Type type);
std::string formatTemporal(int64_t value, mlir::Type type);

/// The infinite date or timestamp of the type, whose opposite is infinitely long ago; nothing of
/// other types.
std::optional<int64_t> infinityOf(mlir::Type type);
/// Whether a value of the type is infinite; numbers and times of day are not.
bool isInfinite(__int128 value, mlir::Type type);

} // namespace headrace::frame

#endif // HEADRACE_DIALECTS_FRAME_FRAMECONSTANTS_H
