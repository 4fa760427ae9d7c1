"""Three hosts on one machine: namespaces with a network and a host name of their own, on a bridge."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from types import TracebackType

CLONE_NEWUTS = 0x04000000
CLONE_NEWNET = 0x40000000


def run(*words: str) -> None:
    subprocess.run(words, check=True, capture_output=True, text=True)


class ThreeHosts:
    """Hosts 1 to 3, at 10.231.7.1 to 3, which reach each other and nothing else."""

    def __init__(self) -> None:
        self.prefix = f"hr{os.getpid()}"
        self.switch = f"{self.prefix}s"

    @staticmethod
    def why_not() -> str | None:
        """Why a machine cannot have them."""
        if os.geteuid() != 0:
            return "namespaces need root"
        if not shutil.which("ip"):
            return "iproute2 is not installed"
        probe = subprocess.run(
            ["unshare", "--net", "--uts", "ip", "link", "add", "hr0", "type", "bridge"],
            capture_output=True,
            text=True,
        )
        return None if probe.returncode == 0 else f"no bridge in a namespace: {probe.stderr.strip()}"

    @staticmethod
    def address(host: int) -> str:
        return f"10.231.7.{host}"

    def name(self, host: int) -> str:
        return f"{self.prefix}h{host}"

    def __enter__(self) -> ThreeHosts:
        run("ip", "netns", "add", self.switch)
        run("ip", "-n", self.switch, "link", "add", "br0", "type", "bridge")
        run("ip", "-n", self.switch, "link", "set", "br0", "up")
        for host in (1, 2, 3):
            name = self.name(host)
            run("ip", "netns", "add", name)
            port = f"p{host}"
            run(*f"ip -n {self.switch} link add {port} type veth peer name eth0 netns {name}".split())
            run("ip", "-n", self.switch, "link", "set", port, "master", "br0", "up")
            run("ip", "-n", name, "addr", "add", f"{self.address(host)}/24", "dev", "eth0")
            run("ip", "-n", name, "link", "set", "eth0", "up")
            run("ip", "-n", name, "link", "set", "lo", "up")
        return self

    def __exit__(self, kind: type | None, error: object, trace: TracebackType | None) -> None:
        for name in (self.switch, *map(self.name, (1, 2, 3))):
            subprocess.run(["ip", "netns", "delete", name], capture_output=True)

    def enter(self, host: int) -> None:
        """Puts the calling process, which is a child about to begin, on the host."""
        libc = ctypes.CDLL(None, use_errno=True)
        with open(f"/run/netns/{self.name(host)}") as network:
            if libc.setns(network.fileno(), CLONE_NEWNET) != 0 or libc.unshare(CLONE_NEWUTS) != 0:
                raise OSError(ctypes.get_errno(), "namespaces")
        name = self.name(host).encode()
        libc.sethostname(name, len(name))

    def pull_cable(self, host: int) -> None:
        """Nothing leaves or reaches the host any more, and nobody is told."""
        run("ip", "-n", self.switch, "link", "set", f"p{host}", "down")

    def lose_what_is_sent(self, host: int) -> None:
        """What the host sends to the others goes to a card that nobody has; what they send arrives."""
        for other in {1, 2, 3} - {host}:
            bogus = ["lladdr", "02:00:00:00:00:99", "nud", "permanent", "dev", "eth0"]
            run("ip", "-n", self.name(host), "neigh", "replace", self.address(other), *bogus)
