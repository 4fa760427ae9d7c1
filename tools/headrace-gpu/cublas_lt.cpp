// The few calls of libcublasLt that a product needs, declared as cublasLt.h has them.
#include "tools/headrace-gpu/cublas_lt.h"

#include <dlfcn.h>

#include <utility>

namespace headrace::gpu {

namespace {
constexpr int kFloat = 0;         // CUDA_R_32F
constexpr int kComputeFloat = 68; // CUBLAS_COMPUTE_32F
} // namespace

struct CublasLt::Calls {
  int (*create)(void **handle);
  int (*destroy)(void *handle);
  int (*descriptionCreate)(void **description, int compute, int scale);
  int (*descriptionDestroy)(void *description);
  int (*layoutCreate)(void **layout, int type, uint64_t rows, uint64_t columns, int64_t stride);
  int (*layoutDestroy)(void *layout);
  int (*product)(void *handle, void *description, const void *alpha, const void *a, void *aLayout,
                 const void *b, void *bLayout, const void *beta, const void *c, void *cLayout,
                 void *d, void *dLayout, const void *algorithm, void *workspace, size_t bytes,
                 void *stream);
};

Expected<CublasLt> CublasLt::open() {
  static Calls calls;
  void *library = nullptr;
  for (const char *name : {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so.11",
                           "libcublasLt.so", "/usr/local/cuda/lib64/libcublasLt.so"}) {
    library = library == nullptr ? dlopen(name, RTLD_NOW | RTLD_LOCAL) : library;
  }
  if (library == nullptr) {
    // no test: it is looked for on a GPU alone
    return Status(ErrorKind::kUnsupported, "no libcublasLt.so: nothing to compare with");
  }
  bool isWhole = true;
  auto find = [&](auto &call, const char *symbol) {
    call = reinterpret_cast<std::remove_reference_t<decltype(call)>>(dlsym(library, symbol));
    isWhole &= call != nullptr;
  };
  find(calls.create, "cublasLtCreate");
  find(calls.destroy, "cublasLtDestroy");
  find(calls.descriptionCreate, "cublasLtMatmulDescCreate");
  find(calls.descriptionDestroy, "cublasLtMatmulDescDestroy");
  find(calls.layoutCreate, "cublasLtMatrixLayoutCreate");
  find(calls.layoutDestroy, "cublasLtMatrixLayoutDestroy");
  find(calls.product, "cublasLtMatmul");
  CublasLt out(calls);
  if (!isWhole || calls.create(&out.handle_) != 0) {
    // no test: cuBLASLt needs a GPU
    return Status(ErrorKind::kUnsupported, "libcublasLt.so does not start");
  }
  return out;
}

CublasLt::CublasLt(CublasLt &&other) noexcept
    : calls_(other.calls_), handle_(std::exchange(other.handle_, nullptr)) {}

CublasLt::~CublasLt() {
  if (handle_ != nullptr) {
    calls_->destroy(handle_);
  }
}

Status CublasLt::product(uint64_t a, uint64_t b, uint64_t out, int64_t n) {
  void *description = nullptr, *layout = nullptr;
  int code = calls_->descriptionCreate(&description, kComputeFloat, kFloat);
  code = code != 0 ? code : calls_->layoutCreate(&layout, kFloat, n, n, n);
  if (code == 0) {
    // It takes matrices column by column: the transposes, so b · a.
    const float one = 1, zero = 0;
    auto pointer = [](uint64_t address) { return reinterpret_cast<void *>(address); };
    code =
        calls_->product(handle_, description, &one, pointer(b), layout, pointer(a), layout, &zero,
                        pointer(out), layout, pointer(out), layout, nullptr, nullptr, 0, nullptr);
  }
  if (layout != nullptr) {
    calls_->layoutDestroy(layout);
  }
  if (description != nullptr) {
    calls_->descriptionDestroy(description);
  }
  // no test: cuBLASLt needs a GPU
  return code == 0 ? Status()
                   : makeError(ErrorKind::kInternal, "cublasLtMatmul failed, status: ", code);
}

} // namespace headrace::gpu
