// plan.json <-> Plan. Writing is canonical (fields in the order of fields.h, defaults left out), so
// equal plans give equal bytes. Reading accepts any bytes: it never crashes, and every error names
// its JSON path.
#pragma once

#include "model/plan/plan.h"
#include "runtime/base/status.h"

#include <string>
#include <string_view>

namespace headrace::plan {

/// How plan.json is laid out.
enum class JsonLayout : uint8_t { kCompact, kIndented };

/// Integers are exact, bytes are hex, a non-finite real is "nan", "inf" or "-inf", and a string
/// that is not UTF-8 is {"hex": "..."}.
std::string toJson(const Plan &plan, JsonLayout layout = JsonLayout::kIndented);

/// Errors: kCorrupt for text that is no plan ("plan.tasks[3].kind: unknown name: \"jump\""),
/// kMismatch for another major version of the schema. A field missing takes its default; an unknown
/// field is refused, unless the plan's minor version is newer than ours. The structure is not
/// checked further: see check.h.
Expected<Plan> fromJson(std::string_view text);

/// An explanation alone, on its way from the solver to the plan. Errors of the reader: kCorrupt.
std::string explanationJson(const Explanation &explanation);
Expected<Explanation> explanationFromJson(std::string_view text);

} // namespace headrace::plan
