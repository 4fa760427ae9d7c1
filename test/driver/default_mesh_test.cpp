// The mesh of a program for which none is given: by the nodes of the topology, and what the program
// has.
#include "passes/driver/default_mesh.h"

#include "dialects/AllDialects.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

namespace headrace::driver {
namespace {

const char *const kTable = R"(func.func @main() -> !frame.table<"a": i64> {
  %0 = frame.scan "t" ["a"] : !frame.table<"a": i64>
  return %0 : !frame.table<"a": i64>
})";
const char *const kTensor = R"(func.func @main(%0: tensor<4xf32>) -> tensor<4xf32> {
  return %0 : tensor<4xf32>
})";

/// Nodes of so many ranks each.
std::string topologyOf(std::vector<std::pair<int64_t, int64_t>> nodes) {
  std::string types, instances;
  for (auto [count, ranks] : nodes) {
    const std::string name = "n" + std::to_string(ranks), comma = types.empty() ? "" : ", ";
    types += comma + "\"" + name + R"(": {"devices": {"cpu": ["cpu-a", )" + std::to_string(ranks) +
             R"(]}, "resources": {"nic": {"bw": 1e9}, "bus": {"bw": 1e9}}, "routes": [
             {"from": "cpu[i].host", "to": "cpu[j].host", "via": ["bus"]},
             {"from": "cpu[i].host", "to": "net", "via": ["bus", "nic"]}]})";
    instances += comma + R"({"type": ")" + name + R"(", "count": )" + std::to_string(count) + "}";
  }
  return R"({"schema": "topology/1", "name": "nodes", "units": "SI", "device_types": {"cpu-a": {
             "class": "cpu", "cores": 4, "mem": {"space": "host", "capacity": 1e9, "bw": 1e10}}},
             "fabric": {"kind": "switch", "tiers": [{"bw": 1e9}]}, "node_types": {)" +
         types + R"(}, "instances": [)" + instances + "]}";
}

std::string meshOf(unsigned ranks, const std::string &topology, const char *program = kTable) {
  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  mlir::MLIRContext context(registry);
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::parseSourceString<mlir::ModuleOp>(program, &context);
  CompileOptions options;
  options.ranks = ranks;
  options.topology = topology;
  Expected<std::string> mesh = defaultMesh(*module->getOps<mlir::func::FuncOp>().begin(), options);
  return mesh.ok() ? *mesh : mesh.status().message();
}

TEST(DefaultMesh, few_ranks_are_one_axis) {
  EXPECT_EQ(meshOf(256, topologyOf({{100, 8}})), "ranks:256");
}

TEST(DefaultMesh, nodes_and_their_ranks_are_axes) {
  EXPECT_EQ(meshOf(800, topologyOf({{100, 8}})), "node:100,rank:8");
  EXPECT_EQ(meshOf(300, topologyOf({{300, 1}})), "ranks:300"); // one axis would be of one rank
  // The last node has fewer ranks: all are cut into parts of as many.
  EXPECT_EQ(meshOf(796, topologyOf({{100, 8}})), "part:199,rank:4");
  EXPECT_EQ(meshOf(400, topologyOf({{40, 8}, {10, 12}})), "part:100,rank:4");
  EXPECT_EQ(meshOf(799, topologyOf({{100, 8}})), "ranks:799"); // nothing divides them
}

TEST(DefaultMesh, too_many_nodes_are_groups) {
  EXPECT_EQ(meshOf(2048 * 8, topologyOf({{2048, 8}})), "node:2048,rank:8");
  EXPECT_EQ(meshOf(3000 * 8, topologyOf({{3000, 8}})), "group:60,node:50,rank:8");
}

TEST(DefaultMesh, arrays_have_one_axis) {
  EXPECT_EQ(meshOf(800, topologyOf({{100, 8}}), kTensor), "ranks:800");
}

} // namespace
} // namespace headrace::driver
