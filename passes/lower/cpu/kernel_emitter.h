// KernelEmitter: one pipe.pipeline to one function of the kernel ABI (runtime/abi/kernel.h).
#pragma once

#include "model/plan/page_form.h"
#include "passes/lower/code/pipeline_code.h"
#include "passes/lower/cpu/entry_maps.h"

#include <memory>

namespace headrace::lower {

/// Columns or fields that one loop over rows goes through: of wide tables the code generator takes
/// more than linear time for what is in one block.
inline constexpr size_t kColumnsAtOnce = 32;

/// Rows that a buffer of a stage has room for: a tile, and what the widest vector reads past it.
inline constexpr int64_t kBufferRows = HR_TILE_ROWS + 64;

/// Emits the code of a pipeline, stage by stage, as basic blocks:
///
///   entry -> init -> tile -> filter -> lookup.fill -> … -> sink
///                     ^        (none)      ^ |(exhausted)      | (rows done)
///                     +--------------------+ +<----------------+
///
/// Each selecting stage has a `next` block to jump to when its rows are used up. All values that
/// live from stage to stage are in the kernel's scratch, so an emitting sink can return
/// HR_OUTPUT_FULL and be resumed.
class KernelEmitter : PipelineCode {
public:
  /// `pipeline` outlives the emitter.
  KernelEmitter(PipelineWithEntryMaps &pipeline, mlir::SymbolTable &states, mlir::ModuleOp target);

  /// Adds the function to the target module. The kernel's symbol is the pipeline's name.
  mlir::FailureOr<plan::Kernel> emit();
  /// Where rows can fail: HrError.place is an index into it.
  const std::vector<std::string> &places() const { return placeTexts_; }

private:
  void leaveWithError(mlir::Value code, mlir::Value place) override;
  void emitFailed();
  mlir::Value rankNumber() override;
  mlir::Value rankCount() override;
  std::pair<mlir::Value, mlir::Value> keyPlaces() override;
  mlir::Value keyBounds() override;
  mlir::Value outputCount();
  mlir::Value textBuffer() override;
  mlir::Value workerPointer() override { return worker_; }
  void keepString(mlir::Value owner, mlir::Value string) override;

  // kernel_emitter.cpp: prologue, sources, filters, maps
  void emitPrologue();
  mlir::LogicalResult emitSource(mlir::Operation *source);
  void decode(const Column &column);
  void decodeTo(mlir::Value cursor, const ColumnValue &column);
  void decodeRemaining();
  void skipRemaining();
  struct Condition;
  Condition conditionOf(pipe::FilterOp filter);
  mlir::LogicalResult emitFilters(std::vector<Condition> conditions);
  /// A filter's condition, and the share of the rows that it is expected to keep.
  struct Condition {
    std::shared_ptr<Expression> expression;
    double selectivity;
    bool hasBound; ///< it is of a state's bound, which moves
    mlir::Location location;
  };
  mlir::LogicalResult emitDenseFilter(llvm::ArrayRef<Condition> conditions);
  mlir::LogicalResult emitScalarFilter(const Condition &condition);

  // kernel_entry_maps.cpp
  struct Source;
  struct EntryColumn;
  struct EntryMap;
  /// Those that are to be moved on, tile by tile.
  static llvm::SmallVector<mlir::Value> cursorsOf(const Source &source);
  /// Before the tile loop: what the map makes of a text's entries becomes a source of columns.
  mlir::LogicalResult emitEntryMap(pipe::MapOp map);
  /// Makes the entries that this lane is asked to; the memory of all, or null if they are given up.
  mlir::FailureOr<mlir::Value> makeEntries(const EntryMap &map, mlir::Value column);
  llvm::SmallVector<mlir::Value> arraysOf(const EntryMap &map, mlir::Value column,
                                          mlir::Value memory);
  void openEntries(const EntryMap &map, mlir::Value column, mlir::Value memory);
  void decodeEntries(Source &source);
  void computeRows(const EntryMap &map);
  void logEntries(const Source &source);

  // kernel_lookup.cpp
  struct Lookup;
  mlir::LogicalResult emitLookup(pipe::LookupOp op);
  mlir::LogicalResult emitHashProbe(Lookup &lookup, mlir::Value base, mlir::Value end);
  mlir::LogicalResult emitDirectProbe(Lookup &lookup, mlir::Value base, mlir::Value end);
  void appendSettled(Lookup &lookup, mlir::Value row, mlir::Value there);
  void openChain(Lookup &lookup, mlir::Value openCount, mlir::Value row, mlir::Value head);
  mlir::LogicalResult emitRound(Lookup &lookup);
  mlir::FailureOr<mlir::Value> emitMatch(Lookup &lookup, mlir::Value row, mlir::Value match,
                                         mlir::Value base);
  mlir::FailureOr<mlir::Value> emitResidual(Lookup &lookup, RowReader &values, mlir::Value match);
  void emitBatchEnd(Lookup &lookup);
  void appendRow(Lookup &lookup, mlir::Value found, mlir::Value row, mlir::Value match,
                 mlir::Value one);
  void publishMatches(Lookup &lookup);

  // kernel_expand.cpp
  mlir::LogicalResult emitExpand(pipe::ExpandOp op);
  struct Reading {
    unsigned level = 0;
    bool takesLong = false;
  };
  Reading readingOf(const ColumnValue &column);
  void keepWhileRepeated();

  // kernel_sinks.cpp
  mlir::LogicalResult emitSink(mlir::Operation *sink);
  mlir::LogicalResult emitScalarCombine(pipe::CombineOp combine, const plan::State &state);
  /// Folds the tile's rows into some fields of the state's row: directly, or in registers
  /// meanwhile.
  mlir::LogicalResult combineFields(llvm::ArrayRef<plan::StateField> some, mlir::Value row,
                                    mlir::Value owner, bool inPlace,
                                    const RowReader::Raised &raised);
  mlir::LogicalResult emitInsert(pipe::InsertOp insert, const plan::State &state);
  pipe::RowsType emittedRows(pipe::EmitOp emit);
  mlir::LogicalResult emitEmit(pipe::EmitOp emit);
  /// A chunk that rows are written to.
  struct Output {
    mlir::Value target; ///< its number
    mlir::Value pointer, columns;
  };
  /// Asks for the lines of the texts among these columns, before they are copied row by row.
  mlir::LogicalResult askForTexts(llvm::ArrayRef<llvm::StringRef> names,
                                  std::optional<llvm::APFloat> textBytes);
  /// Writes a column of the reader's row to place `slot` of the chunk.
  mlir::LogicalResult emitColumn(pipe::RowsType rowsType, size_t column, RowReader &rows,
                                 const Output &output, mlir::Value slot);

  // kernel_groups.cpp
  mlir::LogicalResult emitGroupCombine(pipe::CombineOp combine, const plan::State &state);
  /// Hashes of the rows [base, end) into `hashes`; what a large table has for them is fetched
  /// ahead.
  mlir::Value hashOfStateRow(mlir::ArrayAttr keys, mlir::Value index);
  mlir::LogicalResult emitGroupHashes(pipe::CombineOp combine, const plan::State &state,
                                      mlir::Value table, mlir::Value hashes, mlir::Value base,
                                      mlir::Value end);
  /// Finds or adds the group of each row [base, end): its row of the state into `groups`.
  mlir::LogicalResult emitHashedGroups(const plan::State &state, mlir::Value table,
                                       mlir::Value hashes, mlir::Value groups, mlir::Value base,
                                       mlir::Value end);
  mlir::LogicalResult emitGroupUpdates(const plan::State &state, mlir::Value table,
                                       mlir::Value groups, mlir::Value base, mlir::Value end);
  // kernel_group_codes.cpp
  /// Whether all keys of the sink are small numbers. Takes over those that are texts of the source
  /// which nothing else reads.
  void prepareCodedKeys();
  /// Whether the pipeline reads a text that is a key for anything else.
  bool isReadBesideKey(mlir::StringAttr name);
  /// The keys that are texts, and how many combinations the others have, which go to smallKeys_;
  /// nothing if not all keys are small numbers.
  std::optional<int64_t> findCodedKeys(pipe::StateOp state, llvm::SmallVectorImpl<Column> &texts);
  Source &takeCodedKey(const Column &column);
  void emitCodedMorsel(int64_t smallCombinations);
  void emitCodedTile();
  /// Decodes the texts of this tile, unless that is done.
  void decodeTexts();
  /// Where the array of groups has the pointer for a row's keys.
  struct CodedPlace {
    mlir::Value pointer;
    mlir::Value isIn; ///< not: the place for what is out of bounds, which stays empty; null: it is
  };
  mlir::FailureOr<CodedPlace> codedPlace(RowReader &rows);
  /// Groups of the rows [base, end) by their keys' numbers; goes to `some` if there is a
  /// combination not met before.
  mlir::LogicalResult emitCodedGroups(mlir::Value groups, mlir::Value base, mlir::Value end,
                                      mlir::Block *all, mlir::Block *some);

  // shared
  /// Returns HR_STOPPED if the run was given up.
  void leaveIfStopped();
  /// Begins a level of rows that a stage lets through, and counts them at the head of the scratch.
  void beginLevel(Level level, double selectivity);
  /// Position of a state among the kernel's, for the log of work.
  int32_t statePosition(llvm::StringRef name) const {
    return static_cast<int32_t>(stateIndex_.lookup(name));
  }
  void logKeys(mlir::ArrayAttr keys);
  void logFold(const plan::StateField &field, plan::WorkKind fold);
  /// Bytes of the strings of a row of the newest level, as estimated.
  void logTexts(plan::WorkKind kind, std::optional<llvm::APFloat> bytes);
  RowReader reader(unsigned level, mlir::Value row, unsigned width = 0);
  mlir::Value scratch(int64_t bytes);
  /// The same, zero when a morsel begins.
  mlir::Value zeroedScratch(int64_t bytes);
  mlir::Value statePointer(llvm::StringRef name);
  mlir::Value boundedRows(llvm::StringRef state) override { return statePointer(state); }
  mlir::Value rowCount() { return b_.load(b_.getI64Type(), levels_.back().count); }
  unsigned level() const { return levels_.size() - 1; }

  mlir::Value args_, worker_, scratch_, morsel_, states_, outputs_;
  llvm::StringMap<mlir::Value> statePointers_;
  llvm::StringMap<unsigned> stateIndex_;
  std::vector<Level> levels_;
  WorkLog work_;
  bool rowsAnywhere_ = false; ///< those of the pipeline's source
  enum class SourceForm : uint8_t { kPages, kChunks } sourceForm_ = SourceForm::kPages;
  struct Source {
    Column column;
    mlir::Value cursor;
    bool decoded = false;
    bool consumed = false; ///< its cursor is advanced some other way
    /// Of a scan, as estimated: the form of its pages, their bytes a row, and those of a string.
    pipe::PageForm form = pipe::PageForm::Values;
    double pageBytes = 0;
    double textBytes = 0;
    double triedEntries = 0;           ///< of its dictionary, for each row
    std::shared_ptr<EntryMap> entries; ///< its columns are what this makes

    bool isCoded() const { return form != pipe::PageForm::Values; }
  };
  void askForRows(const plan::State &state, mlir::Value pointers, mlir::Value count);
  static void readPages(Source &source, pipe::ScanColumnAttr description);
  /// The work of decoding a column for the rows of a level.
  void logDecode(const Source &source, unsigned level);
  std::vector<Source> sources_;
  llvm::ArrayRef<pipe::MapOp> entryMaps_;
  mlir::Block *givesUp_ = nullptr; ///< where what fails leads, while entries are being made
  /// A key that is used by its code where the page has codes.
  struct CodedKey {
    Column column;
    mlir::Value cursor;
    mlir::Value texts;      ///< the cursor at the start of the tile
    mlir::Value map;        ///< slot: code -> offset in the array of groups
    mlir::Value nullOffset; ///< slot: what NULL has for an offset
    Column offsets;
  };
  /// An integer key of few values: least, least + 1, …; the place behind them is that of NULL.
  struct SmallKey {
    mlir::StringAttr name;
    int64_t least;
    int64_t extent;
    int64_t stride; ///< bytes in the array of groups
  };
  std::vector<CodedKey> codedKeys_;
  std::vector<SmallKey> smallKeys_;
  uint32_t dictionaryMaps_ = 0;
  bool hasCodes_ = false; ///< all keys are among these
  bool codedKeysPrepared_ = false;
  bool codesExpected_ = false; ///< the pages of all coded keys are thought to have codes
  mlir::Value codedGroups_;    ///< slot: pointers to groups, by combination of keys; null: this
                               ///< morsel has none
  mlir::Value codedEnd_;       ///< slot: bytes of it, behind which is one more place
  mlir::Value codedTile_;      ///< slot: not 0 if all keys of this tile are coded
  mlir::Value textsPending_;   ///< slot: not 0 if the keys' texts are not decoded yet
  /// Rows that an expand repeats.
  struct Repeating {
    unsigned level;
    mlir::Value firstRow; ///< ColumnValue.base
  };
  llvm::SmallVector<Repeating> repeating_;
  std::vector<Column> raisingColumns_;                                  ///< Expression.repeated
  std::map<std::pair<const Expression *, unsigned>, Reading> readings_; ///< by result
  RowReader::Memory memory_ = [this](int64_t bytes) { return zeroedScratch(bytes); };
  mlir::Block *init_ = nullptr;     ///< runs once a morsel, before all else
  mlir::Block *initTail_ = nullptr; ///< ends the code that runs once a morsel
  mlir::Block *tile_ = nullptr;     ///< starts the next tile
  mlir::Block *next_ = nullptr;     ///< where to go when the current rows are used up
  mlir::Block *done_ = nullptr;
  mlir::Block *failed_ = nullptr; ///< sets the error and leaves, if anything can fail
  mlir::Block *resume_ = nullptr; ///< the emitting sink's loop, if any
};

} // namespace headrace::lower
