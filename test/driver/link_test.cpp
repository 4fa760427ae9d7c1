// The linker of kernels: objects that it made itself, and objects that it must refuse.
#include "passes/lower/machine/link.h"

#include "passes/lower/machine/code_generator.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <dlfcn.h>
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

namespace headrace::lower {
namespace {

std::vector<char> compile(const char *text) {
  mlir::DialectRegistry registry;
  registerCompileDialects(registry);
  mlir::MLIRContext context(registry);
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  mlir::FailureOr<KernelCode> code = translateKernel(*module);
  std::string error;
  return CodeGenerator(CompileOptions()).compile(std::move(*code), error);
}

std::vector<char> functionNamed(const std::string &name, int value) {
  return compile(("llvm.func @" + name + "() -> i32 {\n %0 = llvm.mlir.constant(" +
                  std::to_string(value) + " : i32) : i32\n llvm.return %0 : i32\n}")
                     .c_str());
}

std::string refusal(const std::vector<std::vector<char>> &objects) {
  Expected<std::vector<char>> linked = linkSharedObject(objects);
  return linked.ok() ? "" : linked.status().message();
}

// A table in memory needs a relocation: the address of what is in it.
const char *const kTable = R"(
  llvm.mlir.global internal constant @answer(42 : i32) : i32
  llvm.func @read() -> i32 {
    %0 = llvm.mlir.addressof @answer : !llvm.ptr
    %1 = llvm.load volatile %0 : !llvm.ptr -> i32
    llvm.return %1 : i32
  }
)";

TEST(Link, functions_of_several_objects_can_be_called) {
  Expected<std::vector<char>> linked =
      linkSharedObject({functionNamed("three", 3), functionNamed("four", 4), compile(kTable)});
  ASSERT_TRUE(linked.ok()) << linked.status().message();
  int file = memfd_create("kernels", 0);
  ASSERT_EQ(write(file, linked->data(), linked->size()), static_cast<ssize_t>(linked->size()));
  void *library = dlopen(("/proc/self/fd/" + std::to_string(file)).c_str(), RTLD_NOW);
  ASSERT_NE(library, nullptr) << dlerror();
  auto call = [&](const char *name) { return reinterpret_cast<int (*)()>(dlsym(library, name))(); };
  EXPECT_EQ(call("three"), 3);
  EXPECT_EQ(call("four"), 4);
  EXPECT_EQ(call("read"), 42);
  dlclose(library);
  close(file);
}

TEST(Link, nothing_is_not_linked) { EXPECT_EQ(refusal({}), "no kernel objects to link"); }

TEST(Link, bytes_that_are_no_object) {
  EXPECT_EQ(refusal({{'n', 'o'}}), "kernel object is not ELF");
  std::vector<char> damaged = functionNamed("three", 3);
  damaged[0] = 'x';
  EXPECT_EQ(refusal({damaged}), "kernel object is not ELF");
}

TEST(Link, one_name_in_two_objects) {
  EXPECT_EQ(refusal({functionNamed("three", 3), functionNamed("three", 4)}),
            "symbol defined twice in kernel objects: three");
}

TEST(Link, a_call_of_what_nobody_defines) {
  std::vector<char> caller = compile(R"(
    llvm.func @elsewhere() -> i32
    llvm.func @caller() -> i32 {
      %0 = llvm.call @elsewhere() : () -> i32
      llvm.return %0 : i32
    }
  )");
  EXPECT_EQ(refusal({caller}),
            "a kernel calls a function outside the catalogue of imports: elsewhere");
}

TEST(Link, a_relocation_that_kernels_do_not_need) {
  std::vector<char> object = compile(kTable);
  Elf64_Ehdr header;
  std::memcpy(&header, object.data(), sizeof(header));
  int changed = 0;
  for (int index = 0; index < header.e_shnum; ++index) {
    Elf64_Shdr section;
    std::memcpy(&section, object.data() + header.e_shoff + index * sizeof(section),
                sizeof(section));
    if (section.sh_type != SHT_RELA) {
      continue;
    }
    for (size_t at = 0; at < section.sh_size; at += sizeof(Elf64_Rela)) {
      Elf64_Rela relocation;
      char *place = object.data() + section.sh_offset + at;
      std::memcpy(&relocation, place, sizeof(relocation));
      relocation.r_info = ELF64_R_INFO(ELF64_R_SYM(relocation.r_info), R_X86_64_TLSGD);
      std::memcpy(place, &relocation, sizeof(relocation));
      ++changed;
    }
  }
  ASSERT_GT(changed, 0);
  EXPECT_EQ(refusal({object}), "unexpected relocation in a kernel object: type 19");
}

} // namespace
} // namespace headrace::lower
