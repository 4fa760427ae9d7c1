// The compiler behind an interface without MLIR: what bindings and tools that must not see its
// headers use.
#pragma once

#include "runtime/base/exported.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace headrace::lower {
class Workers;
}

namespace headrace::driver {

/// A query as a front end bound it.
struct SessionSql {
  std::string duckdb;                     ///< a plan of DuckDB's json_serialize_plan; or
  std::string substrait;                  ///< JSON
  std::string text;                       ///< of the query, for the places of errors; may be empty
  std::vector<std::string> resultNames;   ///< empty: those of the plan
  std::optional<int64_t> nowMicroseconds; ///< what now() means, since 1970-01-01 (UTC)
  std::string timeZone;                   ///< of the session; empty: UTC
  std::string zoneFolder;                 ///< with files of zones; empty: the system's
};

/// A query whose columns are arguments of a tensor function: see driver::QueryInput.
struct SessionQuery : SessionSql {
  std::vector<unsigned> arguments;
  std::vector<std::vector<std::string>> columns;
};

struct SessionRequest : SessionSql {
  std::string mlir;                              ///< text of a program
  std::string resumeAfter;                       ///< the phase that made `mlir`; empty: import
  std::vector<SessionQuery> queries;             ///< with `mlir`: of a mixed program
  std::map<std::string, std::string> statistics; ///< table -> statistics document, JSON
  unsigned ranks = 1;
  std::string mesh;     ///< "node:2,gpu:4"; empty: as defaultMesh says
  std::string topology; ///< JSON; empty: this machine
  int64_t layoutSeed = -1;
  uint64_t layoutAlternative = 0; ///< not 0: a layout that is nearly the cheapest
  int64_t memoryBytes = 0;        ///< of a rank, for which the plan is made; 0: not known
  /// If there are any, the rows of a query stay on the ranks that make them, by the hash of these.
  std::optional<std::vector<std::string>> residentKeys;
  std::vector<std::string> adjacentKeys; ///< columns whose equal values come one after another
  uint32_t chunkRows = 0;                ///< not 0: rows of the chunks that kernels make
  std::string note;                      ///< put in front of the explanation
  std::string kernelCache;               ///< directory; empty: none
  bool planOnly = false;                 ///< no kernels: for a plan that is priced, not run
  std::string isa;                       ///< empty: this machine's best
  std::string gpu;                     ///< "ptx" or "emulation": kernels beside the CPU's; or empty
  std::vector<std::string> dumpPhases; ///< phases after which the program is kept as text
  std::string stopAfter;               ///< a phase: nothing but the dumps is made; empty: a plan
  /// Not 0: losses of ranks, of all together, for which the program is cut into parts; nothing but
  /// those is made.
  double lossesPerSecond = 0;
};

struct SessionAnswer {
  bool ok = false;
  std::string error;     ///< with its place if that is not below; why ok is false
  std::string errorKind; ///< "user", "unsupported", "internal" …: a name of runtime/base/status.h
  int64_t errorPosition = -1, errorLength = 0; ///< in bytes of the query's text; -1: not known
  bool died = false; ///< the compiler itself failed: not the program's mistake
  std::string planJson;
  std::string planText;
  std::vector<char> kernels;
  std::vector<std::pair<std::string, double>> phaseSeconds;
  std::vector<std::pair<std::string, std::string>> dumps;
  /// Of a program that is cut: the table that each part keeps its rows as, and its text behind
  /// `optimize`; see driver::CommittedPart.
  std::vector<std::pair<std::string, std::string>> parts;
  int kernelsCompiled = 0, kernelsCached = 0;
};

/// Compiles programs one after the other. Not thread-safe; make one per thread and keep it.
class HEADRACE_EXPORTED CompilerSession {
public:
  CompilerSession();
  ~CompilerSession();
  /// `interrupted` is asked about every 50 ms on the calling thread; true ends the compilation
  /// soon, and the answer is an error of the kind "cancelled".
  using Interrupted = std::function<bool()>;
  SessionAnswer compileSql(const SessionRequest &request, const Interrupted &interrupted = {});
  SessionAnswer compileMlir(const SessionRequest &request, const Interrupted &interrupted = {});

private:
  enum class Language { kSql, kMlir };
  /// Contained: whatever happens to the compiler, the process and the session go on.
  SessionAnswer compile(const SessionRequest &request, Language language,
                        const Interrupted &interrupted);
  void compile(const SessionRequest &request, Language language, lower::Workers &workers,
               SessionAnswer &answer);
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace headrace::driver
