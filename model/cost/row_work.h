// What the steps of a relational program do on one rank, in units of work: the functions by which
// the layout solver prices an op before there is a plan, and the simulator the tasks of the plan.
#pragma once

#include "model/cost/cost.h"
#include "model/cost/terms.h"
#include "model/plan/plan.h"

namespace headrace::cost {

/// The columns of rows, as kernels and chunks hold them.
struct RowShape {
  double columns = 0;
  double strings = 0;   ///< of the columns
  double nullable = 0;  ///< of the columns
  double bytes = 0;     ///< of a row: all columns, strings by their handles
  double textBytes = 0; ///< of a row: what the handles point to
  // Of a scan, by the form of its pages:
  double codes = 0;          ///< of the columns: no strings, and a dictionary that registers hold
  double gathered = 0;       ///< of the columns: no strings, and a larger dictionary
  double texts = 0;          ///< of the strings: not from a dictionary
  double valueBytes = 0;     ///< of a row in pages of values
  double plainTextBytes = 0; ///< of a row, of what pages of texts point to
  double codeBytes = 0;      ///< of a row in pages of codes
  double fileBytes = 0;      ///< of a row in the file

  double plainBytes() const;  ///< without strings
  double memoryBytes() const; ///< also texts, and a byte for each flag of a NULL
  double wireBytes() const;   ///< in a message: of a string its text and an offset, flags as bits
};

/// Of a string in a message, beside its text.
inline constexpr double kOffsetBytes = 4;

/// Operations that a device with its own memory does for each value that it reads or writes.
inline constexpr double kOperationsPerValue = 4;

/// A state on one rank.
struct StateShape {
  plan::StateKind kind = plan::StateKind::kRowBuffer;
  double rows = 0;
  double rowBytes = 0;
  plan::Directory directory = plan::Directory::kHash; ///< join tables
  double extent = 0;                                  ///< of a directory that goes by the key
  double limit = 0;                                   ///< sort buffers: rows that are kept; 0: all
  double orderWords = 1;                              ///< sort buffers: plan::State::orderWords
  double orderTexts = 0;                              ///< sort buffers: keys that are strings
  double stringKeys = 0;                              ///< groups: keys that are strings
  double textBytes = 32;                              ///< of a string
  double texts = 0;                                   ///< other fields that are strings
  double reals = 0;   ///< groups: of the fields, floating-point numbers
  bool coded = false; ///< groups: found by codes of dictionaries and small numbers, not by hash

  bool direct() const { return directory != plan::Directory::kHash; }
  double directoryBytes() const;
  /// Bytes that look-ups touch at random.
  double workingSet() const { return directoryBytes() + rows * rowBytes; }
};
StateShape shapeOf(const plan::State &state, double rows);
/// Bytes of a row of a state: header, fields by width, a byte for each that may be NULL.
double stateRowBytes(plan::StateKind kind, const RowShape &row);

//===----------------------------------------------------------------------===//
// Work of devices with a memory of their own
//===----------------------------------------------------------------------===//

/// Rows that are read or written in order.
void addValues(KernelWork &work, double rows, double columns, double bytes);
/// Rows that are looked up in a state, or added to it.
void addLookUps(KernelWork &work, const StateShape &state, double rows);
/// Keys of rows that are hashed.
void addHashes(KernelWork &work, double rows, double keys);
/// Rows that were added to a sort buffer, put in order.
void addOrder(KernelWork &work, const StateShape &state, double rows);

/// Whether rows come in the order of an integer column: neighbours then fall on the same lines of
/// the largest state.
enum class RowOrder : uint8_t { kNone, kClustered };

/// How rows come to a state.
struct Arrival {
  RowOrder order = RowOrder::kNone;
  double orderExtent = 0; ///< of the column that they are in the order of: its range of values
  double lanes = 1;       ///< copies that the state is filled in
  double ranks = 1;       ///< whose rows these are
  double copies = 1; ///< ranks of the process: each has such a state in the caches that they share
  std::vector<double> beside =
      {}; ///< working sets of the other states that the rows are looked up in

  /// All ranks' rows, as a multiple of these.
  double sharing() const { return copies / ranks; }
};

//===----------------------------------------------------------------------===//
// Terms of parts of tasks
//===----------------------------------------------------------------------===//

/// Of bytes that are gone through in order, those that do not stay in a cache until they are used
/// again. `sharing`: how many times as many are gone through by all ranks that share the cache.
double farBytes(double bytes, double sharing = 1);
/// Where what a scan goes through is when it is read again: as shares of it, in the last cache, or
/// in memory behind it. The rest is nearer.
struct FarShares {
  double cache = 0;
  double memory = 0;
};
/// bytes: of all that is read by the ranks that share the cache.
FarShares farShares(double bytes);
/// What `units` of a kind of work touch of the state that they look into.
void addAccess(Terms &terms, plan::WorkKind kind, const StateShape &state, double units,
               const Arrival &arrival);
/// Columns that a scan decodes for `kept` of its rows: all, or those that a first filter lets
/// through. `kind`: kDecode… of what the pages are.
void addDecode(Terms &terms, plan::WorkKind kind, double columns, double rows, double kept);
/// Pages that a scan goes through, `all` bytes, of which only the lines of the rows `kept` are
/// touched in `picked` bytes.
void addPages(Terms &terms, const FarShares &far, double all, double picked, double rows,
              double kept);
/// So many columns of texts, of `textBytes` bytes each, that pages of a scan point to, read for
/// `kept` of its rows.
void addPageTexts(Terms &terms, const FarShares &far, double texts, double textBytes, double rows,
                  double kept);
/// What ends a state that `arrival.lanes` copies were filled of with `through` rows, which the
/// lanes share: merging the copies, building the directory, sorting.
Terms endTerms(const StateShape &state, double through, const Arrival &arrival);
/// Ranks of one process hand over `pieces` chunks with `rows` rows: taking, encoding and decoding.
/// By one lane of each rank.
Terms transferTerms(double rows, double columns, double bytes, double pieces, int64_t ranks);
/// Before that, where rows go to ranks by ranges: each row's range is found, and of its values, of
/// which `strings` are texts of `textBytes` a row, a chunk is made. By the same lane.
Terms rangeTerms(double rows, double columns, double strings, double textBytes);

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// What one rank does in a step, for either kind of device.
struct StepWork {
  // CPU ranks of one process:
  Terms lanes;       ///< what the rank's lanes divide among them
  Terms oneLane;     ///< what one of them does
  Terms waits;       ///< meanwhile nobody works for the rank: tasks begun, rows awaited
  double rows = 0;   ///< in how many the lanes are divided
  KernelWork device; ///< other devices; no launch until a pipeline begins
  double stored = 0; ///< other devices: bytes that come from storage meanwhile

  StepWork() { device.launches = 0; }
  StepWork &operator+=(const StepWork &other);
};

/// Chunks of so many rows.
double piecesOf(double rows);
/// Morsels of so many rows of a table. A device with its own memory launches for each: it is
/// copied.
double morselsOf(double rows);
/// Launches of such a device that go through so many rows of a state.
double launchesOverState(double rows);

/// Seconds of a step on one rank, `others` being the other ranks meanwhile.
double secondsOf(const CostModel &model, const StepWork &step,
                 Workers::Others others = Workers::Others::kBusy);

/// A pipeline begins with rows of a table: `early` columns of each are decoded, `late` ones of the
/// `kept` rows that pass the first filter, and of `coded` ones the pages are gone through only.
/// `sharing`: all ranks' rows, as a multiple of these.
StepWork scanRows(double rows, const RowShape &early, const RowShape &late, double kept,
                  const RowShape &coded = {}, double sharing = 1);
/// A pipeline begins with rows that were received.
StepWork receiveRows(double rows, const RowShape &row, double sharing = 1);
/// A pipeline begins with `rows` of the rows of a state.
StepWork readState(const StateShape &state, double rows, const RowShape &row);
/// A pipeline ends in chunks.
StepWork emitRows(double rows, const RowShape &row);
/// The same, of rows that are kept until all are there.
StepWork rangeRows(double rows, const RowShape &row);
/// Keys of rows are hashed, `strings` of them texts.
Terms hashTerms(double rows, double keys, double strings);
/// Rows are appended to a join table, which is then finished.
StepWork buildTable(const StateShape &state, double keys, double stringKeys,
                    const Arrival &arrival);
/// Rows are looked up, and go on with what they `match`; without keys each meets all of the table.
StepWork probeTable(const StateShape &state, double rows, double matches, double keys,
                    double stringKeys, const Arrival &arrival);
/// Rows are folded into groups.
StepWork foldRows(const StateShape &state, double rows, double keys, double measures,
                  const Arrival &arrival);
/// The same, and the groups are then merged.
StepWork groupRows(const StateShape &state, double rows, double keys, double measures,
                   const Arrival &arrival);
/// Rows are put in order, or the first of them chosen.
StepWork sortRows(const StateShape &state, double rows, const RowShape &row, double lanes);

/// How rows go from rank to rank.
struct Transfer {
  plan::ExchangeKind kind = plan::ExchangeKind::kHash;
  AxisSet axes = 0;
  double rows = 0;    ///< of one rank, before
  double fullest = 1; ///< what the fullest rank sends or gets, against that
};
/// Seconds of the way between ranks alone, without making chunks and taking rows from them.
double secondsOf(const CostModel &model, const Transfer &transfer, const RowShape &row,
                 Workers::Others others = Workers::Others::kBusy);

} // namespace headrace::cost
