// Looks up under a shared lock; inserts under an exclusive one.
#include "runtime/exec/dictionary.h"

#include "runtime/base/check.h"

#include <cstring>
#include <mutex>

namespace headrace::exec {

Expected<uint32_t> Dictionary::code(const HrString &text) {
  std::string_view key(reinterpret_cast<const char *>(text.data), text.length);
  {
    std::shared_lock lock(mutex_);
    if (auto found = codes_.find(key); found != codes_.end()) {
      return found->second;
    }
  }
  std::unique_lock lock(mutex_);
  if (auto found = codes_.find(key); found != codes_.end()) {
    return found->second;
  }
  if (texts_.size() >= UINT32_MAX) {
    // no test: it takes four billion texts
    return makeError(ErrorKind::kMemory, "dictionary state is full at ", texts_.size(), " strings");
  }
  HR_ASSIGN_OR_RETURN(uint8_t *bytes, strings_.allocate(text.length, 1));
  std::memcpy(bytes, text.data, text.length);
  auto code = static_cast<uint32_t>(texts_.size());
  HrString kept = text;
  kept.data = bytes;
  texts_.push_back(kept);
  codes_.emplace(std::string_view(reinterpret_cast<const char *>(bytes), text.length), code);
  return code;
}

HrString Dictionary::text(uint32_t code) const {
  std::shared_lock lock(mutex_);
  HR_CHECK(code < texts_.size());
  return texts_[code];
}

uint64_t Dictionary::size() const {
  std::shared_lock lock(mutex_);
  return texts_.size();
}

} // namespace headrace::exec
