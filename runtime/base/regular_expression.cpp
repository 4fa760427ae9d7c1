// Patterns are compiled once a thread: RE2's own caches are locked when threads share one.
#include "runtime/base/regular_expression.h"

#include "runtime/base/stop.h"
#include "runtime/base/utf8.h"

#include <algorithm>
#include <array>
#include <memory>
#include <re2/re2.h>
#include <string>

namespace headrace::regular_expression {
namespace {

using re2::RE2;
using re2::StringPiece;

/// What RE2 may take for a pattern: of programs and automata, which it makes as it reads.
constexpr int64_t kPatternBytes = 2 << 20;

struct Options {
  RE2::Options re2;
  bool everywhere = false; ///< 'g'
};

std::optional<Options> read(std::string_view letters) {
  Options options;
  options.re2.set_log_errors(false);
  options.re2.set_max_mem(kPatternBytes);
  for (const char letter : letters) {
    switch (letter) {
    case 'c':
    case 'i':
      options.re2.set_case_sensitive(letter == 'c');
      break;
    case 'l':
      options.re2.set_literal(true);
      break;
    case 's':
      options.re2.set_dot_nl(true);
      break;
    case 'm':
    case 'n':
    case 'p':
      options.re2.set_dot_nl(false);
      break;
    case 'g':
      options.everywhere = true;
      break;
    case ' ':
    case '\t':
    case '\n':
      break;
    default:
      return std::nullopt;
    }
  }
  return options;
}

/// What the search for a match takes, about.
constexpr size_t kStepsOfMatch = 64;

struct Compiled {
  std::string pattern, options;
  bool everywhere = false;
  std::unique_ptr<RE2> re2; ///< null: an option is none
};

/// The last few patterns of a thread.
class Patterns {
public:
  /// Valid until the next call; null if RE2 refuses it.
  const Compiled *find(std::string_view pattern, std::string_view options) {
    auto *found = std::ranges::find_if(kept_, [&](const Compiled &one) {
      return one.re2 && one.pattern == pattern && one.options == options;
    });
    if (found == kept_.end()) {
      found = &kept_[next_++ % kept_.size()];
      *found = {std::string(pattern), std::string(options), false, nullptr};
      if (std::optional<Options> read = regular_expression::read(options)) {
        found->everywhere = read->everywhere;
        found->re2 = std::make_unique<RE2>(StringPiece(pattern.data(), pattern.size()), read->re2);
      }
    }
    return found->re2 && found->re2->ok() ? found : nullptr;
  }

private:
  std::array<Compiled, 4> kept_;
  size_t next_ = 0;
};

const Compiled *compiled(std::string_view pattern, std::string_view options) {
  thread_local Patterns patterns;
  return patterns.find(pattern, options);
}

/// For what reads a text and replaces nothing.
const RE2 *reader(std::string_view pattern, std::string_view options) {
  const Compiled *found = compiled(pattern, options);
  return found && !found->everywhere ? found->re2.get() : nullptr;
}

std::string_view made(TextRoom &room, const std::string &text) {
  return room.make(text.size(), [&](char *to) { return std::ranges::copy(text, to).out; });
}

} // namespace

std::optional<bool> matchesPart(std::string_view text, std::string_view pattern,
                                std::string_view options) {
  const RE2 *re2 = reader(pattern, options);
  return re2 ? std::optional(RE2::PartialMatch(StringPiece(text.data(), text.size()), *re2))
             : std::nullopt;
}

std::optional<bool> matchesWhole(std::string_view text, std::string_view pattern,
                                 std::string_view options) {
  const RE2 *re2 = reader(pattern, options);
  return re2 ? std::optional(RE2::FullMatch(StringPiece(text.data(), text.size()), *re2))
             : std::nullopt;
}

std::optional<std::string_view> firstMatch(std::string_view text, std::string_view pattern,
                                           int64_t group, std::string_view options) {
  constexpr int kGroups = 10;
  const RE2 *re2 = reader(pattern, options);
  if (!re2 || group < 0 || group >= kGroups) {
    return std::nullopt;
  }
  StringPiece groups[kGroups];
  const bool there = group <= re2->NumberOfCapturingGroups() &&
                     re2->Match(StringPiece(text.data(), text.size()), 0, text.size(),
                                RE2::UNANCHORED, groups, static_cast<int>(group) + 1) &&
                     groups[group].data();
  return there ? std::string_view(groups[group].data(), groups[group].size()) : text.substr(0, 0);
}

std::optional<std::vector<std::optional<std::string_view>>> allMatches(std::string_view text,
                                                                       std::string_view pattern,
                                                                       int64_t group,
                                                                       std::string_view options) {
  const RE2 *re2 = reader(pattern, options);
  if (!re2) {
    return std::nullopt;
  }
  const int64_t groupsMax = re2->NumberOfCapturingGroups();
  std::vector<std::optional<std::string_view>> found;
  std::vector<StringPiece> groups(static_cast<size_t>(std::clamp<int64_t>(group, 0, groupsMax)) +
                                  1);
  const StringPiece whole(text.data(), text.size());
  StopCheck check;
  for (size_t from = 0; group >= 0 && from <= text.size();) {
    if (check.isStoppedAfter(kStepsOfMatch) ||
        !re2->Match(whole, from, text.size(), RE2::UNANCHORED, groups.data(),
                    static_cast<int>(groups.size()))) {
      break;
    }
    if (group > groupsMax) { // of a match alone
      return std::nullopt;
    }
    const StringPiece &wanted = groups.back();
    found.push_back(wanted.data() ? std::optional(std::string_view(wanted.data(), wanted.size()))
                                  : std::nullopt);
    from = static_cast<size_t>(groups[0].data() - text.data()) + groups[0].size();
    if (groups[0].empty()) {
      from += from < text.size() ? utf8::firstBytes(text.substr(from)) : 1;
    }
  }
  return found;
}

std::optional<std::vector<std::string_view>> split(std::string_view text, std::string_view pattern,
                                                   std::string_view options) {
  const RE2 *re2 = reader(pattern, options);
  if (!re2) {
    return std::nullopt;
  }
  std::vector<std::string_view> parts;
  const StringPiece whole(text.data(), text.size());
  size_t from = 0;
  StopCheck check;
  for (StringPiece match; !check.isStoppedAfter(kStepsOfMatch) &&
                          re2->Match(whole, from, text.size(), RE2::UNANCHORED, &match, 1);) {
    size_t begin = static_cast<size_t>(match.data() - text.data());
    if (match.empty() && begin == from) {
      begin += begin < text.size() ? utf8::firstBytes(text.substr(begin)) : 1;
      if (begin >= text.size()) {
        break;
      }
    }
    parts.push_back(text.substr(from, begin - from));
    from = begin + match.size();
  }
  parts.push_back(text.substr(from));
  return parts;
}

std::optional<std::string_view> replaced(TextRoom &room, std::string_view text,
                                         std::string_view pattern, std::string_view by,
                                         std::string_view options) {
  const Compiled *found = compiled(pattern, options);
  const StringPiece rewrite(by.data(), by.size());
  std::string ignored;
  if (!found || !found->re2->CheckRewriteString(rewrite, &ignored)) {
    return std::nullopt;
  }
  std::string out(text);
  const bool changed = found->everywhere ? RE2::GlobalReplace(&out, *found->re2, rewrite) > 0
                                         : RE2::Replace(&out, *found->re2, rewrite);
  return changed ? made(room, out) : text;
}

std::string_view escaped(TextRoom &room, std::string_view text) {
  return made(room, RE2::QuoteMeta(StringPiece(text.data(), text.size())));
}

} // namespace headrace::regular_expression
