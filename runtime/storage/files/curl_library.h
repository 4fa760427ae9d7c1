// libcurl, loaded when the first file behind a network is read: whoever reads local files alone
// does not wait for it and its libraries, and needs none of them.
#pragma once

#define CURL_DISABLE_TYPECHECK // its macros name functions that are not linked
#include <curl/curl.h>

#include "runtime/base/status.h"

namespace headrace::storage {

/// The functions that are used, by their names behind "curl_". Immutable.
struct CurlLibrary {
#define HR_CURL_FUNCTIONS(X)                                                                       \
  X(global_init)                                                                                   \
  X(easy_init)                                                                                     \
  X(easy_cleanup)                                                                                  \
  X(easy_setopt)                                                                                   \
  X(easy_strerror)                                                                                 \
  X(slist_append)                                                                                  \
  X(slist_free_all)                                                                                \
  X(multi_init)                                                                                    \
  X(multi_setopt)                                                                                  \
  X(multi_add_handle)                                                                              \
  X(multi_remove_handle)                                                                           \
  X(multi_perform)                                                                                 \
  X(multi_info_read)                                                                               \
  X(multi_poll)                                                                                    \
  X(multi_wakeup)
#define HR_CURL_MEMBER(name) decltype(&::curl_##name) name = nullptr;
  HR_CURL_FUNCTIONS(HR_CURL_MEMBER)
#undef HR_CURL_MEMBER

  /// kUnsupported: this machine has none.
  static Expected<const CurlLibrary *> get();
};

} // namespace headrace::storage
