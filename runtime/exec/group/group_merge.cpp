// The two phases.
#include "runtime/exec/group/group_merge.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <utility>

namespace headrace::exec {
namespace {

/// Of a morsel.
constexpr uint64_t kPieceRows = 1 << 16;
/// A part has about so many: of usual width they and their directory are half a megabyte.
constexpr uint64_t kPartRows = 1 << 13;
constexpr unsigned kPartBitsMax = 12;

} // namespace

GroupMerge::GroupMerge(const plan::State &state, std::shared_ptr<MemoryAccount> account,
                       Combine combine)
    : state_(state), account_(std::move(account)), combine_(std::move(combine)),
      addresses_(account_), begins_(account_) {}

void GroupMerge::addPhases(PhasedJob &job, std::function<std::vector<StateCopy *>()> copies) {
  job.add([this, copies = std::move(copies)]() -> Expected<JobPhase> {
    for (StateCopy *copy : copies()) {
      if (copy->rowCount() != 0) {
        copies_.push_back(copy);
      }
    }
    return divideRows();
  });
  job.add([this]() -> Expected<JobPhase> { return mergeParts(); });
  job.add([this]() -> Expected<JobPhase> {
    addresses_.reset();
    begins_.reset();
    for (const auto &part : parts_) {
      if (part) {
        tables_.push_back(part.get());
      }
    }
    for (StateCopy *copy : copies_) {
      if (parts_.empty()) {
        tables_.push_back(copy);
      } else {
        copy->dropRows();
      }
    }
    return JobPhase{};
  });
}

Expected<JobPhase> GroupMerge::divideRows() {
  if (copies_.empty() || (copies_.size() == 1 && copies_.front()->isUnique())) {
    return JobPhase{};
  }
  uint64_t rows = 0;
  for (StateCopy *copy : copies_) {
    copy->dropDirectory();
    for (const RowSpan &span : copy->spans()) {
      for (uint64_t at = 0; at < span.count; at += kPieceRows) {
        const uint64_t count = std::min(kPieceRows, span.count - at);
        pieces_.push_back({{span.rows + at * state_.rowBytes, count}, rows});
        rows += count;
      }
    }
  }
  HR_RETURN_IF_ERROR(addresses_.resize(rows));
  partBits_ = std::min(kPartBitsMax, static_cast<unsigned>(std::bit_width((rows - 1) / kPartRows)));
  parts_.resize(size_t{1} << partBits_);
  HR_RETURN_IF_ERROR(begins_.resize(pieces_.size() * (parts_.size() + 1)));
  return phaseOf(static_cast<int64_t>(pieces_.size()), rows <= kPartRows, [this](int64_t piece) {
    divide(static_cast<size_t>(piece));
    return Status();
  });
}

/// By the highest bits: ranks, rounds and directories go by others.
size_t GroupMerge::partOf(const uint8_t *row) const {
  uint64_t hash;
  std::memcpy(&hash, row, sizeof hash);
  return static_cast<size_t>(hash >> 1 >> (63 - partBits_));
}

std::span<uint32_t> GroupMerge::begins(size_t piece) const {
  return begins_.span().subspan(piece * (parts_.size() + 1), parts_.size() + 1);
}

void GroupMerge::divide(size_t piece) {
  const auto &[rows, first] = pieces_[piece];
  auto eachRow = [&, from = rows](auto &&visit) {
    for (uint64_t row = 0; row < from.count; ++row) {
      const uint8_t *at = from.rows + row * state_.rowBytes;
      visit(at, partOf(at));
    }
  };
  const std::span begin = begins(piece);
  std::ranges::fill(begin, 0);
  eachRow([&](const uint8_t *, size_t part) { ++begin[part + 1]; });
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<uint32_t> next(begin.begin(), begin.end());
  const uint8_t **addresses = &addresses_[first];
  eachRow([&](const uint8_t *row, size_t part) { addresses[next[part]++] = row; });
}

JobPhase GroupMerge::mergeParts() {
  return {static_cast<int64_t>(parts_.size()),
          [this](int, int64_t part) { return mergePart(static_cast<size_t>(part)); }};
}

Status GroupMerge::mergePart(size_t part) {
  std::vector<RowAddresses> found;
  uint64_t rows = 0;
  for (size_t piece = 0; piece < pieces_.size(); ++piece) {
    const uint32_t begin = begins(piece)[part];
    const uint32_t end = begins(piece)[part + 1];
    if (begin != end) {
      found.emplace_back(&addresses_[pieces_[piece].first + begin], end - begin);
      rows += end - begin;
    }
  }
  if (rows == 0) {
    return {};
  }
  HR_ASSIGN_OR_RETURN(parts_[part], GroupCopy::create(state_, account_, rows));
  HR_RETURN_IF_ERROR(combine_(*parts_[part], found));
  parts_[part]->dropDirectory();
  return {};
}

} // namespace headrace::exec
