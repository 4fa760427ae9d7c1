// UcxLibrary: what is used of UCX, found at run time. Nothing of it is needed to build or to start:
// its types are declared here as UCX 1.10 and later have them on 64-bit machines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "runtime/base/status.h"

namespace headrace::ucx {

using Code = int8_t; ///< ucs_status_t, a packed enumeration
constexpr Code kOk = 0;
constexpr Code kInProgress = 1;
constexpr Code kBusy = -15;
constexpr Code kLast = -100;

/// Of what may be under way: null when it is done, an error's code, or a request.
using Outcome = void *;
inline bool isError(Outcome outcome) {
  return reinterpret_cast<uintptr_t>(outcome) >= static_cast<uintptr_t>(intptr_t{kLast});
}
inline bool isRequest(Outcome outcome) { return outcome && !isError(outcome); }
inline Code codeOf(Outcome outcome) {
  return static_cast<Code>(reinterpret_cast<intptr_t>(outcome));
}

using Context = struct ContextData *;
using Worker = struct WorkerData *;
using Endpoint = struct EndpointData *;
using Config = struct ConfigData *;
using Address = struct AddressData *;

struct ContextParams {
  uint64_t fields = 0;
  uint64_t features = 0;
  uint64_t others[8] = {};
};
constexpr uint64_t kContextFeatures = 1 << 0;
constexpr uint64_t kFeatureWakeup = 1 << 4;
constexpr uint64_t kFeatureActiveMessages = 1 << 6;

struct WorkerParams {
  uint64_t fields = 0;
  int threadMode = 0;
  uint64_t others[32] = {};
};
constexpr uint64_t kWorkerThreadMode = 1 << 0;
constexpr int kThreadsOneAtATime = 1;

struct EndpointParams {
  uint64_t fields = 0;
  const void *address = nullptr;
  int errorMode = 0;
  void (*onError)(void *argument, Endpoint, Code) = nullptr;
  void *errorArgument = nullptr;
  uint64_t others[16] = {};
};
constexpr uint64_t kEndpointAddress = 1 << 0;
constexpr uint64_t kEndpointErrorMode = 1 << 1;
constexpr uint64_t kEndpointOnError = 1 << 2;
constexpr int kErrorsOfPeer = 1;

struct RequestParams {
  uint32_t fields = 0;
  uint32_t flags = 0;
  uint64_t others[16] = {};
};
constexpr uint32_t kRequestFlags = 1 << 4;
constexpr uint32_t kCloseByForce = 1 << 0;

struct MessageParams {
  uint64_t attributes = 0;
  Endpoint reply = nullptr;
};
constexpr uint64_t kRendezvous = 1 << 17;

using OnMessage = Code (*)(void *argument, const void *header, size_t headerBytes, void *data,
                           size_t bytes, const MessageParams *);
struct HandlerParams {
  uint64_t fields = 0;
  unsigned id = 0;
  uint32_t flags = 0;
  OnMessage onMessage = nullptr;
  void *argument = nullptr;
  uint64_t others[8] = {};
};
constexpr uint64_t kHandlerId = 1 << 0;
constexpr uint64_t kHandlerCallback = 1 << 2;
constexpr uint64_t kHandlerArgument = 1 << 3;

/// The functions, by the names of UCX without their prefix.
struct Library {
  void (*getVersion)(unsigned *major, unsigned *minor, unsigned *release);
  Code (*configRead)(const char *prefix, const char *file, Config *);
  Code (*configModify)(Config, const char *name, const char *value);
  void (*configRelease)(Config);
  Code (*initVersion)(unsigned major, unsigned minor, const ContextParams *, Config, Context *);
  void (*cleanup)(Context);
  Code (*workerCreate)(Context, const WorkerParams *, Worker *);
  void (*workerDestroy)(Worker);
  Code (*workerGetAddress)(Worker, Address *, size_t *bytes);
  void (*workerReleaseAddress)(Worker, Address);
  unsigned (*workerProgress)(Worker);
  Code (*workerGetEfd)(Worker, int *descriptor);
  Code (*workerArm)(Worker);
  Code (*workerSetAmRecvHandler)(Worker, const HandlerParams *);
  Code (*epCreate)(Worker, const EndpointParams *, Endpoint *);
  Outcome (*epCloseNbx)(Endpoint, const RequestParams *);
  Outcome (*amSendNbx)(Endpoint, unsigned id, const void *header, size_t headerBytes,
                       const void *data, size_t bytes, const RequestParams *);
  Outcome (*amRecvDataNbx)(Worker, void *data, void *buffer, size_t bytes, const RequestParams *);
  Code (*requestCheckStatus)(Outcome);
  void (*requestFree)(Outcome);
  const char *(*statusString)(Code);

  /// "1.13.1": only processes with the same one understand each other.
  std::string version() const;
};

/// The machine's UCX, loaded once; kUnsupported, with why, if there is none that can be used.
Expected<const Library *> library();

} // namespace headrace::ucx
