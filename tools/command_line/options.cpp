// Walks the arguments; finds the nearest name for one that is not known.
#include "tools/command_line/options.h"

#include "runtime/base/path_text.h"
#include "runtime/base/settings.h"

#include <algorithm>
#include <numeric>

namespace headrace {
namespace {

/// Letters to insert, delete or replace.
size_t distance(const std::string &left, const std::string &right) {
  std::vector<size_t> row(right.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 0; i < left.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < right.size(); ++j) {
      size_t replaced = diagonal + (left[i] != right[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

} // namespace

Options &Options::word(std::string what, std::string &field) {
  words_.push_back({std::move(what), &field, nullptr});
  return *this;
}

Options &Options::words(std::string what, std::vector<std::string> &field) {
  words_.push_back({std::move(what), nullptr, &field});
  return *this;
}

Options &Options::text(const std::string &name, std::string &field) {
  return value(name, [&field](const std::string &given) -> Status {
    field = given;
    return {};
  });
}

Options &Options::path(const std::string &name, std::string &field) {
  return value(name, [&field](const std::string &given) -> Status {
    field = homePath(given);
    return {};
  });
}

Options &Options::bytes(const std::string &name, double &field) {
  return value(name, [&field, name](const std::string &given) -> Status {
    Expected<int64_t> bytes = parseBytes(given);
    if (!bytes.ok() || *bytes < 1) {
      return makeError(ErrorKind::kUser, name, " needs bytes such as 512MiB or 4GB, got ", given);
    }
    field = static_cast<double>(*bytes);
    return {};
  });
}

Options &Options::number(const std::string &name, double &field, double least, double most) {
  return value(name, [&field, name, least, most](const std::string &given) -> Status {
    HR_ASSIGN_OR_RETURN(field, parseNumber(name, given, least, most));
    return {};
  });
}

Options &Options::flag(const std::string &name, std::function<void()> set) {
  options_.push_back(
      {name, Value::kNone, "", [set = std::move(set)](const std::string &) -> Status {
         set();
         return {};
       }});
  return *this;
}

Options &Options::value(const std::string &name, Take take) {
  options_.push_back({name, Value::kNeeded, "", std::move(take)});
  return *this;
}

Options &Options::optionalValue(const std::string &name, std::string without, Take take) {
  options_.push_back({name, Value::kOptional, std::move(without), std::move(take)});
  return *this;
}

Status Options::noChoice(const std::string &name, const std::vector<std::string> &names,
                         const std::string &given) {
  std::string list;
  for (size_t i = 0; i < names.size(); ++i) {
    list += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + names[i];
  }
  return makeError(ErrorKind::kUser, name, " must be ", list, ", got ", given);
}

Status Options::unknown(const std::string &name) const {
  const Option *nearest = nullptr;
  size_t least = std::max<size_t>(2, name.size() / 3) + 1;
  for (const Option &option : options_) {
    if (size_t letters = distance(name, option.name); letters < least) {
      least = letters;
      nearest = &option;
    }
  }
  if (nearest) {
    return makeError(ErrorKind::kUser, "unknown option, did you mean ", nearest->name, "? got ",
                     name);
  }
  return makeError(ErrorKind::kUser, "unknown option: ", name, "\n", usage_);
}

Status Options::takeWord(size_t &words, const std::string &given) const {
  if (!words_.empty() && words_.back().rest && words + 1 >= words_.size()) {
    words_.back().rest->push_back(homePath(given));
    words = words_.size();
    return {};
  }
  if (words == words_.size()) {
    return makeError(ErrorKind::kUser, "unexpected argument: ", given);
  }
  *words_[words++].field = homePath(given);
  return {};
}

Status Options::read(const std::vector<std::string> &arguments) const {
  size_t words = 0;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string &argument = arguments[i];
    if (argument == "-" || !argument.starts_with("-")) {
      HR_RETURN_IF_ERROR(takeWord(words, argument));
      continue;
    }
    size_t equals = argument.find('=');
    std::string name = argument.substr(0, equals);
    auto option = std::find_if(options_.begin(), options_.end(),
                               [&](const Option &known) { return known.name == name; });
    if (option == options_.end()) {
      return unknown(name);
    }
    if (equals != std::string::npos) {
      if (option->value == Value::kNone) {
        return makeError(ErrorKind::kUser, "takes no value: ", name);
      }
      HR_RETURN_IF_ERROR(option->take(argument.substr(equals + 1)));
    } else if (option->value != Value::kNeeded) {
      HR_RETURN_IF_ERROR(option->take(option->without));
    } else if (i + 1 == arguments.size()) {
      return makeError(ErrorKind::kUser, "needs a value: ", name);
    } else {
      HR_RETURN_IF_ERROR(option->take(arguments[++i]));
    }
  }
  if (words < words_.size()) {
    return makeError(ErrorKind::kUser, "needs ", words_[words].what, "\n", usage_);
  }
  return {};
}

} // namespace headrace
