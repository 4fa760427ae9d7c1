// Tables as Arrow IPC files (".arrow", the format that Feather version 2 is).
#pragma once

#include "runtime/base/status.h"

#include <string>

struct ArrowArrayStream;

namespace headrace::storage {

/// Takes over the stream and writes it to its end; the stream is released, also on errors. On an
/// error the file may be there in part: the caller removes it. Errors: kIo.
Status writeIpcFile(ArrowArrayStream *stream, const std::string &path);

} // namespace headrace::storage
