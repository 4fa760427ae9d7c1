# lit: every *.mlir (and *.test) under test/ is a test, run with the tools of one build folder.
#
#   lit --param build=build/release test            all of them (./dev test --filter NAME for some)
#
# Tests name the tools bare (headrace-opt, headrace-translate, headrace-run, FileCheck, not).
import os

import lit.formats

config.name = "headrace"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "data", "unit", "fuzz", "python", "perf"]

test_folder = os.path.dirname(os.path.abspath(__file__))
source_folder = os.path.dirname(test_folder)
build_folder = os.path.abspath(
    lit_config.params.get("build", os.path.join(source_folder, "build", "release"))
)
config.test_source_root = test_folder
config.test_exec_root = os.path.join(build_folder, "test", "lit")

llvm_tools = "/usr/lib/llvm-22/bin"
config.environment["PATH"] = os.pathsep.join(
    [os.path.join(build_folder, "bin"), llvm_tools, os.environ.get("PATH", "")]
)
# A variable defined in one CHECK-LABEL block must not leak into the next.
config.environment["FILECHECK_OPTS"] = "-enable-var-scope"
for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "LSAN_OPTIONS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

config.substitutions.append(("%data", os.path.join(test_folder, "data")))
config.substitutions.append(("%source", source_folder))
