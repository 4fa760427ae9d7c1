// The enums of pipe and sched as those of plans.
#pragma once

#include "dialects/interfaces/ShardingRule.h"
#include "dialects/pipe/PipeDialect.h"
#include "dialects/sched/SchedDialect.h"
#include "model/plan/names.h"

namespace headrace::schedule {

plan::BoundKind planKind(pipe::BoundKind kind);
plan::ExchangeKind planKind(sched::ExchangeKind kind);
plan::HeavyRows planHeavyRows(dist::HeavyRows heavy);
plan::CollectiveKind planKind(sched::CollectiveKind kind);
plan::ComputeKind planKind(sched::Action action);
plan::WorkKind planKind(sched::WorkKind kind);
plan::Reduction planReduction(sched::Reduction reduction);
plan::Reduction planReduction(ReductionKind reduction); ///< a sum, a maximum or a minimum
Tier planTier(sched::Tier tier);

} // namespace headrace::schedule
