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

/// The attribute of a decimal from its scaled value.
mlir::IntegerAttr decimalAttr(mlir::MLIRContext *context, const llvm::APInt &scaled);

/// Days since 1970-01-01 of "YYYY-MM-DD", with " (BC)" behind years that count backwards, or nothing if
/// it is no such day; and back. Read are also months and days of one digit, '/', '\\' or ' ' between
/// them, negative years (0 is 1 BC), a time of the day, and "epoch".
std::optional<int32_t> parseDate(llvm::StringRef text);
std::string formatDate(int32_t days);

/// Microseconds since 1970-01-01 of a date, or a date and "HH:MM[:SS[.ffffff]]" behind a space or a T,
/// or nothing if it is no such moment; and back, with seconds, and with a fraction if there is one.
std::optional<int64_t> parseTimestamp(llvm::StringRef text);
std::string formatTimestamp(int64_t microseconds);

} // namespace headrace::frame

#endif // HEADRACE_DIALECTS_FRAME_FRAMECONSTANTS_H
