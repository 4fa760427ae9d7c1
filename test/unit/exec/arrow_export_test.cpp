// Results leave as Arrow arrays: types, values, NULLs, and memory that lives until released.
// Sources: runtime/exec/chunk/arrow_arrays.cpp, runtime/exec/chunk/result_rows.cpp
#include "runtime/exec/arrow_export.h"
#include "test/unit/exec/test_plans.h"

#include <cstring>
#include <gtest/gtest.h>

namespace headrace::exec {
namespace {

std::shared_ptr<const ResultRows> describedTable() {
  PlanBuilder b;
  plan::Schema schema{{{"key", HR_I64, {LogicalKind::kDecimal, 15, 2}, false},
                       {"text", HR_STRING, {LogicalKind::kString}, true},
                       {"odd", HR_BOOL, {LogicalKind::kBool}, false}}};
  int32_t described = b.stream(schema);
  b.run("describe", b.load("t"), {}, described);
  b.result(described);
  TestTable table(2);
  for (int64_t i = 0; i < 20; ++i) {
    table[0].push_back(i - 5 + 5);
    table[1].push_back(0);
  }
  auto result = runPlan(b, {{{"t", table}}});
  EXPECT_TRUE(result.ok()) << result.status().toString();
  return result.ok() ? result->table : nullptr;
}

TEST(ArrowExport, TypesValuesAndNulls) {
  ArrowArrayStream stream;
  ASSERT_TRUE(exportStream(describedTable(), &stream).ok());
  ArrowSchema schema;
  ASSERT_EQ(stream.get_schema(&stream, &schema), 0);
  ASSERT_EQ(schema.n_children, 3);
  EXPECT_STREQ(schema.format, "+s");
  EXPECT_STREQ(schema.children[0]->format, "d:15,2");
  EXPECT_STREQ(schema.children[0]->name, "key");
  EXPECT_STREQ(schema.children[1]->format, "u");
  EXPECT_EQ(schema.children[1]->flags, ARROW_FLAG_NULLABLE);
  EXPECT_STREQ(schema.children[2]->format, "b");
  schema.release(&schema);
  EXPECT_EQ(schema.release, nullptr);

  ArrowArray batch;
  ASSERT_EQ(stream.get_next(&stream, &batch), 0);
  ASSERT_NE(batch.release, nullptr);
  ArrowArray end;
  ASSERT_EQ(stream.get_next(&stream, &end), 0);
  EXPECT_EQ(end.release, nullptr);
  stream.release(&stream); // the batch lives on
  ASSERT_EQ(batch.length, 20);
  const auto *keys = static_cast<const __int128 *>(batch.children[0]->buffers[1]);
  const auto *valid = static_cast<const uint8_t *>(batch.children[1]->buffers[0]);
  const auto *offsets = static_cast<const int32_t *>(batch.children[1]->buffers[1]);
  const auto *heap = static_cast<const char *>(batch.children[1]->buffers[2]);
  const auto *odd = static_cast<const uint8_t *>(batch.children[2]->buffers[1]);
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(keys[i] == i);
    EXPECT_EQ(valid[i / 8] >> (i % 8) & 1, i % 3 != 0);
    EXPECT_EQ(std::string(heap + offsets[i], heap + offsets[i + 1]),
              i % 3 != 0 ? "row " + std::to_string(i) : "");
    EXPECT_EQ(odd[i / 8] >> (i % 8) & 1, i & 1);
  }
  batch.release(&batch);
}

TEST(ArrowExport, TypeWithoutArrowTypeIsRefused) {
  auto table = ResultRows::of({{{"x", HR_I64, {LogicalKind::kDoubleDouble}, false}}}, {});
  ArrowArrayStream stream;
  Status status = exportStream(table, &stream);
  EXPECT_EQ(status.kind(), ErrorKind::kUnsupported);
  EXPECT_EQ(status.message(), "result column 'x' has no Arrow type: double_double");
}

} // namespace
} // namespace headrace::exec
