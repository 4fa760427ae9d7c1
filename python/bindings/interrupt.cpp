// Takes the GIL for as long as Python is asked.
#include "python/bindings/interrupt.h"

namespace nb = nanobind;

namespace headrace::python {

std::function<bool()> interruptedBy(const nb::object &poll) {
  return [&poll] {
    nb::gil_scoped_acquire acquire;
    if (!PyErr_Occurred() && PyErr_CheckSignals() == 0 && !poll.is_none()) {
      nb::object asked = nb::steal(PyObject_CallNoArgs(poll.ptr()));
    }
    return PyErr_Occurred() != nullptr;
  };
}

} // namespace headrace::python
