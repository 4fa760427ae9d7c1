// Which Parquet files a user means by a table, or by tables: files, folders, patterns.
#pragma once

#include "runtime/base/status.h"

#include <map>
#include <string>
#include <vector>

namespace headrace::exec {

/// Paths by table name.
using TablePaths = std::map<std::string, std::vector<std::string>>;

/// The files of one table: a file, the Parquet files of a folder and of its folders KEY=VALUE in
/// the order of their names, or of all that a pattern matches; "~" is the home directory. Errors:
/// kIo if there are none.
Expected<std::vector<std::string>> tableFiles(const std::string &text);

/// Adds the tables that a text means:
///   DIR        every NAME.parquet in it, and every folder NAME of Parquet files; one table, named
///              as the folder, if there are folders KEY=VALUE in it
///   FILE       one table, named as the file without its suffix
///   PATTERN    of what it matches, every NAME.parquet and every folder NAME of Parquet files
///   NAME=PATH  one table, as by tableFiles(); the same name again adds files
/// Errors: kIo if there are none or one cannot be read; kUser for a table that is there already.
Status addTables(TablePaths &tables, const std::string &text);

} // namespace headrace::exec
