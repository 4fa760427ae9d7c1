// Units of work of products, elementwise kernels and collectives.
#include "model/cost/tensor_work.h"

#include <algorithm>
#include <cmath>

namespace headrace::cost {
namespace {

using topology::CollectiveKind;

const char *elementName(ProductShape::Element element) {
  return element == ProductShape::Element::kF32 ? "f32" : "f64";
}

/// Of what the thread that polls all ranks does for each of them.
double polledSeconds(const CostModel &model, const Terms &terms) {
  return secondsOf(model.device(), terms) * static_cast<double>(model.workers().ranks);
}

/// A task whose `terms` a rank's lanes divide.
double taskSeconds(const CostModel &model, const Terms &terms) {
  const Workers &workers = model.workers();
  double lanes =
      workers.seconds(secondsOf(model.device(), terms), workers.lanes(), Workers::Others::kBusy);
  return lanes + secondsOf(model.device(), {{"task", 1}});
}

} // namespace

Terms productTerms(const ProductShape &product) {
  Terms terms;
  terms["compute"] = 1;
  bool narrow = product.element == ProductShape::Element::kF32;
  terms[narrow ? "product_f32" : "product_f64"] = product.elements * product.inner;
  terms["product_byte"] = product.bytes;
  // Each tile of rows packs the right side anew.
  double tiles = std::ceil(product.outRows / std::clamp(product.outRows / 4, 64.0, 1024.0));
  terms["product_pack"] = tiles * product.rightBytes;
  return terms;
}

KernelWork productWork(const ProductShape &product) {
  KernelWork work;
  work.operations = 2 * product.elements * product.inner;
  work.compute = elementName(product.element);
  work.streamBytes = product.bytes;
  return work;
}

KernelWork elementWork(const ElementShape &shape) {
  KernelWork work;
  work.operations = std::max(1.0, shape.ops) * shape.points;
  work.compute = elementName(shape.element);
  work.streamBytes = shape.bytes;
  return work;
}

KernelWork copyWork(double bytes) {
  KernelWork work;
  work.streamBytes = bytes;
  return work;
}

Terms elementTerms(const ElementShape &shape) {
  Terms terms;
  terms["compute"] = 1;
  terms["element"] = shape.points;
  terms["element_across"] = shape.across ? shape.points : 0;
  terms["element_op"] = (shape.ops - shape.math) * shape.points;
  terms["element_math"] = shape.math * shape.points;
  terms["tensor_byte"] = shape.bytes;
  return terms;
}

Terms collectiveTerms(CollectiveKind kind, double in, double out, int64_t ranks) {
  Terms terms;
  terms["collective"] = 1;
  if (ranks > 1) {
    double peers = static_cast<double>(ranks - 1);
    double moved = std::max(in, out) * peers / static_cast<double>(ranks);
    double rounds = kind == CollectiveKind::kAllReduce ? 2 : 1;
    bool reduces = kind == CollectiveKind::kAllReduce || kind == CollectiveKind::kReduceScatter;
    terms["collective_step"] = peers * rounds;
    terms["collective_byte"] = moved * rounds;
    terms["reduce_byte"] = reduces ? moved : 0;
  }
  terms["collective_copy"] = in + out;
  return terms;
}

double secondsOf(const CostModel &model, const ProductShape &product) {
  return model.workers().shared() ? taskSeconds(model, productTerms(product))
                                  : model.kernel(productWork(product)).seconds;
}

double secondsOf(const CostModel &model, const ElementShape &shape) {
  return model.workers().shared() ? taskSeconds(model, elementTerms(shape))
                                  : model.kernel(elementWork(shape)).seconds;
}

double copySeconds(const CostModel &model, double in, double out) {
  if (model.workers().shared()) {
    return taskSeconds(model, {{"compute", 1}, {"tensor_byte", in + out}});
  }
  return model.kernel(copyWork(in + out)).seconds;
}

double tensorLoadSeconds(const CostModel &model, double bytes, bool inOnePiece) {
  if (model.workers().shared()) {
    return inOnePiece ? 0 : polledSeconds(model, {{"tensor_load_byte", bytes}});
  }
  return model.kernel(copyWork(2 * bytes)).seconds; // read and written
}

double secondsOf(const CostModel &model, CollectiveKind kind, AxisSet axes, double in, double out) {
  if (model.workers().shared()) {
    return polledSeconds(model, collectiveTerms(kind, in, out, model.mesh().sizeOf(axes))) +
           secondsOf(model.device(), {{"task", 1}});
  }
  return model.collective(kind, axes, kind == CollectiveKind::kAllGather ? out : in).seconds;
}

} // namespace headrace::cost
