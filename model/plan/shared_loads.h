// Which loads' morsels may be read by any rank, so that ranks that are ahead take them from those
// that are behind.
#pragma once

#include "model/plan/plan.h"

#include <cstdint>

namespace headrace::plan {

/// Why each rank has to read its own share of a load; null if any rank may read any morsel.
/// It may where the rows go to states that are combined over the ranks, to an exchange, or to the
/// result, which has their order from the morsels. It must not where rows become a rank's part of
/// a tensor, where the first rows that a rank reads are enough, and by a choice on which ranks
/// do not agree, so that some may not come to it.
const char *whyNotShared(const Plan &plan, int32_t load);

/// Marks all loads that may be.
void shareLoads(Plan &plan);

} // namespace headrace::plan
