/* What node_exporter tells beyond brim's sets: the four forms of files, broken ones, no memory. */
#include "probe/sample/node_exporter.h"

#include "sampled.h"

/* The set is the sampler's own: a value of its one row by name. */
static const char *value(const struct sampled *s, const char *name, char buf[32])
{
    const struct signal_row *row = s->tick.n_rows ? &s->tick.rows[0] : NULL;
    size_t i = row ? signal_index(row->set, name, NULL) : 0;

    if (!row || i == row->set->n_defs)
        return "no signal";
    if (isnan(row->values[i]))
        return "absent";
    snprintf(buf, 32, "%.15g", row->values[i]);
    return buf;
}

static void is(const struct sampled *s, const char *name, const char *want)
{
    char buf[32];

    is_str(value(s, name, buf), want, "signal %s is %s", name, want);
}

static void write_all(const struct sampled *s)
{
    folder_text(s->folder, "proc/meminfo",
                "MemTotal:  100 kB\nActive(anon): 7 kB\n"
                "HugePages_Total:   3\nHardwareCorrupted: 4 kB\nDirectMap1G: 5 kB\n");
    folder_text(s->folder, "proc/vmstat", "pgfault 5\nnr_free_pages 9\noom_kill 2\n");
    folder_text(s->folder, "proc/net/snmp",
                "Ip: Forwarding DefaultTTL\nIp: 2 64\n"
                "Tcp: RtoMax MaxConn ActiveOpens InSegs\nTcp: 120000 -1 4 18\n"
                "Udp: InErrors\nUdp: 7\nUdpLite: InErrors\nUdpLite: 8\n");
    folder_text(s->folder, "proc/net/netstat",
                "TcpExt: SyncookiesSent TCPTimeouts\nTcpExt: 1 6\n"
                "IpExt: InNoRoutes InOctets\nIpExt: 0 12345\n");
    folder_text(s->folder, "proc/net/snmp6", "Ip6InOctets   \t77\n");
    folder_text(s->folder, "proc/net/sockstat",
                "sockets: used 18\n"
                "TCP: inuse 3 orphan 0 tw 1 alloc 4 mem 2\n"
                "UDP: inuse 11 mem 12\nUDPLITE: inuse 13\nRAW: inuse 14\n"
                "FRAG: inuse 15 memory 16\n");
    folder_text(s->folder, "proc/net/sockstat6",
                "TCP6: inuse 21\nUDP6: inuse 22\nUDPLITE6: inuse 23\nRAW6: inuse 24\n"
                "FRAG6: inuse 25 memory 26\n");
    folder_text(s->folder, "proc/sys/fs/file-nr", "2848\t0\t9223372036854775807\n");
    folder_text(s->folder, "proc/sys/kernel/random/entropy_avail", "256\n");
}

static void test_values(struct sampled *s)
{
    char page[32];

    write_all(s);
    is_int(sampled_open(s), 0, "the sampler opens with files of node_exporter's sets");
    is_int(sampled_at(s, 0), 1, "node_exporter's sets make one row");
    is(s, "memory_MemTotal_bytes", "102400");
    is(s, "memory_Active_anon_bytes", "7168");
    is(s, "memory_HugePages_Total", "3");
    is(s, "memory_MemFree_bytes", "absent");
    is(s, "vmstat_pgfault", "5");
    is(s, "vmstat_oom_kill", "2");
    is(s, "netstat_Ip_Forwarding", "2");
    is(s, "netstat_Tcp_ActiveOpens", "4");
    is(s, "netstat_Tcp_InSegs", "18");
    is(s, "netstat_TcpExt_TCPTimeouts", "6");
    is(s, "netstat_IpExt_InOctets", "12345");
    is(s, "netstat_Ip6_InOctets", "77");
    is(s, "sockstat_sockets_used", "18");
    is(s, "sockstat_TCP_tw", "1");
    snprintf(page, sizeof(page), "%ld", 2 * sysconf(_SC_PAGESIZE));
    is(s, "sockstat_TCP_mem_bytes", page);
    is(s, "sockstat_TCP_orphan", "0");
    is(s, "sockstat_TCP_alloc", "4");
    is(s, "sockstat_TCP_mem", "2");
    is(s, "sockstat_UDP_inuse", "11");
    is(s, "sockstat_UDP_mem", "12");
    snprintf(page, sizeof(page), "%ld", 12 * sysconf(_SC_PAGESIZE));
    is(s, "sockstat_UDP_mem_bytes", page);
    is(s, "sockstat_UDPLITE_inuse", "13");
    is(s, "sockstat_RAW_inuse", "14");
    is(s, "sockstat_FRAG_inuse", "15");
    is(s, "sockstat_FRAG_memory", "16");
    is(s, "sockstat_TCP6_inuse", "21");
    is(s, "sockstat_UDP6_inuse", "22");
    is(s, "sockstat_UDPLITE6_inuse", "23");
    is(s, "sockstat_RAW6_inuse", "24");
    is(s, "sockstat_FRAG6_inuse", "25");
    is(s, "sockstat_FRAG6_memory", "26");
    is(s, "netstat_Udp_InErrors", "7");
    is(s, "netstat_UdpLite_InErrors", "8");
    is(s, "memory_HardwareCorrupted_bytes", "4096");
    is(s, "memory_DirectMap1G_bytes", "5120");
    is(s, "filefd_allocated", "2848");
    is(s, "filefd_maximum", "9.22337203685478e+18");
    is(s, "entropy_available_bits", "256");
    sampled_close(s);
}

static void test_hostile(struct sampled *s)
{
    static const char *const broken[] = {
        "",
        "\n",
        "Tcp:\n",
        "Tcp: ActiveOpens\n",
        "Tcp: ActiveOpens\nUdp: 4\n",
        "Tcp: ActiveOpens\nTcp:\n",
        "TCP: inuse\n",
        "TCP: inuse x tw\n",
        ":\n\n: 1\n",
        "Tcp: ActiveOpens",
        "MemTotal:\n",
        "0 1 2 3 4 5 6 7 8 9 10 11 12\n",
    };
    static const char *const paths[] = { "proc/meminfo", "proc/net/snmp", "proc/net/sockstat",
                                         "proc/sys/fs/file-nr" };

    for (size_t i = 0; i < ARRAY_SIZE(broken); i++) {
        for (size_t k = 0; k < ARRAY_SIZE(paths); k++)
            folder_text(s->folder, paths[k], broken[i]);
        is_int(sampled_open(s), 0, "the sampler opens with broken file %zu", i);
        is_int(sampled_at(s, 0), 1, "broken file %zu makes one row", i);
        is(s, "netstat_Tcp_ActiveOpens", "absent");
        is(s, "sockstat_TCP_tw", "absent");
        is(s, "memory_MemTotal_bytes", "absent");
        sampled_close(s);
    }
}

int main(void)
{
    struct sampled s;

    sampled_make(&s, &sampler_compat);
    is_int(sampled_open(&s), 0, "the sampler opens on an empty folder");
    is_int(sampled_at(&s, 0), 1, "an empty folder makes a row");
    is(&s, "vmstat_pgfault", "absent");
    sampled_close(&s);
    test_values(&s);
    sampled_oom(&s);
    sampled_close(&s);
    test_hostile(&s);
    sampled_remove(&s);
    return done();
}
