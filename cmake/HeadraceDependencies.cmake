# What headrace builds on: MLIR 22, Arrow from the pyarrow wheel, RE2, nlohmann/json, GoogleTest, OpenBLAS.
find_package(MLIR REQUIRED CONFIG PATHS /usr/lib/llvm-22/lib/cmake/mlir NO_DEFAULT_PATH)
list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
include(TableGen)
include(AddLLVM)
include(AddMLIR)

find_package(nlohmann_json 3.11 REQUIRED)
find_package(GTest 1.12 REQUIRED)
find_package(Threads REQUIRED)
find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module)

execute_process(
  COMMAND ${Python_EXECUTABLE} -c
          "import pyarrow as p;print(p.get_include());print(p.get_library_dirs()[0]);print(p.cpp_build_info.version.split('.')[0])"
  OUTPUT_VARIABLE _pyarrow OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE "\n" ";" _pyarrow "${_pyarrow}")
list(GET _pyarrow 0 _pyarrow_include)
list(GET _pyarrow 1 _pyarrow_library)
list(GET _pyarrow 2 _pyarrow_version)
foreach(_lib arrow parquet)
  add_library(wheel::${_lib} SHARED IMPORTED)
  set_target_properties(wheel::${_lib} PROPERTIES
    IMPORTED_LOCATION "${_pyarrow_library}/lib${_lib}.so.${_pyarrow_version}00"
    INTERFACE_INCLUDE_DIRECTORIES "${_pyarrow_include}")
endforeach()
set_property(TARGET wheel::parquet PROPERTY INTERFACE_LINK_LIBRARIES wheel::arrow)

# Its archive is made for programs alone.
find_library(HEADRACE_RE2 NAMES libre2.so REQUIRED)
add_library(re2::re2 SHARED IMPORTED)
set_property(TARGET re2::re2 PROPERTY IMPORTED_LOCATION ${HEADRACE_RE2})

execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir
                OUTPUT_VARIABLE nanobind_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
find_package(nanobind CONFIG REQUIRED)
