// dlopen and dlsym.
#include "runtime/storage/files/curl_library.h"

#include <dlfcn.h>

namespace headrace::storage {
namespace {

Expected<CurlLibrary> open() {
  for (const char *name : {"libcurl.so.4", "libcurl-gnutls.so.4"}) {
    void *library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      continue;
    }
    CurlLibrary curl;
    bool complete = true;
#define HR_CURL_LOAD(name)                                                                         \
  curl.name = reinterpret_cast<decltype(curl.name)>(::dlsym(library, "curl_" #name));              \
  complete &= curl.name != nullptr;
    HR_CURL_FUNCTIONS(HR_CURL_LOAD)
#undef HR_CURL_LOAD
    if (complete && curl.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK) {
      return curl;
    }
  }
  // no test: machines that build have it
  return makeError(
      ErrorKind::kUnsupported,
      "files of s3:// and http(s):// are read by libcurl (7.68 or newer), which is not "
      "on this machine; Debian's package is: libcurl4");
}

} // namespace

Expected<const CurlLibrary *> CurlLibrary::get() {
  static const Expected<CurlLibrary> library = open();
  if (!library.ok()) {
    return library.status();
  }
  return &*library;
}

} // namespace headrace::storage
