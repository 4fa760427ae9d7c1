// The options of a command: names, and the fields that their values go to.
#pragma once

#include "runtime/base/number_text.h"

#include <functional>
#include <string>
#include <vector>

namespace headrace {

/// Filled by read(). Fields are named by reference and must live as long as this. Options come as
/// "--name value" or "--name=value", each of the last wins; "-" is a word. Words are paths: "~" in
/// them is the home directory.
class Options {
public:
  using Take = std::function<Status(const std::string &value)>;

  /// `usage` is put behind errors that it answers.
  explicit Options(std::string usage) : usage_(std::move(usage)) {}

  /// What is no option: the words in order. All are needed; `what` says what is missing: "a plan".
  Options &word(std::string what, std::string &field);
  /// All words from here on; one is needed.
  Options &words(std::string what, std::vector<std::string> &field);
  Options &text(const std::string &name, std::string &field);
  /// Likewise, with "~" as the home directory.
  Options &path(const std::string &name, std::string &field);
  /// A size such as 512MiB, 4GB or 1048576, of at least one byte.
  Options &bytes(const std::string &name, double &field);
  Options &number(const std::string &name, double &field, double least, double most);
  template <typename Integer>
  Options &count(const std::string &name, Integer &field, double least, double most) {
    return value(name, [&field, name, least, most](const std::string &given) -> Status {
      HR_ASSIGN_OR_RETURN(double number, parseCount(name, given, least, most));
      field = static_cast<Integer>(number);
      return {};
    });
  }
  template <typename Choice> struct Named {
    std::string name;
    Choice choice;
  };
  /// One of some names.
  template <typename Choice>
  Options &choice(const std::string &name, Choice &field, std::vector<Named<Choice>> choices) {
    return value(name, [&field, name, choices](const std::string &given) -> Status {
      std::vector<std::string> names;
      for (const Named<Choice> &each : choices) {
        if (each.name == given) {
          field = each.choice;
          return {};
        }
        names.push_back(each.name);
      }
      return noChoice(name, names, given);
    });
  }
  /// An option without a value.
  Options &flag(const std::string &name, std::function<void()> set);
  /// An option with any value, as often as it is given.
  Options &value(const std::string &name, Take take);
  /// A value that comes only as "--name=value", and is `without` for "--name".
  Options &optionalValue(const std::string &name, std::string without, Take take);

  /// Errors (kUser): a value that is missing or refused, a word too many or too few, an option that
  /// is not there (with the one of the nearest name).
  Status read(const std::vector<std::string> &arguments) const;

private:
  enum class Value : uint8_t { kNone, kNeeded, kOptional };
  struct Option {
    std::string name;
    Value value;
    std::string without;
    Take take;
  };
  struct Word {
    std::string what;
    std::string *field = nullptr;
    std::vector<std::string> *rest = nullptr;
  };
  static Status noChoice(const std::string &name, const std::vector<std::string> &names,
                         const std::string &given);
  Status takeWord(size_t &words, const std::string &given) const;
  Status unknown(const std::string &name) const;

  std::string usage_;
  std::vector<Option> options_;
  std::vector<Word> words_;
};

} // namespace headrace
