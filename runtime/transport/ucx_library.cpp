// dlopen, and a name for each function.
#include "runtime/transport/ucx_library.h"

#include <dlfcn.h>

namespace headrace::ucx {

namespace {

constexpr char kFile[] = "libucp.so.0";

Expected<Library> load() {
  // It stays: threads of its own may be at work until the process ends.
  void *handle = dlopen(kFile, RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    return makeError(ErrorKind::kUnsupported, "no UCX: ", dlerror());
  }
  Library found{};
  const char *missing = nullptr;
  auto bind = [&](auto &function, const char *name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
    missing = function ? missing : name;
  };
  bind(found.getVersion, "ucp_get_version");
  bind(found.configRead, "ucp_config_read");
  bind(found.configModify, "ucp_config_modify");
  bind(found.configRelease, "ucp_config_release");
  bind(found.initVersion, "ucp_init_version");
  bind(found.cleanup, "ucp_cleanup");
  bind(found.workerCreate, "ucp_worker_create");
  bind(found.workerDestroy, "ucp_worker_destroy");
  bind(found.workerGetAddress, "ucp_worker_get_address");
  bind(found.workerReleaseAddress, "ucp_worker_release_address");
  bind(found.workerProgress, "ucp_worker_progress");
  bind(found.workerGetEfd, "ucp_worker_get_efd");
  bind(found.workerArm, "ucp_worker_arm");
  bind(found.workerSetAmRecvHandler, "ucp_worker_set_am_recv_handler");
  bind(found.epCreate, "ucp_ep_create");
  bind(found.epCloseNbx, "ucp_ep_close_nbx");
  bind(found.amSendNbx, "ucp_am_send_nbx");
  bind(found.amRecvDataNbx, "ucp_am_recv_data_nbx");
  bind(found.requestCheckStatus, "ucp_request_check_status");
  bind(found.requestFree, "ucp_request_free");
  bind(found.statusString, "ucs_status_string");
  if (missing) {
    // no test: it takes a UCX of before active messages
    return makeError(ErrorKind::kUnsupported, "UCX is older than 1.10, it lacks: ", missing);
  }
  return found;
}

} // namespace

std::string Library::version() const {
  unsigned major = 0, minor = 0, release = 0;
  getVersion(&major, &minor, &release);
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(release);
}

Expected<const Library *> library() {
  static const Expected<Library> loaded = load();
  HR_RETURN_IF_ERROR(loaded.status());
  return &*loaded;
}

} // namespace headrace::ucx
