// Civil dates from day numbers. Years are counted from March, so that the leap day ends the year,
// in eras of 400 years (146,097 days), which all have the same calendar.
#include "runtime/primitives/number/number.h"

namespace headrace::primitives {
namespace {

struct Civil {
  int64_t year;
  int64_t month;
  int64_t day;
};

Civil civilFromDays(int32_t days) {
  constexpr int64_t kEraDays = 146097;
  const int64_t sinceMarch0 = static_cast<int64_t>(days) + 719468; // from 0000-03-01
  const int64_t era = (sinceMarch0 >= 0 ? sinceMarch0 : sinceMarch0 - (kEraDays - 1)) / kEraDays;
  const int64_t dayOfEra = sinceMarch0 - era * kEraDays;
  const int64_t yearOfEra =
      (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / (kEraDays - 1)) / 365;
  const int64_t dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100);
  const int64_t monthFromMarch =
      (5 * dayOfYear + 2) / 153; // months of 31, 30, 31, 30, 31 days repeat
  const int64_t day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1;
  const int64_t month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
  return {era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month, day};
}

} // namespace

int64_t dateYear(int32_t days) { return civilFromDays(days).year; }
int64_t dateMonth(int32_t days) { return civilFromDays(days).month; }
int64_t dateDay(int32_t days) { return civilFromDays(days).day; }

} // namespace headrace::primitives
