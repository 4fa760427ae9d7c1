// The commands of headrace-topo. Each reads its own options.
#pragma once

#include "tools/command_line/commands.h"

namespace headrace::topo {

constexpr const char *kDetectUsage =
    "usage: headrace-topo detect [--ranks N] [--disk FOLDER] [--output FILE]\n"
    "  writes the topology of this machine: its parts, and rates measured in some seconds\n"
    "  --ranks N       slots that a machine without GPUs is divided into (1)\n"
    "  --disk FOLDER   where to measure a disk (TMPDIR, else /tmp); nothing stays there\n"
    "  --output FILE   instead of standard output; appears whole or not at all\n";
constexpr const char *kImportUsage =
    "usage: headrace-topo import nccl FILE [--nodes N] [--output FILE]\n"
    "       headrace-topo import hwloc FILE [--ranks N] [--nodes N] [--output FILE]\n"
    "       headrace-topo import slurm FILE --node TOPOLOGY [--output FILE]\n"
    "  makes a topology of what NCCL_TOPO_DUMP_FILE=FILE wrote, of lstopo's XML, or of Slurm's\n"
    "  topology.conf; says on standard error what it had to assume and what it left out\n"
    "  --nodes N         such machines behind one switch (1)\n"
    "  --ranks N         slots that a machine without GPUs is divided into (1)\n"
    "  --node TOPOLOGY   a FILE or NAME with one type of node: that of the cluster\n"
    "  --output FILE     instead of standard output; appears whole or not at all\n";
constexpr const char *kShowUsage =
    "usage: headrace-topo show TOPOLOGY [--svg FILE]\n"
    "  draws it, as text or as a picture; TOPOLOGY is a FILE or NAME (headrace-topo list)\n";
constexpr const char *kListUsage = "usage: headrace-topo list\n"
                                   "  the topologies that are shipped, by name\n";
constexpr const char *kDiffUsage =
    "usage: headrace-topo diff TOPOLOGY TOPOLOGY\n"
    "  what differs between two, each a FILE or NAME; exits with 1 if anything does\n";
constexpr const char *kCheckUsage = "usage: headrace-topo check TOPOLOGY …\n"
                                    "  reads and checks each, a FILE or NAME\n";

Status detectCommand(const Arguments &arguments);
Status importCommand(const Arguments &arguments);
Status showCommand(const Arguments &arguments);
Status listCommand(const Arguments &arguments);
Status checkCommand(const Arguments &arguments);

enum class Comparison : uint8_t { kEqual, kDiffers };
Expected<Comparison> diffCommand(const Arguments &arguments);

} // namespace headrace::topo
