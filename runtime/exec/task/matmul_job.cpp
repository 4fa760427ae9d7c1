// Checks of the local extents, choice of the tile, calls of the library.
#include "runtime/exec/task/matmul_job.h"

#include <cblas.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <mutex>

extern "C" void openblas_set_num_threads(int threads);

namespace headrace::exec {
namespace {

/// One thread each: the parallelism is ours.
void useOneBlasThread() {
  static std::once_flag once;
  std::call_once(once, [] { openblas_set_num_threads(1); });
}

/// A batch of matrices, row-major one after another.
struct Matrices {
  int64_t batch = 1, rows = 0, columns = 0;
  int64_t elements() const { return rows * columns; }
};

/// All dimensions between the batch and the last are rows.
std::optional<Matrices> matricesOf(const TensorBuffer &buffer, size_t batch) {
  const std::vector<int64_t> &shape = buffer.localShape();
  if (shape.size() < batch + 2) {
    return std::nullopt;
  }
  Matrices matrices{1, 1, shape.back()};
  for (size_t d = 0; d + 1 < shape.size(); ++d) {
    (d < batch ? matrices.batch : matrices.rows) *= shape[d];
  }
  return matrices;
}

struct Product {
  Matrices left, right, out;
  int64_t inner = 0;
  CBLAS_TRANSPOSE leftForm = CblasNoTrans, rightForm = CblasNoTrans;
};

void multiply(const Product &p, const float *a, const float *b, float *c, int rows) {
  cblas_sgemm(CblasRowMajor, p.leftForm, p.rightForm, rows, static_cast<int>(p.out.columns),
              static_cast<int>(p.inner), 1.0f, a, static_cast<int>(p.left.columns), b,
              static_cast<int>(p.right.columns), 0.0f, c, static_cast<int>(p.out.columns));
}

void multiply(const Product &p, const double *a, const double *b, double *c, int rows) {
  cblas_dgemm(CblasRowMajor, p.leftForm, p.rightForm, rows, static_cast<int>(p.out.columns),
              static_cast<int>(p.inner), 1.0, a, static_cast<int>(p.left.columns), b,
              static_cast<int>(p.right.columns), 0.0, c, static_cast<int>(p.out.columns));
}

template <typename Element>
void multiplyTile(const Product &p, const MatmulOperands &operands, int64_t matrix, int64_t first,
                  int64_t rows) {
  int64_t start = p.leftForm == CblasTrans ? first : first * p.left.columns;
  const auto *a = reinterpret_cast<const Element *>(operands.left->data());
  const auto *b = reinterpret_cast<const Element *>(operands.right->data());
  auto *c = reinterpret_cast<Element *>(operands.product->data());
  multiply(p, a + matrix * p.left.elements() + start, b + matrix * p.right.elements(),
           c + matrix * p.out.elements() + first * p.out.columns, static_cast<int>(rows));
}

Expected<Product> productOf(const MatmulOperands &operands) {
  std::optional<Matrices> left = matricesOf(*operands.left, operands.batch),
                          right = matricesOf(*operands.right, operands.batch),
                          out = matricesOf(*operands.product, operands.batch);
  plan::Element element = operands.product->described().element;
  auto broken = [&](ErrorKind kind, const char *what) {
    return makeError(kind, what, operands.left->described().name, ", ",
                     operands.right->described().name);
  };
  if (!left || !right || !out) {
    return broken(ErrorKind::kInternal, "operands of matmul are not matrices: ");
  }
  auto exchanged = [](Matrices m, bool transposed) {
    return transposed ? Matrices{m.batch, m.columns, m.rows} : m;
  };
  Matrices a = exchanged(*left, operands.leftTransposed);
  Matrices b = exchanged(*right, operands.rightTransposed);
  if (a.rows != out->rows || b.columns != out->columns || a.columns != b.rows ||
      a.batch != out->batch || b.batch != out->batch || element == plan::Element::kI64 ||
      operands.left->described().element != element ||
      operands.right->described().element != element) {
    return broken(ErrorKind::kInternal, "operands of matmul do not fit together: ");
  }
  if (std::max({a.rows, a.columns, b.columns}) > INT32_MAX) {
    return broken(ErrorKind::kUnsupported, "matrices of more than 2^31 rows or columns: ");
  }
  return Product{*left,
                 *right,
                 *out,
                 a.columns,
                 operands.leftTransposed ? CblasTrans : CblasNoTrans,
                 operands.rightTransposed ? CblasTrans : CblasNoTrans};
}

} // namespace

Expected<JobPhase> matmulPhase(const MatmulOperands &operands, size_t lanes) {
  useOneBlasThread();
  HR_ASSIGN_OR_RETURN(Product product, productOf(operands));
  if (product.inner == 0 || product.out.batch * product.out.elements() == 0) {
    std::memset(operands.product->data(), 0, static_cast<size_t>(operands.product->bytes()));
    return JobPhase{};
  }
  // Enough rows that the library packs the right side worthwhile; a few tiles a worker for balance.
  auto workers = static_cast<int64_t>(lanes);
  int64_t share = (product.out.rows * product.out.batch + 4 * workers - 1) / (4 * workers);
  int64_t rows = std::clamp<int64_t>(share, 64, 1024);
  int64_t tiles = (product.out.rows + rows - 1) / rows;
  return JobPhase{product.out.batch * tiles, [=](int, int64_t tile) {
                    int64_t first = tile % tiles * rows;
                    int64_t count = std::min(rows, product.out.rows - first);
                    operands.product->described().element == plan::Element::kF32
                        ? multiplyTile<float>(product, operands, tile / tiles, first, count)
                        : multiplyTile<double>(product, operands, tile / tiles, first, count);
                    return Status();
                  }};
}

} // namespace headrace::exec
