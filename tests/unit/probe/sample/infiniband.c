/* Ports of eight NDR adapters and of a RoCE one; and what sample_files does for all its samplers:
 * periods, things that come and go, files that are refused. */
#include <sys/resource.h>

#include "sampled.h"

extern const struct sampler_ops sampler_infiniband;

#define IB "sys/class/infiniband/"

/* Link with -Wl,--wrap=pread64: reading a file whose path ends like refused fails with error. */
static const char *refused;
static int refusal, refusals;

ssize_t __real_pread64(int fd, void *buf, size_t size, off_t at);
ssize_t __wrap_pread64(int fd, void *buf, size_t size, off_t at);

ssize_t __wrap_pread64(int fd, void *buf, size_t size, off_t at)
{
    char link[64], target[PATH_MAX];
    ssize_t len;

    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    len = readlink(link, target, sizeof(target) - 1);
    target[len > 0 ? len : 0] = 0;
    if (refused && strlen(target) > strlen(refused) &&
        !strcmp(target + strlen(target) - strlen(refused), refused)) {
        refusals++;
        errno = refusal;
        return -1;
    }
    return __real_pread64(fd, buf, size, at);
}

PRINTF(3, 4)
static void put(const struct sampled *s, const char *path, const char *format, ...)
{
    char text[64];
    va_list ap;

    va_start(ap, format);
    vsnprintf(text, sizeof(text), format, ap);
    va_end(ap);
    folder_text(s->folder, path, text);
}

static void add_mlx5(const struct sampled *s, int n)
{
    static const struct {
        const char *path, *text;
    } files[] = {
        { "fw_ver", "28.39.1002\n" },
        { "board_id", "MT_0000000838\n" },
        { "ports/1/link_layer", "InfiniBand\n" },
        { "ports/1/state", "4: ACTIVE\n" },
        { "ports/1/phys_state", "5: LinkUp\n" },
        { "ports/1/rate", "400 Gb/sec (4X NDR)\n" },
        { "ports/1/counters/port_xmit_data", "2500\n" },
        { "ports/1/counters/port_rcv_packets", "70000000001\n" },
        { "ports/1/counters/port_xmit_packets", "7\n" },
        { "ports/1/counters/port_xmit_wait", "99\n" },
        { "ports/1/counters/symbol_error", "1\n" },
        { "ports/1/counters/link_downed", "2\n" },
        { "ports/1/counters/link_error_recovery", "3\n" },
        { "ports/1/counters/local_link_integrity_errors", "4\n" },
        { "ports/1/counters/excessive_buffer_overrun_errors", "5\n" },
        { "ports/1/counters/port_rcv_errors", "6\n" },
        { "ports/1/counters/port_xmit_discards", "7\n" },
        { "ports/1/counters/VL15_dropped", "8\n" },
        { "ports/1/hw_counters/out_of_sequence", "9\n" },
        { "ports/1/hw_counters/packet_seq_err", "10\n" },
        { "ports/1/hw_counters/local_ack_timeout_err", "11\n" },
        { "ports/1/hw_counters/rnr_nak_retry_err", "12\n" },
        { "ports/1/hw_counters/out_of_buffer", "13\n" },
        { "ports/1/hw_counters/roce_adp_retrans", "14\n" },
        { "ports/1/hw_counters/roce_slow_restart", "15\n" },
        { "ports/1/hw_counters/np_cnp_sent", "16\n" },
        { "ports/1/hw_counters/np_ecn_marked_roce_packets", "17\n" },
        { "ports/1/hw_counters/rp_cnp_handled", "18\n" },
        { "ports/1/hw_counters/rp_cnp_ignored", "19\n" },
        { "ports/1/hw_counters/req_cqe_error", "20\n" },
        { "ports/1/hw_counters/resp_cqe_error", "21\n" },
        { "ports/1/hw_counters/rx_icrc_encapsulated", "22\n" },
        { "ports/1/hw_counters/lifespan", "10\n" },
    };
    char path[256];

    for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
        snprintf(path, sizeof(path), IB "mlx5_%d/%s", n, files[i].path);
        folder_text(s->folder, path, files[i].text);
    }
    snprintf(path, sizeof(path), IB "mlx5_%d/ports/1/counters/port_rcv_data", n);
    put(s, path, "%d000\n", n + 1);
}

static void add_bnxt(const struct sampled *s)
{
    folder_text(s->folder, IB "bnxt_re0/ports/1/link_layer", "Ethernet\n");
    folder_text(s->folder, IB "bnxt_re0/ports/1/state", "1: DOWN\n");
    folder_text(s->folder, IB "bnxt_re0/ports/1/phys_state", "3: Disabled\n");
    folder_text(s->folder, IB "bnxt_re0/ports/1/rate", "200 Gb/sec (2X NDR)\n");
    folder_text(s->folder, IB "bnxt_re0/ports/1/hw_counters/rx_bytes", "12345678901234\n");
    folder_text(s->folder, IB "bnxt_re0/ports/1/hw_counters/tx_bytes", "5\n");
    folder_text(s->folder, IB "bnxt_re0/ports/1/hw_counters/rx_pkts", "6\n");
    folder_text(s->folder, IB "bnxt_re0/ports/1/hw_counters/tx_pkts", "7\n");
    folder_text(s->folder, IB "bnxt_re0/ports/1/hw_counters/to_retransmits", "8\n");
    folder_text(s->folder, IB "bnxt_re0/ports/1/hw_counters/oos_drop_count", "9\n");
}

static void test_values(struct sampled *s)
{
    static const char *const kinds[] = {
        "symbol",      "link_downed",  "link_recovery", "link_integrity",      "buffer_overrun",
        "receive",     "send_discard", "vl15_dropped",  "out_of_sequence",     "packet_sequence",
        "ack_timeout", "rnr_retry",    "out_of_buffer", "adaptive_retransmit", "slow_restart",
    };
    const struct signal_row *row;
    char label[64], want[16];

    for (int i = 0; i < 8; i++)
        add_mlx5(s, i);
    add_mlx5(s, 10);
    add_bnxt(s);
    is_int(sampled_open(s), 0, "the sampler opens with ten ports");
    is_int(sampled_at(s, 0), 10, "ten ports have rows");
    is_value(s, "mlx5_2:1", "received_bytes_total", "12000");
    is_value(s, "mlx5_2:1", "sent_bytes_total", "10000");
    is_value(s, "mlx5_2:1", "received_packets_total", "70000000001");
    is_value(s, "mlx5_2:1", "sent_packets_total", "7");
    is_value(s, "mlx5_2:1", "xmit_wait_total", "99");
    is_value(s, "mlx5_2:1", "active", "1");
    is_value(s, "mlx5_2:1", "link_up", "1");
    is_value(s, "mlx5_2:1", "rate_bytes_per_second", "50000000000");
    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
        snprintf(label, sizeof(label), "kind=\"%s\"", kinds[i]);
        snprintf(want, sizeof(want), "%zu", i + 1);
        is_labelled(s, "mlx5_7:1", "errors_total", label, want);
    }
    is_value(s, "mlx5_7:1", "cnp_sent_total", "16");
    is_value(s, "mlx5_7:1", "ecn_marked_total", "17");
    is_value(s, "mlx5_7:1", "cnp_handled_total", "18");
    is_value(s, "mlx5_7:1", "cnp_ignored_total", "19");
    is_labelled(s, "mlx5_7:1", "errors_total", "kind=\"requester_cqe\"", "20");
    is_labelled(s, "mlx5_7:1", "errors_total", "kind=\"responder_cqe\"", "21");
    is_labelled(s, "mlx5_7:1", "errors_total", "kind=\"icrc\"", "22");
    is_value(s, "bnxt_re0:1", "received_bytes_total", "12345678901234");
    is_value(s, "bnxt_re0:1", "sent_bytes_total", "5");
    is_value(s, "bnxt_re0:1", "active", "0");
    is_value(s, "bnxt_re0:1", "link_up", "0");
    is_value(s, "bnxt_re0:1", "rate_bytes_per_second", "25000000000");
    is_value(s, "bnxt_re0:1", "xmit_wait_total", "absent");
    is_labelled(s, "bnxt_re0:1", "errors_total", "kind=\"ack_timeout\"", "8");
    is_labelled(s, "bnxt_re0:1", "errors_total", "kind=\"out_of_sequence\"", "9");
    row = tick_find(&s->tick, s->ops->set, "mlx5_0:1");
    is_str(row ? signal_fact(row, "link_layer") : "", "InfiniBand",
           "a port has the layer of its link");
    is_str(row ? signal_fact(row, "firmware") : "", "28.39.1002",
           "a port has the firmware of its adapter");
    is_str(row ? signal_fact(row, "board") : "", "MT_0000000838",
           "a port has the board of its adapter");
    is_str(s->tick.rows[3].thing, "mlx5_2:1", "ports are in the order of their numbers");
    is_str(s->tick.rows[9].thing, "mlx5_10:1", "port mlx5_10 stands behind mlx5_7");
}

/* bnxt_re0:1 is the first thing, mlx5_0:1 the second, whose slow files come 1 s earlier. */
static void test_periods(struct sampled *s)
{
    put(s, IB "mlx5_0/ports/1/counters/port_xmit_data", "%d\n", 3000);
    put(s, IB "mlx5_0/ports/1/counters/symbol_error", "%d\n", 50);
    put(s, IB "mlx5_1/ports/1/counters/symbol_error", "%d\n", 60);
    is_int(sampled_at(s, 1), 10, "ten ports have rows a second later");
    is_value(s, "mlx5_0:1", "sent_bytes_total", "12000");
    is_labelled(s, "mlx5_0:1", "errors_total", "kind=\"symbol\"", "1");
    is_int(sampled_at(s, 8), 10, "ten ports have rows eight seconds later");
    is_labelled(s, "mlx5_1:1", "errors_total", "kind=\"symbol\"", "60");
    is_labelled(s, "mlx5_0:1", "errors_total", "kind=\"symbol\"", "1");
    is_int(sampled_at(s, 9), 10, "ten ports have rows nine seconds later");
    is_labelled(s, "mlx5_0:1", "errors_total", "kind=\"symbol\"", "50");
    put(s, IB "mlx5_0/ports/1/counters/symbol_error", "%d\n", 51);
    is_int(sampled_at(s, 18), 10, "ten ports have rows before ten seconds are over");
    is_labelled(s, "mlx5_0:1", "errors_total", "kind=\"symbol\"", "50");
    is_int(sampled_at(s, 19), 10, "ten ports have rows when ten seconds are over");
    is_labelled(s, "mlx5_0:1", "errors_total", "kind=\"symbol\"", "51");
}

static void remove_below(const struct sampled *s, const char *path)
{
    char full[PATH_MAX];

    folder_path(s->folder, path, full);
    folder_remove(full);
}

static void test_changes(struct sampled *s)
{
    remove_below(s, IB "mlx5_1");
    is_int(sampled_at(s, 29), 10, "a port that is gone is not missed before 30 s");
    add_mlx5(s, 12);
    is_int(sampled_at(s, 30), 10, "one port is gone and one came after 30 s");
    is_value(s, "mlx5_1:1", "sent_bytes_total", "no row");
    is_value(s, "mlx5_12:1", "received_bytes_total", "52000");
    is_labelled(s, "mlx5_0:1", "errors_total", "kind=\"symbol\"", "51");

    refused = "mlx5_0/ports/1/counters/port_xmit_wait";
    refusal = EINVAL;
    is_int(sampled_at(s, 31), 10, "ten ports have rows though a file is refused");
    is_value(s, "mlx5_0:1", "xmit_wait_total", "absent");
    is_value(s, "mlx5_0:1", "sent_bytes_total", "12000");
    is_int(sampled_at(s, 32), 10, "ten ports have rows the second after a file was refused");
    is_int(refusals, 1, "a file that was refused is not asked again");

    refused = "mlx5_2/ports/1/hw_counters/out_of_sequence";
    refusal = EOPNOTSUPP;
    refusals = 0;
    is_int(sampled_at(s, 50), 10, "ten ports have rows though a slow file is refused");
    is_labelled(s, "mlx5_2:1", "errors_total", "kind=\"out_of_sequence\"", "absent");
    is_labelled(s, "mlx5_2:1", "errors_total", "kind=\"packet_sequence\"", "10");
    is_int(sampled_at(s, 70), 10, "ten ports have rows twenty seconds after a slow refusal");
    is_int(refusals, 1, "a slow file that was refused is not asked again");

    refused = "mlx5_5/ports/1/state";
    refusal = EISDIR;
    refusals = 0;
    is_int(sampled_at(s, 70), 10, "ten ports have rows though a file is a folder");
    is_int(sampled_at(s, 71), 10, "ten ports have rows the second after a folder was met");
    is_int(refusals, 1, "a folder is not asked again");

    refused = "mlx5_3/ports/1/state";
    refusal = ENODEV;
    is_int(sampled_at(s, 71), 10, "ten ports have rows though a device fails");
    is_value(s, "mlx5_3:1", "active", "absent");
    refused = NULL;
    is_int(sampled_at(s, 72), 10, "a device that is back under its name is not known to be");
    is_value(s, "mlx5_3:1", "active", "absent");
    is_int(sampled_at(s, 100), 10, "a device that is back is known after 30 s");
    is_value(s, "mlx5_3:1", "active", "1");
    is_value(s, "mlx5_0:1", "xmit_wait_total", "absent");

    refused = "mlx5_4/ports/1/state";
    refusal = EIO;
    is_int(sampled_at(s, 101), 10, "ten ports have rows though a file fails for a moment");
    is_value(s, "mlx5_4:1", "active", "absent");
    refused = NULL;
    is_int(sampled_at(s, 102), 10, "a file that failed for a moment works again");
    is_value(s, "mlx5_4:1", "active", "1");
}

/* Without a free descriptor slow files cannot be opened for a while. */
static void test_no_descriptors(struct sampled *s)
{
    struct rlimit few, many;

    folder_need(getrlimit(RLIMIT_NOFILE, &many), "getrlimit");
    few = many;
    few.rlim_cur = 3;
    folder_need(setrlimit(RLIMIT_NOFILE, &few), "setrlimit");
    is_int(sampled_at(s, 112), 10, "ten ports have rows though no descriptor is free");
    is_value(s, "mlx5_0:1", "sent_bytes_total", "12000");
    is_labelled(s, "mlx5_0:1", "errors_total", "kind=\"symbol\"", "absent");
    folder_need(setrlimit(RLIMIT_NOFILE, &many), "setrlimit");
    is_int(sampled_at(s, 122), 10, "ten ports have rows once descriptors are free");
    is_labelled(s, "mlx5_0:1", "errors_total", "kind=\"symbol\"", "51");
}

static void test_hostile(struct sampled *s)
{
    folder_folder(s->folder, IB "empty");
    folder_text(s->folder, IB "plain", "x");
    folder_text(s->folder, IB "odd \n\"/ports/1/state", "ACTIVE\n");
    folder_text(s->folder, IB "odd/ports/1/state", "4294967300: ACTIVE\n");
    folder_text(s->folder, IB "odd/ports/1/phys_state", "9: what\n");
    folder_text(s->folder, IB "nop/ports/1/state", "0: NOP\n");
    folder_text(s->folder, IB "nop/ports/1/phys_state", ":5:\n");
    folder_text(s->folder, IB "odd/ports/1/rate", "-1 Gb/sec\n");
    folder_text(s->folder, IB "odd/ports/1/counters/port_rcv_data", "99999999999999999999999\n");
    folder_text(s->folder, IB "odd/ports/1/counters/port_xmit_data", "abc\n");
    folder_text(s->folder, IB "odd/ports/1/counters/port_xmit_wait", "");
    folder_text(s->folder, IB "odd/ports/1/counters/port_rcv_packets", "18446744073709551615\n");
    is_int(sampled_at(s, 140), 12, "odd devices have rows beside ten ports");
    is_value(s, "odd:1", "active", "0");
    is_value(s, "odd:1", "link_up", "0");
    is_value(s, "nop:1", "active", "0");
    is_value(s, "nop:1", "link_up", "absent");
    is_value(s, "odd:1", "rate_bytes_per_second", "absent");
    is_value(s, "odd:1", "received_bytes_total", "absent");
    is_value(s, "odd:1", "sent_bytes_total", "absent");
    is_value(s, "odd:1", "xmit_wait_total", "absent");
    is_value(s, "odd:1", "received_packets_total", "1.84467440737096e+19");
}

/* Memory runs out while things are looked for: the next sample looks again. */
static void test_again(struct sampled *s)
{
    bool failed;

    oom_restart();
    do {
        int rc;

        sampled_close(s);
        tick_done(&s->tick);
        folder_need(sampled_open(s), "open");
        oom_next();
        rc = sampled_at(s, 200);
        failed = oom_end();
        is_int(rc, failed ? -ENOMEM : 12, "a sample returns -ENOMEM where allocation %d fails",
               oom_at);
        is_int(sampled_at(s, 201), 12, "a sample after allocation %d failed has all rows", oom_at);
    } while (failed);
}

static void test_many(struct sampled *s)
{
    char path[128];

    remove_below(s, IB "odd \n\"");
    for (int i = 0; i < 1100; i++) {
        snprintf(path, sizeof(path), IB "vf%d/ports/1/rate", i);
        folder_text(s->folder, path, "1 Gb/sec (1X SDR)\n");
    }
    is_int(sampled_at(s, 180), 1024, "the sampler has 1,024 rows at most");
}

int main(void)
{
    struct sampled s;

    sampled_make(&s, &sampler_infiniband);
    is_int(sampled_open(&s), -ENOENT, "the sampler does not open without InfiniBand");
    test_values(&s);
    test_periods(&s);
    test_changes(&s);
    test_no_descriptors(&s);
    test_hostile(&s);
    sampled_oom(&s);
    test_again(&s);
    sampled_close(&s);
    is_int(sampled_open(&s), 0, "the sampler opens again for many ports");
    test_many(&s);
    sampled_remove(&s);
    return done();
}
