// The way to a file, whether it is here or in a store.
#pragma once

#include "runtime/storage/input_file.h"

namespace headrace::storage {

/// A path, or an address of a store, which is not asked for what is `known` of the file already.
/// kUser: not a regular file; kIo: it cannot be opened.
Expected<std::shared_ptr<const InputFile>> openFile(const std::string &path,
                                                    const FileStamp *known = nullptr);

} // namespace headrace::storage
