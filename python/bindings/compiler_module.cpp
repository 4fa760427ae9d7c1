// `headrace._compiler`: the compiler for Python, loaded only when a program is not in the cache of
// plans.
#include "passes/driver/session.h"
#include "python/bindings/interrupt.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using headrace::driver::CompilerSession;
using headrace::driver::SessionAnswer;
using headrace::driver::SessionQuery;
using headrace::driver::SessionRequest;

namespace {

using Compile = SessionAnswer (CompilerSession::*)(const SessionRequest &,
                                                   const CompilerSession::Interrupted &);

template <Compile kCompile>
SessionAnswer compiled(CompilerSession &session, const SessionRequest &request,
                       const nb::object &poll) {
  CompilerSession::Interrupted interrupted = headrace::python::interruptedBy(poll);
  SessionAnswer answer = [&] {
    nb::gil_scoped_release release;
    return (session.*kCompile)(request, interrupted);
  }();
  if (PyErr_Occurred()) {
    throw nb::python_error();
  }
  return answer;
}

} // namespace

NB_MODULE(_compiler, module) {
  module.doc() = "The headrace compiler: programs to plans and kernels.";
  nb::class_<SessionQuery>(module, "Query",
                           "A query whose columns are arguments of a tensor function.")
      .def(nb::init<>())
      .def_rw("duckdb", &SessionQuery::duckdb)
      .def_rw("substrait", &SessionQuery::substrait)
      .def_rw("text", &SessionQuery::text)
      .def_rw("result_names", &SessionQuery::resultNames)
      .def_rw("now_microseconds", &SessionQuery::nowMicroseconds)
      .def_rw("time_zone", &SessionQuery::timeZone)
      .def_rw("zone_folder", &SessionQuery::zoneFolder)
      .def_rw("arguments", &SessionQuery::arguments)
      .def_rw("columns", &SessionQuery::columns);
  nb::class_<SessionRequest>(module, "Request",
                             "A program to compile, with what is known beside it.")
      .def(nb::init<>())
      .def_rw("duckdb", &SessionRequest::duckdb)
      .def_rw("substrait", &SessionRequest::substrait)
      .def_rw("text", &SessionRequest::text)
      .def_rw("result_names", &SessionRequest::resultNames)
      .def_rw("now_microseconds", &SessionRequest::nowMicroseconds)
      .def_rw("time_zone", &SessionRequest::timeZone)
      .def_rw("zone_folder", &SessionRequest::zoneFolder)
      .def_rw("resident_keys", &SessionRequest::residentKeys)
      .def_rw("adjacent_keys", &SessionRequest::adjacentKeys)
      .def_rw("mlir", &SessionRequest::mlir)
      .def_rw("resume_after", &SessionRequest::resumeAfter)
      .def_rw("queries", &SessionRequest::queries)
      .def_rw("statistics", &SessionRequest::statistics)
      .def_rw("ranks", &SessionRequest::ranks)
      .def_rw("mesh", &SessionRequest::mesh)
      .def_rw("topology", &SessionRequest::topology)
      .def_rw("layout_seed", &SessionRequest::layoutSeed)
      .def_rw("layout_alternative", &SessionRequest::layoutAlternative)
      .def_rw("memory_bytes", &SessionRequest::memoryBytes)
      .def_rw("chunk_rows", &SessionRequest::chunkRows)
      .def_rw("note", &SessionRequest::note)
      .def_rw("kernel_cache", &SessionRequest::kernelCache)
      .def_rw("plan_only", &SessionRequest::planOnly)
      .def_rw("isa", &SessionRequest::isa)
      .def_rw("gpu", &SessionRequest::gpu)
      .def_rw("dump_phases", &SessionRequest::dumpPhases)
      .def_rw("stop_after", &SessionRequest::stopAfter)
      .def_rw("losses_per_second", &SessionRequest::lossesPerSecond);
  nb::class_<SessionAnswer>(module, "Answer", "A plan and its kernels, or the error.")
      .def_ro("ok", &SessionAnswer::ok)
      .def_ro("error", &SessionAnswer::error)
      .def_ro("error_kind", &SessionAnswer::errorKind)
      .def_ro("error_position", &SessionAnswer::errorPosition)
      .def_ro("error_length", &SessionAnswer::errorLength)
      .def_ro("died", &SessionAnswer::died)
      .def_ro("plan_json", &SessionAnswer::planJson)
      .def_ro("plan_text", &SessionAnswer::planText)
      .def_ro("phase_seconds", &SessionAnswer::phaseSeconds)
      .def_ro("dumps", &SessionAnswer::dumps)
      .def_ro("parts", &SessionAnswer::parts)
      .def_ro("kernels_compiled", &SessionAnswer::kernelsCompiled)
      .def_ro("kernels_cached", &SessionAnswer::kernelsCached)
      .def_prop_ro("kernels", [](const SessionAnswer &answer) {
        return nb::bytes(answer.kernels.data(), answer.kernels.size());
      });
  nb::class_<CompilerSession>(module, "Session",
                              "A compiler; one per thread, kept between programs.")
      .def(nb::init<>())
      .def("compile_sql", &compiled<&CompilerSession::compileSql>, nb::arg("request"),
           nb::arg("poll") = nb::none(), "poll: called now and then; what it raises ends it.")
      .def("compile_mlir", &compiled<&CompilerSession::compileMlir>, nb::arg("request"),
           nb::arg("poll") = nb::none());
}
