/* TCP and the queues below it, of the whole host: proc/net/softnet_stat, snmp, netstat, sockstat
 * (Documentation/networking/snmp_counter.rst, Linux 6.12; softnet_seq_show() of
 * net/core/net-procfs.c). */
#include "probe/sample/sampler.h"

#include <string.h>

#include "base/parse.h"
#include "probe/kernel/scan.h"
#include "probe/sample/files.h"
#include "probe/sample/table.h"

enum {
    TCP_BACKLOG_PROCESSED,
    TCP_BACKLOG_DROPPED,
    TCP_BACKLOG_SQUEEZED,
    TCP_SENT,
    TCP_RECEIVED,
    TCP_RETRANSMITTED,
    TCP_BROKEN,
    TCP_RESETS,
    TCP_TIMEOUTS,
    TCP_LISTEN_OVERFLOWS,
    TCP_LISTEN_DROPS,
    TCP_CONNECTIONS,
    TCP_SOCKETS,
    TCP_IN_USE,
    TCP_ORPHANS,
    TCP_TIME_WAIT,
    TCP_VALUES
};

#define COUNTER(name, help) \
    { \
        name, help, SIGNAL_COUNTER \
    }

static const struct signal_def defs[TCP_VALUES] = {
    [TCP_BACKLOG_PROCESSED] = COUNTER("backlog_processed_total", "packets that CPUs took in"),
    [TCP_BACKLOG_DROPPED] = COUNTER("backlog_dropped_total", "packets dropped from full queues"),
    [TCP_BACKLOG_SQUEEZED] = COUNTER("backlog_squeezed_total",
                                     "times that a CPU had to stop early"),
    [TCP_SENT] = COUNTER("sent_segments_total", "segments sent, without those sent again"),
    [TCP_RECEIVED] = COUNTER("received_segments_total", "segments received"),
    [TCP_RETRANSMITTED] = COUNTER("retransmitted_segments_total", "segments sent again"),
    [TCP_BROKEN] = COUNTER("broken_segments_total", "segments received broken"),
    [TCP_RESETS] = COUNTER("resets_total", "connections reset by this host"),
    [TCP_TIMEOUTS] = COUNTER("timeouts_total", "times that no answer came in time"),
    [TCP_LISTEN_OVERFLOWS] = COUNTER("listen_overflows_total", "connections that met a full queue"),
    [TCP_LISTEN_DROPS] = COUNTER("listen_drops_total",
                                 "connections dropped before they were taken"),
    [TCP_CONNECTIONS] = { "connections", "connections that are up", SIGNAL_GAUGE },
    [TCP_SOCKETS] = { "sockets", "sockets of all kinds", SIGNAL_GAUGE },
    [TCP_IN_USE] = { "sockets_in_use", "TCP sockets, IPv4", SIGNAL_GAUGE },
    [TCP_ORPHANS] = { "sockets_orphaned", "TCP sockets that no program holds", SIGNAL_GAUGE },
    [TCP_TIME_WAIT] = { "sockets_time_wait", "TCP sockets that wait for late packets",
                        SIGNAL_GAUGE },
};

static const struct signal_set tcp_set = { "tcp", NULL, defs, TCP_VALUES };

/* A word and where the number goes that belongs to it. */
struct word {
    const char *line; /* the first word of the line */
    const char *name;
    unsigned value;
};

static const struct word snmp_words[] = {
    { "Tcp:", "OutSegs", TCP_SENT },   { "Tcp:", "InSegs", TCP_RECEIVED },
    { "Tcp:", "InErrs", TCP_BROKEN },  { "Tcp:", "RetransSegs", TCP_RETRANSMITTED },
    { "Tcp:", "OutRsts", TCP_RESETS }, { "Tcp:", "CurrEstab", TCP_CONNECTIONS },
};
static const struct word netstat_words[] = {
    { "TcpExt:", "TCPTimeouts", TCP_TIMEOUTS },
    { "TcpExt:", "ListenOverflows", TCP_LISTEN_OVERFLOWS },
    { "TcpExt:", "ListenDrops", TCP_LISTEN_DROPS },
};
static const struct word sockstat_words[] = {
    { "sockets:", "used", TCP_SOCKETS },
    { "TCP:", "inuse", TCP_IN_USE },
    { "TCP:", "orphan", TCP_ORPHANS },
    { "TCP:", "tw", TCP_TIME_WAIT },
};

static bool is_word(const char *word, size_t len, const char *want)
{
    return strlen(want) == len && !memcmp(word, want, len);
}

static void forget(const struct sample_file *f, double *values)
{
    const struct word *words = f->arg;

    for (size_t i = 0; i < f->n_args; i++)
        values[words[i].value] = (double)NAN;
}

/* Set the value of a name on the line that starts with 'line' to the number at 'at'. */
static void take(const struct sample_file *f, const char *line, const char *name, size_t len,
                 const char *at, double *values)
{
    const struct word *words = f->arg;

    for (size_t i = 0; i < f->n_args; i++)
        if (scan_word(&(const char *){ line }, words[i].line) && is_word(name, len, words[i].name))
            values[words[i].value] = scan_number(&at);
}

/* Two lines for each protocol: "Tcp: RtoAlgorithm RtoMin ..." and "Tcp: 1 200 ...". */
static void read_pairs(const struct sample_file *f, const char *text, double *values)
{
    const char *names = text, *name, *number;

    forget(f, values);
    while (scan_line(&text)) {
        const char *line = names, *at = text;
        size_t len = sample_word(&names, 0, &name), n = sample_word(&at, 0, &number);

        if (len != n || memcmp(name, number, n) != 0) { /* a name without its pair */
            names = text;
            continue;
        }
        while ((len = sample_word(&names, 0, &name)) && sample_word(&at, 0, &number))
            take(f, line, name, len, number, values);
        (void)scan_line(&text);
        names = text;
    }
}

/* "TCP: inuse 1 orphan 0 tw 0 alloc 1 mem 168". */
static void read_line_words(const struct sample_file *f, const char *text, double *values)
{
    forget(f, values);
    do {
        const char *line = text, *name, *number;
        size_t len;

        (void)sample_word(&text, 0, &name);
        while ((len = sample_word(&text, 0, &name)) && sample_word(&text, 0, &number))
            take(f, line, name, len, number, values);
    } while (scan_line(&text));
}

/* Pass blanks and read a hexadecimal number of 32 bits; NaN when it is none. */
static double scan_hex(const char **at)
{
    uint64_t n;
    int len;

    scan_blanks(at);
    len = parse_digits(*at, 16, 8, &n);
    *at += len;
    return len > 0 && (**at == ' ' || **at == '\n') ? (double)n : (double)NAN;
}

/* A line for each CPU, in hexadecimal: processed dropped squeezed ... */
static void read_softnet(const struct sample_file *f, const char *text, double *values)
{
    (void)f;
    for (unsigned i = TCP_BACKLOG_PROCESSED; i <= TCP_BACKLOG_SQUEEZED; i++)
        values[i] = (double)NAN;
    do {
        for (unsigned i = TCP_BACKLOG_PROCESSED; i <= TCP_BACKLOG_SQUEEZED; i++) {
            double n = scan_hex(&text);

            if (isnan(n)) /* those behind it would be in the wrong column */
                break;
            sample_add(&values[i], n);
        }
    } while (scan_line(&text));
}

#define WORDS(path, slow, read, words) \
    { \
        path, 0, slow, 1, read, words, ARRAY_SIZE(words) \
    }

static const struct sample_file files[] = {
    { "softnet_stat", 0, false, 1, read_softnet, NULL, 0 },
    WORDS("snmp", false, read_pairs, snmp_words),
    /* the kernel takes three times as long for its 130 counters as for any other file here */
    WORDS("netstat", true, read_pairs, netstat_words),
    WORDS("sockstat", false, read_line_words, sockstat_words),
};

static int find(struct sample_files *s)
{
    return sample_files_add(s, "", "proc/net/", files, ARRAY_SIZE(files));
}

static const char *const folders[] = { "proc/net/snmp", "proc/net/softnet_stat", NULL };
static const struct sample_class tcp_class = { &tcp_set, TCP_VALUES, folders, find, NULL };

static int tcp_open(void **state, const struct sampler_env *env, struct err *e)
{
    return sample_files_open(state, env, &tcp_class, e);
}

const struct sampler_ops sampler_softnet = { "softnet", &tcp_set, tcp_open, sample_files_sample,
                                             sample_files_close };
