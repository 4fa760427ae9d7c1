// libFuzzer: any bytes as a topology file, which must be refused with a reason or give a topology
// that can be priced. The shipped topologies are the corpus.
#include "model/cost/cost.h"
#include "model/topology/topology.h"
#include "test/fuzz/json_mutation.h"

#include <algorithm>
#include <cstdlib>

using namespace headrace;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view text(reinterpret_cast<const char *>(data), size);
  Expected<topology::Topology> read = topology::parseTopology(text);
  if (!read) {
    if (read.status().message().empty()) {
      abort(); // refused without a reason
    }
    return 0;
  }
  // What was accepted places ranks and prices their transfers.
  int64_t ranks = std::min<int64_t>(read->rankCount(), 4);
  if (ranks < 1) {
    return 0;
  }
  Expected<cost::CostModel> model = cost::CostModel::create(*read, cost::flatMesh("m", "r", ranks));
  if (model) {
    cost::Cost price = model->collective(topology::CollectiveKind::kAllReduce, 1, 1e6) +
                       model->exchange(plan::ExchangeKind::kHash, 1, 1e6);
    if (!(price.seconds >= 0)) {
      abort(); // not a number, or time that runs backwards
    }
  }
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t sizeMax,
                                          unsigned seed) {
  return fuzz::mutateDocument(data, size, sizeMax, seed);
}
