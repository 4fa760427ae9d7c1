// The proleptic Gregorian calendar in integers, for compiler and kernels' primitives. Years are
// counted from March, so that the leap day ends the year, in eras of 400 years (146,097 days),
// which all have the same calendar.
#pragma once

#include <cstdint>

namespace headrace {

struct CivilDate {
  int64_t year;
  int64_t month; ///< 1 to 12
  int64_t day;   ///< from 1
};

/// Of days since 1970-01-01.
constexpr CivilDate civilFromDays(int64_t days) {
  constexpr int64_t kEraDays = 146'097;
  const int64_t sinceMarch0 = days + 719'468; // from 0000-03-01
  const int64_t era = (sinceMarch0 >= 0 ? sinceMarch0 : sinceMarch0 - (kEraDays - 1)) / kEraDays;
  const int64_t dayOfEra = sinceMarch0 - era * kEraDays;
  const int64_t yearOfEra =
      (dayOfEra - dayOfEra / 1460 + dayOfEra / 36'524 - dayOfEra / (kEraDays - 1)) / 365;
  const int64_t dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100);
  const int64_t monthFromMarch =
      (5 * dayOfYear + 2) / 153; // months of 31, 30, 31, 30, 31 days repeat
  const int64_t day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1;
  const int64_t month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
  return {era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month, day};
}

/// Days since 1970-01-01; a day may be beyond its month.
constexpr int64_t daysFromCivil(int64_t year, int64_t month, int64_t day) {
  constexpr int64_t kEraDays = 146'097;
  year -= month <= 2;
  const int64_t era = (year >= 0 ? year : year - 399) / 400;
  const int64_t yearOfEra = year - era * 400;
  const int64_t dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
  const int64_t dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear;
  return era * kEraDays + dayOfEra - 719'468;
}

constexpr int64_t daysOfMonth(int64_t year, int64_t month) {
  constexpr int64_t kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return kDays[month - 1] + (month == 2 && leap ? 1 : 0);
}

} // namespace headrace
