"""The queue as a service: deploy/systemd/brim-queue.service.in under a systemd that is the first
process of namespaces of its own, with a control group of its own. Needs root, systemd, unshare."""

import contextlib
import os
import pathlib
import shutil
import subprocess

import pytest
from conftest import ROOT

UNIT = ROOT / "deploy" / "systemd" / "brim-queue.service.in"
NAME = UNIT.stem
SYSTEMD = "/lib/systemd/systemd"
# What would touch this machine, or has nothing to do there.
MASKED = """systemd-udevd.service systemd-journald.service systemd-journald.socket
systemd-journald-dev-log.socket systemd-journal-flush.service systemd-logind.service
systemd-resolved.service systemd-timesyncd.service systemd-udev-trigger.service
systemd-sysctl.service systemd-modules-load.service systemd-remount-fs.service
systemd-tmpfiles-setup.service systemd-tmpfiles-setup-dev.service systemd-sysusers.service
getty.target console-getty.service systemd-random-seed.service systemd-networkd.service
dev-hugepages.mount dev-mqueue.mount sys-kernel-debug.mount sys-kernel-tracing.mount
sys-fs-fuse-connections.mount proc-sys-fs-binfmt_misc.automount""".split()
# $1: a folder of the test's own, $2: what systemd is told of itself.
BOOT = """
set -e
mount --make-rprivate /
root=$1/root
mkdir "$root"
mount --rbind / "$root"
mount --make-rprivate "$root"
umount -R "$root/sys/fs/cgroup"
mount -t tmpfs none "$root/run"
mkdir -p "$root/run/brim" "$root/run/systemd/system"
mount --bind "$1/files" "$root/run/brim"
for folder in tmp var/lib var/log; do mount -t tmpfs none "$root/$folder"; done
cp "$root"/run/brim/*.service "$root"/run/brim/*.target "$root/run/systemd/system"
for unit in $2; do ln -s /dev/null "$root/run/systemd/system/$unit"; done
mount -t cgroup2 none "$root/sys/fs/cgroup"
mount -t proc proc "$root/proc"
exec chroot "$root" /usr/bin/env -i container=brim PATH=/usr/sbin:/usr/bin:/sbin:/bin \\
    %s --unit=brim-test.target --log-target=console --show-status=0
""" % SYSTEMD
PROBE = """
exec >/run/brim/said 2>&1
export STATE_DIRECTORY=/var/lib/brim
brim=/run/brim/brim state=/var/lib/brim/queue
engine() { systemctl show -P MainPID brim-queue; }
up() { until "$brim" jobs >/dev/null 2>&1; do sleep 0.1; done; }
until [ -S "$state/socket" ]; do sleep 0.1; done
systemctl show brim-queue -p Delegate -p OOMPolicy -p LimitMEMLOCK -p LimitSTACK -p TasksMax
job=$("$brim" submit sh -c 'setsid sleep 1000 & sleep 1000')
until [ -s "$state/jobs/$job/start.1" ]; do sleep 0.1; done
group=$(tr '\\0' '\\n' <"$state/jobs/$job/start.1" | sed -n 's/^group=//p')
echo "group $group"
until [ "$(wc -l <"$group/cgroup.procs")" = 3 ]; do sleep 0.1; done
first=$(engine)
systemctl restart brim-queue
until [ "$(engine)" != "$first" ]; do sleep 0.1; done
up
echo "restarted $(wc -l <"$group/cgroup.procs")"
systemctl stop brim-queue
[ -e "$state/shared" ] && echo "stopped $(wc -l <"$group/cgroup.procs")"
systemctl start brim-queue
up
first=$(engine)
kill -9 "$first"
until [ "$(engine)" != "$first" ] && [ "$(engine)" != 0 ]; do sleep 0.1; done
up
echo "killed $(wc -l <"$group/cgroup.procs")"
"$brim" cancel "$job"
until "$brim" jobs "$job" | grep -q ": cancelled"; do sleep 0.1; done
[ -e "$group" ] || echo "cancelled"
"""
TARGET = "[Unit]\nWants=brim-queue.service probe.service\n"
SERVICE = """[Unit]
After=brim-queue.service
[Service]
Type=oneshot
TimeoutStartSec=120
ExecStart=/bin/sh /run/brim/probe.sh
ExecStopPost=/bin/systemctl --no-block exit
"""


def test_the_unit_is_one(brim, tmp_path):
    if not shutil.which("systemd-analyze"):
        pytest.skip("no systemd-analyze (Debian: systemd)")
    unit = tmp_path / NAME
    unit.write_text(UNIT.read_text().replace("@bindir@/brim", brim.program))
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", str(unit)],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert NAME not in done.stdout.decode(), done.stdout.decode()


@pytest.fixture
def own_group():
    """A control group of version 2 of this test's own."""
    for folder in ("/sys/fs/cgroup", "/sys/fs/cgroup/unified"):
        group = pathlib.Path(folder) / ("brim-test-%d" % os.getpid())
        if (group.parent / "cgroup.procs").exists():
            with contextlib.suppress(OSError):
                group.mkdir()
                break
    else:
        pytest.skip("no control group of version 2 can be made here")
    yield group
    for path, _, _ in os.walk(str(group), topdown=False):
        os.rmdir(path)


def test_under_systemd(brim, tmp_path, own_group):
    if not os.path.exists(SYSTEMD) or not shutil.which("systemctl"):
        pytest.skip("no systemd (Debian: systemd)")
    files = tmp_path / "files"
    files.mkdir()
    shutil.copy(brim.program, str(files / "brim"))
    (files / NAME).write_text(UNIT.read_text().replace("@bindir@/brim", "/run/brim/brim"))
    for name, text in (("brim-test.target", TARGET), ("probe.service", SERVICE),
                       ("probe.sh", PROBE)):
        (files / name).write_text(text)
    script = 'echo $$ >"$0/cgroup.procs" && exec unshare --pid --fork --kill-child --mount --uts ' \
             '--ipc --cgroup bash -c "$@"'
    done = subprocess.run(
        ["bash", "-c", script, str(own_group), BOOT, "boot", str(tmp_path), " ".join(MASKED)],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300,
        universal_newlines=True,
    )
    if not (files / "said").exists():
        pytest.skip("systemd does not come up here: " + done.stdout[-500:])
    said = (files / "said").read_text().splitlines()
    for line in ("Delegate=yes", "OOMPolicy=continue", "LimitMEMLOCK=infinity",
                 "LimitSTACK=infinity", "TasksMax=infinity"):
        assert line in said
    assert any(line.startswith("group /sys/fs/cgroup/system.slice/brim-queue.service/brim-job-")
               for line in said), said
    assert said[-4:] == ["restarted 3", "stopped 3", "killed 3", "cancelled"], said
