// Dates and timestamps as text, by a format of strftime.
#include "passes/import/Moments.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::import;
namespace frame = headrace::frame;
using Compare = frame::CompareKind;

static constexpr int64_t kMicrosecondsOfSecond = unitsOfSecond(TimeUnit::kMicrosecond);

Expression Moments::digits(const Expression &value, unsigned width) {
  Type string = frame::StringType::get(b_.getContext());
  auto text = [&](const Expression &value) { return *b_.cast(value, string, at_); };
  if (width <= 1) {
    return text(value);
  }
  int64_t beyond = 1;
  for (unsigned digit = 0; digit < width; ++digit) {
    beyond *= 10;
  }
  return *b_.substring(text(plus(value, number(beyond))), number(2), std::nullopt, at_);
}

Expression Moments::yearText(const Expression &year) {
  Type string = frame::StringType::get(b_.getContext());
  constexpr int64_t kWide = 10'000; // from here on, and before the year 0, there are no zeros
  Expression plain = *b_.cast(year, string, at_);
  Expression wide = choose(Compare::Ge, year, number(kWide), plain, digits(year, 4));
  return choose(Compare::Lt, year, number(0), plain, wide);
}

std::optional<Expression> Moments::formattedDate(char specifier, bool padded,
                                                 const Expression &moment) {
  auto of = [&](TimePart each) { return *part(each, moment); };
  auto begins = [&](const Expression &name) {
    return *b_.substring(name, number(1), number(3), at_);
  };
  auto week = [&](const Expression &dayOfWeek) { // counted from the first such day of the year
    return digits(over(minus(plus(of(TimePart::kDayOfYear), number(6)), dayOfWeek), 7), 2);
  };
  switch (specifier) {
  case 'a':
    return begins(*dayName(moment));
  case 'A':
    return *dayName(moment);
  case 'b':
  case 'h':
    return begins(*monthName(moment));
  case 'B':
    return *monthName(moment);
  case 'w':
    return digits(of(TimePart::kDayOfWeek), 1);
  case 'u':
    return digits(of(TimePart::kIsoDayOfWeek), 1);
  case 'd':
    return digits(of(TimePart::kDay), padded ? 2 : 1);
  case 'm':
    return digits(of(TimePart::kMonth), padded ? 2 : 1);
  case 'y': {
    Expression year = modulo(field(frame::DateField::Year, moment), 100);
    return digits(choose(Compare::Lt, year, number(0), times(year, -1), year), padded ? 2 : 1);
  }
  case 'Y':
    return yearText(field(frame::DateField::Year, moment));
  case 'G':
    return yearText(of(TimePart::kIsoYear));
  case 'V':
    return digits(of(TimePart::kWeek), 2);
  case 'U':
    return week(of(TimePart::kDayOfWeek));
  case 'W':
    return week(minus(of(TimePart::kIsoDayOfWeek), number(1)));
  case 'j':
    return digits(of(TimePart::kDayOfYear), padded ? 3 : 1);
  default:
    return std::nullopt;
  }
}

std::optional<Expression> Moments::formattedTime(char specifier, bool padded,
                                                 const Expression &moment) {
  auto of = [&](TimePart each) { return *part(each, moment); };
  auto text = [&](StringRef text) {
    return b_.constant(StringAttr::get(b_.getContext(), text),
                       frame::StringType::get(b_.getContext()), at_);
  };
  switch (specifier) {
  case 'H':
    return digits(of(TimePart::kHour), padded ? 2 : 1);
  case 'I':
    return digits(plus(modulo(plus(of(TimePart::kHour), number(11)), 12), number(1)),
                  padded ? 2 : 1);
  case 'p':
    return choose(Compare::Lt, of(TimePart::kHour), number(12), text("AM"), text("PM"));
  case 'M':
    return digits(of(TimePart::kMinute), padded ? 2 : 1);
  case 'S':
    return digits(of(TimePart::kSecond), padded ? 2 : 1);
  case 'g':
    return digits(modulo(of(TimePart::kMillisecond), 1000), 3);
  case 'f':
    return digits(modulo(of(TimePart::kMicrosecond), kMicrosecondsOfSecond), 6);
  case 'z':
    return offsetText_ ? *offsetText_ : text("+00");
  case 'Z':
    return text(isZoned(moment) ? StringRef(zoneName_) : "");
  case '%':
    return text("%");
  default:
    return std::nullopt;
  }
}

/// The format with what stands for other specifiers written out.
static std::string writtenOut(StringRef format) {
  std::string out;
  for (size_t at = 0; at < format.size(); ++at) {
    StringRef pair = format.substr(at, 2);
    StringRef longer = pair == "%c"   ? "%Y-%m-%d %H:%M:%S"
                       : pair == "%x" ? "%Y-%m-%d"
                       : pair == "%X" ? "%H:%M:%S"
                       : pair == "%T" ? "%H:%M:%S"
                       : pair == "%%" ? "%%"
                                      : "";
    out += longer.empty() ? format.substr(at, 1) : longer;
    at += longer.empty() ? 0 : 1;
  }
  return out;
}

MaybeExpression Moments::formatted(StringRef format, const Expression &given) {
  Type string = frame::StringType::get(b_.getContext());
  Expression moment = inMicros(given); // which is all that but one specifier shows
  std::string written = writtenOut(format), plain;
  SmallVector<Expression> pieces;
  auto endPlain = [&] {
    if (!plain.empty()) {
      pieces.push_back(b_.constant(StringAttr::get(b_.getContext(), plain), string, at_));
      plain.clear();
    }
  };
  StringRef rest = written;
  while (!rest.empty()) {
    if (!rest.consume_front("%")) {
      plain += rest.front();
      rest = rest.drop_front();
      continue;
    }
    bool padded = !rest.consume_front("-");
    char specifier = rest.empty() ? '\0' : rest.front();
    rest = rest.drop_front(rest.empty() ? 0 : 1);
    std::optional<Expression> piece = formattedDate(specifier, padded, moment);
    piece = piece ? piece : formattedTime(specifier, padded, moment);
    if (specifier == 'n') {
      piece = digits(
          modulo(*part(TimePart::kNanosecond, given), unitsOfSecond(TimeUnit::kNanosecond)), 9);
    }
    if (!piece) {
      // no test: DuckDB's binder refuses what is not above
      return b_.fail(at_, Twine("unsupported specifier of strftime: %") + Twine(specifier));
    }
    endPlain();
    pieces.push_back(*piece);
  }
  endPlain();
  MaybeExpression text = pieces.size() == 1
                             ? MaybeExpression(pieces.front())
                             : b_.text(*textFunctionNamed("concat"), pieces, string, at_);
  return failed(text) ? text : orInfinite(given, unlessNull(given, *text)); // not all read it
}
