// Storage's sources behind exec's OpenSource.
#include "runtime/exec/inputs.h"

#include <utility>

namespace headrace::exec {

OpenSource openFiles(std::shared_ptr<storage::Storage> storage, std::vector<std::string> paths,
                     std::vector<storage::FileIdentity> manifest) {
  return [storage = std::move(storage), paths = std::move(paths),
          manifest = std::move(manifest)](const plan::Slot &slot, storage::Share share) {
    return storage->scan(slot, paths, manifest, share);
  };
}

OpenSource openArrow(std::shared_ptr<const storage::ArrowTable> table) {
  return [table = std::move(table)](const plan::Slot &slot, storage::Share share) {
    return table->scan(slot, share);
  };
}

} // namespace headrace::exec
