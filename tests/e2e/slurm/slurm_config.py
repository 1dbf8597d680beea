"""The files that a Slurm of the tests reads: what is in them, and how they are written."""

import os
import random
import socket
import subprocess

GPU_MAJOR = 240  # of devices for experiments: a plain file is an error in slurmd's log
SUBNET = "10.215"
HUB = SUBNET + ".0.1"
# Below those that the kernel hands out, and none that brim's hosts meet at.
PORTS = range(12000, 22000)

SLURM = """ClusterName=brimtest
SlurmctldHost={host}({hub})
SlurmctldPort={port}
SlurmUser=root
SlurmdUser=root
{auth}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool/%n
SlurmctldPidFile={folder}/run/slurmctld.pid
SlurmdPidFile={folder}/run/slurmd-%n.pid
SlurmctldLogFile={folder}/log/slurmctld.log
SlurmdLogFile={folder}/log/slurmd-%n.log
PlugStackConfig={folder}/etc/plugstack.conf
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
SlurmdTimeout={slurmd_timeout_s}
InactiveLimit=0
KillWait=3
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=2,sched_min_interval=20000,bf_interval=2,bf_continue
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
DefMemPerCPU=100
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
JobRequeue=1
TopologyPlugin=topology/tree
GresTypes=gpu
"""

PARTITIONS = """PartitionName=batch Nodes=ALL Default=YES PriorityTier=1 PreemptMode=REQUEUE
PartitionName=high Nodes=ALL Default=NO PriorityTier=10 PreemptMode=OFF
"""

DBD = """AuthType={auth}
DbdHost=localhost
DbdAddr={hub}
DbdPort={dbd_port}
SlurmUser=root
LogFile={folder}/log/slurmdbd.log
PidFile={folder}/run/slurmdbd.pid
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser=slurm
StoragePass=slurm
StorageLoc=slurm_acct_db
"""


def is_free(port):
    with socket.socket() as s:
        try:
            s.bind(("", port))
        except OSError:
            return False
    return True


def free_ports(count):
    """So many, each of which nobody listens at now."""
    order = random.SystemRandom().sample(PORTS, len(PORTS))
    found = []
    while len(found) < count:
        port = order.pop()
        if is_free(port):
            found.append(port)
    return found


def address(node):
    """Of node number 0, 1 ... in a namespace of its own."""
    return "%s.%d.%d" % (SUBNET, 1 + node // 200, 1 + node % 200)


def write(path, text, mode=0o644):
    with open(path, "w", opener=lambda p, flags: os.open(p, flags, mode)) as f:
        f.write(text)


def auth_lines(plan):
    if plan.auth == "none":
        return "AuthType=auth/none\nCredType=cred/none\nAuthInfo=cred_expire=5"
    info = "AuthInfo=socket=%s/munge/socket,cred_expire=5" % plan.folder
    return "AuthType=auth/munge\nCredType=cred/munge\n" + info


def has_gpus(plan, node):
    return plan.gpus > 0 and node < plan.nodes - plan.bare


def node_line(plan, node, port):
    if plan.namespaces:
        where = "NodeHostname=n%d NodeAddr=%s Port=%d" % (node, address(node), port)
    else:
        where = "NodeHostname=%s NodeAddr=127.0.0.1 Port=%d" % (socket.gethostname(), port)
    gres = " Gres=gpu:%s:%d" % (plan.gpu_type, plan.gpus) if has_gpus(plan, node) else ""
    return "NodeName=n%d %s CPUs=%d RealMemory=%d%s\n" % (node, where, plan.cpus, 500 * plan.cpus,
                                                          gres)


def accounting_lines(plan, port):
    if not plan.accounting:
        return "AccountingStorageType=accounting_storage/none\n"
    lines = "AccountingStorageType=accounting_storage/slurmdbd\n"
    lines += "AccountingStorageHost=%s\n" % hub(plan)
    if plan.auth == "munge":
        lines += "AccountingStoragePass=%s/munge/socket\n" % plan.folder
    return lines + "AccountingStoragePort=%d\nAccountingStorageTRES=gres/gpu\n" % port


def hub(plan):
    """The address of slurmctld."""
    return HUB if plan.namespaces else "127.0.0.1"


def slurm_conf(plan, ports):
    """ports: of slurmctld, of slurmdbd, and of each node."""
    host = "hub" if plan.namespaces else socket.gethostname()
    text = SLURM.format(
        host=host, hub=hub(plan), port=ports[0], auth=auth_lines(plan), folder=plan.folder,
        slurmd_timeout_s=plan.slurmd_timeout_s,
    )
    nodes = "".join(node_line(plan, i, ports[2 + i]) for i in range(plan.nodes))
    return text + accounting_lines(plan, ports[1]) + plan.extra + nodes + PARTITIONS


def topology_conf(plan, leaf=2):
    """So many nodes below a leaf, all leaves below one spine."""
    lines, count = [], 0
    for first in range(0, plan.nodes, leaf):
        last = min(first + leaf, plan.nodes) - 1
        lines.append("SwitchName=leaf%d Nodes=n[%d-%d]\n" % (count, first, last))
        count += 1
    lines.append("SwitchName=spine Switches=leaf[0-%d]\n" % (count - 1))
    return "".join(lines)


def make_gpus(plan):
    """Their device files, and what gres.conf says of them."""
    lines = []
    for node in (n for n in range(plan.nodes) if has_gpus(plan, n)):
        for gpu in range(plan.gpus):
            number = os.makedev(GPU_MAJOR, node * plan.gpus + gpu)
            os.mknod("%s/gpus/n%d-gpu%d" % (plan.folder, node, gpu), 0o20666, number)
        lines.append(
            "NodeName=n%d Name=gpu Type=%s File=%s/gpus/n%d-gpu[0-%d]\n"
            % (node, plan.gpu_type, plan.folder, node, plan.gpus - 1)
        )
    return "".join(lines)


def hosts(plan):
    lines = ["127.0.0.1 localhost", HUB + " hub"]
    return "\n".join(lines + ["%s n%d" % (address(i), i) for i in range(plan.nodes)]) + "\n"


def write_all(plan):
    """Everything below the plan's folder that daemons read."""
    for name in ("bin", "etc", "gpus", "log", "munge", "run", "spool", "state"):
        os.makedirs(os.path.join(plan.folder, name))
    for node in range(plan.nodes):
        os.mkdir("%s/spool/n%d" % (plan.folder, node))
    etc = plan.folder + "/etc/"
    ports = free_ports(2 + plan.nodes)
    write(etc + "slurm.conf", slurm_conf(plan, ports))
    write(etc + "gres.conf", make_gpus(plan))
    write(etc + "topology.conf", topology_conf(plan))
    write(etc + "cgroup.conf", "CgroupPlugin=%s\n" % cgroup_plugin())
    write(etc + "plugstack.conf", plan.plugstack)
    write(etc + "hosts", hosts(plan))
    for name, text in plan.files.items():
        write(etc + name, text)
    dbd = DBD.format(auth="auth/" + plan.auth, hub=hub(plan), dbd_port=ports[1], folder=plan.folder)
    if plan.auth == "munge":
        dbd += "AuthInfo=socket=%s/munge/socket\n" % plan.folder
    write(etc + "slurmdbd.conf", dbd, 0o600)
    with open(plan.folder + "/munge/key", "wb", opener=lambda p, f: os.open(p, f, 0o600)) as key:
        key.write(os.urandom(1024))


def cgroup_plugin():
    """The kind that this machine has; none is used, but the daemons look."""
    kind = subprocess.check_output(["stat", "-fc", "%T", "/sys/fs/cgroup"], text=True)
    return "cgroup/v2" if kind.strip() == "cgroup2fs" else "cgroup/v1"
