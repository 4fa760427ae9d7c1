// Units of work of look-ups, ends of states, hand-overs and the steps made of them.
#include "model/cost/row_work.h"
#include "model/plan/names.h"
#include "model/plan/page_form.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace headrace::cost {

using plan::StateKind;
using plan::WorkKind;

namespace {

constexpr double kStringBytes = 16;
/// What a text of a state has behind its row, of which nothing is known.
/// Of a directory that forgets its groups: its bytes, and the groups that it has by then.
constexpr double kForgetful = 1 << 20;
constexpr double kDirectoryRows = kForgetful / 16;
/// A field beyond the first cache line of a row takes another one.
constexpr double kLineRowBytes = 48;
/// Rows that a chunk has unless a plan says otherwise (plan::Stream::chunkRows).
constexpr double kChunkRows = 65536;

/// Working sets between which the time of touching a cache line at random is interpolated.
struct LineKnot {
  double bytes;
  const char *term; ///< null: it takes none
};
/// Of lines fetched ahead.
constexpr std::array<LineKnot, 5> kLines = {{{32e3, "line_32k"},
                                             {512e3, "line_512k"},
                                             {4e6, "line_4m"},
                                             {32e6, "line_32m"},
                                             {256e6, "line_256m"}}};
/// Of others.
constexpr std::array<LineKnot, 4> kFarLines = {
    {{32e3, nullptr}, {1e6, "far_line_1m"}, {32e6, "far_line_32m"}, {256e6, "far_line_256m"}}};

/// The way from `from` to `to` on the scale of logarithms.
double wayTo(double bytes, double from, double to) {
  return std::clamp(std::log(std::max(bytes, 1.0) / from) / std::log(to / from), 0.0, 1.0);
}

/// Hat functions over the logarithm of the working set.
void addLines(Terms &terms, std::span<const LineKnot> knots, double workingSet, double lines) {
  if (lines <= 0) {
    return;
  }
  auto add = [&](const LineKnot &knot, double share) {
    if (knot.term) {
      terms[knot.term] += lines * share;
    }
  };
  if (workingSet <= knots.front().bytes) {
    return add(knots.front(), 1);
  }
  for (size_t i = 1; i < knots.size(); ++i) {
    if (workingSet <= knots[i].bytes) {
      double part = wayTo(workingSet, knots[i - 1].bytes, knots[i].bytes);
      add(knots[i - 1], 1 - part);
      return add(knots[i], part);
    }
  }
  add(knots.back(), 1);
}

/// Lines that are fetched ahead.
void addLines(Terms &terms, double workingSet, double lines) {
  addLines(terms, kLines, workingSet, lines);
}

/// `touched` places anywhere among so many bytes, of which none is fetched ahead.
void addFarLines(Terms &terms, double bytes, double touched) {
  addLines(terms, kFarLines, bytes, touched);
}

/// What a core's look-ups share the caches with: its own cache holds small sets whatever the others
/// do, the one of all cores holds every copy.
double amongCopies(double workingSet, double copies) {
  constexpr double kOwn = 512e3;
  constexpr double kShared = 4e6;
  return workingSet * std::pow(std::max(copies, 1.0), wayTo(workingSet, kOwn, kShared));
}

/// With what else is touched between two look-ups of the same line: of another state at most as
/// many bytes as of this one.
double withOthers(double workingSet, const std::vector<double> &beside) {
  double all = workingSet;
  for (double other : beside) {
    all += std::min(other, workingSet);
  }
  return all;
}

/// Cache lines of so many bytes that `rows` places among them are on.
double linesAmong(double bytes, double rows) {
  constexpr double kLineBytes = 64;
  double lines = bytes / kLineBytes;
  return lines > 0 ? lines * (1 - std::exp(-rows / lines)) : 0;
}

/// Whether a table of groups that come in runs begins its directory anew instead of enlarging it.
bool forgets(const StateShape &state, double rows) {
  constexpr double kRowsOfGroup = 2.5;
  return state.rows > kDirectoryRows && rows >= kRowsOfGroup * state.rows;
}

/// The share of rows that are not looked for among all groups: nearly all of a morsel are of
/// another one each, and copies are merged (exec::GroupCopy).
double newOnes(const StateShape &state, double rows, double lanes) {
  constexpr double kNearlyAll = 0.95;
  if (lanes < 2 || rows <= 0 || state.rows <= kDirectoryRows) {
    return 0;
  }
  const double morsel = std::min(plan::kMorselRows, rows);
  const double groups = state.rows * (1 - std::exp(-morsel / state.rows));
  return groups >= kNearlyAll * morsel ? std::min(1.0, state.rows * lanes / rows) : 0;
}

double hashedEntries(double rows) { return std::exp2(std::ceil(std::log2(std::max(rows, 2.0)))); }

} // namespace

double RowShape::plainBytes() const { return bytes - strings * kStringBytes; }

double RowShape::memoryBytes() const { return bytes + nullable + textBytes; }

double RowShape::wireBytes() const {
  return plainBytes() + strings * kOffsetBytes + nullable / 8 + textBytes;
}

double StateShape::directoryBytes() const {
  if (kind != StateKind::kJoinTable) {
    return kind == StateKind::kGroupTable ? 8 * hashedEntries(2 * rows) : 0;
  }
  switch (directory) {
  case plan::Directory::kHash:
    return 8 * hashedEntries(rows);
  case plan::Directory::kArray:
    return 8 * extent;
  case plan::Directory::kRanks:
    return extent / 4 + 8 * rows;
  }
  return 0;
}

StateShape shapeOf(const plan::State &state, double rows) {
  StateShape shape;
  shape.kind = state.kind;
  shape.rows = rows;
  shape.rowBytes = state.rowBytes;
  shape.directory = state.directory;
  shape.extent = static_cast<double>(state.extent);
  shape.limit = static_cast<double>(state.limit);
  shape.orderWords = state.orderWords;
  for (const plan::StateField &field : state.fields) {
    shape.stringKeys += field.combine == plan::Combine::kKey && field.type == HR_STRING ? 1 : 0;
    shape.texts += field.combine != plan::Combine::kKey && field.type == HR_STRING ? 1 : 0;
    shape.reals += field.type == HR_F32 || field.type == HR_F64 ? 1 : 0;
  }
  for (const plan::OrderKey &key : state.order) {
    shape.orderTexts += state.fields[key.field].type == HR_STRING ? 1 : 0;
  }
  return shape;
}

double stateRowBytes(StateKind kind, const RowShape &row) {
  double header = kind == StateKind::kJoinTable                                  ? 16
                  : kind == StateKind::kGroupTable || kind == StateKind::kWindow ? 8
                                                                                 : 0;
  return 8 * std::ceil(std::max(header + row.bytes + row.nullable, 8.0) / 8);
}

namespace {

constexpr double kOwnCache = 2e6; // of a core
constexpr double kStays = 8e6, kGone = 64e6;
/// With what others of the machine leave of its last cache.
constexpr double kInMemory = 256e6;

void addFar(Terms &terms, const char *cache, const char *memory, const FarShares &far,
            double units) {
  terms[cache] += far.cache * units;
  terms[memory] += far.memory * units;
}

} // namespace

double farBytes(double bytes, double sharing) {
  return bytes * wayTo(bytes * sharing, kStays, kGone);
}

FarShares farShares(double bytes) {
  double memory = wayTo(bytes, kGone, kInMemory);
  return {wayTo(bytes, kStays, kGone) - memory, memory};
}

void addAccess(Terms &terms, WorkKind kind, const StateShape &state, double units,
               const Arrival &arrival) {
  bool near = arrival.order == RowOrder::kClustered;
  double directory = state.directoryBytes();
  // Texts lie beside the rows, as a set of their own.
  auto addTexts = [&](double strings, double lines) {
    double bytes = state.rows * strings * state.textBytes;
    addFarLines(terms, withOthers(bytes, {state.workingSet()}), lines * strings);
  };
  auto random = [&](double workingSet, double lines) {
    addLines(terms, amongCopies(withOthers(workingSet, arrival.beside), arrival.copies), lines);
  };
  // In order, a row falls on the line of the one before, or on the next; but a directory by hash
  // has no order.
  auto inOrder = [&](double bytes, double lines) {
    double all = bytes * arrival.ranks; // each has a state of its own
    terms["order_byte"] += std::min(all, units * 64);
    // Where most lines are passed over, what fetches lines in a row helps less.
    terms["order_skip"] += units * std::max(0.0, 1 - units * 64 / std::max(all, 1.0));
    addLines(terms, 0, lines);
  };
  switch (kind) {
  case WorkKind::kProbe:
    if (near && state.direct()) {
      inOrder(directory, units);
    } else if (near) {
      double keys = std::min(units, arrival.orderExtent);
      random(directory, keys);
      addLines(terms, 0, units - keys);
    } else {
      random(directory, units);
    }
    break;
  case WorkKind::kMatch: {
    // Chains are followed to their end; other keys are on those of a directory by hash.
    double others = state.direct() ? 0 : units * state.rows / hashedEntries(state.rows);
    terms["chain"] += others;
    double lines = units * (state.rowBytes > kLineRowBytes ? 1.5 : 1) + others;
    if (near) {
      inOrder(state.rows * state.rowBytes, lines);
    } else {
      random(state.workingSet(), lines);
      addTexts(state.texts, units);
    }
    break;
  }
  case WorkKind::kGroup: {
    // Rows in the order of the groups: no two copies have the same, but for the ends of morsels.
    double made = std::min(units, state.rows * (near ? arrival.ranks : arrival.lanes));
    const double unsought = near ? 1 : newOnes(state, units, arrival.lanes);
    terms["group_new_near"] += made * unsought; // in a directory that stays small
    terms["group_new"] += made * (1 - unsought);
    terms["keep_string"] += made * state.stringKeys;
    if (near) {
      inOrder(farBytes(made * state.rowBytes, arrival.sharing()), units - made);
      addLines(terms, forgets(state, units) ? kForgetful : directory, made);
    } else {
      addLines(terms, kForgetful, (made + units) * unsought);
      addLines(terms, directory, made * (1 - unsought));       // again when it has become too small
      const double copies = arrival.lanes * arrival.sharing(); // of all ranks
      addLines(terms, amongCopies(withOthers(state.workingSet(), arrival.beside), copies),
               units * (1 - unsought) * (state.rowBytes > kLineRowBytes ? 2.5 : 2));
      addTexts(state.stringKeys, (units - made) * (1 - unsought));
    }
    break;
  }
  case WorkKind::kInsert:
    // Where only the first rows are kept, the others are left out again and again, and the memory
    // stays the same.
    if (state.kind == StateKind::kSortBuffer && state.limit > 0) {
      terms["prune"] += units;
    } else {
      terms["insert_far_byte"] += farBytes(units * state.rowBytes, arrival.sharing());
    }
    break;
  case WorkKind::kReadRow:
    // In order, which is another one than that of the memory: what is far is asked for, a text when
    // its row is there.
    if (state.kind == StateKind::kSortBuffer) {
      const double bytes = state.rows * (state.rowBytes + state.texts * state.textBytes);
      const double far = wayTo(bytes * arrival.sharing(), kOwnCache, kGone);
      terms["read_far_row"] += units * far;
      terms["read_far_text"] += units * state.texts * far;
    }
    break;
  default:
    break;
  }
}

namespace {

/// Values that a selection picks: eight in a row are copied at once.
void addPicked(Terms &terms, WorkKind kind, double columns, double rows, double kept) {
  double together = std::pow(kept / rows, 8);
  terms[plan::nameOf(kind)] += columns * kept * together;
  terms["decode_picked"] += columns * kept * (1 - together);
}

} // namespace

void addDecode(Terms &terms, WorkKind kind, double columns, double rows, double kept) {
  bool coded = kind != WorkKind::kDecode && kind != WorkKind::kDecodeText;
  if (kept >= rows) {
    terms[plan::nameOf(kind)] += columns * rows;
    return;
  }
  if (!coded) {
    addPicked(terms, kind, columns, rows, kept);
    return;
  }
  // Tiles of which at least a quarter is kept are looked up as a whole.
  constexpr double kNone = 0.2;
  constexpr double kAll = 0.3;
  double whole = std::clamp((kept / rows - kNone) / (kAll - kNone), 0.0, 1.0);
  terms[plan::nameOf(kind)] += columns * rows * whole;
  addPicked(terms, WorkKind::kDecode, columns * whole, rows, kept);
  terms["skip"] += columns * rows * (1 - whole);
  terms["decode_picked_code"] += columns * kept * (1 - whole);
}

void addPages(Terms &terms, const FarShares &far, double all, double picked, double rows,
              double kept) {
  constexpr double kValuesOfLine = 16;
  double missed = rows > 0 ? std::pow(1 - std::min(kept / rows, 1.0), kValuesOfLine) : 0;
  addFar(terms, "load_far_byte", "load_memory_byte", far, all - missed * picked);
}

void addPageTexts(Terms &terms, const FarShares &far, double texts, double textBytes, double rows,
                  double kept) {
  double bytes = texts * textBytes * rows;
  if (bytes <= 0) {
    return;
  }
  constexpr double kLineBytes = 64;
  // What goes through all of them has the next ones fetched; between those that a selection leaves
  // out, each is waited for.
  double leftOut = 1 - std::min(kept / rows, 1.0);
  addFar(terms, "load_far_byte", "load_memory_byte", far, bytes * (1 - leftOut) * (1 - leftOut));
  addFar(terms, "text_far_line", "text_memory_line", far,
         texts * kept * (1 + textBytes / kLineBytes) * leftOut);
}

Terms endTerms(const StateShape &state, double through, const Arrival &arrival) {
  Terms terms;
  switch (state.kind) {
  case StateKind::kJoinTable: {
    double directory = state.directoryBytes();
    terms["finish"] = 2;
    terms["clear_byte"] = directory;
    terms["clear_far_byte"] = farBytes(directory, arrival.sharing());
    terms["build_far_byte"] = farBytes(state.rows * state.rowBytes, arrival.sharing());
    if (arrival.order == RowOrder::kClustered) {
      terms["build_near"] = state.rows;
      terms["build_line"] = linesAmong(directory, state.rows);
    } else {
      terms["build_row"] = state.rows;
      // Once more: which keys are there is found first. Workers write to the same lines.
      terms["rank_row"] = state.directory == plan::Directory::kRanks ? state.rows : 0;
      addLines(terms, directory, state.rows);
    }
    break;
  }
  case StateKind::kGroupTable: {
    // Rows of all copies are divided by their hashes and combined in tables that a cache holds. A
    // single copy stays as it is if it has no group twice.
    bool near = arrival.order == RowOrder::kClustered;
    double merged = std::min(through, state.rows * (near ? 1 : arrival.lanes));
    terms["finish"] = 1;
    if (arrival.lanes > 1 || (near && forgets(state, through))) {
      terms["merge_row"] = merged;
      // Rows lie anywhere and are asked for, however long they are.
      terms["merge_far_row"] =
          farBytes(merged * state.rowBytes, arrival.sharing()) / state.rowBytes;
      terms["merge_new"] = state.rows;
      // Texts are compared wherever each copy has them.
      terms["merge_string"] = merged * state.stringKeys;
      addFarLines(terms, merged * state.textBytes, merged * state.stringKeys);
    }
    terms["list_row"] = state.rows;
    break;
  }
  case StateKind::kSortBuffer: {
    // Entries are divided into ranges that a cache holds and distributed there; those whose first
    // words are alike go back to their rows for the next. With a limit a copy has left nearly all
    // rows out before.
    constexpr double kPruneRows = 8192, kPruneFactor = 4; // as exec::SortCopy
    double held = arrival.lanes * std::max(kPruneRows, kPruneFactor * state.limit);
    double kept = state.limit > 0 ? std::min(through, held) : through;
    double more = kept * (state.orderWords - 1);
    terms["finish"] = 2;
    terms["sort_row"] = kept;
    terms[state.orderTexts > 0 ? "sort_text_word" : "sort_word"] = more;
    break;
  }
  case StateKind::kWindow: {
    // Entries are divided and sorted within ranges that caches hold, then every row is gone to
    // once. With a limit most rows are dropped while the state is filled.
    terms["finish"] = 7;
    constexpr double kSeldomFirst = 0.1; // of lineitem by supplier: 5 ns a row in place of 51
    double kept = state.limit > 0 ? kSeldomFirst * through : through;
    terms["window_row"] = kept;
    addLines(terms, kept * state.rowBytes, kept);
    break;
  }
  case StateKind::kScalar:
  case StateKind::kRowBuffer:
    break;
  }
  return terms;
}

Terms transferTerms(double rows, double columns, double bytes, double pieces, int64_t ranks) {
  Terms terms;
  terms["exchange"] = 1;
  terms["exchange_chunk"] = pieces;
  if (ranks > 1) {
    terms["exchange_value"] = rows * columns;
    terms["exchange_byte"] = bytes;
    // What outgrows the caches goes through memory.
    constexpr double kCachedBytes = 8e6;
    terms["exchange_far_byte"] = std::max(0.0, bytes - kCachedBytes);
  }
  return terms;
}

Terms rangeTerms(double rows, double columns, double strings, double textBytes) {
  return {{"range_row", rows},
          {"range_value", rows * (columns - strings)},
          {"range_text", rows * strings},
          {"copy_byte", rows * textBytes}};
}

//===----------------------------------------------------------------------===//
// Work of devices with a memory of their own
//===----------------------------------------------------------------------===//

void addValues(KernelWork &work, double rows, double columns, double bytes) {
  work.operations += kOperationsPerValue * rows * columns;
  work.streamBytes += rows * bytes;
}

void addLookUps(KernelWork &work, const StateShape &state, double rows) {
  if (rows > 0) {
    work.random.push_back({rows * state.rowBytes, state.rows * state.rowBytes});
  }
}

void addHashes(KernelWork &work, double rows, double keys) {
  work.operations += kOperationsPerValue * rows * keys;
}

void addOrder(KernelWork &work, const StateShape &state, double rows) {
  double compared = state.limit > 0 ? 1 : std::log2(std::max(2.0, rows));
  work.operations += kOperationsPerValue * rows * compared;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

StepWork &StepWork::operator+=(const StepWork &other) {
  add(lanes, other.lanes);
  add(oneLane, other.oneLane);
  add(waits, other.waits);
  rows = std::max(rows, other.rows);
  device.operations += other.device.operations;
  device.streamBytes += other.device.streamBytes;
  device.random.insert(device.random.end(), other.device.random.begin(), other.device.random.end());
  device.launches += other.device.launches;
  stored += other.stored;
  return *this;
}

double piecesOf(double rows) { return std::max(1.0, std::ceil(rows / kChunkRows)); }

double morselsOf(double rows) { return std::max(1.0, std::ceil(rows / plan::kMorselRows)); }

double launchesOverState(double rows) {
  return std::max(1.0, std::ceil(rows / plan::kStateMorselRows));
}

double secondsOf(const CostModel &model, const StepWork &step, Workers::Others others) {
  const Workers &workers = model.workers();
  if (!workers.shared()) {
    return std::max(model.kernel(step.device).seconds, model.load(step.stored).seconds);
  }
  const topology::DeviceType &device = model.device();
  double parallel = workers.parallelLanes(step.rows, piecesOf(step.rows));
  return workers.seconds(secondsOf(device, step.lanes), parallel, others) +
         workers.seconds(secondsOf(device, step.oneLane), 1, others) +
         secondsOf(device, step.waits);
}

namespace {

StepWork beginPipeline(double rows, double pieces) {
  StepWork step;
  step.rows = rows;
  step.lanes["row"] = rows;
  step.lanes["morsel"] = pieces;
  step.waits["task"] = 1;
  step.device.launches = pieces;
  return step;
}

/// Columns of a scan that are decoded for `kept` of its rows.
void addColumns(StepWork &step, const RowShape &shape, double rows, double kept) {
  double numbers = shape.columns - shape.strings;
  Terms &terms = step.lanes;
  addDecode(terms, WorkKind::kDecode, numbers - shape.codes - shape.gathered, rows, kept);
  addDecode(terms, WorkKind::kDecodeCode, shape.codes, rows, kept);
  addDecode(terms, WorkKind::kDecodeGathered, shape.gathered, rows, kept);
  addDecode(terms, WorkKind::kDecodeString, shape.strings - shape.texts, rows, kept);
  addDecode(terms, WorkKind::kDecodeText, shape.texts, rows, kept);
  terms["decode_byte"] += kept * shape.plainBytes();
}

} // namespace

StepWork scanRows(double rows, const RowShape &early, const RowShape &late, double kept,
                  const RowShape &coded, double sharing) {
  StepWork step = beginPipeline(rows, morselsOf(rows));
  addColumns(step, early, rows, rows);
  addColumns(step, late, rows, std::min(kept, rows));
  auto pageBytes = [](const RowShape &shape) { return shape.valueBytes + shape.codeBytes; };
  double bytes = rows * (pageBytes(early) + pageBytes(late) + pageBytes(coded));
  step.lanes["load"] = morselsOf(rows);
  step.lanes["load_byte"] = bytes;
  double textBytes = rows * (early.plainTextBytes + late.plainTextBytes);
  FarShares far = farShares((bytes + textBytes) * sharing);
  auto addTexts = [&](const RowShape &shape, double read) {
    addPageTexts(step.lanes, far, shape.texts, shape.plainTextBytes / std::max(shape.texts, 1.0),
                 rows, read);
  };
  addTexts(early, rows);
  addTexts(late, kept);
  addPages(step.lanes, far, bytes, rows * late.valueBytes, rows, kept);
  addValues(step.device, rows, early.columns + late.columns + coded.columns,
            early.memoryBytes() + late.memoryBytes() + coded.memoryBytes());
  step.stored = rows * (early.fileBytes + late.fileBytes + coded.fileBytes);
  step.device.streamBytes += step.stored; // it comes through the memory
  return step;
}

StepWork receiveRows(double rows, const RowShape &row, double sharing) {
  StepWork step = beginPipeline(rows, piecesOf(rows));
  step.lanes["take"] = rows * (row.columns - row.strings);
  step.lanes["decode_byte"] = rows * row.plainBytes();
  step.lanes["take_string"] = rows * row.strings;
  step.lanes["take_far_byte"] = farBytes(rows * row.bytes, sharing);
  addValues(step.device, rows, row.columns, row.memoryBytes());
  return step;
}

StepWork readState(const StateShape &state, double rows, const RowShape &row) {
  StepWork step = beginPipeline(rows, piecesOf(rows));
  step.device.launches = launchesOverState(rows);
  step.lanes["read_row"] = rows;
  addAccess(step.lanes, WorkKind::kReadRow, state, rows, {});
  addValues(step.device, rows, row.columns, row.memoryBytes());
  return step;
}

StepWork emitRows(double rows, const RowShape &row) {
  StepWork step;
  step.rows = rows;
  step.lanes["emit"] = rows;
  step.lanes["emit_byte"] = rows * row.plainBytes();
  step.lanes["emit_string"] = rows * row.strings;
  step.lanes["copy_byte"] = rows * row.textBytes;
  addValues(step.device, rows, row.columns, row.memoryBytes());
  return step;
}

StepWork rangeRows(double rows, const RowShape &row) {
  StepWork step = emitRows(rows, row);
  step.oneLane = rangeTerms(rows, row.columns, row.strings, row.textBytes);
  step.lanes = {};
  return step;
}

Terms hashTerms(double rows, double keys, double strings) {
  return {{"hash", rows * (keys - strings)}, {"hash_string", rows * strings}};
}

StepWork buildTable(const StateShape &state, double keys, double stringKeys,
                    const Arrival &arrival) {
  StepWork step;
  step.rows = state.rows;
  step.lanes = hashTerms(state.rows, keys, stringKeys);
  step.lanes["insert"] = state.rows;
  Arrival added = arrival;
  added.order = state.direct() ? arrival.order : RowOrder::kNone;
  addAccess(step.lanes, WorkKind::kInsert, state, state.rows, added);
  step.lanes["insert_byte"] = state.rows * state.rowBytes;
  add(step.lanes, endTerms(state, state.rows, added));
  addLookUps(step.device, state, state.rows);
  addHashes(step.device, state.direct() ? 0 : state.rows, keys);
  return step;
}

StepWork probeTable(const StateShape &state, double rows, double matches, double keys,
                    double stringKeys, const Arrival &arrival) {
  StepWork step;
  step.rows = rows;
  if (!state.direct()) {
    step.lanes = hashTerms(rows, keys, stringKeys);
    addHashes(step.device, rows, keys);
  }
  double found = keys > 0 ? matches : rows * state.rows;
  step.lanes[state.direct() ? "probe_direct" : "probe"] = rows;
  addAccess(step.lanes, WorkKind::kProbe, state, rows, arrival);
  step.lanes[state.direct() ? "match_direct" : "match"] = found;
  bool chained = found > 1.05 * rows; // from one row of a key to the next, wherever it is
  addAccess(step.lanes, WorkKind::kMatch, state, found, chained ? Arrival{} : arrival);
  addLookUps(step.device, state, keys > 0 ? rows : found);
  return step;
}

StepWork foldRows(const StateShape &state, double rows, double keys, double measures,
                  const Arrival &arrival) {
  StepWork step;
  step.rows = rows;
  step.lanes[keys > 0 ? "fold_group" : "fold"] = rows * measures;
  step.lanes["fold_real"] = rows * state.reals;
  if (keys > 0) {
    if (state.coded) {
      step.lanes["scalar"] = rows * keys;
      step.lanes["mapped"] = rows * state.stringKeys;
    } else {
      add(step.lanes, hashTerms(rows, keys, state.stringKeys));
      step.lanes["scalar"] = rows * (keys - state.stringKeys); // compared with the group's
      step.lanes["compare_string"] = rows * state.stringKeys;
      step.lanes["group"] = rows;
      addAccess(step.lanes, WorkKind::kGroup, state, rows, arrival);
    }
    addLookUps(step.device, state, rows);
    addHashes(step.device, rows, keys);
  }
  return step;
}

StepWork groupRows(const StateShape &state, double rows, double keys, double measures,
                   const Arrival &arrival) {
  StepWork step = foldRows(state, rows, keys, measures, arrival);
  if (keys > 0) {
    add(step.lanes, endTerms(state, rows, arrival));
  }
  return step;
}

StepWork sortRows(const StateShape &state, double rows, const RowShape &row, double lanes) {
  StepWork step;
  step.rows = rows;
  step.lanes["insert"] = rows;
  addAccess(step.lanes, WorkKind::kInsert, state, rows, {});
  step.lanes["insert_byte"] = rows * state.rowBytes;
  step.lanes["keep_string"] = rows * row.strings;
  step.lanes["copy_byte"] = rows * row.textBytes;
  add(step.lanes, endTerms(state, rows, {.lanes = lanes}));
  addLookUps(step.device, state, rows);
  addOrder(step.device, state, rows);
  return step;
}

double secondsOf(const CostModel &model, const Transfer &transfer, const RowShape &row,
                 Workers::Others others) {
  const Workers &workers = model.workers();
  if (workers.shared()) {
    double rows = transfer.rows * transfer.fullest;
    StepWork step;
    step.oneLane = transferTerms(rows, row.columns, rows * (row.bytes + row.textBytes),
                                 piecesOf(rows), workers.ranks);
    step.waits = {{"task", 1}, {"hop", workers.ranks > 1 ? 1 : 0}};
    return secondsOf(model, step, others);
  }
  return model
      .exchange(transfer.kind, transfer.axes, transfer.rows * row.wireBytes(), transfer.fullest)
      .seconds;
}

} // namespace headrace::cost
