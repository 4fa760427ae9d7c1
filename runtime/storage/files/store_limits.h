// How much of stores is used at a time.
#pragma once

#include "runtime/base/settings.h"

namespace headrace::storage {

/// storeTimeout and storeRequests hold for all requests of the process to stores from now on;
/// before the first call those of the environment do.
void setStoreLimits(const Settings &settings);

} // namespace headrace::storage
