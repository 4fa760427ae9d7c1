// The forms in which kernels find the pages of a column: storage makes them, the compiler foresees
// them, the cost model prices them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace headrace::plan {

/// Values as themselves, codes of a dictionary that registers hold, codes of a larger one.
enum class PageForm : uint8_t { kValues, kCode, kGathered };
/// Their names.
inline constexpr std::array<const char *, 3> kPageForms = {"values", "code", "gathered"};
inline const char *nameOf(PageForm form) { return kPageForms[static_cast<size_t>(form)]; }

/// Units of WorkKind::kMapped for a flag: a byte, where an offset of a group has four.
inline constexpr double kMappedFlag = 0.4;

/// Units of WorkKind::kVectorByte for a key whose stretch is looked for: it is widened, scaled,
/// shifted and compared.
inline constexpr double kPositionBytes = 5 * 8;

/// Whether what is made of a text is computed for the entries of its dictionary in place of rows.
/// All are shares of a scan's rows: `tried` entries (0: there is no dictionary), rows whose codes
/// are looked up, and rows that it is wanted for.
inline bool triesEntries(double tried, double lookedUp, double wanted) {
  constexpr double kLookup = 0.1; ///< of what it takes to compute it
  constexpr double kWorthIt = 0.5;
  return tried > 0 && tried + kLookup * lookedUp < kWorthIt * wanted;
}

/// Rows of the morsels that scans are cut into (the setting's default).
inline constexpr double kMorselRows = 122880;

/// Rows of a state that one launch on a device with its own memory takes.
inline constexpr uint64_t kStateMorselRows = 1 << 20;

/// Whether storage keeps `rows` values of `width` bytes instead of `codeBytes` of codes and a
/// dictionary of `entries`: they take little more memory, and are read several times faster.
inline bool keepsValues(double rows, double width, double entries, double codeBytes) {
  constexpr double kGrowthMax = 1.5;
  return rows * width <= kGrowthMax * (codeBytes + width * entries);
}

} // namespace headrace::plan
