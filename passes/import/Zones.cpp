// Time zones by their names.
#include "passes/import/Zones.h"

#include "runtime/base/zone_rules.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <algorithm>
#include <vector>

using namespace mlir;
using namespace headrace::import;

/// What ICU has besides the files.
static constexpr std::pair<StringRef, StringRef> kAliases[] = {
    {"ACT", "Australia/Darwin"},
    {"AET", "Australia/Sydney"},
    {"AGT", "America/Argentina/Buenos_Aires"},
    {"ART", "Africa/Cairo"},
    {"AST", "America/Anchorage"},
    {"BET", "America/Sao_Paulo"},
    {"BST", "Asia/Dhaka"},
    {"CAT", "Africa/Maputo"},
    {"CNT", "America/St_Johns"},
    {"CST", "America/Chicago"},
    {"CTT", "Asia/Shanghai"},
    {"EAT", "Africa/Addis_Ababa"},
    {"ECT", "Europe/Paris"},
    {"IET", "America/Indiana/Indianapolis"},
    {"IST", "Asia/Kolkata"},
    {"JST", "Asia/Tokyo"},
    {"MIT", "Pacific/Apia"},
    {"NET", "Asia/Yerevan"},
    {"NST", "Pacific/Auckland"},
    {"PLT", "Asia/Karachi"},
    {"PNT", "America/Phoenix"},
    {"PRT", "America/Puerto_Rico"},
    {"PST", "America/Los_Angeles"},
    {"SST", "Pacific/Guadalcanal"},
    {"VST", "Asia/Ho_Chi_Minh"},
};

const llvm::StringMap<std::string> &Zones::names() {
  if (!names_.empty() || folder_.empty()) {
    return names_;
  }
  std::error_code error;
  const size_t prefix = folder_.size() + 1;
  for (llvm::sys::fs::recursive_directory_iterator entry(folder_, error), end;
       entry != end && !error; entry.increment(error)) {
    const StringRef name = StringRef(entry->path()).drop_front(prefix);
    const bool isCopy = name.starts_with("posix/") || name.starts_with("right/") ||
                        name == "localtime" || name == "posixrules";
    if (!isCopy && !name.contains('.') &&
        entry->type() != llvm::sys::fs::file_type::directory_file) {
      names_[name.lower()] = name.str();
    }
  }
  return names_;
}

std::optional<std::string> Zones::rulesOf(StringRef name) {
  auto [known, isNew] = rules_.try_emplace(name);
  if (isNew) {
    known->second = rulesRead(name);
  }
  return known->second;
}

std::optional<std::string> Zones::rulesRead(StringRef name) {
  if (std::optional<int32_t> offset = headrace::fixedOffset(name)) {
    return headrace::ZoneTable{.firstOffset = *offset}.packed();
  }
  const auto *alias = llvm::find_if(
      kAliases, [&](const auto &known) { return known.first.equals_insensitive(name); });
  const StringRef wanted = alias == std::end(kAliases) ? name : alias->second;
  auto found = names().find(wanted.lower());
  if (found == names().end()) {
    return std::nullopt;
  }
  auto file = llvm::MemoryBuffer::getFile(folder_ + "/" + found->second);
  return file ? headrace::zoneOfFile({(*file)->getBufferStart(), (*file)->getBufferSize()})
              : std::nullopt;
}

const std::string &Zones::all() {
  if (all_.empty()) {
    std::vector<std::pair<std::string, std::string>> zones;
    for (const auto &entry : names()) {
      if (std::optional<std::string> rules = rulesOf(entry.getKey())) {
        zones.emplace_back(entry.getKey().str(), std::move(*rules));
      }
    }
    for (const auto &[alias, name] : kAliases) {
      if (std::optional<std::string> rules = rulesOf(name)) {
        zones.emplace_back(alias.lower(), std::move(*rules));
      }
    }
    std::sort(zones.begin(), zones.end());
    all_ = headrace::packedZones(zones);
  }
  return all_;
}

StringRef Zones::session() {
  if (!spelt_ && session_.empty()) {
    spelt_.emplace();
  }
  if (!spelt_) {
    auto known = names().find(StringRef(session_).lower());
    spelt_ = known == names().end() ? session_ : known->second;
    if (rulesOf(session_) == rulesOf("UTC")) {
      spelt_->clear();
    }
  }
  return *spelt_;
}
