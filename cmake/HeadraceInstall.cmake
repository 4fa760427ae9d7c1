# Two installations. `cmake --install` gives the runtime: libraries and headers for find_package(headrace), the tools without
# LLVM, and Arrow's libraries, so that nothing of what built it is needed. Its component `wheel` is the Python package as a
# folder (./dev wheel).
include(CMakePackageConfigHelpers)

set(_runtime_tools headrace-run headrace-topo headrace-tune)
set(_compiler_tools headrace-opt headrace-translate headrace-interpret)
# Folders bin and lib; in the wheel Arrow is pyarrow's, beside the package.
set_target_properties(${_runtime_tools} ${_compiler_tools} PROPERTIES INSTALL_RPATH "$ORIGIN/../lib;$ORIGIN/../../pyarrow")
set_target_properties(_compiler PROPERTIES INSTALL_RPATH "$ORIGIN/lib")
set_target_properties(_runtime PROPERTIES INSTALL_RPATH "$ORIGIN/lib;$ORIGIN/../pyarrow")

set_target_properties(headrace_compiler_static PROPERTIES INSTALL_RPATH "$ORIGIN")

# What is needed of the machine, under the names that are looked for: RE2, and by headrace-topo hwloc, which needs libudev. A
# DT_RPATH holds for what libhwloc needs, too.
target_link_options(headrace-topo PRIVATE LINKER:--disable-new-dtags)
foreach(_name libhwloc.so.15 libre2.so.9 libudev.so.1)
  find_library(HEADRACE_${_name} NAMES ${_name} REQUIRED)
  file(REAL_PATH ${HEADRACE_${_name}} _file)
  install(PROGRAMS ${_file} DESTINATION lib RENAME ${_name})
  install(PROGRAMS ${_file} DESTINATION headrace/lib RENAME ${_name} COMPONENT wheel EXCLUDE_FROM_ALL)
endforeach()

# The wheel.
install(DIRECTORY python/headrace DESTINATION . COMPONENT wheel EXCLUDE_FROM_ALL
        FILES_MATCHING PATTERN *.py PATTERN *.pyi PATTERN py.typed PATTERN __pycache__ EXCLUDE)
install(TARGETS _compiler _runtime LIBRARY DESTINATION headrace COMPONENT wheel EXCLUDE_FROM_ALL)
install(TARGETS headrace_compiler_static headrace_blas LIBRARY DESTINATION headrace/lib COMPONENT wheel EXCLUDE_FROM_ALL)
install(TARGETS ${_runtime_tools} ${_compiler_tools} RUNTIME DESTINATION headrace/bin COMPONENT wheel EXCLUDE_FROM_ALL)
add_custom_target(headrace_wheel DEPENDS _compiler _runtime headrace_compiler_static headrace_blas ${_runtime_tools}
                  ${_compiler_tools})

# The runtime for C++.
get_property(_libraries GLOBAL PROPERTY HEADRACE_RUNTIME_LIBRARIES)
install(TARGETS ${_libraries} headrace_abi headrace_blas EXPORT headrace ARCHIVE DESTINATION lib/headrace
        LIBRARY DESTINATION lib)
install(TARGETS ${_runtime_tools} RUNTIME DESTINATION bin)
foreach(_library arrow parquet)
  install(PROGRAMS $<TARGET_FILE:wheel::${_library}> DESTINATION lib)
endforeach()
install(FILES LICENSE NOTICE DESTINATION share/doc/headrace)
install(DIRECTORY model runtime DESTINATION include/headrace FILES_MATCHING PATTERN *.h PATTERN *.def)
set(_cmake lib/cmake/headrace)
install(EXPORT headrace NAMESPACE headrace:: DESTINATION ${_cmake} FILE headraceTargets.cmake)
configure_package_config_file(cmake/headraceConfig.cmake.in headraceConfig.cmake.gen INSTALL_DESTINATION ${_cmake})
file(GENERATE OUTPUT headraceConfig.cmake INPUT ${PROJECT_BINARY_DIR}/headraceConfig.cmake.gen)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/headraceConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/headraceConfig.cmake ${PROJECT_BINARY_DIR}/headraceConfigVersion.cmake
        DESTINATION ${_cmake})
