"""Slurm's daemons for one machine, as root and without systemd, for as long as a test needs them."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from launched_ranks import free_port

_CONFIGURATION = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={control}
SlurmdPort={daemon}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
NodeName={host} NodeAddr=127.0.0.1 CPUs=8 RealMemory=1000 State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE OverSubscribe=YES State=UP
SlurmdParameters=config_overrides
"""


def missing() -> str:
    """What keeps Slurm from running here; empty if nothing does."""
    programs = ("slurmctld", "slurmd", "srun", "munged")
    absent = [name for name in programs if not shutil.which(name, path=_PATH)]
    return f"not installed: {', '.join(absent)}" if absent else "" if os.geteuid() == 0 else "not root"


_PATH = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"


@contextmanager
def slurm(folder: Path) -> Iterator[dict[str, str]]:
    """The variables with which srun finds the daemons, which end with the block."""
    host = socket.gethostname().partition(".")[0]
    for name in ("state", "spool"):
        (folder / name).mkdir(parents=True)
    text = _CONFIGURATION.format(host=host, folder=folder, control=free_port(), daemon=free_port())
    (folder / "slurm.conf").write_text(text)
    key = folder / "munge.key"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o400)
    environment = {**os.environ, "PATH": _PATH, "SLURM_CONF": str(folder / "slurm.conf")}
    munged = ["munged", "--foreground", "--force", "--key-file", key, "--socket", folder / "munge.socket"]
    munged += ["--pid-file", folder / "munge.pid", "--seed-file", folder / "munge.seed"]
    munged += ["--log-file", folder / "munge.log"]
    commands = [munged, ["slurmctld", "-D"], ["slurmd", "-D"]]
    daemons = []
    try:
        for command in commands:
            with (folder / f"{command[0]}.output").open("w") as output:
                daemons.append(
                    subprocess.Popen(
                        list(map(str, command)), env=environment, stdout=output, stderr=subprocess.STDOUT
                    )
                )
            time.sleep(0.3)
        for _ in range(60):
            state = subprocess.run(
                ["sinfo", "-h", "-o", "%T"], env=environment, capture_output=True, text=True
            )
            if "idle" in state.stdout:
                break
            time.sleep(0.5)
        else:
            logs = [path.read_text()[-1000:] for path in folder.glob("*.log")]
            raise AssertionError(f"Slurm does not start: {state.stdout}{state.stderr} {logs}")
        yield environment
        # What a step leaves is ended by the daemon, for as long as there is one.
        subprocess.run(["scancel", "--user=root"], env=environment, check=True)
        for _ in range(60):
            state = subprocess.run(["squeue", "-h"], env=environment, capture_output=True, text=True)
            if not state.stdout.strip():
                break
            time.sleep(0.5)
    finally:
        for daemon in reversed(daemons):
            daemon.terminate()
        for daemon in daemons:
            daemon.wait(timeout=30)
