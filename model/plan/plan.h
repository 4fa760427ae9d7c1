// The plan: what the compiler decided and the runtime executes. Plain structs, no LLVM, no I/O.
// One SPMD program for every rank of a role; `rank` and `size` are parameters, so the length of a
// plan does not grow with the number of ranks. Ids are indices into the vectors of Plan.
#pragma once

#include "model/plan/cardinality.h"
#include "model/plan/task.h"
#include "runtime/abi/kernel.h"
#include "runtime/base/logical_type.h"
#include "runtime/base/quantile.h"
#include "runtime/base/tier.h"

#include <cstdint>
#include <string>
#include <vector>

namespace headrace::plan {

inline constexpr int kSchemaMajor = 11;
inline constexpr int kSchemaMinor = 0;

/// A physical column, and how it is shown to the user if it is.
struct Column {
  std::string name;
  HrType type = HR_I64;
  LogicalType logical;
  bool nullable = false;
};

struct Schema {
  std::vector<Column> columns;
};

/// The place in the user's program that a task or an error comes from.
struct Place {
  std::string text;      ///< rendered SQL expression, or "file.py:12"
  std::string operation; ///< the logical operation ("join orders", "aggregate", "matmul")
};

// ---- inputs ----

/// `file column op literal` that every row of a wanted row group can satisfy; decided from
/// statistics. Literals are in the physical (scaled, days) domain of the column; strings in `text`.
enum class BoundKind : uint8_t { kEq, kLt, kLe, kGt, kGe };

struct Bound {
  std::string column; ///< name in the file
  BoundKind op = BoundKind::kEq;
  int64_t integer = 0;
  double real = 0;
  std::string text;
};

/// How the kernel that reads it was compiled: storage delivers exactly this, or fails.
struct SlotColumn {
  std::string file;      ///< column name in the file or Arrow stream
  LogicalType logical;   ///< logical type it must have there
  HrType type = HR_I64;  ///< physical type promised to the kernel (narrowest that holds [min, max])
  bool nullable = false; ///< false: a NULL found in the data is an error
  bool ranged =
      false; ///< true: every value lies in [min, max]; storage verifies this once per page
  int64_t min = 0;
  int64_t max = 0;
  bool ordered = false; ///< by and large, rows come in the order of its values; for the cost model
  double fileBytes = 0; ///< of a value in the file, as compressed there; 0: not known; likewise
  /// In no file: an i64 that grows from row to row, also from the rows of a rank to the next one's.
  bool ordinal = false;
};

/// A literal of a slot of values: what of it counts follows from its column's type.
struct Cell {
  bool null = false;
  int64_t integer = 0; ///< integers, scaled decimals, days, 0 or 1
  int64_t high = 0;    ///< upper half of an i128
  double real = 0;
  std::string text;
};

enum class SlotKind : uint8_t {
  kTable, ///< Parquet files or Arrow data
  kTensor,
  kValues, ///< nothing is bound: see cells
};

/// Of what the elements of a tensor are.
enum class Element : uint8_t { kF32, kF64, kI64 };
constexpr int64_t bytesOf(Element element) { return element == Element::kF32 ? 4 : 8; }

/// Rows that a rank keeps of those that it could read: by the place of a key in a cycle, as an
/// exchange by hash with that cycle along these axes would bring them.
struct Stretches {
  std::string column; ///< in the files; empty: all rows
  int64_t cycle = 0;
  std::vector<int32_t> axes;
};

/// An input of the program, bound at load to files, an Arrow stream or tensors.
struct Slot {
  std::string name; ///< table name, or parameter name of a traced function
  SlotKind kind = SlotKind::kTable;
  std::vector<SlotColumn> columns;
  std::vector<Bound> bounds; ///< conjunction
  Stretches stretches;       ///< tables: row groups without rows of these may be left out
  /// Tables: row groups of more than 1.5 times as many rows are read in pieces of about as many.
  uint32_t pieceRows = 128 << 10;
  std::vector<int64_t> shape;      ///< tensors: extents of the global value; -1 not known
  Element element = Element::kF32; ///< tensors
  bool resident = false;           ///< tensors: each rank has its part, which it reads in place
  std::vector<Cell> cells;         ///< values: row after row
};

// ---- states ----

enum class StateKind : uint8_t {
  kScalar,     ///< HrScalarState: aggregate without keys
  kGroupTable, ///< HrGroupTable: hash aggregate, distinct
  kJoinTable,  ///< built as HrRowBuffer per worker, finished into one HrJoinTable per rank
  kSortBuffer, ///< HrRowBuffer per worker, finished into rows in order (limit: the first)
  kRowBuffer,  ///< HrRowBuffer per worker: rows kept to be read again, in no order
  kWindow,     ///< likewise, finished into rows with computed fields (windows), by partition
};

/// What a field of a state does when a row meets another.
enum class Combine : uint8_t {
  kKey, ///< decides which rows meet
  kSum,
  kSumDoubleDouble, ///< of the unevaluated sums of two doubles
  kMin,
  kMax,
  kPayload,  ///< rows do not meet: join tables, sort and row buffers
  kComputed, ///< by a window function that folds nothing
  kBitAnd,
  kBitOr,
  kBitXor,
  kProduct, ///< of doubles
};

struct StateField {
  std::string name;
  HrType type = HR_I64;
  uint32_t offset = 0; ///< bytes from the start of the row
  bool nullable = false;
  uint32_t validOffset = 0; ///< nullable: offset of a byte, 1 = valid
  Combine combine = Combine::kPayload;
};

enum class WindowFunction : uint8_t {
  kRowNumber,
  kRank,
  kDenseRank,
  kPercentRank,
  kCumeDist,
  kNtile,
  kLag,
  kLead,
  kFirstValue,
  kLastValue,
  kNthValue,
  kCount,   ///< rows of the frame, or those whose input is not NULL
  kFold,    ///< the inputs of the frame, as the result's field combines
  kCollect, ///< all lists of the partition as one, in its first row; or of a frame, in each row
  kMode,    ///< the most frequent input of the frame, of several the first
  /// A list of the quantiles of the frame's elements in `order`; inputs are lists of one.
  kQuantiles,
};

enum class FrameUnit : uint8_t { kRows, kRange, kGroups };
enum class FrameEdge : uint8_t {
  kUnboundedPreceding,
  kPreceding,
  kCurrentRow,
  kFollowing,
  kUnboundedFollowing,
};
enum class FrameExclusion : uint8_t { kNone, kCurrentRow, kGroup, kTies };

/// A number of rows: that in a field, or always the same.
struct RowCount {
  int32_t field = kNone;
  int64_t number = 0;
};

/// Where a frame begins or ends. Of kRange the field of the distance has the value of the only
/// order key up to which the frame goes.
struct FrameBound {
  FrameEdge edge = FrameEdge::kUnboundedPreceding;
  RowCount distance;
};

/// A field of a window state that is computed from the rows around each row: those of a frame, or
/// the whole partition.
struct WindowColumn {
  WindowFunction function = WindowFunction::kRowNumber;
  int32_t result = kNone; ///< field
  int32_t input = kNone;  ///< field; none: no value, or every row counts
  /// ntile's parts, how far lag and lead go, which value is nth, how many lists are collected (of
  /// no field, and 0: all).
  RowCount count;
  int32_t otherwise = kNone; ///< lag and lead: the field for rows that have no such row
  bool ignoreNulls = false;
  /// kCount, kFold: each value counts once; kCollect, kQuantiles: of rows that are equal in `order`
  /// one does.
  bool distinct = false;
  FrameUnit unit = FrameUnit::kRows;
  FrameBound start;
  FrameBound end;
  FrameExclusion exclude = FrameExclusion::kNone;
  std::vector<OrderKey> order; ///< of the rows of the frame; empty: that of the state
  QuantileKind quantileKind = QuantileKind::kDiscrete;
  std::vector<QuantileShare> shares; ///< of kQuantiles, in the order of the list

  /// A frame does not end where it begins.
  bool hasFrame() const { return end.edge != FrameEdge::kUnboundedPreceding; }
};

/// How a join table finds the rows of a key.
enum class Directory : uint8_t {
  kHash,  ///< an entry for each of the bits of a hash
  kArray, ///< an entry for each integer of a range
  kRanks, ///< an entry for each integer of a range that is there; a GPU goes by hash instead
};

struct State {
  std::string name;
  StateKind kind = StateKind::kScalar;
  /// kDevice: filled and read on the rank's GPU alone. kHost: what a GPU fills is copied to the
  /// host when its tasks have ended.
  Tier tier = Tier::kHost;
  uint32_t rowBytes = 0; ///< including the header (group: hash; join: next, hash)
  std::vector<StateField> fields;
  std::vector<uint8_t> identity; ///< rowBytes bytes: what a fresh row holds
  Cardinality rows;
  int32_t mergeKernel = kNone; ///< combines rows of another copy into this one (source: stateRows)
  int32_t linkKernel = kNone;  ///< join, on a GPU: enters its rows into the directory
  uint64_t limit = 0;  ///< sort: keep the first `limit` rows, window: of each partition; 0 = all
  uint64_t offset = 0; ///< sort: of these, who reads it does not see the first `offset`
  /// Sort with a limit: the first rows of a source are the first here, or as good as any. Who fills
  /// it need not read on when he has as many.
  bool firstCome = false;
  std::vector<OrderKey> order; ///< sort, window
  /// Sort: by how many words of its keys, of up to 64 bits, a row is told from the others; as
  /// estimated.
  double orderWords = 1;
  // Windows: partitions are by the key fields, whose hash the row begins with.
  std::vector<WindowColumn> windows;
  Directory directory = Directory::kHash; ///< join
  // Join tables whose directory goes by an integer key - base.
  bool direct() const { return directory != Directory::kHash; }
  uint32_t directKeyOffset = 0;
  HrType directKeyType = HR_I64;
  int64_t base = 0;
  uint64_t extent = 0;
  int32_t place = kNone;
};

// ---- streams, kernels, buffers, holes ----

/// A bounded channel of chunks between two tasks of one rank.
struct Stream {
  std::string name;
  Schema schema;
  uint32_t capacityChunks = 4;
  uint32_t chunkRows = 65536;
  Tier tier = Tier::kHost; ///< of its chunks
  Cardinality rows = {};   ///< of one rank, as estimated; all zero: not known
  uint32_t writers = 1;    ///< run tasks that write it, each until its own end
  double textBytes = 0;    ///< of a row: all its strings, as estimated; for the cost model
  /// Before an exchange by hash: the rows that the fullest rank is expected to get of it, against
  /// an even share.
  double fullest = 1;
  /// Not 0: no channel, but rows that are kept until all are there, in so many parts by the hash of
  /// the keys, on disk where memory is short. A repeat task reads them, part after part.
  uint32_t parts = 0;
};

enum class LiteralKind : uint8_t { kInteger, kI128, kReal, kString };
struct Literal {
  LiteralKind kind = LiteralKind::kInteger;
  uint32_t offset = 0; ///< bytes in the literal block: 8 (integer, real) or 16 (i128, HrString)
  int64_t integer = 0;
  int64_t high = 0; ///< upper half of an i128
  double real = 0;
  std::string text;
};

/// What kernels spend their time on; the cost model has a time for each. A unit is one row of the
/// level, unless said otherwise. What is decoded at level 1 is read for the rows that the first
/// stage lets through only.
enum class WorkKind : uint8_t {
  kRow,            ///< a row in flight: cursors, and the loops of its tile
  kDecode,         ///< a value copied from a page of values
  kDecodeCode,     ///< a value of a dictionary that registers hold
  kDecodeGathered, ///< a value of a larger dictionary
  kDecodeByte,     ///< a byte of a value that is written
  kDecodeString,   ///< a string of a dictionary
  kDecodeText,     ///< a string copied from a page of strings
  kPageByte,       ///< a byte of a page
  kPageTextByte,   ///< a byte of the texts that a page of texts points to
  kMapped,         ///< a dictionary code looked up in a table that was made once a morsel
  kTake,           ///< a value taken from a chunk
  kTakeString,     ///< a string taken from a chunk
  kSelect,         ///< a row offered to a filter on vectors
  kVectorByte,     ///< a byte of a vector that an op makes
  kScalar,         ///< an op on the values of one row, or a value read for them
  kWide,           ///< an op on 128 bits
  kDivide,         ///< a division
  kDatePart,       ///< a year, month or day of a date
  kCompareString,  ///< two strings compared
  kMatchString,    ///< a string searched or cut
  kSearchByte,     ///< a byte of a string that is searched
  kText,           ///< a string made of others, printed, parsed or measured
  kTextByte,       ///< a byte of the strings that it is made of
  kHash,           ///< a key hashed
  kHashString,     ///< a string hashed
  kHashByte,       ///< a byte of a string that is hashed, and compared with a group's
  kProbe,          ///< a row looked up in a join table's directory
  kMatch,          ///< a match found there
  kFold,           ///< a value folded into a field of an aggregate that is in registers
  kFoldGroup,      ///< a value folded into a field of a group
  kFoldReal,       ///< beside that, where it is a floating-point number
  kGroup,          ///< a row's group found or added
  kInsert,         ///< a row appended to a state
  kInsertByte,     ///< a byte of such a row
  kEmit,           ///< a row written to a chunk
  kEmitByte,       ///< a byte of such a row
  kEmitString,     ///< a string written to a chunk
  kKeepString,     ///< a string written to where a state keeps its strings
  kCopyByte,       ///< a byte of such strings
  kPartition,      ///< a row given to one of several chunks
  kReadRow,        ///< a row of a state read
  kElement,        ///< tensors: an element of the loop nest (level 0 has all of them)
  kElementOp,      ///< tensors: an op on an element
  kElementMath,    ///< tensors: an exponential or the like
  kElementAcross,  ///< tensors: an element reduced into one that is not its neighbour's
};

/// Work of one kind that a kernel does for each row of a level.
struct Work {
  WorkKind kind = WorkKind::kRow;
  uint32_t level = 0; ///< 0: rows of the source; n: rows that the n-th selecting stage lets through
  double amount = 1;  ///< units a row
  int32_t state = kNone; ///< position among the task's states of the one that is looked into
};

struct Kernel {
  std::string symbol;      ///< exported by kernels.<arch>.so, or by its image for GPUs
  std::string contentHash; ///< key of the cached object
  uint32_t scratchBytes = 0;
  uint32_t literalBytes = 0;
  uint32_t threads = 0; ///< not 0: it is for GPUs, in blocks of so many threads at most
  std::vector<Literal> literals;
  std::vector<int32_t> places; ///< HrError.place -> Plan.places
  std::vector<Work> work;      ///< in the order of its stages; empty: not known
  /// Of each selecting stage: the rows that it is expected to let through for each that comes in.
  std::vector<double> selectivity;
  std::vector<int32_t> stageOperators; ///< likewise: which operator it is, or kNone
};

/// An extent that only the run knows.
inline constexpr int64_t kUnknownExtent = -1;

/// How a dimension of a tensor is divided over the ranks along axes of the mesh, the first the
/// slowest: evenly (MeshPosition::along says which part is a rank's: part i of n has
/// [i*extent/n, (i+1)*extent/n)), or into as many rows as each rank happened to get.
struct Split {
  int32_t dimension = kNone;
  std::vector<int32_t> axes; ///< of Plan.mesh
  bool ragged = false;
};

/// A tensor on a rank. Local extents follow from `shape`, `splits` and the place in the mesh. An
/// unknown extent follows from the rows that the first buffer of a to_tensor task gets, on this
/// rank (a ragged split) or on all of them.
struct Buffer {
  std::string name;
  Tier tier = Tier::kHost;
  Element element = Element::kF32;
  std::vector<int64_t> shape;     ///< global extents
  std::vector<Split> splits = {}; ///< of dimensions that are not whole on each rank
  uint64_t bytes = 0;             ///< upper bound on any rank
  int32_t sizedBy = kNone; ///< with an unknown extent: the buffer of to_tensor whose rows it counts

  /// How a dimension is divided, or null.
  const Split *splitOf(int32_t dimension) const;
};

/// Rows that the plan leaves to the run, with bounds.
struct Hole {
  std::string name;
  Cardinality bounds;
  int32_t producer = kNone; ///< task
  bool agreed = false;      ///< true: summed over all ranks before use
};

// ---- what was decided, for people ----

/// An op of one rank's program, as explanations show it.
struct Operator {
  std::string name;            ///< "scan lineitem", "join inner", "exchange hash", "matmul"
  std::string detail;          ///< keys, a condition, measures, a shape
  std::vector<int32_t> inputs; ///< operators; of a join the left side first
  std::string where;           ///< on which ranks its result lies: "every rank", "rank 0", "parts"
  bool replicated = false;     ///< every rank holds all of its result
  std::string way;        ///< how the solver has it run: "broadcast right"; empty: it had no choice
  double rows = -1;       ///< of its result, as estimated; replicated ones count once; -1: no table
  double bytes = -1;      ///< likewise
  double seconds = -1;    ///< of its work on a rank, as the solver estimates; -1: not known
  double movedBytes = -1; ///< likewise, what all ranks send for it; -1: nothing moves
  std::string runnerUp;   ///< the cheapest other way, or empty
  double runnerUpSeconds = 0; ///< of the whole program with it
};

struct Explanation {
  std::string note;     ///< what was there before the compiler decided: a record of the tuner
  std::string topology; ///< its name
  int64_t ranks = 1;
  double totalSeconds = 0; ///< as the solver estimates
  double boundSeconds = 0; ///< no layout is cheaper; 0: not known, since the layout was forced
  double solveSeconds = 0;
  double memoryBytes = 0; ///< the most that a rank holds at a time, by estimates
  double memoryBytesMax = 0;
  std::string order;          ///< how the order of the tasks was found; empty: as they came
  std::string whyNothingFits; ///< if it is more than there is, and nothing else was found
  std::vector<Operator> operators;
};

struct MeshAxis {
  std::string name;
  uint32_t size = 1;
};

/// A compiled program for one role.
struct Plan {
  int schemaMajor = kSchemaMajor;
  int schemaMinor = kSchemaMinor;
  int abiVersion = HR_ABI_VERSION;
  std::string importsHash; ///< of the catalogue of primitives the kernels were compiled against
  std::string topologyHash;
  std::string isa = "x86-64"; ///< "x86-64", "x86-64-v3", "x86-64-v4"
  std::string program;        ///< the user's text, for messages
  std::vector<MeshAxis> mesh;
  std::vector<Place> places;
  std::vector<Slot> slots;
  std::vector<State> states;
  std::vector<Stream> streams;
  std::vector<Kernel> kernels;
  std::vector<Buffer> buffers;
  std::vector<Hole> holes;
  std::vector<Task> tasks; ///< in the order in which workers prefer them, see precedence.h
  Schema result;           ///< of a table result; empty for tensors
  bool ordered = false;    ///< the result's rows have an order
  bool resident = false;   ///< the result's rows or tensors stay on the ranks, each with its own
  std::vector<std::string> residentKeys; ///< columns by whose hash they are divided; empty: anyhow
  /// Nothing from before the run has the keys of ranks: a run may give slow ranks fewer.
  bool movableKeys = false;
  Explanation explanation;
};

} // namespace headrace::plan
