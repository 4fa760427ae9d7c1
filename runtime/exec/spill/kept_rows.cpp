// A copy hands over its rows with their texts whenever they are enough for a piece. The file is
// written under the lock, and read outside of it.
#include "runtime/exec/spill/kept_rows.h"

#include <algorithm>

namespace headrace::exec {
namespace {

/// Of rows and texts: a worker has so much at most that cannot leave memory.
constexpr int64_t kPieceBytes = 1 << 20;
/// Of the blocks of a piece, so that little of them is left unused.
constexpr int64_t kBlockBytes = 128 << 10;
/// Fewer are not worth the memory that writing takes.
constexpr int64_t kSmallBytes = 2 << 20;

} // namespace

/// Rows that are together in memory, with their texts.
struct KeptPiece {
  RowStore rows;
  BumpArena texts;
  std::vector<RowSpan> spans;
  uint64_t count = 0;

  int64_t bytes() const { return rows.bytes() + texts.bytes(); }
};

/// Purpose: rows that a kernel appends, until they are enough for a piece.
class KeptRows::Copy final : public RowBufferCopy {
public:
  Copy(KeptRows &kept, const plan::State &state, std::shared_ptr<MemoryAccount> account)
      : RowBufferCopy(state, std::move(account)), kept_(kept) {
    beginPiece();
  }

  Status grow() override {
    if (isLarge()) {
      HR_RETURN_IF_ERROR(handOver());
    }
    Status grown = RowBufferCopy::grow();
    if (grown.kind() == ErrorKind::kMemory && hasRows()) {
      HR_RETURN_IF_ERROR(handOver()); // it may leave
      grown = RowBufferCopy::grow();
    }
    return grown;
  }

  Status keep(HrString *text) override {
    textBytes_ += text->length;
    if (isLarge()) {
      abi_.end = abi_.next + state_.rowBytes; // no row comes behind this one
    }
    return StateCopy::keep(text);
  }

  Status handOver() {
    if (!hasRows()) {
      return {};
    }
    std::vector<RowSpan> spans = this->spans();
    auto piece = std::make_shared<KeptPiece>(KeptPiece{std::move(rows_), std::move(strings_),
                                                       std::move(spans), abi_.rows - handedOver_});
    beginPiece();
    return kept_.add(std::move(piece));
  }

private:
  bool hasRows() const { return abi_.rows > handedOver_; }
  bool isLarge() const {
    return static_cast<int64_t>((abi_.rows - handedOver_) * state_.rowBytes) + textBytes_ >=
           kPieceBytes;
  }
  void beginPiece() {
    takeRows(RowStore(account_, state_.rowBytes, kBlockBytes), BumpArena(account_, kBlockBytes),
             abi_.rows);
    handedOver_ = abi_.rows;
    textBytes_ = 0;
  }

  KeptRows &kept_;
  uint64_t handedOver_ = 0;
  int64_t textBytes_ = 0;
};

KeptRows::KeptRows(const plan::State &state, size_t readers, std::shared_ptr<MemoryAccount> account)
    : state_(state), readers_(readers), account_(std::move(account)) {
  account_->memory().add(this);
}

KeptRows::~KeptRows() { account_->memory().remove(this); }

std::unique_ptr<StateCopy> KeptRows::makeCopy() {
  return std::make_unique<Copy>(*this, state_, account_);
}

Status KeptRows::takeRest(StateCopy &copy) { return static_cast<Copy &>(copy).handOver(); }

Status KeptRows::add(std::shared_ptr<const KeptPiece> piece) {
  bool isLarge = false;
  {
    std::lock_guard lock(mutex_);
    residentBytes_ += piece->bytes();
    const uint64_t rows = piece->count;
    pieces_.emplace(rows_, Piece{rows, std::move(piece), nullptr, 0});
    resident_.insert(rows_);
    rows_ += rows;
    isLarge = residentBytes_ > kSmallBytes && !staging_;
  }
  if (isLarge) {
    HR_ASSIGN_OR_RETURN(auto staging, account_->memory().staging(account_));
    std::lock_guard lock(mutex_);
    staging_ = std::move(staging);
  }
  return {};
}

uint64_t KeptRows::rowCount() const {
  std::lock_guard lock(mutex_);
  return rows_;
}

KeptRows::Place KeptRows::find(uint64_t first, uint64_t rowsMax) {
  std::lock_guard lock(mutex_);
  const auto found = std::prev(pieces_.upper_bound(first));
  const Piece &piece = found->second;
  Place place{0, first - found->first, piece.memory, piece.run, 0};
  if (piece.memory) {
    place.rows = std::min(rowsMax, piece.rows - place.skipped);
  } else {
    const std::span<const RunPiece> written = piece.run->pieces();
    while (place.skipped >= written[place.piece].rows) {
      place.skipped -= written[place.piece++].rows;
    }
    place.rows = written[place.piece].rows - place.skipped;
  }
  if (first + place.rows == found->first + piece.rows) {
    pass(found);
  }
  return place;
}

/// With the lock held.
void KeptRows::pass(Pieces::iterator piece) {
  auto &[first, passed] = *piece;
  if (++passed.passed != readers_) {
    return;
  }
  if (resident_.erase(first) > 0) {
    residentBytes_ -= passed.memory->bytes();
  }
  passed.memory.reset();
  passed.run.reset();
}

void KeptRows::leave(uint64_t first) {
  std::lock_guard lock(mutex_);
  for (auto piece = first == rows_ ? pieces_.end() : std::prev(pieces_.upper_bound(first));
       piece != pieces_.end(); ++piece) {
    pass(piece);
  }
}

Expected<KeptRows::Rows> KeptRows::read(const Place &place) const {
  Rows found;
  found.rows.reserve(place.rows);
  if (!place.memory) {
    RunReader reader(state_, place.run, place.piece, account_);
    HR_RETURN_IF_ERROR(reader.advance());
    found.held = reader.block();
    for (uint64_t row = 0; reader.row(); ++row) {
      if (row >= place.skipped) {
        found.rows.push_back(reader.row());
      }
      HR_RETURN_IF_ERROR(reader.advance());
    }
    return found;
  }
  found.held = place.memory;
  uint64_t skipped = place.skipped;
  for (const RowSpan &span : place.memory->spans) {
    const uint64_t begin = std::min(skipped, span.count);
    skipped -= begin;
    const uint64_t count = std::min(span.count - begin, place.rows - found.rows.size());
    for (uint64_t row = begin; row < begin + count; ++row) {
      found.rows.push_back(span.rows + row * state_.rowBytes);
    }
  }
  return found;
}

/// With the lock held.
Expected<std::shared_ptr<const RowRun>> KeptRows::write(const KeptPiece &piece) {
  std::lock_guard lock(staging_->mutex);
  RunWriter writer(state_, account_->memory().spill, staging_->block);
  for (const RowSpan &span : piece.spans) {
    for (uint64_t row = 0; row < span.count; ++row) {
      const uint8_t *at = span.rows + row * state_.rowBytes;
      if (!writer.fits(at)) {
        return std::shared_ptr<const RowRun>();
      }
      HR_RETURN_IF_ERROR(writer.add(at));
    }
  }
  return writer.end();
}

Expected<int64_t> KeptRows::spill(int64_t bytes) {
  int64_t given = 0;
  std::lock_guard lock(mutex_);
  if (!staging_) {
    return given;
  }
  for (auto next = resident_.end(); next != resident_.begin() && given < bytes;) {
    Piece &piece = pieces_.at(*--next);
    if (piece.memory.use_count() > 1) {
      continue; // someone reads it, so that nothing would come back
    }
    HR_ASSIGN_OR_RETURN(std::shared_ptr<const RowRun> run, write(*piece.memory));
    next = resident_.erase(next);
    residentBytes_ -= piece.memory->bytes();
    if (run) {
      given += piece.memory->bytes();
      piece.run = std::move(run);
      piece.memory.reset();
    }
  }
  return given;
}

int64_t KeptRows::spillableBytes() const {
  std::lock_guard lock(mutex_);
  return staging_ ? residentBytes_ : 0;
}

} // namespace headrace::exec
