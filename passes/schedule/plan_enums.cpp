// The enums of pipe and sched as those of plans.
#include "passes/schedule/plan_enums.h"

#include "llvm/Support/ErrorHandling.h"

namespace headrace::schedule {

plan::BoundKind planKind(pipe::BoundKind kind) {
  switch (kind) {
  case pipe::BoundKind::Eq:
    return plan::BoundKind::kEq;
  case pipe::BoundKind::Lt:
    return plan::BoundKind::kLt;
  case pipe::BoundKind::Le:
    return plan::BoundKind::kLe;
  case pipe::BoundKind::Gt:
    return plan::BoundKind::kGt;
  case pipe::BoundKind::Ge:
    return plan::BoundKind::kGe;
  }
  llvm_unreachable("unknown kind of bound");
}

plan::ExchangeKind planKind(sched::ExchangeKind kind) {
  switch (kind) {
  case sched::ExchangeKind::Hash:
    return plan::ExchangeKind::kHash;
  case sched::ExchangeKind::Broadcast:
    return plan::ExchangeKind::kBroadcast;
  case sched::ExchangeKind::Gather:
    return plan::ExchangeKind::kGather;
  case sched::ExchangeKind::Range:
    return plan::ExchangeKind::kRange;
  }
  llvm_unreachable("unknown kind of exchange");
}

plan::HeavyRows planHeavyRows(dist::HeavyRows heavy) {
  switch (heavy) {
  case dist::HeavyRows::Stay:
    return plan::HeavyRows::kStay;
  case dist::HeavyRows::Spread:
    return plan::HeavyRows::kSpread;
  case dist::HeavyRows::Cover:
    return plan::HeavyRows::kCover;
  case dist::HeavyRows::Once:
    return plan::HeavyRows::kOnce;
  }
  llvm_unreachable("unknown rows of heavy keys");
}

plan::CollectiveKind planKind(sched::CollectiveKind kind) {
  switch (kind) {
  case sched::CollectiveKind::AllReduce:
    return plan::CollectiveKind::kAllReduce;
  case sched::CollectiveKind::AllGather:
    return plan::CollectiveKind::kAllGather;
  case sched::CollectiveKind::ReduceScatter:
    return plan::CollectiveKind::kReduceScatter;
  case sched::CollectiveKind::AllToAll:
    return plan::CollectiveKind::kAllToAll;
  }
  llvm_unreachable("unknown kind of collective");
}

plan::ComputeKind planKind(sched::Action action) {
  switch (action) {
  case sched::Action::Matmul:
    return plan::ComputeKind::kMatmul;
  case sched::Action::Kernel:
    return plan::ComputeKind::kKernel;
  case sched::Action::Reshape:
    return plan::ComputeKind::kReshape;
  case sched::Action::Slice:
    return plan::ComputeKind::kSlice;
  case sched::Action::Concat:
    return plan::ComputeKind::kConcat;
  case sched::Action::Gather:
    return plan::ComputeKind::kGather;
  }
  llvm_unreachable("unknown action");
}

plan::Reduction planReduction(sched::Reduction reduction) {
  switch (reduction) {
  case sched::Reduction::Sum:
    return plan::Reduction::kSum;
  case sched::Reduction::Max:
    return plan::Reduction::kMax;
  case sched::Reduction::Min:
    return plan::Reduction::kMin;
  }
  llvm_unreachable("unknown reduction");
}

plan::Reduction planReduction(ReductionKind reduction) {
  return reduction == ReductionKind::kMax   ? plan::Reduction::kMax
         : reduction == ReductionKind::kMin ? plan::Reduction::kMin
                                            : plan::Reduction::kSum;
}

Tier planTier(sched::Tier tier) {
  switch (tier) {
  case sched::Tier::Host:
    return Tier::kHost;
  case sched::Tier::Device:
    return Tier::kDevice;
  }
  llvm_unreachable("unknown tier");
}

plan::WorkKind planKind(sched::WorkKind kind) {
  // Both enums have the same names, which a test compares.
  return *plan::enumOf<plan::WorkKind>(sched::stringifyWorkKind(kind));
}

} // namespace headrace::schedule
