#include "probe/kernel/kmsg.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"
#include "probe/kernel/kmsg_rule.h"

static const char *const kinds[KMSG_KINDS] = {
    "xid",       "sxid",     "aer",       "oom",      "nfs",
    "hung_task", "mce",      "edac",      "disk",     "fs",
    "thermal",   "net_link", "nic",       "gpu_hang", "gpu_reset",
    "gpu_ras",   "lockup",   "rcu_stall", "lustre",   "memory_failure",
};

#define DISK_ACTION "move jobs off the disk and check it: smartctl -a DEVICE, nvme smart-log DEVICE"
#define FS_ACTION "stop writers, unmount and check it: fsck, xfs_repair; check its disk"
#define LINK_ACTION "check cable, transceiver and switch port: ethtool DEVICE"
#define AMD_ACTION "drain the node; look at: amd-smi metric --ecc; reboot if the GPU stays away"
#define LOCK_ACTION "look at the stack in the kernel log; reboot if the node stays stuck"
#define FS_CORRUPT "the file system on %s is damaged"

/* The first that fits counts. */
static const struct kmsg_rule rules[] = {
    { "NVRM: Xid (", NULL, "xid", SEVERITY_WARNING, false, kmsg_read_xid, NULL, NULL },
    { ": SXid (", "nvidia-nvswitch", "sxid", SEVERITY_WARNING, false, kmsg_read_sxid, NULL, NULL },
    { "AER: ", "received", "aer", SEVERITY_NOTE, false, kmsg_read_aer, NULL, NULL },
    { "ut of memory: Killed process ", NULL, "oom", SEVERITY_CRITICAL, false, kmsg_read_oom, NULL,
      NULL },
    { "ut of memory: Kill process ", NULL, "oom", SEVERITY_CRITICAL, false, kmsg_read_oom, NULL,
      NULL },
    { "nfs: server ", " not responding", "nfs", SEVERITY_CRITICAL, false, kmsg_read_behind,
      "the NFS server %s does not answer; what reads and writes there waits",
      "check the server and the way to it: nfsstat -m, ping" },
    { "nfs: server ", " OK", "nfs", SEVERITY_NOTE, true, kmsg_read_behind,
      "the NFS server %s answers again", "" },
    { "INFO: task ", " blocked for more than ", "hung_task", SEVERITY_WARNING, false,
      kmsg_read_hung, NULL, NULL },
    { "[Hardware Error]", NULL, "mce", SEVERITY_WARNING, false, kmsg_read_mce, NULL, NULL },
    { "EDAC ", NULL, "edac", SEVERITY_WARNING, false, kmsg_read_edac, NULL, NULL },
    { "Memory failure: ", NULL, "memory_failure", SEVERITY_CRITICAL, false, kmsg_read_host,
      "a page of memory failed and was taken out of use",
      "drain the node and have its DIMMs checked: ras-mc-ctl --errors" },
    { "oft offline: ", NULL, "memory_failure", SEVERITY_WARNING, false, kmsg_read_host,
      "a page of memory with many corrected errors was taken out of use",
      "watch its DIMM: ras-mc-ctl --errors" },
    { "oft_offline: ", NULL, "memory_failure", SEVERITY_WARNING, false, kmsg_read_host,
      "a page of memory with many corrected errors was taken out of use",
      "watch its DIMM: ras-mc-ctl --errors" },

    { "EXT4-fs error (device ", NULL, "fs", SEVERITY_CRITICAL, false, kmsg_read_behind, FS_CORRUPT,
      FS_ACTION },
    { "EXT4-fs (", "Remounting filesystem read-only", "fs", SEVERITY_CRITICAL, false,
      kmsg_read_behind, "the file system on %s was made read-only after an error", FS_ACTION },
    { "BTRFS error (device ", NULL, "fs", SEVERITY_CRITICAL, false, kmsg_read_behind, FS_CORRUPT,
      FS_ACTION },
    { "BTRFS: error (device ", NULL, "fs", SEVERITY_CRITICAL, false, kmsg_read_behind, FS_CORRUPT,
      FS_ACTION },
    { "XFS (", "orruption", "fs", SEVERITY_CRITICAL, false, kmsg_read_behind, FS_CORRUPT,
      FS_ACTION },
    { "XFS (", "shutdown", "fs", SEVERITY_CRITICAL, false, kmsg_read_behind,
      "the file system on %s was shut down after an error", FS_ACTION },
    { "XFS (", "hutting down", "fs", SEVERITY_CRITICAL, false, kmsg_read_behind,
      "the file system on %s was shut down after an error", FS_ACTION },
    { "XFS (", "I/O error", "fs", SEVERITY_CRITICAL, false, kmsg_read_behind,
      "the file system on %s met an error of its disk", FS_ACTION },
    { "I/O error, dev ", NULL, "disk", SEVERITY_CRITICAL, false, kmsg_read_behind,
      "a request to the disk %s failed", DISK_ACTION },
    { "I/O error on dev ", NULL, "disk", SEVERITY_CRITICAL, false, kmsg_read_behind,
      "a request to the disk %s failed", DISK_ACTION },
    { "medium error, dev ", NULL, "disk", SEVERITY_CRITICAL, false, kmsg_read_behind,
      "the disk %s could not read or write a place", DISK_ACTION },
    { "critical target error, dev ", NULL, "disk", SEVERITY_CRITICAL, false, kmsg_read_behind,
      "the disk %s refused a request", DISK_ACTION },
    { "nvme ", "controller is down; will reset", "disk", SEVERITY_CRITICAL, false, kmsg_read_behind,
      "the NVMe drive %s does not answer and is reset", DISK_ACTION },
    { "nvme ", "Removing after probe failure", "disk", SEVERITY_CRITICAL, false, kmsg_read_behind,
      "the NVMe drive %s did not come back and was removed", DISK_ACTION },
    { "nvme ", " timeout, ", "disk", SEVERITY_WARNING, false, kmsg_read_behind,
      "a request to the NVMe drive %s timed out", DISK_ACTION },
    { "nvme ", "Device not ready", "disk", SEVERITY_CRITICAL, false, kmsg_read_behind,
      "the NVMe drive %s is not ready", DISK_ACTION },

    { " temperature above threshold", NULL, "thermal", SEVERITY_WARNING, false, kmsg_read_cpu,
      "%s is too hot and runs at lower clocks", "check fans, heat sinks and inlet temperature" },
    { " temperature/speed normal", NULL, "thermal", SEVERITY_NOTE, true, kmsg_read_cpu,
      "%s has cooled down", "" },
    { " Link is Down", NULL, "net_link", SEVERITY_WARNING, false, kmsg_read_before,
      "the link of %s is down", LINK_ACTION },
    { " Link is Up", NULL, "net_link", SEVERITY_NOTE, true, kmsg_read_before,
      "the link of %s is up", "" },
    { ": Link down", NULL, "net_link", SEVERITY_WARNING, false, kmsg_read_before,
      "the link of %s is down", LINK_ACTION },
    { ": Link up", NULL, "net_link", SEVERITY_NOTE, true, kmsg_read_before, "the link of %s is up",
      "" },
    { "Port module event", "able unplugged", "nic", SEVERITY_WARNING, false, kmsg_read_device,
      "the cable of the network card %s was unplugged", "plug it in, or ask who took it out" },
    { "Port module event", "rror", "nic", SEVERITY_WARNING, false, kmsg_read_device,
      "the transceiver or cable of the network card %s reports an error",
      "reseat or replace cable and transceiver: mlxlink -d ADDRESS -m" },
    { "evice's health compromised", "mlx5", "nic", SEVERITY_CRITICAL, false, kmsg_read_device,
      "the firmware of the network card %s does not answer",
      "drain the node and reboot it; update the card's firmware if it comes again" },

    { " timeout", "amdgpu", "gpu_hang", SEVERITY_CRITICAL, false, kmsg_read_device,
      "the GPU %s did not finish its work in time; a reset follows", AMD_ACTION },
    { "GPU reset begin", "amdgpu", "gpu_reset", SEVERITY_CRITICAL, false, kmsg_read_device,
      "the driver resets the GPU %s; its programs end", AMD_ACTION },
    { "GPU reset", "succeeded", "gpu_reset", SEVERITY_NOTE, true, kmsg_read_device,
      "the GPU %s was reset and is back", "" },
    { "GPU reset end with ret = -", "amdgpu", "gpu_reset", SEVERITY_CRITICAL, false,
      kmsg_read_device, "the reset of the GPU %s failed", AMD_ACTION },
    { "GPU Recovery Failed", NULL, "gpu_reset", SEVERITY_CRITICAL, false, kmsg_read_device,
      "the reset of the GPU %s failed", AMD_ACTION },
    { " uncorrectable ", "amdgpu", "gpu_ras", SEVERITY_CRITICAL, false, kmsg_read_device,
      "the GPU %s met errors that ECC cannot correct", AMD_ACTION },

    { "soft lockup - CPU#", NULL, "lockup", SEVERITY_CRITICAL, false, kmsg_read_cpu,
      "%s does not come out of the kernel", LOCK_ACTION },
    { "hard LOCKUP on cpu ", NULL, "lockup", SEVERITY_CRITICAL, false, kmsg_read_cpu,
      "%s does not answer interrupts", LOCK_ACTION },
    { "self-detected stall on CPU", NULL, "rcu_stall", SEVERITY_CRITICAL, false, kmsg_read_host,
      "a CPU has kept the kernel's clean-up (RCU) waiting", LOCK_ACTION },
    { "detected stalls on CPUs/tasks", NULL, "rcu_stall", SEVERITY_CRITICAL, false, kmsg_read_host,
      "CPUs or tasks have kept the kernel's clean-up (RCU) waiting", LOCK_ACTION },

    { "Lustre: ", ") was lost", "lustre", SEVERITY_CRITICAL, false, kmsg_read_lustre,
      "the connection to the Lustre target %s was lost; what reads and writes there waits",
      "check the server and the way to it: lfs check servers" },
    { "Lustre: ", "onnection restored to ", "lustre", SEVERITY_NOTE, true, kmsg_read_lustre,
      "the connection to the Lustre target %s is back", "" },
    { "LustreError: ", NULL, "lustre", SEVERITY_WARNING, false, kmsg_read_host,
      "Lustre reports an error; the line is in the kernel log", "look at: lfs check servers" },
};

const char *kmsg_kind(size_t i)
{
    return i < KMSG_KINDS ? kinds[i] : NULL;
}

/* Digits and the character behind them. */
static bool take_number(char **at, char end, uint64_t *ret)
{
    size_t n = (size_t)parse_digits(*at, 10, 19, ret);

    if (!n || (*at)[n] != end)
        return false;
    *at += n + 1;
    return true;
}

/* " DEVICE=+pci:0000:05:00.0": what stands behind the subsystem. */
static void take_device(struct kmsg *k, const char *lines)
{
    const char *at = strstr(lines, "\n DEVICE=+"), *name = at ? strchr(at, ':') : NULL;

    if (name)
        snprintf(k->device, sizeof(k->device), "%.*s", (int)strcspn(name + 1, "\n"), name + 1);
}

int kmsg_parse(char *record, size_t len, struct kmsg *k)
{
    char *at = record, *end;
    uint64_t priority, us;

    record[len] = 0;
    *k = (struct kmsg){ .level = 0 };
    for (size_t i = 0; i < len; i++)
        if ((record[i] < ' ' && record[i] != '\n') || record[i] > '~')
            record[i] = '?';
    if (!take_number(&at, ',', &priority) || !take_number(&at, ',', &k->sequence))
        return -EINVAL;
    end = strchr(at, ';');
    if (!end || priority > INT32_MAX)
        return -EINVAL;
    /* behind the time stand flags, and in later kernels a caller */
    if (parse_digits(at, 10, 18, &us) == 0)
        return -EINVAL;
    k->level = (int)(priority & 7);
    k->facility = (int)(priority >> 3);
    k->us = (int64_t)us;
    k->text = ++end;
    end = strchr(end, '\n');
    if (end) {
        take_device(k, end);
        *end = 0;
    }
    return 0;
}

/* The readers of daemons write to the log, too: what they say is not the kernel's. A user's line
 * (facility 1) is taken, since only root can write one, to try things out. */
enum { FACILITY_USER = 1 };

bool kmsg_event(const struct kmsg *k, const struct faults *faults, struct event *ret)
{
    if (k->facility > FACILITY_USER)
        return false;
    for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
        const struct kmsg_rule *r = &rules[i];
        const char *at = strstr(k->text, r->words);
        struct kmsg_line l = { k, at ? at + strlen(r->words) : NULL, r, faults };

        if (!at || (r->also && !strstr(k->text, r->also)))
            continue;
        *ret = (struct event){
            .kind = r->kind, .severity = r->severity, .code = -1, .over = r->over
        };
        if (r->read(&l, ret))
            return true;
    }
    return false;
}
