// Figures and provenance, with their bounds.
#include "model/topology/figure.h"

namespace headrace::topology {
namespace {

// Far beyond any machine, and products of a few of them stay finite.
constexpr double kFigureMax = 1e24;
constexpr double kFigureMin = 1e-24;
// Beyond a factor of three nobody knows anything; who writes 5 means 5 %.
constexpr double kRelativeErrorMax = 2;

bool isDate(const std::string &text) {
  static constexpr std::string_view kForm = "dddd-dd-dd";
  if (text.size() != 4 && text.size() != 7 && text.size() != 10) {
    return false;
  }
  for (size_t i = 0; i < text.size(); ++i) {
    bool digit = text[i] >= '0' && text[i] <= '9';
    if (kForm[i] == 'd' ? !digit : text[i] != '-') {
      return false;
    }
  }
  auto part = [&](size_t at) { return std::stoi(text.substr(at, 2)); };
  bool month = text.size() < 7 || (part(5) >= 1 && part(5) <= 12);
  bool day = text.size() < 10 || (part(8) >= 1 && part(8) <= 31);
  return month && day;
}

void checkFigure(JsonReader &reader, double value, Bound bound) {
  if (!reader.ok()) {
    return;
  }
  if (bound == Bound::kPositive && value <= 0) {
    reader.fail("must be positive, got ", value);
  } else if (value < 0) {
    reader.fail("must not be negative, got ", value);
  } else if (value > kFigureMax) {
    reader.fail("must be at most ", kFigureMax, ", got ", value);
  } else if (value > 0 && value < kFigureMin) {
    reader.fail("must be at least ", kFigureMin, ", got ", value);
  }
}

} // namespace

std::string readDate(JsonReader &object, std::string fallback) {
  std::string date = object.text("date", Presence::kOptional, fallback);
  if (object.ok() && !date.empty() && !isDate(date)) {
    object.failAt("date", "date must be a year, month or day such as 2025-08-21, got ", date);
  }
  return date;
}

Provenance readProvenance(JsonReader &object, const FigureDefaults &defaults) {
  Provenance provenance = defaults.provenance;
  provenance.origin = object.oneOf(
      "kind", Presence::kOptional,
      {Origin::kAssumed, Origin::kDatasheet, Origin::kMeasured, Origin::kFitted}, originName,
      provenance.origin, "kind must be assumed, datasheet, measured or fitted, got ");
  provenance.source = object.text("src", Presence::kOptional, defaults.provenance.source);
  if (object.ok() && !provenance.source.empty() && !defaults.sources->contains(provenance.source)) {
    object.failAt("src", "unknown source, add it to $.sources: ", provenance.source);
  }
  provenance.date = readDate(object, defaults.provenance.date);
  return provenance;
}

double readRelativeError(JsonReader &object, double fallback) {
  double error = object.number("rel_err", Presence::kOptional, fallback);
  if (object.ok() && (error < 0 || error > kRelativeErrorMax)) {
    object.failAt("rel_err", "rel_err must be from 0 to ", kRelativeErrorMax,
                  " (0.05 is 5 %), got ", error);
  }
  return error;
}

Quantity readFigure(JsonReader &value, Bound bound, const FigureDefaults &defaults) {
  Quantity figure(0, defaults.relativeError);
  figure.provenance = defaults.provenance;
  if (!value.isObject()) {
    figure.nominal = value.asNumber();
  } else {
    figure.nominal = value.number("v", Presence::kRequired);
    figure.efficiency = value.number("eff", Presence::kOptional, 1);
    if (value.ok() && (figure.efficiency < 1e-6 || figure.efficiency > 1.2)) {
      value.failAt("eff", "eff must be above 0 and at most 1.2, got ", figure.efficiency);
    }
    figure.relativeError = readRelativeError(value, defaults.relativeError);
    figure.provenance = readProvenance(value, defaults);
    value.finish();
  }
  figure.value = figure.nominal * figure.efficiency;
  checkFigure(value, figure.nominal, bound);
  return figure;
}

Quantity readFigure(JsonReader &object, const char *key, Presence presence, Bound bound,
                    const FigureDefaults &defaults, double fallback) {
  Quantity figure(fallback, defaults.relativeError);
  figure.provenance = defaults.provenance;
  object.child(key, presence,
               [&](JsonReader &value) { figure = readFigure(value, bound, defaults); });
  return figure;
}

} // namespace headrace::topology
