// Reading a case's folder.
#include "tools/headrace-gpu/case_file.h"

#include <algorithm>
#include <fstream>
#include <iterator>

namespace headrace::gpu {

Expected<std::vector<std::byte>> readFile(const std::filesystem::path &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return makeError(ErrorKind::kIo, "cannot read a file of the bundle: ", path.string());
  }
  std::string text{std::istreambuf_iterator<char>(file), {}};
  auto bytes = std::as_bytes(std::span(text));
  return std::vector<std::byte>(bytes.begin(), bytes.end());
}

std::vector<std::string> caseNames(const std::filesystem::path &bundle) {
  std::vector<std::string> names;
  std::error_code none;
  for (const auto &entry : std::filesystem::directory_iterator(bundle / "cases", none)) {
    names.push_back(entry.path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

const CaseColumn *CaseTable::find(const std::string &name) const {
  auto found = std::ranges::find(columns, name, &CaseColumn::name);
  return found == columns.end() ? nullptr : &*found;
}

namespace {
const Json *findIn(const Json &list, const char *key, const std::string &value) {
  for (const Json &entry : list) {
    if (entry.at(key) == value) {
      return &entry;
    }
  }
  return nullptr;
}
} // namespace

const Json *Case::kernel(const std::string &symbol) const {
  return findIn(document.at("manifest").at("kernels"), "symbol", symbol);
}

const Json *Case::state(const std::string &stateName) const {
  return findIn(document.at("manifest").at("states"), "name", stateName);
}

Bytes Case::slice(const Json &entry, const char *offset, const char *bytes) const {
  if (!entry.contains(offset)) {
    return {};
  }
  return Bytes(data).subspan(entry.at(offset).get<size_t>(), entry.at(bytes).get<size_t>());
}

Expected<std::unique_ptr<Case>> readCase(const std::filesystem::path &folder) {
  auto out = std::make_unique<Case>();
  out->name = folder.filename().string();
  HR_ASSIGN_OR_RETURN(std::vector<std::byte> text, readFile(folder / "case.json"));
  HR_ASSIGN_OR_RETURN(out->data, readFile(folder / "data.bin"));
  HR_ASSIGN_OR_RETURN(out->ptx, readFile(folder / "kernels.ptx"));
  HR_ASSIGN_OR_RETURN(out->emulation, readFile(folder / "kernels.so"));
  const auto *begin = reinterpret_cast<const char *>(text.data());
  out->document = Json::parse(begin, begin + text.size(), nullptr, /*allow_exceptions=*/false);
  if (out->document.is_discarded()) {
    return makeError(ErrorKind::kCorrupt, "a case that is not JSON: ", folder.string());
  }
  for (const auto &[name, table] : out->document.at("tables").items()) {
    CaseTable &to = out->tables[name];
    to.rows = table.at("rows");
    for (const Json &column : table.at("columns")) {
      to.columns.push_back({column.at("name"), static_cast<HrType>(column.at("type").get<int>()),
                            out->slice(column, "offset", "bytes"),
                            out->slice(column, "heap_offset", "heap_bytes"),
                            out->slice(column, "validity_offset", "validity_bytes")});
    }
  }
  return out;
}

} // namespace headrace::gpu
