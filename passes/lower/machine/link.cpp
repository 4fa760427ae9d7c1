// A small static linker for kernel objects. Layout of the file, all in one pass over the sections:
//
//   ELF header | program headers | .dynsym | .dynstr | .hash | code and constants (R+X)
//   page break | .dynamic | writable data (R+W)
//
// Kernels import nothing, so there is no PLT and no GOT; only relative relocations inside the file
// remain, and 64-bit absolute addresses become R_X86_64_RELATIVE.
#include "passes/lower/machine/link.h"

#include <elf.h>

#include <cstring>
#include <map>

namespace headrace::lower {

namespace {

constexpr uint64_t kPage = 4096;

uint64_t alignUp(uint64_t value, uint64_t alignment) {
  return alignment > 1 ? (value + alignment - 1) / alignment * alignment : value;
}

struct Section {
  const Elf64_Shdr *header;
  const char *bytes; ///< null: zero-filled
  uint64_t address = 0;
  bool writable() const { return header->sh_flags & SHF_WRITE; }
};

/// One parsed input.
struct Object {
  const char *base;
  const Elf64_Ehdr *header;
  const Elf64_Shdr *sections;
  std::vector<int> placed; ///< section number -> index in Linker::sections_, or -1
  const Elf64_Sym *symbols = nullptr;
  size_t symbolCount = 0;
  const char *names = nullptr;
};

class Linker {
public:
  Expected<std::vector<char>> link(const std::vector<std::vector<char>> &inputs);

private:
  Status parse(const std::vector<char> &input);
  void layOut();
  void writeHeaders();
  void writeSymbols();
  Status relocate();
  Expected<uint64_t> symbolAddress(const Object &object, uint32_t symbol);

  std::vector<Object> objects_;
  std::vector<Section> sections_;
  struct Export {
    std::string name;
    size_t object;
    const Elf64_Sym *symbol;
  };
  std::vector<Export> exports_;
  std::map<std::string, size_t> exportByName_;
  std::string names_ = std::string(1, '\0');
  std::vector<uint32_t> nameOffsets_;
  size_t relativeCount_ = 0;
  uint64_t symtabAt_ = 0, strtabAt_ = 0, hashAt_ = 0, relocationsAt_ = 0, readOnlyEnd_ = 0,
           dynamicAt_ = 0, fileEnd_ = 0, memoryEnd_ = 0;
  std::vector<char> out_;
};

constexpr int kProgramHeaders = 4;
constexpr int kDynamicEntries = 9;

Status Linker::parse(const std::vector<char> &input) {
  if (input.size() < sizeof(Elf64_Ehdr) || std::memcmp(input.data(), ELFMAG, SELFMAG) != 0) {
    return makeError(ErrorKind::kInternal, "kernel object is not ELF");
  }
  Object object;
  object.base = input.data();
  object.header = reinterpret_cast<const Elf64_Ehdr *>(object.base);
  object.sections = reinterpret_cast<const Elf64_Shdr *>(object.base + object.header->e_shoff);
  object.placed.assign(object.header->e_shnum, -1);
  for (int index = 0; index < object.header->e_shnum; ++index) {
    const Elf64_Shdr &section = object.sections[index];
    if (section.sh_type == SHT_SYMTAB) {
      object.symbols = reinterpret_cast<const Elf64_Sym *>(object.base + section.sh_offset);
      object.symbolCount = section.sh_size / sizeof(Elf64_Sym);
      object.names = object.base + object.sections[section.sh_link].sh_offset;
    }
    bool unwind = section.sh_type == SHT_X86_64_UNWIND;
    if ((section.sh_flags & SHF_ALLOC) && section.sh_size && !unwind) {
      object.placed[index] = static_cast<int>(sections_.size());
      bool zero = section.sh_type == SHT_NOBITS;
      sections_.push_back({&section, zero ? nullptr : object.base + section.sh_offset});
    }
  }
  for (size_t index = 1; index < object.symbolCount; ++index) {
    const Elf64_Sym &symbol = object.symbols[index];
    if (ELF64_ST_BIND(symbol.st_info) == STB_LOCAL || symbol.st_shndx == SHN_UNDEF) {
      continue;
    }
    std::string name = object.names + symbol.st_name;
    if (!exportByName_.emplace(name, exports_.size()).second) {
      return makeError(ErrorKind::kInternal, "symbol defined twice in kernel objects: ", name);
    }
    exports_.push_back({name, objects_.size(), &symbol});
  }
  for (int index = 0; index < object.header->e_shnum; ++index) {
    const Elf64_Shdr &section = object.sections[index];
    if (section.sh_type != SHT_RELA || object.placed[section.sh_info] < 0) {
      continue;
    }
    auto *entries = reinterpret_cast<const Elf64_Rela *>(object.base + section.sh_offset);
    for (size_t entry = 0; entry < section.sh_size / sizeof(Elf64_Rela); ++entry) {
      relativeCount_ += ELF64_R_TYPE(entries[entry].r_info) == R_X86_64_64;
    }
  }
  objects_.push_back(object);
  return Status();
}

void Linker::layOut() {
  for (const Export &entry : exports_) {
    nameOffsets_.push_back(names_.size());
    names_ += entry.name;
    names_ += '\0';
  }
  uint64_t symbols = exports_.size() + 1;
  uint64_t at = sizeof(Elf64_Ehdr) + kProgramHeaders * sizeof(Elf64_Phdr);
  symtabAt_ = alignUp(at, 8);
  strtabAt_ = symtabAt_ + symbols * sizeof(Elf64_Sym);
  hashAt_ = alignUp(strtabAt_ + names_.size(), 8);
  relocationsAt_ = alignUp(hashAt_ + 4 * (2 + symbols + symbols), 8);
  at = relocationsAt_ + relativeCount_ * sizeof(Elf64_Rela);
  for (Section &section : sections_) {
    if (!section.writable()) {
      at = alignUp(at, section.header->sh_addralign);
      section.address = at;
      at += section.header->sh_size;
    }
  }
  readOnlyEnd_ = at;
  dynamicAt_ = alignUp(at, kPage);
  at = dynamicAt_ + kDynamicEntries * sizeof(Elf64_Dyn);
  for (bool zeroFilled : {false, true}) {
    for (Section &section : sections_) {
      if (section.writable() && !section.bytes == zeroFilled) {
        at = alignUp(at, section.header->sh_addralign);
        section.address = at;
        at += section.header->sh_size;
      }
    }
    (zeroFilled ? memoryEnd_ : fileEnd_) = at;
  }
}

void Linker::writeHeaders() {
  out_.assign(fileEnd_, 0);
  auto *header = reinterpret_cast<Elf64_Ehdr *>(out_.data());
  std::memcpy(header, objects_[0].header, sizeof(Elf64_Ehdr));
  header->e_type = ET_DYN;
  header->e_phoff = sizeof(Elf64_Ehdr);
  header->e_phentsize = sizeof(Elf64_Phdr);
  header->e_phnum = kProgramHeaders;
  header->e_shoff = 0;
  header->e_shnum = 0;
  header->e_shstrndx = 0;
  header->e_shentsize = 0;
  auto *program = reinterpret_cast<Elf64_Phdr *>(out_.data() + header->e_phoff);
  program[0] = {PT_LOAD, PF_R | PF_X, 0, 0, 0, readOnlyEnd_, readOnlyEnd_, kPage};
  program[1] = {PT_LOAD,
                PF_R | PF_W,
                dynamicAt_,
                dynamicAt_,
                dynamicAt_,
                fileEnd_ - dynamicAt_,
                memoryEnd_ - dynamicAt_,
                kPage};
  uint64_t dynamicBytes = kDynamicEntries * sizeof(Elf64_Dyn);
  program[2] = {PT_DYNAMIC, PF_R | PF_W,  dynamicAt_,   dynamicAt_,
                dynamicAt_, dynamicBytes, dynamicBytes, 8};
  program[3] = {PT_GNU_STACK, PF_R | PF_W, 0, 0, 0, 0, 0, 16};
  for (const Section &section : sections_) {
    if (section.bytes) {
      std::memcpy(out_.data() + section.address, section.bytes, section.header->sh_size);
    }
  }
  auto *dynamic = reinterpret_cast<Elf64_Dyn *>(out_.data() + dynamicAt_);
  auto add = [&](Elf64_Sxword tag, uint64_t value) {
    dynamic->d_tag = tag;
    dynamic->d_un.d_val = value;
    ++dynamic;
  };
  add(DT_HASH, hashAt_);
  add(DT_SYMTAB, symtabAt_);
  add(DT_STRTAB, strtabAt_);
  add(DT_STRSZ, names_.size());
  add(DT_SYMENT, sizeof(Elf64_Sym));
  if (relativeCount_) {
    add(DT_RELA, relocationsAt_);
    add(DT_RELASZ, relativeCount_ * sizeof(Elf64_Rela));
    add(DT_RELAENT, sizeof(Elf64_Rela));
  }
  add(DT_NULL, 0);
}

void Linker::writeSymbols() {
  auto *symbols = reinterpret_cast<Elf64_Sym *>(out_.data() + symtabAt_);
  for (size_t index = 0; index < exports_.size(); ++index) {
    const Export &entry = exports_[index];
    Elf64_Sym symbol = *entry.symbol;
    symbol.st_name = nameOffsets_[index];
    symbol.st_other = STV_DEFAULT;
    symbol.st_value += sections_[objects_[entry.object].placed[symbol.st_shndx]].address;
    symbol.st_shndx = 1;
    symbols[index + 1] = symbol;
  }
  std::memcpy(out_.data() + strtabAt_, names_.data(), names_.size());
  auto elfHash = [](const char *name) {
    uint32_t hash = 0;
    for (; *name; ++name) {
      hash = (hash << 4) + static_cast<unsigned char>(*name);
      uint32_t high = hash & 0xf0000000;
      hash ^= high >> 24;
      hash &= ~high;
    }
    return hash;
  };
  uint32_t buckets = static_cast<uint32_t>(exports_.size()) + 1;
  auto *table = reinterpret_cast<uint32_t *>(out_.data() + hashAt_);
  table[0] = buckets;
  table[1] = buckets;
  for (uint32_t index = 1; index < buckets; ++index) {
    uint32_t bucket = elfHash(exports_[index - 1].name.c_str()) % buckets;
    table[2 + buckets + index] = table[2 + bucket];
    table[2 + bucket] = index;
  }
}

Expected<uint64_t> Linker::symbolAddress(const Object &object, uint32_t number) {
  const Elf64_Sym &symbol = object.symbols[number];
  if (symbol.st_shndx != SHN_UNDEF) {
    return sections_[object.placed[symbol.st_shndx]].address + symbol.st_value;
  }
  auto found = exportByName_.find(object.names + symbol.st_name);
  if (found == exportByName_.end()) {
    return makeError(ErrorKind::kInternal,
                     "a kernel calls a function outside the catalogue of imports: ",
                     object.names + symbol.st_name);
  }
  const Export &entry = exports_[found->second];
  const Object &owner = objects_[entry.object];
  return sections_[owner.placed[entry.symbol->st_shndx]].address + entry.symbol->st_value;
}

Status Linker::relocate() {
  auto *relative = reinterpret_cast<Elf64_Rela *>(out_.data() + relocationsAt_);
  for (const Object &object : objects_) {
    for (int index = 0; index < object.header->e_shnum; ++index) {
      const Elf64_Shdr &header = object.sections[index];
      if (header.sh_type != SHT_RELA || object.placed[header.sh_info] < 0) {
        continue;
      }
      const Section &target = sections_[object.placed[header.sh_info]];
      auto *entries = reinterpret_cast<const Elf64_Rela *>(object.base + header.sh_offset);
      for (size_t entry = 0; entry < header.sh_size / sizeof(Elf64_Rela); ++entry) {
        const Elf64_Rela &relocation = entries[entry];
        uint64_t place = target.address + relocation.r_offset;
        HR_ASSIGN_OR_RETURN(uint64_t address,
                            symbolAddress(object, ELF64_R_SYM(relocation.r_info)));
        switch (ELF64_R_TYPE(relocation.r_info)) {
        case R_X86_64_PC32:
        case R_X86_64_PLT32: {
          auto value = static_cast<int32_t>(address + relocation.r_addend - place);
          std::memcpy(out_.data() + place, &value, sizeof(value));
          break;
        }
        case R_X86_64_PC64: {
          uint64_t value = address + relocation.r_addend - place;
          std::memcpy(out_.data() + place, &value, sizeof(value));
          break;
        }
        case R_X86_64_64:
          *relative++ = {place, ELF64_R_INFO(0, R_X86_64_RELATIVE),
                         static_cast<Elf64_Sxword>(address + relocation.r_addend)};
          break;
        default:
          return makeError(ErrorKind::kInternal, "unexpected relocation in a kernel object: type ",
                           ELF64_R_TYPE(relocation.r_info));
        }
      }
    }
  }
  return Status();
}

Expected<std::vector<char>> Linker::link(const std::vector<std::vector<char>> &inputs) {
  if (inputs.empty()) {
    return makeError(ErrorKind::kInternal, "no kernel objects to link");
  }
  for (const std::vector<char> &input : inputs) {
    HR_RETURN_IF_ERROR(parse(input));
  }
  layOut();
  writeHeaders();
  writeSymbols();
  HR_RETURN_IF_ERROR(relocate());
  return std::move(out_);
}

} // namespace

Expected<std::vector<char>> linkSharedObject(const std::vector<std::vector<char>> &objects) {
  return Linker().link(objects);
}

} // namespace headrace::lower
