// Columns whose values no file holds: those of a file's folder (year=2024/x.parquet), its name, and
// NULL for a column that only other files of the table have. They are part of the file's address.
#pragma once

#include "model/plan/plan.h"
#include "runtime/base/logical_type.h"
#include "runtime/memory/budget.h"
#include "runtime/storage/columns/held_chunk.h"
#include "runtime/storage/files/input_file.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace headrace::storage {

/// A source as it is named everywhere: a path, and behind it what its bytes mean and which columns
/// it is given, where that is not a Parquet file alone: PATH?{"format":"csv",...}.
struct Address {
  std::string path;
  nlohmann::json reader; ///< null: Parquet, and nothing given
  /// Which version of a file in a store is meant; nothing: the one that is there.
  std::optional<FileStamp> version;

  /// kUser: the text behind the path is no JSON.
  static Expected<Address> of(const std::string &text);
  const FileStamp *known() const { return version ? &*version : nullptr; }
  /// Of Parquet: what byte arrays are that are said to be nothing else.
  bool bytesAreTexts() const {
    return !reader.is_null() && reader.value("binary_as_string", false);
  }
  bool isCsv() const { return !reader.is_null() && reader.value("format", "") == "csv"; }
};

/// The same value in all rows of a file, or the number of each row in it, from 0.
struct GivenColumn {
  std::string name;
  LogicalType type;
  bool counts = false;  ///< its value is a number
  nlohmann::json value; ///< null; an integer in the domain of the type (days, units); or a text

  __int128 integer() const { return value.get<int64_t>(); }
  /// False only if no row of the file can satisfy the bound.
  bool canSatisfy(const plan::Bound &bound) const;
};

/// What a file is given. Immutable.
struct GivenColumns {
  std::vector<GivenColumn> columns;
  /// The table has the columns of all its files, by name; a file that lacks one has NULL there.
  bool unionByName = false;

  /// "given" and "union_by_name" of an address. kUser: something else is there.
  static Expected<GivenColumns> of(const nlohmann::json &reader);
  const GivenColumn *find(const std::string &name) const;
  /// False only if no row can satisfy all bounds.
  bool canSatisfy(const std::vector<plan::Bound> &bounds) const;
};

/// The columns of a table, by what several of its files are given. `addColumns`: the columns of the
/// files; those that are given stand behind, or instead of one of the same name.
/// `perFile`: the rows of each file and what it is given; all are given the same columns.
void describeGiven(const std::vector<std::pair<uint64_t, const GivenColumns *>> &perFile,
                   nlohmann::json &columns, nlohmann::json &unsupported);

/// `rows` times the value of a column, of which the first is the `place`-th in its file; null:
/// NULL. kMemory.
Expected<HeldChunkHandle> givenChunk(const GivenColumn *column, HrType type, uint64_t place,
                                     uint64_t rows, Reservation &memory);

} // namespace headrace::storage
