#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A Slurm cluster on this machine, in a temporary folder, for tests.

    with cluster(slots=2) as slurm:     nodes a and b, each a slurmd process with its own slots
    slurm.run(["sinfo"])                runs a command in the cluster's environment
    slurm.kill_node("a")                kills a node and its processes

    cluster.py --slots 2 COMMAND...     runs a command on such a cluster
"""
import argparse
import contextlib
import getpass
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

CONFIGURATION = """\
ClusterName=trnvp
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/none
CredType=cred/none
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
PluginDir={plugins}
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_min_interval=100000,batch_sched_delay=0,default_queue_depth=1000
SlurmdParameters=config_overrides
SlurmdTimeout=5
ReturnToService=2
KillWait=2
MinJobAge=600
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
{nodes}
PartitionName=low Nodes=ALL Default=YES MaxTime=INFINITE State=UP PriorityTier=1
PartitionName=high Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=2
"""


def missing() -> str:
    """A missing program that the cluster needs; "" if all are installed."""
    path = os.environ["PATH"] + ":/usr/sbin:/sbin"
    return next(
        (name for name in ("slurmctld", "slurmd", "sbatch", "scancel", "squeue", "scontrol") if not shutil.which(name, path=path)), ""
    )


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def parent_of(pid):
    return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])


class cluster:
    def __init__(self, slots=2, nodes=1):
        self.names = [chr(ord("a") + n) for n in range(nodes)]
        self.slots = slots
        self.daemons = {}

    def __enter__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="trnvp-slurm-"))
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    def start(self):
        os.environ["PATH"] += ":/usr/sbin:/sbin"
        ports = free_ports(1 + len(self.names))
        host = socket.gethostname().split(".")[0]
        nodes = "\n".join(
            f"NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs={self.slots} " "State=UNKNOWN"
            for name, port in zip(self.names, ports[1:])
        )
        plugins = next(pathlib.Path("/usr/lib").glob("*/slurm-wlm"), pathlib.Path("/usr/lib/slurm-wlm"))
        (self.folder / "state").mkdir()
        self.configuration = self.folder / "slurm.conf"
        self.configuration.write_text(
            CONFIGURATION.format(folder=self.folder, host=host, ports=ports, user=getpass.getuser(), nodes=nodes, plugins=plugins)
        )
        self.environment = dict(os.environ, SLURM_CONF=str(self.configuration))
        self.daemon("slurmctld", ["slurmctld", "-D", "-f", str(self.configuration)])
        for name in self.names:
            self.start_node(name)
        self.until(
            lambda: self.run(["sinfo", "-h", "-o", "%T %D"]).stdout.split()[:2] == ["idle", str(len(self.names))],
            "the nodes did not become idle",
        )

    def daemon(self, name, words):
        with open(self.folder / f"{name}.out", "ab") as log:
            self.daemons[name] = subprocess.Popen(words, stdout=log, stderr=log, env=self.environment, start_new_session=True)

    def start_node(self, name):
        self.daemon(name, ["slurmd", "-D", "-N", name, "-f", str(self.configuration)])

    def kill_node(self, name):
        """Kills a node's daemon and all its processes; first those that would report an end."""
        jobs = self.processes_of(name)
        steps = set()
        for pid in jobs:
            with contextlib.suppress(OSError):
                steps.add(parent_of(pid))
        for pid in [self.daemons[name].pid, *(steps - set(jobs) - {1}), *jobs]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.daemons.pop(name).wait()
        # Otherwise the controller would notice only after SlurmdTimeout.
        self.run(["scontrol", "update", f"NodeName={name}", "State=DOWN", "Reason=killed"])

    def start_requeued(self):
        """Starts jobs that were requeued: Slurm lets some of them wait for two minutes, so that the node's daemon may come back."""
        for job in self.run(["squeue", "-h", "-t", "PENDING", "-o", "%i %r"]).stdout.splitlines():
            number, reason = job.split(maxsplit=1)
            if reason == "BeginTime":
                self.run(["scontrol", "update", f"JobId={number}", "StartTime=now"])

    def revive_node(self, name):
        self.start_node(name)
        self.run(["scontrol", "update", f"NodeName={name}", "State=RESUME"])
        self.until(lambda: "down" not in self.run(["sinfo", "-h", "-o", "%T"]).stdout, f"node {name} did not come back")

    def processes_of(self, name):
        """Processes of jobs on one node or all nodes, recognised by the cluster's configuration in
        their environment."""
        found = []
        for one in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                environment = (one / "environ").read_bytes().split(b"\0")
                if f"SLURM_CONF={self.configuration}".encode() in environment and (
                    name is None or f"SLURMD_NODENAME={name}".encode() in environment
                ):
                    found.append(int(one.name))
        return found

    def run(self, words, **options):
        return subprocess.run(words, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)

    def until(self, condition, why, seconds=60):
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                logs = "\n".join(
                    f"{log.name}:\n{log.read_text(errors='replace')[-3000:]}"
                    for log in sorted(self.folder.glob("*.log")) + sorted(self.folder.glob("*.out"))
                )
                raise RuntimeError(f"{why}\n{logs}")
            time.sleep(0.1)

    def stop(self):
        if hasattr(self, "environment"):
            self.run(["scancel", "--signal=KILL", "--full", "--user", getpass.getuser()])
        for one in self.daemons.values():
            one.terminate()
        for one in self.daemons.values():
            try:
                one.wait(10)
            except subprocess.TimeoutExpired:
                one.kill()
                one.wait()
        if hasattr(self, "configuration"):
            for pid in self.processes_of(None):
                if pid != os.getpid():
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
        shutil.rmtree(self.folder, ignore_errors=True)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--slots", type=int, default=2)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    chosen = parser.parse_args()
    if name := missing():
        print(f"{name} is not installed (Debian: slurm-wlm)", file=sys.stderr)
        return 77
    with cluster(chosen.slots) as slurm:
        return subprocess.run(chosen.command, env=slurm.environment).returncode


if __name__ == "__main__":
    sys.exit(main())
