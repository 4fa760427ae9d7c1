// A CSV file that is compressed or of another dialect as a plain one, which the fast readers read.
#pragma once

#include "runtime/storage/csv/csv_format.h"
#include "runtime/storage/files/input_file.h"

#include <memory>

namespace headrace::storage {

/// The records of `input` in a temporary file, line for line, in the plain form that `format` says.
/// Lines of comments and, where `drops` says so, records that cannot be read are empty lines there,
/// or none where those are records. Reads all of the file. kData: a quote that does not belong; as
/// InputFile, ByteReader and TemporaryFile.
Expected<std::shared_ptr<const InputFile>> plainForm(std::shared_ptr<const InputFile> input,
                                                     const CsvFormat &format);

/// "FILE, line N: a quote inside of a value …".
Status misplacedQuote(const std::string &path, uint64_t line);

} // namespace headrace::storage
