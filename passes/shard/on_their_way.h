// Exchanges by hash of several steps, over some axes of the mesh each.
#ifndef HEADRACE_PASSES_SHARD_ON_THEIR_WAY_H
#define HEADRACE_PASSES_SHARD_ON_THEIR_WAY_H

#include "dialects/dist/DistDialect.h"

namespace headrace::shard {

/// Whether the rows of an exchange are at the ranks that their hash names: it is the only step to
/// them, or the last.
bool haveArrived(dist::ExchangeOp exchange);

/// Whether all who use the rows of an exchange after which they are on their way bring them
/// further.
bool goOn(dist::ExchangeOp exchange);

} // namespace headrace::shard

#endif // HEADRACE_PASSES_SHARD_ON_THEIR_WAY_H
