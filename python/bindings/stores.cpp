// Stamps are tuples: bytes, moment in nanoseconds, tag.
#include "python/bindings/stores.h"

#include "python/bindings/process.h"
#include "runtime/storage/files/open_file.h"
#include "runtime/storage/files/store_listing.h"
#include "runtime/storage/files/store_upload.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <tuple>

namespace nb = nanobind;

namespace headrace::python {
namespace {

using Stamp = std::tuple<uint64_t, int64_t, std::string>;

/// Stores take their time: other threads run meanwhile.
template <typename Ask> auto unlocked(Ask ask) {
  auto answer = [&] {
    nb::gil_scoped_release release;
    return ask();
  }();
  return valueOf(std::move(answer));
}

std::vector<std::tuple<std::string, uint64_t, int64_t, std::string>>
storeFiles(const std::string &text) {
  std::vector<std::tuple<std::string, uint64_t, int64_t, std::string>> files;
  for (const storage::StoreFile &file : unlocked([&] { return storage::storeFiles(text); })) {
    files.emplace_back(file.address, file.stamp.bytes, file.stamp.modifiedNanoseconds,
                       file.stamp.tag);
  }
  return files;
}

bool hasStoreFiles(const std::string &folder) {
  return unlocked([&] { return storage::hasStoreFiles(folder); });
}

std::vector<Stamp> storeStamps(const std::vector<std::string> &texts) {
  std::vector<Stamp> stamps;
  for (const storage::FileStamp &stamp : unlocked([&] { return storage::storeStamps(texts); })) {
    stamps.emplace_back(stamp.bytes, stamp.modifiedNanoseconds, stamp.tag);
  }
  return stamps;
}

nb::bytes readStore(const std::string &text, const Stamp &stamp, uint64_t offset, uint64_t bytes) {
  storage::FileStamp known;
  std::tie(known.bytes, known.modifiedNanoseconds, known.tag) = stamp;
  const std::string read = unlocked([&]() -> Expected<std::string> {
    HR_ASSIGN_OR_RETURN(std::shared_ptr<const storage::InputFile> file,
                        storage::openFile(text, &known));
    std::string data(bytes, '\0');
    HR_RETURN_IF_ERROR(file->read(offset, bytes, data.data()));
    return data;
  });
  return nb::bytes(read.data(), read.size());
}

void raiseIfWrong(const Status &status) {
  if (!status.ok()) {
    raise(status);
  }
}

} // namespace

void bindStores(nb::module_ &module) {
  module.def("store_files", &storeFiles, nb::arg("text"),
             "The files of one table in a store, with their stamps.");
  module.def("has_store_files", &hasStoreFiles, nb::arg("folder"),
             "Whether anything is in a folder of a store.");
  module.def("store_stamps", &storeStamps, nb::arg("texts"),
             "What stores say of files now: bytes, moment of the last change, tag.");
  module.def("read_store", &readStore, nb::arg("text"), nb::arg("stamp"), nb::arg("offset"),
             nb::arg("bytes"), "Bytes of a file in a store, in the version of the stamp.");
  module.def(
      "shown_address", [](const std::string &text) { return valueOf(storage::shownAddress(text)); },
      nb::arg("text"), "An address without what may be a secret.");
  nb::class_<storage::StoreUpload>(module, "StoreUpload",
                                   "A file that is written to a store, whole or not at all.")
      .def_static(
          "start",
          [](const std::string &text) { return valueOf(storage::StoreUpload::start(text)); },
          nb::arg("text"))
      .def(
          "write",
          [](storage::StoreUpload &upload, const nb::bytes &data) {
            Status status;
            {
              nb::gil_scoped_release release;
              status = upload.write({static_cast<const char *>(data.data()), data.size()});
            }
            raiseIfWrong(status);
          },
          nb::arg("data"))
      .def_static(
          "take_over",
          [](const std::string &text, const std::string &handed) {
            return valueOf(storage::StoreUpload::takeOver(text, handed));
          },
          nb::arg("text"), nb::arg("handed"), "What another process has handed over.")
      .def(
          "hand_over",
          [](storage::StoreUpload &upload) { return unlocked([&] { return upload.handOver(); }); },
          "Sends the rest; what another process needs to finish or abort it.")
      .def("finish",
           [](storage::StoreUpload &upload) {
             Status status;
             {
               nb::gil_scoped_release release;
               status = upload.finish();
             }
             raiseIfWrong(status);
           })
      .def("abort", &storage::StoreUpload::abort, nb::call_guard<nb::gil_scoped_release>());
}

} // namespace headrace::python
