#include "probe/kernel/kmsg.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "nvlink5_csv.h"
#include "probe/kernel/kmsg_fold.h"
#include "sxid_csv.h"
#include "tap.h"
#include "xid_csv.h"

#define GPU "NVRM: Xid (PCI:0000:05:00): "
#define SWITCH "nvidia-nvswitch3: SXid (PCI:0000:C1:00.0): "

static struct faults faults;

/* A line and the event it means; kind NULL: none. text and action are parts of the event's. */
static const struct {
    const char *line, *kind;
    int severity; /* 1 note, 2 warning, 3 critical */
    int code;
    bool over;
    const char *thing, *text, *action;
} lines[] = {
    /* XIDs */
    { GPU "79, pid=1234, name=python, GPU has fallen off the bus.", "xid", 3, 79, false,
      "0000:05:00.0", "no longer answers on PCIe (python, pid 1234); the driver: GPU has fallen",
      "reboot" },
    { GPU "79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.", "xid", 3, 79, false,
      "0000:05:00.0", "on PCIe; the driver: GPU has", "" },
    { GPU "31, Ch 00000010, engmask 00000101, intr 10000000", "xid", 2, 31, false, "0000:05:00.0",
      "not mapped; mostly its own error; the driver: Ch 00000010", "restart the job" },
    { GPU "31, pid=77, Ch 00000010", "xid", 2, 31, false, "0000:05:00.0", "(pid 77)", "" },
    { "NVRM: Xid (0000:03:00): 62, 00a1", "xid", 3, 62, false, "0000:03:00.0", "halted",
      "--gpu-reset -i 0000:03:00.0; reboot" },
    { "NVRM: Xid (PCI:000A:17:00 GPU-I:02): 13, pid=5, name=a b, Graphics", "xid", 2, 13, false,
      "000a:17:00.0", "(a b, pid 5)", "" },
    { GPU "45", "xid", 1, 45, false, "0000:05:00.0", "after an earlier error", "" },
    { GPU "999, pid=5, name=x, Something new", "xid", 2, 999, false, "0000:05:00.0",
      "newer than the table: Something new", "" },
    { GPU "149, NETIR_LINK_EVT Fatal XC0 i0 Link 08 (0x004505c6 0x00000000 0x00000000)", "xid", 3,
      149, false, "0000:05:00.0", "XID 149, NVLink 8: the link went down",
      "-i 0000:05:00.0; then check the link's signal" },
    { GPU "149, NETIR_BER_EVENT Nonfatal XC0 i0 Link 00 (0x00000013 0x00000001 0x0)", "xid", 2, 149,
      false, "0000:05:00.0", "bit error rate", "cables" },
    { GPU "145, RLW_REMAP Nonfatal XC0 i0 (0x00000004 0x00000100 0x0)", "xid", 1, 145, false,
      "0000:05:00.0", "XID 145: an error of the hardware without effect", "nothing" },
    { GPU "145, RLW_NEW Fatal XC0 i0 Link 00 (0x0000003f 0x00000100 0x0)", "xid", 3, 145, false,
      "0000:05:00.0", "unit RLW", "look the two words up" },
    { GPU "145, RLW_NEW Nonfatal XC0 (0xzz)", "xid", 2, 145, false, "0000:05:00.0", "RLW", "" },
    { GPU "154, GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)", "xid",
      3, 154, false, "0000:05:00.0", "advice is now: drain and reboot the node", "drain and reb" },
    { GPU "154, GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)", "xid", 3,
      154, false, "0000:05:00.0", "reset the GPU", "-i 0000:05:00.0" },
    { GPU "154, GPU recovery action changed from 0x1 (GPU Reset Required) to 0x0 (None)", "xid", 1,
      154, true, "0000:05:00.0", "no recovery", "" },
    { GPU "154, GPU recovery action changed from 0x1 to 0x99 (?)", "xid", 1, 154, false,
      "0000:05:00.0", "changed its advice", "" },
    { "NVRM: Xid (PCI:0000:05:00) 79, no colon", NULL, 0, 0, false, "", "", "" },
    { "NVRM: Xid (PCI:zz): 79, x", NULL, 0, 0, false, "", "", "" },
    { "NVRM: Xid (PCI:0000:05:00): x", NULL, 0, 0, false, "", "", "" },
    { "NVRM: GPU 0000:91:00.0: GPU has fallen off the bus.", NULL, 0, 0, false, "", "", "" },

    /* SXIDs */
    { SWITCH "20034, Fatal, Link 30 LTSSM Fault Up", "sxid", 3, 20034, false, "0000:c1:00.0",
      "went down; the driver: Fatal, Link 30", "drain" },
    { SWITCH "20034, Non-fatal, Link 30 LTSSM Fault Up", "sxid", 2, 20034, false, "0000:c1:00.0",
      "went down", "" },
    { SWITCH "12021, Non-fatal, Link 02 egress", "sxid", 1, 12021, false, "0000:c1:00.0",
      "ECC corrected", "" },
    { SWITCH "29999, Fatal, Link 02", "sxid", 3, 29999, false, "0000:c1:00.0", "does not have",
      "" },
    { SWITCH "20034, Severity 1 Engine instance 30 Sub-engine instance 00", NULL, 0, 0, false, "",
      "", "" },
    { SWITCH "20034, Data {0x10000000, 0x10000000}", NULL, 0, 0, false, "", "", "" },

    /* PCIe */
    { "pcieport 0000:00:01.0: AER: Corrected error received: 0000:01:00.0", "aer", 1, -1, false,
      "0000:01:00.0", "corrected", "" },
    { "pcieport 0000:00:01.0: AER: Multiple Corrected error received: 0000:01:00.0", "aer", 1, -1,
      false, "0000:01:00.0", "corrected", "" },
    { "pcieport 0000:00:01.0: AER: Uncorrected (Fatal) error received: 0000:01:00.0", "aer", 3, -1,
      false, "0000:01:00.0", "link of 0000:01:00.0 failed", "reboot" },
    { "pcieport 0000:00:01.0: AER: Uncorrected (Non-Fatal) error received: 0000:01:00.0", "aer", 2,
      -1, false, "0000:01:00.0", "a request of", "" },
    { "pcieport 0000:00:01.0: AER: Uncorrectable (Fatal) error message received from 0000:02:00.1",
      "aer", 3, -1, false, "0000:02:00.1", "failed for good", "" },
    { "pcieport 0000:00:01.0: AER: Correctable error message received from 0000:02:00.1", "aer", 1,
      -1, false, "0000:02:00.1", "", "" },
    { "pcieport 0000:00:01.0: AER: Corrected error received: id=00e8", "aer", 1, -1, false,
      "0000:00:01.0", "", "" },
    { "pcieport 0000:00:01.0: AER: enabled with IRQ 25", NULL, 0, 0, false, "", "", "" },

    /* memory, processes */
    { "Out of memory: Killed process 1234 (python) total-vm:9000kB, anon-rss:2097152kB, x", "oom",
      3, -1, false, "python", "killed python (pid 1234), which held 2.0 GiB", "" },
    { "Memory cgroup out of memory: Killed process 77 (a (b)) total-vm:1kB, anon-rss:1kB", "oom", 2,
      -1, false, "a (b)", "control group", "raise" },
    { "Out of memory: Kill process 5 (java) score 900 or sacrifice child", "oom", 3, -1, false,
      "java", "ran out of memory", "" },
    { "Out of memory: Killed process x (java)", NULL, 0, 0, false, "", "", "" },
    { "INFO: task python:123 blocked for more than 120 seconds.", "hung_task", 2, -1, false,
      "python", "more than 120 s", "/proc/123/stack" },
    { "INFO: task kworker/0:1:9 blocked for more than 241 seconds.", "hung_task", 2, -1, false,
      "kworker/0:1", "(pid 9)", "" },
    { "INFO: task blocked for more than 241 seconds.", NULL, 0, 0, false, "", "", "" },
    { "nfs: server fs1.x.org not responding, still trying", "nfs", 3, -1, false, "fs1.x.org",
      "does not answer", "nfsstat" },
    { "nfs: server fs1.x.org not responding, timed out", "nfs", 3, -1, false, "fs1.x.org", "", "" },
    { "nfs: server fs1.x.org OK", "nfs", 1, -1, true, "fs1.x.org", "again", "" },
    { "Memory failure: 0x1234: recovery action for dirty LRU page: Recovered", "memory_failure", 3,
      -1, false, "", "page of memory failed", "DIMM" },
    { "Soft offlining pfn 0x12 at process virtual address", NULL, 0, 0, false, "", "", "" },
    { "soft offline: 0x1234: page migrated", "memory_failure", 2, -1, false, "", "taken out", "" },
    { "Soft offline: 0x1234: isolation failed", "memory_failure", 2, -1, false, "", "", "" },

    /* machine checks, memory controllers */
    { "mce: [Hardware Error]: CPU 3: Machine Check: 0 Bank 5: be00000000800400", "mce", 2, -1,
      false, "cpu3", "error on cpu3: CPU 3: Machine Check", "" },
    { "mce: [Hardware Error]: Machine check events logged", "mce", 2, -1, false, "", "", "" },
    { "{1}[Hardware Error]: event severity: fatal", "mce", 3, -1, false, "", "", "drain" },
    { "[Hardware Error]: CPU:12 (19:1:1) MC0_STATUS: Uncorrected", "mce", 3, -1, false, "cpu12", "",
      "" },
    { "EDAC MC0: 1 CE memory read error on CPU_SrcID#0_Ha#0_Chan#1_DIMM#0 (channel:1 slot:0)",
      "edac", 2, -1, false, "CPU_SrcID#0_Ha#0_Chan#1_DIMM#0", "controller 0 corrected 1 error at",
      "" },
    { "EDAC MC12: 3 UE on mc#0csrow#1 (x)", "edac", 3, -1, false, "mc#0csrow#1",
      "controller 12 could not correct 3 errors", "replaced" },
    { "EDAC MC1: 2 CE unknown", "edac", 2, -1, false, "mc1", "", "" },
    { "EDAC MC0: Giving out device to module skx_edac", NULL, 0, 0, false, "", "", "" },
    { "EDAC amd64: F19h detected", NULL, 0, 0, false, "", "", "" },

    /* disks and file systems */
    { "blk_update_request: I/O error, dev sda, sector 1234 op 0x0:(READ)", "disk", 3, -1, false,
      "sda", "disk sda failed", "smartctl" },
    { "I/O error, dev nvme0n1, sector 7", "disk", 3, -1, false, "nvme0n1", "", "" },
    { "Buffer I/O error on dev dm-0, logical block 3", "disk", 3, -1, false, "dm-0", "", "" },
    { "critical medium error, dev sdb, sector 1", "disk", 3, -1, false, "sdb", "could not", "" },
    { "nvme nvme0: I/O 12 QID 3 timeout, aborting", "disk", 2, -1, false, "nvme0", "nvme0 timed",
      "" },
    { "nvme nvme1: I/O tag 12 (100c) opcode 0x2 (I/O Cmd) QID 3 timeout, aborting req", "disk", 2,
      -1, false, "nvme1", "", "" },
    { "nvme nvme0: controller is down; will reset: CSTS=0xffffffff", "disk", 3, -1, false, "nvme0",
      "is reset", "" },
    { "EXT4-fs error (device sda1): ext4_find_entry:1455: inode #2: comm ls", "fs", 3, -1, false,
      "sda1", "damaged", "fsck" },
    { "EXT4-fs (sda1): Remounting filesystem read-only", "fs", 3, -1, false, "sda1", "read-only",
      "" },
    { "EXT4-fs (sda1): mounted filesystem with ordered data mode", NULL, 0, 0, false, "", "", "" },
    { "XFS (nvme0n1p1): Metadata corruption detected at xfs_agf", "fs", 3, -1, false, "nvme0n1p1",
      "damaged", "" },
    { "XFS (dm-1): log I/O error -5", "fs", 3, -1, false, "dm-1", "error of its disk", "" },
    { "XFS (dm-1): Filesystem has been shut down. Please unmount", NULL, 0, 0, false, "", "", "" },
    { "XFS (dm-1): Log I/O Error (0x2) detected at x.  Shutting down filesystem.", "fs", 3, -1,
      false, "dm-1", "shut down", "" },
    { "BTRFS error (device sdc): bdev /dev/sdc errs", "fs", 3, -1, false, "sdc", "", "" },

    /* heat, network */
    { "CPU3: Core temperature above threshold, cpu clock throttled (total events = 1)", "thermal",
      2, -1, false, "cpu3", "cpu3 is too hot", "fans" },
    { "mce: CPU12: Package temperature above threshold, cpu clock throttled", "thermal", 2, -1,
      false, "cpu12", "", "" },
    { "CPU3: Core temperature/speed normal", "thermal", 1, -1, true, "cpu3", "cooled", "" },
    { "mlx5_core 0000:17:00.0 ens1np0: Link down", "net_link", 2, -1, false, "ens1np0", "down",
      "ethtool" },
    { "mlx5_core 0000:17:00.0 ens1np0: Link up", "net_link", 1, -1, true, "ens1np0", "up", "" },
    { "bnxt_en 0000:17:00.0 eth0: NIC Link is Down", "net_link", 2, -1, false, "eth0", "", "" },
    { "igb 0000:01:00.0 eth2: igb: eth2 NIC Link is Up 1000 Mbps Full Duplex", "net_link", 1, -1,
      true, "eth2", "", "" },
    { "mlx5_core 0000:17:00.0: Port module event: module 0, Cable unplugged", "nic", 2, -1, false,
      "0000:17:00.0", "unplugged", "" },
    { "mlx5_core 0000:17:00.0: Port module event[error]: module 0, Cable error, x", "nic", 2, -1,
      false, "0000:17:00.0", "reports an error", "" },
    { "mlx5_core 0000:17:00.0: device's health compromised - reached miss count", "nic", 3, -1,
      false, "0000:17:00.0", "does not answer", "" },
    { " Link is Down", NULL, 0, 0, false, "", "", "" },

    /* AMD */
    { "amdgpu 0000:0c:00.0: amdgpu: ring gfx_0.0.0 timeout, signaled seq=5, emitted seq=7",
      "gpu_hang", 3, -1, false, "0000:0c:00.0", "in time", "amd-smi" },
    { "[drm:amdgpu_job_timedout [amdgpu]] *ERROR* ring sdma0 timeout, signaled seq=5", "gpu_hang",
      3, -1, false, "", "GPU of this node", "" },
    { "amdgpu 0000:0c:00.0: amdgpu: GPU reset begin!", "gpu_reset", 3, -1, false, "0000:0c:00.0",
      "resets", "" },
    { "amdgpu 0000:0c:00.0: amdgpu: GPU reset(2) succeeded!", "gpu_reset", 1, -1, true,
      "0000:0c:00.0", "is back", "" },
    { "amdgpu 0000:0c:00.0: amdgpu: GPU reset end with ret = -110", "gpu_reset", 3, -1, false,
      "0000:0c:00.0", "failed", "" },
    { "amdgpu 0000:0c:00.0: amdgpu: 1 uncorrectable hardware errors detected in umc block",
      "gpu_ras", 3, -1, false, "0000:0c:00.0", "cannot correct", "" },

    /* stalls, Lustre */
    { "watchdog: BUG: soft lockup - CPU#3 stuck for 23s! [python:1234]", "lockup", 3, -1, false,
      "cpu3", "cpu3", "" },
    { "watchdog: Watchdog detected hard LOCKUP on cpu 7", "lockup", 3, -1, false, "cpu7", "", "" },
    { "rcu: INFO: rcu_preempt self-detected stall on CPU", "rcu_stall", 3, -1, false, "", "RCU",
      "" },
    { "rcu: INFO: rcu_sched detected stalls on CPUs/tasks:", "rcu_stall", 3, -1, false, "", "",
      "" },
    { "Lustre: 12:0:(c.c:1:f()) s-OST0001-osc-ffff: Connection to s-OST0001 (at 10.0.0.1@o2ib) "
      "was lost; in progress operations using this service will wait",
      "lustre", 3, -1, false, "s-OST0001", "was lost", "lfs" },
    { "Lustre: s-OST0001-osc-ffff: Connection restored to s-OST0001 (at 10.0.0.1@o2ib)", "lustre",
      1, -1, true, "s-OST0001", "is back", "" },
    { "LustreError: 11-0: s-OST0001-osc: operation ost_write failed", "lustre", 2, -1, false, "",
      "reports an error", "" },
    { "Lustre: s-MDT0000-mdc-ff: Connection restored to 10.0.0.1@o2ib (at 10.0.0.1@o2ib)", "lustre",
      1, -1, true, "s-MDT0000", "", "" },
    { "Lustre: Mounted s-client", NULL, 0, 0, false, "", "", "" },
    { "usb 1-1: new high-speed USB device", NULL, 0, 0, false, "", "", "" },
    { "", NULL, 0, 0, false, "", "", "" },
};

static void test_lines(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
        const struct kmsg k = { .text = lines[i].line };
        struct event e = { .kind = "unset" };
        bool is = kmsg_event(&k, &faults, &e);

        ok(is == (lines[i].kind != NULL), "kmsg_event knows whether this is an event: %s",
           lines[i].line);
        if (!is || !lines[i].kind)
            continue;
        is_str(e.kind, lines[i].kind, "the event has its kind: %s", lines[i].line);
        is_int((int)e.severity, lines[i].severity, "the event has its severity: %s", lines[i].line);
        is_int(e.code, lines[i].code, "the event has its code: %s", lines[i].line);
        ok(e.over == lines[i].over, "the event says whether it is over: %s", lines[i].line);
        is_str(e.thing, lines[i].thing, "the event has its thing: %s", lines[i].line);
        ok(strstr(e.text, lines[i].text) && e.text[0], "the event has its text: %s: %s",
           lines[i].line, e.text);
        ok(strstr(e.action, lines[i].action) != NULL, "the event has its action: %s: %s",
           lines[i].line, e.action);
    }
}

static void test_kinds(void)
{
    bool all = true;

    for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
        bool found = !lines[i].kind;

        for (size_t j = 0; j < KMSG_KINDS; j++)
            found = found || !strcmp(kmsg_kind(j), lines[i].kind);
        all = all && found;
    }
    ok(all, "each kind of the lines is listed");
    ok(kmsg_kind(KMSG_KINDS) == NULL, "kmsg_kind is NULL behind the last kind");
    for (size_t j = 0; j < KMSG_KINDS; j++) {
        bool found = false;

        for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
            found = found || (lines[i].kind && !strcmp(kmsg_kind(j), lines[i].kind));
        ok(found, "the kind %s has a line", kmsg_kind(j));
    }
}

static int parse(const char *text, struct kmsg *k, char buf[512])
{
    snprintf(buf, 512, "%s", text);
    return kmsg_parse(buf, strlen(buf), k);
}

static void test_records(void)
{
    static const char *const bad[] = { "",
                                       "6",
                                       "6,",
                                       "6,1",
                                       "6,1,",
                                       "6,1,2,-",
                                       "x,1,2,-;t",
                                       "6,x,2,-;t",
                                       "6,1,x,-;t",
                                       "6,1,;t",
                                       ",1,2,-;t",
                                       "99999999999999999999,1,2,-;t",
                                       "5000000000,1,2,-;t" };
    char buf[512];
    struct kmsg k;

    is_int(parse("6,1234,5678901,-;a text\n SUBSYSTEM=pci\n DEVICE=+pci:0000:05:00.0\n", &k, buf),
           0, "kmsg_parse reads a record");
    ok(k.level == 6 && k.facility == 0 && k.sequence == 1234 && k.us == 5678901,
       "a record has its level, facility, number and time");
    is_str(k.text, "a text", "a record has its text");
    is_str(k.device, "0000:05:00.0", "a record has its device's address");
    is_int(parse("11,5,7,c,caller=T12;x\x01y\x80;z", &k, buf), 0,
           "kmsg_parse reads flags, a caller and no newline");
    ok(k.level == 3 && k.facility == 1, "a record of a user has its level and facility");
    is_str(k.text, "x?y?;z", "letters that cannot be printed are replaced");
    is_str(k.device, "", "a record without a device has an empty one");
    is_int(parse("6,1,2,-;t\n SUBSYSTEM=x\n DEVICE=c189:0\n", &k, buf), 0,
           "kmsg_parse reads a record with a device number");
    is_str(k.device, "", "a device number is no device's name");
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
        is_int(parse(bad[i], &k, buf), -EINVAL, "kmsg_parse refuses '%s'", bad[i]);
}

static void test_sources(void)
{
    struct kmsg k = { .text = "nfs: server x OK", .facility = 1 };
    struct event e;

    ok(kmsg_event(&k, &faults, &e), "a line of a user may be an event");
    k.facility = 3;
    ok(!kmsg_event(&k, &faults, &e), "a line of a daemon is no event");
    k = (struct kmsg){ .text = "amdgpu: GPU reset begin!", .device = "0000:0c:00.0" };
    ok(kmsg_event(&k, &faults, &e), "a line without an address may be an event");
    is_str(e.thing, "0000:0c:00.0", "an event without an address has the record's device");
}

static void test_long(void)
{
    char line[600];
    struct kmsg k = { .text = line };
    struct event e;

    memset(line, 'x', sizeof(line));
    memcpy(line, "nfs: server ", 12);
    memcpy(line + sizeof(line) - 4, " OK", 4);
    ok(kmsg_event(&k, &faults, &e), "a line with a long name is an event");
    ok(strlen(e.thing) == EVENT_THING - 1, "the long name of a thing is cut");
    memcpy(line, GPU "31, pid=", 36);
    ok(kmsg_event(&k, &faults, &e) && strlen(e.text) < EVENT_TEXT,
       "long values of an event are cut");
}

static struct event an_event(const char *thing, int severity, bool over)
{
    struct event e = {
        .kind = "xid", .severity = (enum severity)severity, .code = 31, .over = over, .text = "text"
    };

    snprintf(e.thing, sizeof(e.thing), "%s", thing);
    return e;
}

/* Whether it is folded; *ret has its text. */
static bool folds(struct kmsg_fold *f, const char *thing, int severity, bool over, int second,
                  char ret[EVENT_TEXT])
{
    struct event e = an_event(thing, severity, over);
    bool folded = kmsg_fold(f, &e, second * (int64_t)1000000000);

    memcpy(ret, e.text, EVENT_TEXT);
    return folded;
}

/* One with words of its own, in second 100. */
static bool folds_words(struct kmsg_fold *f, const char *words, int code, struct event *ret)
{
    *ret = an_event("a", 2, false);
    ret->code = code;
    snprintf(ret->text, sizeof(ret->text), "%s", words);
    return kmsg_fold(f, ret, 100 * (int64_t)1000000000);
}

/* What has no code is told apart by its words; of a storm eight are told. */
static void test_fold_by_words(void)
{
    struct kmsg_fold f = { 0 };
    struct event e;
    uint64_t what;
    char words[32];
    int told = 0;

    ok(!folds_words(&f, "killed a", -1, &e), "kmsg_fold tells a first text");
    what = event_what(&e);
    ok(!folds_words(&f, "killed b", -1, &e), "kmsg_fold tells another text");
    ok(event_what(&e) != what, "another text is another event");
    ok(folds_words(&f, "killed a", -1, &e), "kmsg_fold folds a text that it has told");
    ok(!folds_words(&f, "xid 3", 3, &e), "kmsg_fold tells an event with a code");
    ok(folds_words(&f, "xid 3 again", 3, &e), "kmsg_fold folds a code whatever its words are");
    is_int((long long)event_what(&e), 0, "what has a code is told apart by that");
    e = an_event("a", 2, false);
    e.code = -1;
    snprintf(e.text, sizeof(e.text), "killed a");
    ok(!kmsg_fold(&f, &e, 161 * (int64_t)1000000000), "kmsg_fold tells a text after a minute");
    is_str(e.text, "killed a (1 more since the last one told)", "the text has how many there were");
    ok(event_what(&e) == what, "how many there were does not make another event of it");

    f = (struct kmsg_fold){ 0 };
    for (int i = 0; i < 100; i++) {
        snprintf(words, sizeof(words), "killed %d", i);
        told += !folds_words(&f, words, -1, &e);
    }
    is_int(told, EVENT_TEXTS, "kmsg_fold tells eight texts of a storm");
}

static void test_fold(void)
{
    struct kmsg_fold f = { 0 };
    char text[EVENT_TEXT], name[16];

    ok(!folds(&f, "a", 2, false, 100, text), "kmsg_fold tells the first event");
    ok(folds(&f, "a", 2, false, 100, text) && folds(&f, "a", 2, false, 159, text),
       "kmsg_fold folds the same event within a minute");
    ok(!folds(&f, "b", 2, false, 110, text), "kmsg_fold tells the event of another thing");
    ok(!folds(&f, "a", 3, false, 110, text), "kmsg_fold tells a graver event");
    ok(!folds(&f, "a", 2, false, 160, text), "kmsg_fold tells the same event after a minute");
    is_str(text, "text (2 more since the last one told)",
           "the event told has the number of those folded");
    ok(!folds(&f, "a", 2, false, 221, text), "kmsg_fold tells the same event a minute later");
    is_str(text, "text", "the event told says nothing where none was folded");
    ok(!folds(&f, "a", 1, true, 222, text), "kmsg_fold tells the end of an event");
    ok(!folds(&f, "a", 2, false, 223, text), "kmsg_fold tells a new begin behind an end");
    ok(folds(&f, "a", 2, false, 224, text), "kmsg_fold folds again behind a new begin");
    for (int i = 0; i < KMSG_RECENT + 5; i++) {
        snprintf(name, sizeof(name), "t%d", i);
        ok(!folds(&f, name, 2, false, 300 + i % 7, text), "kmsg_fold tells the event of thing %d",
           i);
    }
    ok(!folds(&f, "a", 2, false, 301, text), "kmsg_fold forgets the oldest of many things");
    f = (struct kmsg_fold){ 0 };
    for (int i = 0; i < KMSG_RECENT; i++) {
        snprintf(name, sizeof(name), "t%d", i);
        (void)folds(&f, name, 2, false, i == 9 ? 100 : 110, text);
    }
    ok(!folds(&f, "new", 2, false, 111, text),
       "kmsg_fold tells an event that there is no room for");
    ok(folds(&f, "t0", 2, false, 112, text) && folds(&f, "t63", 2, false, 112, text) &&
           folds(&f, "t8", 2, false, 112, text),
       "kmsg_fold still folds all but the oldest");
    ok(!folds(&f, "t9", 2, false, 112, text), "kmsg_fold has forgotten the oldest");
}

int main(void)
{
    const struct fault_text x = { data_xid_csv, data_xid_csv_len };
    const struct fault_text l = { data_nvlink5_csv, data_nvlink5_csv_len };
    const struct fault_text s = { data_sxid_csv, data_sxid_csv_len };

    is_int(faults_load(&faults, &x, &l, &s, NULL), 0, "the tables of faults are read");
    test_lines();
    test_kinds();
    test_records();
    test_sources();
    test_long();
    test_fold();
    test_fold_by_words();
    faults_done(&faults);
    return done();
}
