// A dictionary state: string -> dense number, one for all workers of a rank.
#pragma once

#include "runtime/abi/kernel.h"
#include "runtime/base/status.h"
#include "runtime/exec/memory_account.h"

#include <deque>
#include <memory>
#include <shared_mutex>
#include <string_view>
#include <unordered_map>

namespace headrace::exec {

/// Numbers strings from 0 in the order of their first appearance. Thread-safe. Owns the bytes.
class Dictionary {
public:
  explicit Dictionary(std::shared_ptr<MemoryAccount> account) : strings_(std::move(account)) {}

  Expected<uint32_t> code(const HrString &text);
  /// A string that code() has numbered.
  HrString text(uint32_t code) const;
  uint64_t size() const;

private:
  mutable std::shared_mutex mutex_;
  BumpArena strings_;
  std::deque<HrString> texts_;
  std::unordered_map<std::string_view, uint32_t> codes_;
};

} // namespace headrace::exec
