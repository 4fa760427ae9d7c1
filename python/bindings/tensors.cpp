// Element types and strides between nanobind's arrays and exec's views.
#include "python/bindings/tensors.h"

#include "python/bindings/arrow_stream.h"

#include <optional>

namespace nb = nanobind;

namespace headrace::python {
namespace {

std::optional<plan::Element> elementOf(nb::dlpack::dtype type) {
  if (type.lanes == 1 && type == nb::dtype<float>()) {
    return plan::Element::kF32;
  }
  if (type.lanes == 1 && type == nb::dtype<double>()) {
    return plan::Element::kF64;
  }
  return type.lanes == 1 && type == nb::dtype<int64_t>() ? std::optional(plan::Element::kI64)
                                                         : std::nullopt;
}

} // namespace

exec::TensorView viewOf(const TensorArgument &array, const std::string &name) {
  exec::TensorView view;
  view.data = array.data();
  std::optional<plan::Element> element = elementOf(array.dtype());
  if (!element) {
    raise(makeError(ErrorKind::kUser,
                    "tensors have elements of f32, f64 or i64; convert tensor: ", name));
  }
  view.element = *element;
  auto width = static_cast<int64_t>(array.itemsize());
  for (size_t d = 0; d < array.ndim(); ++d) {
    view.shape.push_back(static_cast<int64_t>(array.shape(d)));
    view.strideBytes.push_back(array.stride(d) * width);
  }
  return view;
}

std::vector<KeptTensor> keptOf(const exec::RunResult &result) {
  std::vector<KeptTensor> kept;
  for (const exec::TensorResult &tensor : result.tensors) {
    kept.push_back({"", tensor.element, tensor.shape, tensor.parts});
  }
  return kept;
}

const KeptTensor &keptTensorOf(nb::handle object, const std::string &name) {
  if (!nb::isinstance<KeptTensor>(object)) {
    raise(
        makeError(ErrorKind::kUser, "the program is for an array that lies on the ranks: ", name));
  }
  return nb::cast<const KeptTensor &>(object);
}

nb::object arrayOf(const exec::TensorResult &tensor) {
  auto *pin = new std::shared_ptr<const void>(tensor.pin);
  nb::capsule owner(
      pin, [](void *held) noexcept { delete static_cast<std::shared_ptr<const void> *>(held); });
  nb::dlpack::dtype type = tensor.element == plan::Element::kF32   ? nb::dtype<float>()
                           : tensor.element == plan::Element::kF64 ? nb::dtype<double>()
                                                                   : nb::dtype<int64_t>();
  std::vector<size_t> shape(tensor.shape.begin(), tensor.shape.end());
  nb::ndarray<nb::numpy> array(const_cast<void *>(tensor.data), shape.size(), shape.data(), owner,
                               nullptr, type);
  return array.cast();
}

} // namespace headrace::python
