// Reads and writes of a folder's disk, through a file that never has a name.
#pragma once

#include "runtime/base/status.h"

#include <string>

namespace headrace::topo {

struct DiskRates {
  double readBytesPerSecond = 0;
  double writeBytesPerSecond = 0;
  double latencySeconds = 0; ///< of one read of 4 KiB
};

/// Writes up to 256 MiB, stopping after a second. Whatever happens, nothing stays behind.
/// Errors: kIo.
Expected<DiskRates> measureDisk(const std::string &folder);

/// Bytes of the file system that a folder is on; 0 if it cannot be asked.
double fileSystemBytes(const std::string &folder);

} // namespace headrace::topo
