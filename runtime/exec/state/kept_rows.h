// Rows of a state that several tasks read: in memory as long as nobody else needs it, else in the
// rank's spill file.
#pragma once

#include "runtime/exec/rows/row_run.h"
#include "runtime/exec/rows/state_copy.h"

#include <map>
#include <set>

namespace headrace::exec {

/// Purpose: rows in pieces of up to two mebibytes, in no order, each of which may leave memory;
/// those that came last leave first, and do not come back to stay. Ownership: of the rows, until
/// the last reader is through; readers hold what they have been given. Thread-safety: full.
/// Ordering: copies hand over their rows before the first is read; each reader goes on from where
/// it was.
class KeptRows final : public Spillable {
public:
  /// `account` is charged for rows that are read back, and gives back what is discharged. As many
  /// as `readers` read all rows or leave(), if they come at all; 0: any number.
  KeptRows(const plan::State &state, size_t readers, std::shared_ptr<MemoryAccount> account);
  ~KeptRows() override;
  KeptRows(const KeptRows &) = delete;
  KeptRows &operator=(const KeptRows &) = delete;

  /// What one lane fills; goes before this.
  std::unique_ptr<StateCopy> makeCopy();
  /// The copy is filled: what it has not handed over yet.
  Status takeRest(StateCopy &copy);

  uint64_t rowCount() const;

  /// Rows that lie together, and who holds them.
  struct Rows {
    std::vector<const uint8_t *> rows;
    std::shared_ptr<const void> held;
  };
  /// Where they are: a part of a piece in memory, or what a piece of a run has.
  struct Place {
    uint64_t rows = 0;
    uint64_t skipped = 0; ///< that come before them there
    std::shared_ptr<const struct KeptPiece> memory;
    std::shared_ptr<const RowRun> run;
    size_t piece = 0; ///< of the run
  };
  /// Of the rows from number `first` on, those that are read together: at most `rowsMax` if they
  /// are in memory. `first`: of a row that there is.
  Place find(uint64_t first, uint64_t rowsMax);
  /// Blocks on the disk.
  Expected<Rows> read(const Place &place) const;
  /// A reader does not want the rows from number `first` on.
  void leave(uint64_t first);

  Expected<int64_t> spill(int64_t bytes) override;
  int64_t spillableBytes() const override;

private:
  class Copy;
  struct Piece {
    uint64_t rows = 0;
    // Both null: all readers are through.
    std::shared_ptr<const KeptPiece> memory;
    std::shared_ptr<const RowRun> run;
    size_t passed = 0; ///< by so many readers
  };
  using Pieces = std::map<uint64_t, Piece>; ///< by the number of their first row

  Status add(std::shared_ptr<const KeptPiece> piece);
  /// Null: a row of it is too large.
  Expected<std::shared_ptr<const RowRun>> write(const KeptPiece &piece);
  void pass(Pieces::iterator piece);

  const plan::State &state_;
  const size_t readers_;
  const std::shared_ptr<MemoryAccount> account_;
  mutable std::mutex mutex_;
  uint64_t rows_ = 0;
  Pieces pieces_;
  std::set<uint64_t> resident_; ///< the numbers of those that may leave
  int64_t residentBytes_ = 0;
  std::shared_ptr<SpillStaging> staging_; ///< null: they are too few to leave
};

} // namespace headrace::exec
