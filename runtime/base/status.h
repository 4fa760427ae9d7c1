// Status and Expected: how the runtime reports an operating or a user error. No exceptions.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

namespace headrace {

/// What kind of trouble an error is; a user, a launcher and the runtime act on it differently.
enum class ErrorKind : uint8_t {
  kOk = 0,
  kUser,   ///< the program or its input is wrong: the message says where and what to do
  kData,   ///< the data breaks a rule of the program (overflow, division by zero, invalid cast)
  kMemory, ///< a tier's limit was reached; names tier, operator, bytes and setting
  kUnsupported, ///< valid, but not built yet; the message says what to write instead
  kIo,          ///< a file or a link failed; may be retryable
  kCorrupt,     ///< bytes that do not decode (file, plan, message)
  kMismatch,    ///< version, topology, ABI or manifest does not fit
  kCancelled,   ///< stopped on request
  kInternal,    ///< a broken assumption that did not have to kill the process
};

/// The stable lower-case name of a kind, as printed and as in JSON.
const char *errorKindName(ErrorKind kind);

/// Success, or an error with a message and a place in the user's program.
/// Cheap when ok (one null pointer). Immutable once made; copies share.
class [[nodiscard]] Status {
public:
  Status() = default;
  Status(ErrorKind kind, std::string message, std::string place = {})
      : error_(std::make_shared<const Error>(Error{kind, std::move(message), std::move(place)})) {}

  bool ok() const { return !error_; }
  ErrorKind kind() const { return error_ ? error_->kind : ErrorKind::kOk; }
  const std::string &message() const { return error_ ? error_->message : emptyText(); }
  /// Where in the user's program (SQL expression, Python line, file), or empty.
  const std::string &place() const { return error_ ? error_->place : emptyText(); }
  /// The same error with a place, unless it has one already.
  Status at(std::string place) const {
    return ok() || !error_->place.empty() ? *this
                                          : Status(error_->kind, error_->message, std::move(place));
  }
  /// "kind: message (at place)".
  std::string toString() const;

private:
  struct Error {
    ErrorKind kind;
    std::string message;
    std::string place;
  };
  static const std::string &emptyText();
  std::shared_ptr<const Error> error_;
};

/// A value, or the Status that says why there is none.
template <typename T> class [[nodiscard]] Expected {
public:
  Expected(T value) : value_(std::move(value)) {}
  Expected(Status status) : status_(std::move(status)) {}

  bool ok() const { return value_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Status &status() const { return status_; }
  T &operator*() & { return *value_; }
  const T &operator*() const & { return *value_; }
  T &&operator*() && { return std::move(*value_); }
  T *operator->() { return &*value_; }
  const T *operator->() const { return &*value_; }

private:
  std::optional<T> value_;
  Status status_;
};

namespace detail {
template <typename... Parts> std::string joinText(const Parts &...parts) {
  std::ostringstream stream;
  (stream << ... << parts);
  return std::move(stream).str();
}
} // namespace detail

/// makeError(ErrorKind::kUser, "unknown column: ", name)
template <typename... Parts> Status makeError(ErrorKind kind, const Parts &...parts) {
  return Status(kind, detail::joinText(parts...));
}

/// What a caller who asked to stop gets on the rank where it asked: kCancelled.
Status stoppedByUser();

} // namespace headrace

/// Returns the error of a Status expression to the caller.
#define HR_RETURN_IF_ERROR(expr)                                                                   \
  do {                                                                                             \
    if (::headrace::Status hrStatus_ = (expr); !hrStatus_.ok()) {                                  \
      return hrStatus_;                                                                            \
    }                                                                                              \
  } while (false)

#define HR_CONCAT_(a, b) a##b
#define HR_CONCAT(a, b) HR_CONCAT_(a, b)
/// HR_ASSIGN_OR_RETURN(auto x, expectedExpr): binds the value or returns the error.
#define HR_ASSIGN_OR_RETURN(lhs, expr)                                                             \
  HR_ASSIGN_OR_RETURN_(HR_CONCAT(hrExpected_, __LINE__), lhs, expr)
#define HR_ASSIGN_OR_RETURN_(tmp, lhs, expr)                                                       \
  auto tmp = (expr);                                                                               \
  if (!tmp.ok()) {                                                                                 \
    return tmp.status();                                                                           \
  }                                                                                                \
  lhs = std::move(*tmp)
