// A piece is one block: rows from its begin on, their texts from its end. When they meet, the
// worker hands it over. The file is written under the lock, and read outside of it.
#include "runtime/exec/state/kept_rows.h"

#include <algorithm>
#include <cstring>

namespace headrace::exec {
namespace {

/// Of a block: the first of a worker, and the largest, which has a huge page. A worker has so much
/// at most that cannot leave memory; in little memory that is this part of it.
constexpr int64_t kFirstBytes = 64 << 10;
constexpr int64_t kLargestBytes = 2 << 20;
constexpr int64_t kPart = 128;
/// Fewer are not worth the memory that writing takes.
constexpr int64_t kSmallBytes = 2 << 20;

} // namespace

/// Rows side by side in memory, with their texts.
struct KeptPiece {
  std::shared_ptr<MemoryAccount> account; ///< goes after the blocks that are charged to it
  Block block;
  std::vector<Block> texts; ///< of the last row, where they did not fit
  uint64_t rows = 0;

  const uint8_t *begin() const { return reinterpret_cast<const uint8_t *>(block.data()); }
  int64_t bytes() const {
    int64_t sum = block.size();
    for (const Block &text : texts) {
      sum += text.size();
    }
    return sum;
  }
};

/// Purpose: rows that a kernel appends, until they fill a piece.
class KeptRows::Copy final : public RowBufferCopy {
public:
  Copy(KeptRows &kept, const plan::State &state, std::shared_ptr<MemoryAccount> account)
      : RowBufferCopy(state, std::move(account)), kept_(kept) {}

  Status grow() override {
    HR_RETURN_IF_ERROR(handOver()); // so that it may leave for what comes next
    const int64_t largest =
        std::clamp(account_->memory().budget.limitBytes() / kPart, kFirstBytes, kLargestBytes);
    blockBytes_ = std::clamp(2 * blockBytes_, kFirstBytes, largest);
    piece_.account = account_;
    HR_ASSIGN_OR_RETURN(piece_.block,
                        account_->allocate(std::max<int64_t>(
                            blockBytes_, static_cast<int64_t>(state_.rowBytes) + HR_PADDING)));
    abi_.next = reinterpret_cast<uint8_t *>(piece_.block.data());
    texts_ = abi_.next + piece_.block.size() - HR_PADDING;
    setEnd();
    return {};
  }

  /// Of the row that is being appended.
  Status keep(HrString *text) override {
    const auto room = static_cast<uint64_t>(texts_ - abi_.next) - state_.rowBytes;
    uint8_t *bytes = nullptr;
    if (text->length <= room) {
      texts_ -= text->length;
      setEnd();
      bytes = texts_;
    } else {
      HR_ASSIGN_OR_RETURN(Block block, account_->allocate(text->length + HR_PADDING));
      bytes = reinterpret_cast<uint8_t *>(block.data());
      piece_.texts.push_back(std::move(block));
      abi_.end = abi_.next; // no row comes behind this one
    }
    std::memcpy(bytes, text->data, text->length);
    text->data = bytes;
    return {};
  }

  Status handOver() {
    piece_.rows = abi_.rows - handedOver_;
    if (piece_.rows == 0) {
      return {};
    }
    handedOver_ = abi_.rows;
    abi_.next = abi_.end = nullptr;
    return kept_.add(std::make_shared<KeptPiece>(std::exchange(piece_, {})));
  }

private:
  /// Behind the last address at which a row may begin.
  void setEnd() {
    if (piece_.texts.empty()) {
      abi_.end = texts_ - state_.rowBytes + 1;
    }
  }

  KeptRows &kept_;
  KeptPiece piece_;
  int64_t blockBytes_ = 0;
  uint8_t *texts_ = nullptr; ///< from here on in the block
  uint64_t handedOver_ = 0;
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
    const uint64_t rows = piece->rows;
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
  const uint8_t *begin = place.memory->begin() + place.skipped * state_.rowBytes;
  for (uint64_t row = 0; row < place.rows; ++row) {
    found.rows.push_back(begin + row * state_.rowBytes);
  }
  return found;
}

/// With the lock held.
Expected<std::shared_ptr<const RowRun>> KeptRows::write(const KeptPiece &piece) {
  std::lock_guard lock(staging_->mutex);
  RunWriter writer(state_, account_->memory().spill, staging_->block);
  for (uint64_t row = 0; row < piece.rows; ++row) {
    const uint8_t *at = piece.begin() + row * state_.rowBytes;
    if (!writer.fits(at)) {
      return std::shared_ptr<const RowRun>();
    }
    HR_RETURN_IF_ERROR(writer.add(at));
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
