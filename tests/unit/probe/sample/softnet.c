#include "sampled.h"

extern const struct sampler_ops sampler_softnet;

static void test_values(struct sampled *s)
{
    folder_text(s->folder, "proc/net/softnet_stat",
                "00005da4 00000002 0000000a 00000000 00000000\n"
                "ffffffff 00000001 00000005 00000000 00000000\n");
    folder_text(s->folder, "proc/net/snmp",
                "Ip: Forwarding DefaultTTL InReceives\nIp: 1 64 58339\n"
                "Tcp: RtoAlgorithm RtoMin RtoMax MaxConn ActiveOpens PassiveOpens AttemptFails "
                "EstabResets CurrEstab InSegs OutSegs RetransSegs InErrs OutRsts InCsumErrors\n"
                "Tcp: 1 200 120000 -1 10 20 3 4 5 56912 52574 30 6 58 0\n"
                "Udp: InDatagrams NoPorts InErrors OutDatagrams\nUdp: 1 2 3 4\n");
    folder_text(s->folder, "proc/net/netstat",
                "TcpExt: SyncookiesSent ListenOverflows ListenDrops TCPTimeouts TCPAutoCorking\n"
                "TcpExt: 0 21 22 23 24\n"
                "IpExt: InNoRoutes TCPTimeouts\nIpExt: 8 9\n");
    folder_text(s->folder, "proc/net/sockstat",
                "sockets: used 17\nTCP: inuse 7 orphan 8 tw 9 alloc 10 mem 168\n"
                "UDP: inuse 11 mem 0\nUDPLITE: inuse 0\n");
    is_int(sampled_open(s), 0, "the sampler opens with tables of the network");
    is_int(sampled_at(s, 0), 1, "the tables of the network make one row");
    is_value(s, "", "backlog_processed_total", "4294991267");
    is_value(s, "", "backlog_dropped_total", "3");
    is_value(s, "", "backlog_squeezed_total", "15");
    is_value(s, "", "sent_segments_total", "52574");
    is_value(s, "", "received_segments_total", "56912");
    is_value(s, "", "retransmitted_segments_total", "30");
    is_value(s, "", "broken_segments_total", "6");
    is_value(s, "", "resets_total", "58");
    is_value(s, "", "timeouts_total", "23");
    is_value(s, "", "listen_overflows_total", "21");
    is_value(s, "", "listen_drops_total", "22");
    is_value(s, "", "connections", "5");
    is_value(s, "", "sockets", "17");
    is_value(s, "", "sockets_in_use", "7");
    is_value(s, "", "sockets_orphaned", "8");
    is_value(s, "", "sockets_time_wait", "9");
}

static void test_slow(struct sampled *s)
{
    folder_text(s->folder, "proc/net/netstat", "TcpExt: TCPTimeouts\nTcpExt: 24\n");
    folder_text(s->folder, "proc/net/sockstat", "sockets: used 18\n");
    is_int(sampled_at(s, 9), 1, "the tables make one row a few seconds later");
    is_value(s, "", "sockets", "18");
    is_value(s, "", "timeouts_total", "23");
    is_int(sampled_at(s, 10), 1, "the tables make one row ten seconds later");
    is_value(s, "", "timeouts_total", "24");
}

static void test_hostile(struct sampled *s)
{
    folder_text(s->folder, "proc/net/softnet_stat",
                "00000001\n\nxyz 1 2\n123456789abc 1 2\n3 0000000a");
    folder_text(s->folder, "proc/net/snmp",
                "Tcp: lonely\nIp: a b\nUdp: c\nTcp: OutSegs InSegs RetransSegs\nTcp: 7 -1\n"
                "Tcp: InErrs\nTcp:\nTcp: CurrEstab");
    folder_text(s->folder, "proc/net/netstat", "");
    folder_text(s->folder, "proc/net/sockstat", "\nTCP:\nTCP: inuse\nused 5\nsockets: used used\n");
    is_int(sampled_at(s, 20), 1, "broken tables make one row");
    is_value(s, "", "backlog_processed_total", "4");
    is_value(s, "", "backlog_dropped_total", "absent");
    is_value(s, "", "sent_segments_total", "7");
    is_value(s, "", "received_segments_total", "absent");
    is_value(s, "", "retransmitted_segments_total", "absent");
    is_value(s, "", "broken_segments_total", "absent");
    is_value(s, "", "connections", "absent");
    is_value(s, "", "timeouts_total", "absent");
    is_value(s, "", "sockets_in_use", "absent");
    is_value(s, "", "sockets", "absent");
    folder_text(s->folder, "proc/net/softnet_stat", "");
    folder_text(s->folder, "proc/net/snmp", "");
    folder_text(s->folder, "proc/net/sockstat", "");
    is_int(sampled_at(s, 30), 0, "empty tables make no row");
}

/* One table is enough. */
static void test_one(const char *path, const char *text, const char *signal, const char *want)
{
    struct sampled s;

    sampled_make(&s, &sampler_softnet);
    folder_text(s.folder, path, text);
    is_int(sampled_open(&s), 0, "the sampler opens with %s alone", path);
    is_int(sampled_at(&s, 0), 1, "%s alone makes a row", path);
    is_value(&s, "", signal, want);
    sampled_remove(&s);
}

int main(void)
{
    struct sampled s;

    sampled_make(&s, &sampler_softnet);
    is_int(sampled_open(&s), -ENOENT, "the sampler does not open without tables");
    test_values(&s);
    test_slow(&s);
    test_hostile(&s);
    folder_text(s.folder, "proc/net/softnet_stat", "00000001 00000002 00000003\n");
    sampled_oom(&s);
    sampled_remove(&s);
    test_one("proc/net/softnet_stat", "00000001 00000002 00000003\n", "backlog_dropped_total", "2");
    test_one("proc/net/snmp", "Tcp: OutSegs\nTcp: 7\n", "sent_segments_total", "7");
    return done();
}
