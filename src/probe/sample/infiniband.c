/* InfiniBand and RoCE ports: sys/class/infiniband/DEVICE/ports/N. What the files of "counters" mean
 * says Documentation/ABI/stable/sysfs-class-infiniband (Linux 6.12); those of "hw_counters" are the
 * driver's: drivers/infiniband/hw/mlx5/counters.c and bnxt_re/hw_counters.c of the same. */
#include "probe/sample/sampler.h"

#include <stdio.h>
#include <string.h>

#include "probe/kernel/kparse.h"
#include "probe/sample/files.h"

enum {
    IB_RECEIVED_BYTES,
    IB_SENT_BYTES,
    IB_RECEIVED_PACKETS,
    IB_SENT_PACKETS,
    IB_XMIT_WAIT,
    IB_ACTIVE,
    IB_LINK_UP,
    IB_RATE,
    IB_SYMBOL_ERRORS,
    IB_LINK_DOWNED,
    IB_LINK_RECOVERIES,
    IB_LINK_INTEGRITY,
    IB_BUFFER_OVERRUNS,
    IB_RECEIVE_ERRORS,
    IB_SEND_DISCARDS,
    IB_VL15_DROPPED,
    IB_OUT_OF_SEQUENCE,
    IB_PACKET_SEQUENCE,
    IB_ACK_TIMEOUTS,
    IB_RNR_RETRIES,
    IB_OUT_OF_BUFFER,
    IB_ADAPTIVE_RETRANSMITS,
    IB_SLOW_RESTARTS,
    IB_CNP_SENT,
    IB_ECN_MARKED,
    IB_CNP_HANDLED,
    IB_CNP_IGNORED,
    IB_REQUESTER_ERRORS,
    IB_RESPONDER_ERRORS,
    IB_ICRC_ERRORS,
    IB_VALUES
};

#define COUNTER(name, help) \
    { \
        name, help, SIGNAL_COUNTER \
    }
#define ERRORS(kind) \
    { \
        "errors_total", "errors that the port counted", SIGNAL_COUNTER, kind \
    }

static const struct signal_def defs[IB_VALUES] = {
    [IB_RECEIVED_BYTES] = COUNTER("received_bytes_total", "bytes received"),
    [IB_SENT_BYTES] = COUNTER("sent_bytes_total", "bytes sent"),
    [IB_RECEIVED_PACKETS] = COUNTER("received_packets_total", "packets received"),
    [IB_SENT_PACKETS] = COUNTER("sent_packets_total", "packets sent"),
    [IB_XMIT_WAIT] = COUNTER("xmit_wait_total",
                             "ticks of the port with data and no credit to send"),
    [IB_ACTIVE] = { "active", "1 while the port is ACTIVE", SIGNAL_GAUGE },
    [IB_LINK_UP] = { "link_up", "1 while the physical state is LinkUp", SIGNAL_GAUGE },
    [IB_RATE] = { "rate_bytes_per_second", "what the link runs at", SIGNAL_GAUGE },
    [IB_SYMBOL_ERRORS] = ERRORS("kind=\"symbol\""),
    [IB_LINK_DOWNED] = ERRORS("kind=\"link_downed\""),
    [IB_LINK_RECOVERIES] = ERRORS("kind=\"link_recovery\""),
    [IB_LINK_INTEGRITY] = ERRORS("kind=\"link_integrity\""),
    [IB_BUFFER_OVERRUNS] = ERRORS("kind=\"buffer_overrun\""),
    [IB_RECEIVE_ERRORS] = ERRORS("kind=\"receive\""),
    [IB_SEND_DISCARDS] = ERRORS("kind=\"send_discard\""),
    [IB_VL15_DROPPED] = ERRORS("kind=\"vl15_dropped\""),
    [IB_OUT_OF_SEQUENCE] = ERRORS("kind=\"out_of_sequence\""),
    [IB_PACKET_SEQUENCE] = ERRORS("kind=\"packet_sequence\""),
    [IB_ACK_TIMEOUTS] = ERRORS("kind=\"ack_timeout\""),
    [IB_RNR_RETRIES] = ERRORS("kind=\"rnr_retry\""),
    [IB_OUT_OF_BUFFER] = ERRORS("kind=\"out_of_buffer\""),
    [IB_ADAPTIVE_RETRANSMITS] = ERRORS("kind=\"adaptive_retransmit\""),
    [IB_SLOW_RESTARTS] = ERRORS("kind=\"slow_restart\""),
    [IB_REQUESTER_ERRORS] = ERRORS("kind=\"requester_cqe\""),
    [IB_RESPONDER_ERRORS] = ERRORS("kind=\"responder_cqe\""),
    [IB_ICRC_ERRORS] = ERRORS("kind=\"icrc\""),
    [IB_CNP_SENT] = COUNTER("cnp_sent_total", "congestion notifications sent as a receiver"),
    [IB_ECN_MARKED] = COUNTER("ecn_marked_total", "RoCE packets received with a congestion mark"),
    [IB_CNP_HANDLED] = COUNTER("cnp_handled_total",
                               "congestion notifications that slowed a sender"),
    [IB_CNP_IGNORED] = COUNTER("cnp_ignored_total", "congestion notifications ignored"),
};

static const char *const facts[] = { "link_layer", "firmware", "board", NULL };
static const struct signal_set ib_set = { "infiniband", "port", defs, IB_VALUES, facts };

/* "4: ACTIVE" is 1 when arg is "4:", and 0 when it is another. Of the states 4 is ACTIVE (enum
 * ib_port_state of include/rdma/ib_verbs.h), of the physical ones 5 is LinkUp. */
static void read_state(const struct sample_file *f, const char *text, double *values)
{
    const char *want = f->arg;

    values[f->value] = (double)NAN;
    if (*text >= '0' && *text <= '9')
        values[f->value] = !strncmp(text, want, strlen(want));
}

/* "400 Gb/sec (4X NDR)"; a port that is down may say "0 Gb/sec". */
static void read_rate(const struct sample_file *f, const char *text, double *values)
{
    double gbps = kparse_gbps(text);

    values[f->value] = gbps >= 0 ? gbps * 1e9 / 8 : (double)NAN;
}

#define FAST(path, value, scale) \
    { \
        path, value, false, scale, NULL, NULL, 0 \
    }
#define SLOW(path, value) \
    { \
        path, value, true, 1, NULL, NULL, 0 \
    }

static const struct sample_file files[] = {
    FAST("counters/port_rcv_data", IB_RECEIVED_BYTES, 4), /* four lanes of octets */
    FAST("counters/port_xmit_data", IB_SENT_BYTES, 4),
    FAST("counters/port_rcv_packets", IB_RECEIVED_PACKETS, 1),
    FAST("counters/port_xmit_packets", IB_SENT_PACKETS, 1),
    FAST("counters/port_xmit_wait", IB_XMIT_WAIT, 1),
    { "state", IB_ACTIVE, false, 1, read_state, "4:", 0 },
    { "phys_state", IB_LINK_UP, true, 1, read_state, "5:", 0 },
    { "rate", IB_RATE, true, 1, read_rate, NULL, 0 },
    SLOW("counters/symbol_error", IB_SYMBOL_ERRORS),
    SLOW("counters/link_downed", IB_LINK_DOWNED),
    SLOW("counters/link_error_recovery", IB_LINK_RECOVERIES),
    SLOW("counters/local_link_integrity_errors", IB_LINK_INTEGRITY),
    SLOW("counters/excessive_buffer_overrun_errors", IB_BUFFER_OVERRUNS),
    SLOW("counters/port_rcv_errors", IB_RECEIVE_ERRORS),
    SLOW("counters/port_xmit_discards", IB_SEND_DISCARDS),
    SLOW("counters/VL15_dropped", IB_VL15_DROPPED),
    SLOW("hw_counters/out_of_sequence", IB_OUT_OF_SEQUENCE),
    SLOW("hw_counters/packet_seq_err", IB_PACKET_SEQUENCE),
    SLOW("hw_counters/local_ack_timeout_err", IB_ACK_TIMEOUTS),
    SLOW("hw_counters/rnr_nak_retry_err", IB_RNR_RETRIES),
    SLOW("hw_counters/out_of_buffer", IB_OUT_OF_BUFFER),
    SLOW("hw_counters/roce_adp_retrans", IB_ADAPTIVE_RETRANSMITS),
    SLOW("hw_counters/roce_slow_restart", IB_SLOW_RESTARTS),
    SLOW("hw_counters/np_cnp_sent", IB_CNP_SENT),
    SLOW("hw_counters/np_ecn_marked_roce_packets", IB_ECN_MARKED),
    SLOW("hw_counters/rp_cnp_handled", IB_CNP_HANDLED),
    SLOW("hw_counters/rp_cnp_ignored", IB_CNP_IGNORED),
    SLOW("hw_counters/req_cqe_error", IB_REQUESTER_ERRORS),
    SLOW("hw_counters/resp_cqe_error", IB_RESPONDER_ERRORS),
    SLOW("hw_counters/rx_icrc_encapsulated", IB_ICRC_ERRORS),
};

/* Of bnxt_re, and the first of them of efa (drivers/infiniband/hw/efa/efa_verbs.c): bytes are
 * bytes, and "counters" has nothing of theirs. */
static const struct sample_file files_other[] = {
    FAST("hw_counters/rx_bytes", IB_RECEIVED_BYTES, 1),
    FAST("hw_counters/tx_bytes", IB_SENT_BYTES, 1),
    FAST("hw_counters/rx_pkts", IB_RECEIVED_PACKETS, 1),
    FAST("hw_counters/tx_pkts", IB_SENT_PACKETS, 1),
    { "state", IB_ACTIVE, false, 1, read_state, "4:", 0 },
    { "phys_state", IB_LINK_UP, true, 1, read_state, "5:", 0 },
    { "rate", IB_RATE, true, 1, read_rate, NULL, 0 },
    SLOW("hw_counters/rx_roce_errors", IB_RECEIVE_ERRORS),
    SLOW("hw_counters/oos_drop_count", IB_OUT_OF_SEQUENCE),
    SLOW("hw_counters/seq_err_naks_rcvd", IB_PACKET_SEQUENCE),
    SLOW("hw_counters/to_retransmits", IB_ACK_TIMEOUTS),
    SLOW("hw_counters/rnr_naks_rcvd", IB_RNR_RETRIES),
    SLOW("hw_counters/rx_out_of_buffer", IB_OUT_OF_BUFFER),
    SLOW("hw_counters/tx_cnp_pkts", IB_CNP_SENT),
    SLOW("hw_counters/rx_ecn_marked_pkts", IB_ECN_MARKED),
    SLOW("hw_counters/rx_cnp_pkts", IB_CNP_HANDLED),
};

static const char class_folder[] = "sys/class/infiniband";

static int add_port(struct sample_files *s, const char *device, const char *port)
{
    char folder[SAMPLE_PATH], prefix[2 * SAMPLE_PATH], name[2 * SAMPLE_PATH], text[SIGNAL_THING];
    int rc;

    snprintf(folder, sizeof(folder), "%s/%s/", class_folder, device);
    snprintf(prefix, sizeof(prefix), "%sports/%s/", folder, port);
    snprintf(name, sizeof(name), "%s:%s", device, port);
    sample_files_line(s, prefix, "hw_counters/tx_pkts", text, sizeof(text));
    if (text[0])
        rc = sample_files_add(s, name, prefix, files_other, ARRAY_SIZE(files_other));
    else
        rc = sample_files_add(s, name, prefix, files, ARRAY_SIZE(files));
    if (rc < 0)
        return rc;
    sample_files_line(s, prefix, "link_layer", text, sizeof(text));
    sample_files_fact(s, 0, text);
    sample_files_line(s, folder, "fw_ver", text, sizeof(text));
    sample_files_fact(s, 1, text);
    sample_files_line(s, folder, "board_id", text, sizeof(text));
    sample_files_fact(s, 2, text);
    return 0;
}

static int find(struct sample_files *s)
{
    CLEANUP(str_done) struct str devices = STR_INIT(SAMPLE_LIST);
    CLEANUP(str_done) struct str ports = STR_INIT(SAMPLE_LIST);
    char folder[2 * SAMPLE_PATH];
    int rc = sample_files_list(s, class_folder, &devices);

    if (rc < 0)
        return rc;
    SAMPLE_EACH(device, &devices)
    {
        snprintf(folder, sizeof(folder), "%s/%s/ports", class_folder, device);
        rc = sample_files_list(s, folder, &ports);
        if (rc < 0)
            return rc;
        SAMPLE_EACH(port, &ports)
        {
            rc = add_port(s, device, port);
            if (rc < 0)
                return rc;
        }
    }
    return 0;
}

static const char *const folders[] = { class_folder, NULL };
static const struct sample_class ib_class = { &ib_set, IB_VALUES, folders, find, NULL };

static int ib_open(void **state, const struct sampler_env *env, struct err *e)
{
    return sample_files_open(state, env, &ib_class, e);
}

const struct sampler_ops sampler_infiniband = { "infiniband", &ib_set, ib_open, sample_files_sample,
                                                sample_files_close };
