# The few shapes a target has here: runtime library, compiler library, dialect, tool, unit test.
add_compile_options(-Wall -Wextra -Wno-unused-parameter -Werror=return-type)
if(HEADRACE_SANITIZE)
  # Without the checkout's path in line tables, ccache serves all checkouts.
  add_compile_options(-fsanitize=${HEADRACE_SANITIZE} -fno-omit-frame-pointer -ffile-prefix-map=${PROJECT_SOURCE_DIR}=.)
  if(HEADRACE_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=undefined) # a finding fails the test
  endif()
  add_link_options(-fsanitize=${HEADRACE_SANITIZE})
endif()
include_directories(${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
add_link_options(LINKER:--as-needed) # a layer names libraries that not every tool uses
# Precompiled headers: most of the time of a compilation goes into reading headers and instantiating their templates, so
# there is a header for each kind of target. With ccache they need what ./dev sets as sloppiness (docs/HACKING.md).
set(_headrace_pch_options -Xclang -fno-pch-timestamp -fpch-instantiate-templates)
file(WRITE ${PROJECT_BINARY_DIR}/cmake/empty.cpp "")
function(_headrace_pch name)
  add_library(${name} STATIC ${PROJECT_BINARY_DIR}/cmake/empty.cpp)
  target_compile_options(${name} PRIVATE ${_headrace_pch_options})
  target_precompile_headers(${name} PRIVATE ${ARGN})
endfunction()
function(_headrace_reuse_pch name pch)
  target_compile_options(${name} PRIVATE ${_headrace_pch_options})
  target_precompile_headers(${name} REUSE_FROM ${pch})
endfunction()

set(_runtime_headers <algorithm> <atomic> <chrono> <functional> <map> <memory> <mutex> <optional> <ranges> <span>
    <string> <string_view> <unordered_map> <variant> <vector> ${PROJECT_SOURCE_DIR}/runtime/base/status.h)
_headrace_pch(headrace_runtime_pch ${_runtime_headers})

# headrace_runtime_library(NAME SOURCES a.cpp ... LINK libs...): a layer of the runtime, without LLVM; installed as
# headrace::NAME without the prefix (cmake/HeadraceInstall.cmake).
function(headrace_runtime_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  _headrace_reuse_pch(${name} headrace_runtime_pch)
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  string(REPLACE "headrace_" "" _layer ${name})
  set_target_properties(${name} PROPERTIES EXPORT_NAME ${_layer})
  target_include_directories(${name} INTERFACE $<INSTALL_INTERFACE:include/headrace>)
  set_property(GLOBAL APPEND PROPERTY HEADRACE_RUNTIME_LIBRARIES ${name})
endfunction()

# The compiler's options and include path, and one precompiled header that all compiler libraries reuse.
add_library(headrace_mlir INTERFACE)
target_compile_options(headrace_mlir INTERFACE -fno-rtti)
if(HEADRACE_SANITIZE)
  target_compile_options(headrace_mlir INTERFACE -O0) # half the time of compiling; what takes long in a run is LLVM
endif()
target_include_directories(headrace_mlir SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
# LLVM as shared libraries, or from its archives in a target with the property HEADRACE_STATIC_LLVM (one kind per process);
# the linker takes of the archives what is used.
file(GLOB _llvm_archives ${LLVM_LIBRARY_DIRS}/libMLIR*.a ${LLVM_LIBRARY_DIRS}/libLLVM*.a)
find_library(ZLIB_ARCHIVE NAMES libz.a REQUIRED)
find_library(ZSTD_ARCHIVE NAMES libzstd.a REQUIRED)
set(_static_llvm $<BOOL:$<TARGET_PROPERTY:HEADRACE_STATIC_LLVM>>)
target_link_libraries(headrace_mlir INTERFACE
  "$<IF:${_static_llvm},${_llvm_archives};${ZLIB_ARCHIVE};${ZSTD_ARCHIVE};Threads::Threads;${CMAKE_DL_LIBS},MLIR;LLVM>")

# For dialects; and for passes and tools, which know all dialects: these wait for what is generated of them.
set(_mlir_headers <mlir/IR/BuiltinOps.h> <mlir/IR/PatternMatch.h> <mlir/IR/OpImplementation.h> <mlir/Pass/Pass.h>
    <mlir/Dialect/Func/IR/FuncOps.h> <mlir/Dialect/Arith/IR/Arith.h>)
_headrace_pch(headrace_mlir_pch ${_mlir_headers})
target_link_libraries(headrace_mlir_pch PUBLIC headrace_mlir)
set(_dialect_headers frame/FrameOps.h dist/DistDialect.h pipe/PipeDialect.h sched/SchedDialect.h)
list(TRANSFORM _dialect_headers PREPEND ${PROJECT_SOURCE_DIR}/dialects/)
_headrace_pch(headrace_passes_pch ${_mlir_headers} ${_dialect_headers})
target_link_libraries(headrace_passes_pch PUBLIC headrace_mlir)
add_dependencies(headrace_passes_pch headrace_dialects)

# headrace_compiler_library(NAME SOURCES ... LINK libs... DEPENDS tablegen targets...), with the precompiled header
# HEADRACE_PCH of its folder.
set(HEADRACE_PCH headrace_passes_pch)
function(headrace_compiler_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC headrace_mlir ${ARG_LINK})
  _headrace_reuse_pch(${name} ${HEADRACE_PCH})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()

# headrace_tablegen(TARGET FILE.td -gen-x out.inc -gen-y out2.inc ...): generated headers beside the sources' path.
function(headrace_tablegen target td)
  set(LLVM_TARGET_DEFINITIONS ${td})
  set(_args ${ARGN})
  list(LENGTH _args _count)
  math(EXPR _last "${_count} - 1")
  foreach(_index RANGE 0 ${_last} 2)
    list(GET _args ${_index} _generator)
    math(EXPR _next "${_index} + 1")
    list(GET _args ${_next} _output)
    string(REPLACE " " ";" _generator "${_generator}")
    mlir_tablegen(${_output} ${_generator} EXTRA_INCLUDES ${PROJECT_SOURCE_DIR} ${MLIR_INCLUDE_DIRS})
  endforeach()
  add_public_tablegen_target(${target})
endfunction()

# headrace_dialect(NAME Stem SOURCES ... LINK ...): dialects/NAME with Stem.td holding dialect, types, attributes, ops.
# The tools' registry (dialects/AllDialects.h) takes it in: the class is headrace::NAME::StemDialect of StemDialect.h.
# Generates StemDialect, StemTypes, StemAttrs, StemEnums, StemOps .h.inc/.cpp.inc in the matching build folder.
function(headrace_dialect name stem)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  headrace_tablegen(headrace_${name}_tablegen ${stem}.td
    "-gen-dialect-decls -dialect=${name}" ${stem}Dialect.h.inc "-gen-dialect-defs -dialect=${name}" ${stem}Dialect.cpp.inc
    "-gen-typedef-decls -typedefs-dialect=${name}" ${stem}Types.h.inc "-gen-typedef-defs -typedefs-dialect=${name}" ${stem}Types.cpp.inc
    "-gen-attrdef-decls -attrdefs-dialect=${name}" ${stem}Attrs.h.inc "-gen-attrdef-defs -attrdefs-dialect=${name}" ${stem}Attrs.cpp.inc
    "-gen-enum-decls" ${stem}Enums.h.inc "-gen-enum-defs" ${stem}Enums.cpp.inc
    "-gen-op-decls" ${stem}Ops.h.inc "-gen-op-defs" ${stem}Ops.cpp.inc)
  headrace_compiler_library(headrace_dialect_${name} SOURCES ${ARG_SOURCES} LINK ${ARG_LINK}
    DEPENDS headrace_${name}_tablegen)
  set_property(GLOBAL APPEND PROPERTY HEADRACE_DIALECTS ${name}:${stem})
endfunction()

# headrace_unit_test(NAME SOURCES ... LINK ...): a GoogleTest binary, found by ctest under the label `unit`, and built by
# the target `unit_tests`, which needs no LLVM.
include(GoogleTest)
add_custom_target(unit_tests)
_headrace_pch(headrace_unit_test_pch ${_runtime_headers} <gtest/gtest.h>)
target_link_libraries(headrace_unit_test_pch PRIVATE GTest::gtest)
# As programs are compiled.
set_target_properties(headrace_unit_test_pch PROPERTIES POSITION_INDEPENDENT_CODE OFF)
target_compile_options(headrace_unit_test_pch PRIVATE -fPIE)
if(HEADRACE_SANITIZE)
  target_compile_options(headrace_unit_test_pch PRIVATE -O0)
endif()
function(headrace_unit_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  _headrace_reuse_pch(${name} headrace_unit_test_pch)
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gtest_main)
  if(HEADRACE_SANITIZE)
    target_compile_options(${name} PRIVATE -O0) # half the time of compiling instrumented expectations
  endif()
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES LABELS unit)
  add_dependencies(unit_tests ${name})
endfunction()

# headrace_hand_kernels(NAME SOURCE.cpp): kernels written by hand (runtime/abi/hand_kernel.h), as gpu_kernels/NAME.ptx of
# the build folder for GPUs from sm_80 on, and as NAME.so for the emulation. The host's headers serve both: of them only
# types and inline functions are used.
function(headrace_hand_kernels name source)
  set(_folder ${CMAKE_BINARY_DIR}/gpu_kernels)
  add_library(${name} MODULE ${source})
  set_target_properties(${name} PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${_folder})
  target_compile_options(${name} PRIVATE -fno-sanitize=all)
  target_link_options(${name} PRIVATE -fno-sanitize=all)
  set(_headers ${CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES})
  list(TRANSFORM _headers PREPEND "-isystem")
  set(_output ${_folder}/${name}.ptx)
  add_custom_command(OUTPUT ${_output}
    COMMAND ${CMAKE_CXX_COMPILER} --target=nvptx64-nvidia-cuda -march=sm_80 --cuda-feature=+ptx80 -nocudalib -D__x86_64__
            ${_headers} -std=c++20 -O3 -ffreestanding -fno-exceptions -fno-rtti -I${PROJECT_SOURCE_DIR} -MD
            -MF ${_output}.d -MT ${_output} -S ${CMAKE_CURRENT_SOURCE_DIR}/${source} -o ${_output}
    DEPENDS ${source} DEPFILE ${_output}.d VERBATIM)
  add_custom_target(${name}_ptx DEPENDS ${_output})
  add_dependencies(${name} ${name}_ptx)
endfunction()
