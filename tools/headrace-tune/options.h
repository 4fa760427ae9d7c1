// The options of a command: names, and the fields that their values go to.
#pragma once

#include "runtime/base/status.h"

#include <functional>
#include <string>
#include <vector>

namespace headrace::tune {

/// A number from `least` to `most`, or the error that says so; `what` names it.
Expected<double> parseNumber(const std::string &what, const std::string &text, double least,
                             double most);

/// Likewise a whole number.
Expected<double> parseCount(const std::string &what, const std::string &text, double least,
                            double most);

/// The exit status of a command: 0, 2 for a user's error, 1 for others; says what was wrong.
int exitStatus(const Status &status);

/// Filled by read(). Fields are named by reference and must live as long as this. Options come as
/// "--name value" or "--name=value", each of the last wins; "-" is a word.
class Options {
public:
  /// `usage` is put behind errors that it answers.
  explicit Options(std::string usage) : usage_(std::move(usage)) {}

  /// What is no option: the words in order. All are needed; `what` says what is missing: "a plan".
  Options &word(std::string what, std::string &field);
  Options &text(const std::string &name, std::string &field);
  Options &number(const std::string &name, double &field, double least, double most);
  template <typename Integer>
  Options &count(const std::string &name, Integer &field, double least, double most) {
    return value(name, [&field, name, least, most](const std::string &given) -> Status {
      HR_ASSIGN_OR_RETURN(double number, parseCount(name, given, least, most));
      field = static_cast<Integer>(number);
      return {};
    });
  }
  /// An option without a value.
  Options &flag(const std::string &name, std::function<void()> set);
  /// An option with any value, as often as it is given.
  Options &value(const std::string &name, std::function<Status(const std::string &value)> take);

  /// Errors (kUser): a value that is missing or refused, a word too many or too few, an option that
  /// is not there (with the one of the nearest name).
  Status read(const std::vector<std::string> &arguments) const;

private:
  struct Option {
    std::string name;
    std::function<void()> set; ///< of a flag
    std::function<Status(const std::string &)> take;
  };
  struct Word {
    std::string what;
    std::string *field = nullptr;
  };
  Status unknown(const std::string &name) const;

  std::string usage_;
  std::vector<Option> options_;
  std::vector<Word> words_;
};

} // namespace headrace::tune
