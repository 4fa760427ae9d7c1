// The first parts that fit, then the next.
#include "runtime/exec/source/rounds.h"

namespace headrace::exec {

namespace {
/// Of a row: directories are a quarter to half full, and the one that is outgrown is there beside
/// the new one. Windows sort and hold what they compute.
constexpr uint64_t kDirectoryBytes = 32;
} // namespace

uint64_t rowsBytes(const plan::State &state, uint64_t rows, size_t lanes) {
  // Groups of the workers' copies are there until they have been merged.
  const bool merges = state.kind == plan::StateKind::kGroupTable && lanes > 1;
  return rows * (state.rowBytes + kDirectoryBytes) * (merges ? 2 : 1);
}

std::vector<PartRange> roundsOf(std::span<const uint64_t> bytes, uint64_t room) {
  std::vector<PartRange> rounds = {{0, 0}};
  uint64_t taken = 0;
  for (uint32_t part = 0; part < bytes.size(); ++part) {
    PartRange &round = rounds.back();
    if (round.last > round.first && taken + bytes[part] > room) {
      rounds.push_back({part, part});
      taken = 0;
    }
    rounds.back().last = part + 1;
    taken += bytes[part];
  }
  return rounds;
}

} // namespace headrace::exec
