// What the import of Substrait's plans refuses, and with which message: a row a message.
// Sources: passes/import/ExpressionBuilder.cpp, passes/import/RelationBuilder.cpp,
//   passes/import/ScalarFunctions.cpp, passes/import/ImportContext.cpp,
//   passes/import/substrait/import.cpp
#include "passes/import/ImportSubstrait.h"

#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

#include <string>

namespace headrace::import {
namespace {

struct Refusal {
  const char *what;    ///< an expression or a relation, in JSON
  const char *message; ///< of the error
};

void PrintTo(const Refusal &refusal, std::ostream *out) { *out << refusal.message; }

/// The functions that expressions call, by anchor.
constexpr const char *kFunctions[] = {"add",       "negate", "round",     "like",
                                      "substring", "equal",  "date_part", "and"};
constexpr const char *kColumns[] = {"$a", "$s", "$d", "$x"}; // a number, a text, a date, a decimal
const std::string kTable = R"({"read": {"namedTable": {"names": ["t"]}, "baseSchema": {
  "names": ["a", "s", "d", "x"], "struct": {"types": [{"i64": {}}, {"string": {}}, {"date": {}},
  {"decimal": {"precision": 10, "scale": 2}}]}}}})";
const std::string kOne =
    R"({"read": {"namedTable": {"names": ["u"]}, "baseSchema": {"names": ["b"],
  "struct": {"types": [{"i64": {}}]}}}})";

/// The message for a plan with this root; columns and functions are written as $a and $add.
std::string messageOf(std::string root) {
  auto replaceAll = [&](const std::string &from, const std::string &to) {
    for (size_t at = root.find(from); at != std::string::npos; at = root.find(from, at)) {
      root.replace(at, from.size(), to);
      at += to.size();
    }
  };
  std::string extensions;
  for (auto [anchor, name] : llvm::enumerate(kFunctions)) {
    std::string number = std::to_string(anchor);
    extensions += std::string(anchor ? ", " : "") + R"({"extensionFunction": {"functionAnchor": )" +
                  number + R"(, "name": ")" + name + "\"}}";
    replaceAll(std::string("$") + name + "(",
               R"({"scalarFunction": {"functionReference": )" + number + R"(, "arguments": [)");
  }
  replaceAll(")$", "]}}");
  for (auto [index, name] : llvm::enumerate(kColumns)) {
    replaceAll(name, R"({"selection": {"directReference": {"structField": {"field": )" +
                         std::to_string(index) + "}}}}");
  }
  replaceAll("$table", kTable);
  replaceAll("$one", kOne);
  mlir::MLIRContext context;
  ImportError error;
  mlir::OwningOpRef<mlir::ModuleOp> module = importSubstrait(
      &context, R"({"extensions": [)" + extensions + R"(], "relations": [{"root": )" + root + "}]}",
      ImportOptions(), error);
  return module ? "" : error.message;
}

class Expressions : public testing::TestWithParam<Refusal> {};

TEST_P(Expressions, are_refused) {
  std::string project = R"({"project": {"common": {"emit": {"outputMapping": [4]}}, "input": $table,
    "expressions": [)" + std::string(GetParam().what) +
                        "]}}";
  EXPECT_EQ(messageOf(R"({"names": ["r"], "input": )" + project + "}"), GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Substrait, Expressions,
    testing::Values(
        Refusal{R"({"cast": {"type": {"i64": {}}}})", "expected a cast with input and type"},
        Refusal{R"({"subquery": {"inPredicate": {}}})", "unsupported subquery: inPredicate"},
        Refusal{
            R"({"subquery": {"setPredicate": {"predicateOp": "PREDICATE_OP_UNIQUE", "tuples": $one}}})",
            "unsupported subquery predicate: PREDICATE_OP_UNIQUE"},
        Refusal{R"({"subquery": {"scalar": {"input": $table}}})",
                "a scalar subquery must have one column, got 4"},
        Refusal{R"({"singularOrList": {"value": $a, "options": []}})",
                "expected at least one option"},
        Refusal{R"($add({"value": $x}, {"value": $x})$)", "decimal arithmetic needs an outputType"},
        Refusal{R"($negate({"value": $s})$)", "wrong type of the operand of negate"},
        Refusal{R"($round({"value": $x}, {"value": $a})$)",
                "the digits of round must be an integer literal"},
        Refusal{R"($like({"value": $a}, {"value": {"literal": {"string": "x"}}})$)",
                "the operand of like must be a string"},
        Refusal{R"($like({"value": $s}, {"value": {"literal": {"null": {"string": {}}}}})$)",
                "unsupported LIKE NULL"},
        Refusal{R"($like({"value": $s}, {"value": $s})$)",
                "the pattern of like must be a string literal"},
        Refusal{R"($like({"value": $s}, {"value": {"literal": {"string": "x"}}}, {"value": $s})$)",
                "the escape of like must be a string literal"},
        Refusal{R"($substring({"value": $s}, {"value": $s})$)",
                "start and length of substring must be integers"},
        Refusal{R"($substring({"value": $a}, {"value": {"literal": {"i64": "1"}}})$)",
                "the operand of substring must be a string"},
        Refusal{R"($date_part({"value": {"literal": {"string": "moonphase"}}}, {"value": $d})$)",
                "date_part has no such part: moonphase"},
        Refusal{
            R"($add({"value": $d}, {"value": {"literal": {"intervalCompound": {"intervalDayToSecond": {"seconds": 1}}}}})$)",
            "unsupported interval: only years, months and days, as a literal, can be added to a "
            "date"},
        Refusal{
            R"($add({"value": $a}, {"value": {"literal": {"intervalCompound": {"intervalDayToSecond": {"days": 1}}}}})$)",
            "an interval can be added to a date only; cast the operand to DATE"},
        Refusal{R"({"cast": {"input": $a, "type": {"decimal": {"precision": 40, "scale": 2}}}})",
                "decimals need 1 <= precision <= 38 and 0 <= scale <= precision, got (40, 2)"},
        Refusal{
            R"({"literal": {"decimal": {"precision": 1, "scale": 0, "value": "/wAAAAAAAAAAAAAAAAAAAA=="}}})",
            "decimal literal has more digits than its precision"},
        Refusal{R"({"literal": {"uuid": ""}})", "unsupported literal: uuid"},
        Refusal{R"({"literal": {"i8": 300}})", "value does not fit a literal of type i8"}));

class Relations : public testing::TestWithParam<Refusal> {};

TEST_P(Relations, are_refused) {
  EXPECT_EQ(messageOf(R"({"names": ["r"], "input": )" + std::string(GetParam().what) + "}"),
            GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Substrait, Relations,
    testing::Values(
        Refusal{R"({"filter": {"condition": $a}})", "expected a relation under input"},
        Refusal{R"({"read": {}})", "expected namedTable or virtualTable"},
        Refusal{R"({"read": {"namedTable": {"names": ["t"]}, "filter": $a}})",
                "unsupported filter inside a read"},
        Refusal{R"({"read": {"namedTable": {"names": ["t"]}, "baseSchema": {"names": ["a", "b"],
          "struct": {"types": [{"i64": {}}]}}}})",
                "expected as many names as types (nested types are not supported)"},
        Refusal{R"({"read": {"namedTable": {"names": ["t"]}, "baseSchema": {"names": [7],
          "struct": {"types": [{"i64": {}}]}}}})",
                "expected a column name"},
        Refusal{R"({"read": {"namedTable": {"names": ["t"]}, "baseSchema": {"names": ["a", "a"],
          "struct": {"types": [{"i64": {}}, {"i64": {}}]}}}})",
                "column names of a table must be unique"},
        Refusal{
            R"({"read": {"virtualTable": {"expressions": []}, "baseSchema": {"names": ["a"]}}})",
            "expected as many names as types"},
        Refusal{R"({"read": {"virtualTable": {"expressions": []}, "baseSchema": {"names": [7],
          "struct": {"types": [{"i64": {}}]}}}})",
                "expected a column name"},
        Refusal{R"({"join": {"type": "JOIN_TYPE_INNER", "left": $one, "right": $one,
          "postJoinFilter": $a}})",
                "unsupported postJoinFilter"},
        Refusal{R"({"join": {"type": "JOIN_TYPE_INNER", "left": $one, "right": $one,
          "nullAware": true}})",
                "unsupported correlated NOT IN; rewrite it as NOT EXISTS"},
        Refusal{R"({"sort": {"input": $one, "sorts": [{"expr": $a}]}})",
                "expected a sort direction"},
        Refusal{R"({"sort": {"input": $one, "sorts": [
          {"expr": $a, "direction": "SORT_DIRECTION_CLUSTERED"}]}})",
                "unsupported sort direction: CLUSTERED"},
        Refusal{R"({"fetch": {"input": $one, "countExpr": {"literal": {"i64": "-3"}}}})",
                "expected a literal that is not negative"}));

TEST(SubstraitPlans, names_that_are_none) {
  EXPECT_EQ(messageOf(R"({"names": [7], "input": $one})"), "expected a name");
}

TEST(SubstraitPlans, a_function_that_is_declared_without_a_name) {
  mlir::MLIRContext context;
  ImportError error;
  EXPECT_FALSE(importSubstrait(&context,
                               R"({"extensions": [{"extensionFunction": {"functionAnchor": 1}}],
      "relations": [{"root": {"names": [], "input": {"read": {}}}}]})",
                               ImportOptions(), error));
  EXPECT_EQ(error.message, "expected an extension function with a name and an anchor");
}

TEST(SubstraitPlans, nesting_has_a_bound) {
  std::string plan = "$one";
  for (int level = 0; level < 1001; ++level) {
    plan = R"({"filter": {"condition": {"literal": {"boolean": true}}, "input": )" + plan + "}}";
  }
  EXPECT_EQ(messageOf(R"({"names": ["r"], "input": )" + plan + "}"),
            "the query is nested too deeply, more than 1000 levels");
}

} // namespace
} // namespace headrace::import
