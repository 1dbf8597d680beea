#include "probe/sample/node_exporter.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "probe/kernel/scan.h"
#include "probe/sample/table.h"

enum { PAGE = 0 }; /* a scale: the size of a page */

enum file { MEMINFO, VMSTAT, SNMP, NETSTAT, SNMP6, SOCKSTAT, SOCKSTAT6, FILES, ENTROPY, N_FILES };

/* How a file is written. */
enum form {
    KEY_NUMBER, /* "MemTotal: 1234 kB" */
    TWO_LINES,  /* "Tcp: InSegs OutSegs", then "Tcp: 12 34" */
    PAIRS,      /* "TCP: inuse 12 orphan 0" */
    NUMBERS     /* "12 0 34" */
};

static const struct {
    const char *path;
    enum form form;
} files[N_FILES] = {
    [MEMINFO] = { "proc/meminfo", KEY_NUMBER },
    [VMSTAT] = { "proc/vmstat", KEY_NUMBER },
    [SNMP] = { "proc/net/snmp", TWO_LINES },
    [NETSTAT] = { "proc/net/netstat", TWO_LINES },
    [SNMP6] = { "proc/net/snmp6", KEY_NUMBER },
    [SOCKSTAT] = { "proc/net/sockstat", PAIRS },
    [SOCKSTAT6] = { "proc/net/sockstat6", PAIRS },
    [FILES] = { "proc/sys/fs/file-nr", NUMBERS },
    [ENTROPY] = { "proc/sys/kernel/random/entropy_avail", NUMBERS },
};

/* Where each metric comes from: the word that its line starts with ("": none), and its key. */
static const struct metric {
    enum file file;
    const char *group, *key, *name;
    double scale;
} metrics[] = {
    { MEMINFO, "", "MemTotal:", "memory_MemTotal_bytes", 1024 },
    { MEMINFO, "", "MemFree:", "memory_MemFree_bytes", 1024 },
    { MEMINFO, "", "MemAvailable:", "memory_MemAvailable_bytes", 1024 },
    { MEMINFO, "", "Buffers:", "memory_Buffers_bytes", 1024 },
    { MEMINFO, "", "Cached:", "memory_Cached_bytes", 1024 },
    { MEMINFO, "", "SwapCached:", "memory_SwapCached_bytes", 1024 },
    { MEMINFO, "", "Active:", "memory_Active_bytes", 1024 },
    { MEMINFO, "", "Inactive:", "memory_Inactive_bytes", 1024 },
    { MEMINFO, "", "Active(anon):", "memory_Active_anon_bytes", 1024 },
    { MEMINFO, "", "Inactive(anon):", "memory_Inactive_anon_bytes", 1024 },
    { MEMINFO, "", "Active(file):", "memory_Active_file_bytes", 1024 },
    { MEMINFO, "", "Inactive(file):", "memory_Inactive_file_bytes", 1024 },
    { MEMINFO, "", "Unevictable:", "memory_Unevictable_bytes", 1024 },
    { MEMINFO, "", "Mlocked:", "memory_Mlocked_bytes", 1024 },
    { MEMINFO, "", "SwapTotal:", "memory_SwapTotal_bytes", 1024 },
    { MEMINFO, "", "SwapFree:", "memory_SwapFree_bytes", 1024 },
    { MEMINFO, "", "Dirty:", "memory_Dirty_bytes", 1024 },
    { MEMINFO, "", "Writeback:", "memory_Writeback_bytes", 1024 },
    { MEMINFO, "", "AnonPages:", "memory_AnonPages_bytes", 1024 },
    { MEMINFO, "", "Mapped:", "memory_Mapped_bytes", 1024 },
    { MEMINFO, "", "Shmem:", "memory_Shmem_bytes", 1024 },
    { MEMINFO, "", "KReclaimable:", "memory_KReclaimable_bytes", 1024 },
    { MEMINFO, "", "Slab:", "memory_Slab_bytes", 1024 },
    { MEMINFO, "", "SReclaimable:", "memory_SReclaimable_bytes", 1024 },
    { MEMINFO, "", "SUnreclaim:", "memory_SUnreclaim_bytes", 1024 },
    { MEMINFO, "", "KernelStack:", "memory_KernelStack_bytes", 1024 },
    { MEMINFO, "", "PageTables:", "memory_PageTables_bytes", 1024 },
    { MEMINFO, "", "NFS_Unstable:", "memory_NFS_Unstable_bytes", 1024 },
    { MEMINFO, "", "Bounce:", "memory_Bounce_bytes", 1024 },
    { MEMINFO, "", "WritebackTmp:", "memory_WritebackTmp_bytes", 1024 },
    { MEMINFO, "", "CommitLimit:", "memory_CommitLimit_bytes", 1024 },
    { MEMINFO, "", "Committed_AS:", "memory_Committed_AS_bytes", 1024 },
    { MEMINFO, "", "VmallocTotal:", "memory_VmallocTotal_bytes", 1024 },
    { MEMINFO, "", "VmallocUsed:", "memory_VmallocUsed_bytes", 1024 },
    { MEMINFO, "", "VmallocChunk:", "memory_VmallocChunk_bytes", 1024 },
    { MEMINFO, "", "Percpu:", "memory_Percpu_bytes", 1024 },
    { MEMINFO, "", "AnonHugePages:", "memory_AnonHugePages_bytes", 1024 },
    { MEMINFO, "", "ShmemHugePages:", "memory_ShmemHugePages_bytes", 1024 },
    { MEMINFO, "", "ShmemPmdMapped:", "memory_ShmemPmdMapped_bytes", 1024 },
    { MEMINFO, "", "HardwareCorrupted:", "memory_HardwareCorrupted_bytes", 1024 },
    { MEMINFO, "", "HugePages_Total:", "memory_HugePages_Total", 1 },
    { MEMINFO, "", "HugePages_Free:", "memory_HugePages_Free", 1 },
    { MEMINFO, "", "HugePages_Rsvd:", "memory_HugePages_Rsvd", 1 },
    { MEMINFO, "", "HugePages_Surp:", "memory_HugePages_Surp", 1 },
    { MEMINFO, "", "Hugepagesize:", "memory_Hugepagesize_bytes", 1024 },
    { MEMINFO, "", "DirectMap4k:", "memory_DirectMap4k_bytes", 1024 },
    { MEMINFO, "", "DirectMap2M:", "memory_DirectMap2M_bytes", 1024 },
    { MEMINFO, "", "DirectMap1G:", "memory_DirectMap1G_bytes", 1024 },
    { VMSTAT, "", "oom_kill", "vmstat_oom_kill", 1 },
    { VMSTAT, "", "pgfault", "vmstat_pgfault", 1 },
    { VMSTAT, "", "pgmajfault", "vmstat_pgmajfault", 1 },
    { VMSTAT, "", "pgpgin", "vmstat_pgpgin", 1 },
    { VMSTAT, "", "pgpgout", "vmstat_pgpgout", 1 },
    { VMSTAT, "", "pswpin", "vmstat_pswpin", 1 },
    { VMSTAT, "", "pswpout", "vmstat_pswpout", 1 },
    { SNMP, "Ip:", "Forwarding", "netstat_Ip_Forwarding", 1 },
    { SNMP, "Icmp:", "InErrors", "netstat_Icmp_InErrors", 1 },
    { SNMP, "Icmp:", "InMsgs", "netstat_Icmp_InMsgs", 1 },
    { SNMP, "Icmp:", "OutMsgs", "netstat_Icmp_OutMsgs", 1 },
    { SNMP, "Tcp:", "ActiveOpens", "netstat_Tcp_ActiveOpens", 1 },
    { SNMP, "Tcp:", "CurrEstab", "netstat_Tcp_CurrEstab", 1 },
    { SNMP, "Tcp:", "InErrs", "netstat_Tcp_InErrs", 1 },
    { SNMP, "Tcp:", "InSegs", "netstat_Tcp_InSegs", 1 },
    { SNMP, "Tcp:", "OutRsts", "netstat_Tcp_OutRsts", 1 },
    { SNMP, "Tcp:", "OutSegs", "netstat_Tcp_OutSegs", 1 },
    { SNMP, "Tcp:", "PassiveOpens", "netstat_Tcp_PassiveOpens", 1 },
    { SNMP, "Tcp:", "RetransSegs", "netstat_Tcp_RetransSegs", 1 },
    { SNMP, "Udp:", "InDatagrams", "netstat_Udp_InDatagrams", 1 },
    { SNMP, "Udp:", "InErrors", "netstat_Udp_InErrors", 1 },
    { SNMP, "Udp:", "NoPorts", "netstat_Udp_NoPorts", 1 },
    { SNMP, "Udp:", "OutDatagrams", "netstat_Udp_OutDatagrams", 1 },
    { SNMP, "Udp:", "RcvbufErrors", "netstat_Udp_RcvbufErrors", 1 },
    { SNMP, "Udp:", "SndbufErrors", "netstat_Udp_SndbufErrors", 1 },
    { SNMP, "UdpLite:", "InErrors", "netstat_UdpLite_InErrors", 1 },
    { NETSTAT, "TcpExt:", "ListenDrops", "netstat_TcpExt_ListenDrops", 1 },
    { NETSTAT, "TcpExt:", "ListenOverflows", "netstat_TcpExt_ListenOverflows", 1 },
    { NETSTAT, "TcpExt:", "SyncookiesFailed", "netstat_TcpExt_SyncookiesFailed", 1 },
    { NETSTAT, "TcpExt:", "SyncookiesRecv", "netstat_TcpExt_SyncookiesRecv", 1 },
    { NETSTAT, "TcpExt:", "SyncookiesSent", "netstat_TcpExt_SyncookiesSent", 1 },
    { NETSTAT, "TcpExt:", "TCPSynRetrans", "netstat_TcpExt_TCPSynRetrans", 1 },
    { NETSTAT, "TcpExt:", "TCPTimeouts", "netstat_TcpExt_TCPTimeouts", 1 },
    { NETSTAT, "IpExt:", "InOctets", "netstat_IpExt_InOctets", 1 },
    { NETSTAT, "IpExt:", "OutOctets", "netstat_IpExt_OutOctets", 1 },
    { SNMP6, "", "Icmp6InErrors", "netstat_Icmp6_InErrors", 1 },
    { SNMP6, "", "Icmp6InMsgs", "netstat_Icmp6_InMsgs", 1 },
    { SNMP6, "", "Icmp6OutMsgs", "netstat_Icmp6_OutMsgs", 1 },
    { SNMP6, "", "Ip6InOctets", "netstat_Ip6_InOctets", 1 },
    { SNMP6, "", "Ip6OutOctets", "netstat_Ip6_OutOctets", 1 },
    { SNMP6, "", "Udp6InDatagrams", "netstat_Udp6_InDatagrams", 1 },
    { SNMP6, "", "Udp6InErrors", "netstat_Udp6_InErrors", 1 },
    { SNMP6, "", "Udp6NoPorts", "netstat_Udp6_NoPorts", 1 },
    { SNMP6, "", "Udp6OutDatagrams", "netstat_Udp6_OutDatagrams", 1 },
    { SNMP6, "", "Udp6RcvbufErrors", "netstat_Udp6_RcvbufErrors", 1 },
    { SNMP6, "", "Udp6SndbufErrors", "netstat_Udp6_SndbufErrors", 1 },
    { SNMP6, "", "UdpLite6InErrors", "netstat_UdpLite6_InErrors", 1 },
    { SOCKSTAT, "sockets:", "used", "sockstat_sockets_used", 1 },
    { SOCKSTAT, "TCP:", "inuse", "sockstat_TCP_inuse", 1 },
    { SOCKSTAT, "TCP:", "orphan", "sockstat_TCP_orphan", 1 },
    { SOCKSTAT, "TCP:", "tw", "sockstat_TCP_tw", 1 },
    { SOCKSTAT, "TCP:", "alloc", "sockstat_TCP_alloc", 1 },
    { SOCKSTAT, "TCP:", "mem", "sockstat_TCP_mem", 1 },
    { SOCKSTAT, "UDP:", "inuse", "sockstat_UDP_inuse", 1 },
    { SOCKSTAT, "UDP:", "mem", "sockstat_UDP_mem", 1 },
    { SOCKSTAT, "UDPLITE:", "inuse", "sockstat_UDPLITE_inuse", 1 },
    { SOCKSTAT, "RAW:", "inuse", "sockstat_RAW_inuse", 1 },
    { SOCKSTAT, "FRAG:", "inuse", "sockstat_FRAG_inuse", 1 },
    { SOCKSTAT, "FRAG:", "memory", "sockstat_FRAG_memory", 1 },
    { SOCKSTAT, "TCP:", "mem", "sockstat_TCP_mem_bytes", PAGE },
    { SOCKSTAT, "UDP:", "mem", "sockstat_UDP_mem_bytes", PAGE },
    { SOCKSTAT6, "TCP6:", "inuse", "sockstat_TCP6_inuse", 1 },
    { SOCKSTAT6, "UDP6:", "inuse", "sockstat_UDP6_inuse", 1 },
    { SOCKSTAT6, "UDPLITE6:", "inuse", "sockstat_UDPLITE6_inuse", 1 },
    { SOCKSTAT6, "RAW6:", "inuse", "sockstat_RAW6_inuse", 1 },
    { SOCKSTAT6, "FRAG6:", "inuse", "sockstat_FRAG6_inuse", 1 },
    { SOCKSTAT6, "FRAG6:", "memory", "sockstat_FRAG6_memory", 1 },
    { FILES, "", "0", "filefd_allocated", 1 },
    { FILES, "", "2", "filefd_maximum", 1 },
    { ENTROPY, "", "0", "entropy_available_bits", 1 },
};

struct node_exporter {
    struct sample_table *tables[N_FILES];
    struct signal_def defs[ARRAY_SIZE(metrics)];
    struct signal_set set;
    double page;
};

struct word {
    const char *text;
    size_t len;
};

static struct word next_word(const char **at)
{
    struct word w;

    w.len = sample_word(at, 0, &w.text);
    return w;
}

static bool is_word(struct word w, const char *text)
{
    return strlen(text) == w.len && !memcmp(w.text, text, w.len);
}

/* Put a number where its metrics are. */
static void put(const struct node_exporter *c, struct signal_row *row, enum file file,
                struct word group, struct word key, const char *number)
{
    double value = scan_number(&number);

    for (size_t i = 0; i < ARRAY_SIZE(metrics); i++)
        if (metrics[i].file == file && is_word(key, metrics[i].key) &&
            is_word(group, metrics[i].group))
            row->values[i] = value * (metrics[i].scale > 0 ? metrics[i].scale : c->page);
}

static void read_numbers(const struct node_exporter *c, struct signal_row *row, enum file file,
                         const char *at)
{
    static const char digits[] = "0123456789";

    for (size_t i = 0; i < strlen(digits); i++) {
        struct word number = next_word(&at);

        if (number.len == 0)
            return;
        put(c, row, file, (struct word){ "", 0 }, (struct word){ digits + i, 1 }, number.text);
    }
}

/* The keys of this line with the numbers of the next one. */
static void read_two_lines(const struct node_exporter *c, struct signal_row *row, enum file file,
                           const char **at)
{
    const char *keys = *at;
    struct word group = next_word(&keys), other;

    if (!scan_line(at))
        return;
    other = next_word(at);
    while (other.len == group.len && !memcmp(other.text, group.text, group.len)) {
        struct word key = next_word(&keys), number = next_word(at);

        if (key.len == 0 || number.len == 0)
            return;
        put(c, row, file, group, key, number.text);
    }
}

static void read_file(const struct node_exporter *c, struct signal_row *row, enum file file,
                      const char *at)
{
    const struct word none = { "", 0 };

    if (files[file].form == NUMBERS) {
        read_numbers(c, row, file, at);
        return;
    }
    do {
        const char *line = at;
        struct word first, key, number;

        if (files[file].form == TWO_LINES) {
            read_two_lines(c, row, file, &at);
            continue;
        }
        first = next_word(&line);
        key = next_word(&line);
        if (files[file].form == KEY_NUMBER)
            put(c, row, file, none, first, key.text);
        while (files[file].form == PAIRS && key.len) {
            number = next_word(&line);
            put(c, row, file, first, key, number.text);
            key = next_word(&line);
        }
    } while (scan_line(&at));
}

static void node_exporter_close(void *state)
{
    struct node_exporter *c = state;

    for (size_t i = 0; i < N_FILES; i++)
        sample_table_close(c->tables[i]);
    free(c);
}

DEFINE_CLEANUP(struct node_exporter, node_exporter_close)

static int node_exporter_open(void **state, const struct sampler_env *env, struct err *e)
{
    CLEANUP(node_exporter_closep) struct node_exporter *c = calloc(1, sizeof(*c));

    if (!c)
        return err_nomem(e);
    for (size_t i = 0; i < N_FILES; i++) {
        int rc = sample_table_open(&c->tables[i], env->root, files[i].path, e);

        if (rc < 0 && rc != -ENOENT)
            return rc;
    }
    for (size_t i = 0; i < ARRAY_SIZE(metrics); i++)
        c->defs[i] = (struct signal_def){ metrics[i].name, "as node_exporter has it", SIGNAL_GAUGE,
                                          NULL };
    c->set = (struct signal_set){ .name = "node", .defs = c->defs, .n_defs = ARRAY_SIZE(metrics) };
    c->page = (double)sysconf(_SC_PAGESIZE);
    *state = steal(&c);
    return 0;
}

static int node_exporter_sample(void *state, struct tick *t)
{
    struct node_exporter *c = state;
    struct signal_row *row = tick_add(t, &c->set, "");

    if (!row)
        return -ENOMEM;
    for (enum file i = 0; i < N_FILES; i++) {
        char *text;
        int rc = c->tables[i] ? sample_table_read(c->tables[i], &text) : -ENOENT;

        if (rc == -ENOMEM)
            return rc;
        if (rc == 0)
            read_file(c, row, i, text);
    }
    return 0;
}

const struct sampler_ops sampler_compat = { .name = "compat",
                                            .open = node_exporter_open,
                                            .sample = node_exporter_sample,
                                            .close = node_exporter_close };
