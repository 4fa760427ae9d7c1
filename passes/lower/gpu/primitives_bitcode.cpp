// The bitcode files, taken in by the assembler (HR_NVPTX_BITCODE and HR_HOST_BITCODE are their
// paths).
#include "passes/lower/gpu/primitives_bitcode.h"

asm(".section .rodata\n"
    ".balign 16\n"
    "hr_nvptx_bitcode: .incbin \"" HR_NVPTX_BITCODE "\"\n"
    "hr_nvptx_bitcode_end:\n"
    ".balign 16\n"
    "hr_host_bitcode: .incbin \"" HR_HOST_BITCODE "\"\n"
    "hr_host_bitcode_end: .byte 0\n"
    ".globl hr_nvptx_bitcode, hr_nvptx_bitcode_end, hr_host_bitcode, hr_host_bitcode_end\n"
    ".hidden hr_nvptx_bitcode, hr_nvptx_bitcode_end, hr_host_bitcode, hr_host_bitcode_end\n"
    ".text\n");
extern "C" const char hr_nvptx_bitcode[], hr_nvptx_bitcode_end[], hr_host_bitcode[],
    hr_host_bitcode_end[];

namespace headrace::lower {

llvm::StringRef nvptxPrimitives() {
  return {hr_nvptx_bitcode, size_t(hr_nvptx_bitcode_end - hr_nvptx_bitcode)};
}
llvm::StringRef hostPrimitives() {
  return {hr_host_bitcode, size_t(hr_host_bitcode_end - hr_host_bitcode)};
}

} // namespace headrace::lower
