/* Parallel file systems: what the clients of Lustre and Ceph say. */

#include "diagnose/node/live_private.h"

struct client {
    double wait, requests, targets, connected;
};

#define FIELD(name, label, how, to) LIVE_FIELD_OF(client, name, label, how, to)

static const struct live_field lustre_fields[] = {
    FIELD("rpc_wait_seconds_total", NULL, LIVE_RATE, wait),
    FIELD("rpcs_total", NULL, LIVE_RATE, requests),
    FIELD("targets", NULL, LIVE_GAUGE, targets),
    FIELD("connected", NULL, LIVE_GAUGE, connected),
    LIVE_FIELD_END,
};

static const struct live_field ceph_fields[] = {
    FIELD("wait_seconds_total", "op=\"read\"", LIVE_RATE, wait),
    FIELD("wait_seconds_total", "op=\"write\"", LIVE_RATE, wait),
    FIELD("wait_seconds_total", "op=\"metadata\"", LIVE_RATE, wait),
    FIELD("operations_total", "op=\"read\"", LIVE_RATE, requests),
    FIELD("operations_total", "op=\"write\"", LIVE_RATE, requests),
    FIELD("operations_total", "op=\"metadata\"", LIVE_RATE, requests),
    LIVE_FIELD_END,
};

static void look(const struct live_view *v, const char *kind, const char *set,
                 const struct live_field *fields, struct live_remote *ret)
{
    struct live_rows rows;

    live_rows_of(v, set, fields, &rows);
    for (size_t i = 0; i < rows.n; i++) {
        struct client c = { (double)NAN, (double)NAN, (double)NAN, (double)NAN };
        double missing;

        live_fill(&rows, i, &c);
        missing = c.connected < c.targets ? c.targets - c.connected : 0;
        if (!(missing > ret->missing || (ret->missing == 0 && c.wait > ret->waiting)))
            continue;
        *ret = (struct live_remote){ .kind = kind,
                                     .thing = rows.rows[i].thing,
                                     .waiting = isnan(c.wait) ? 0 : c.wait,
                                     .each = c.wait / c.requests,
                                     .missing = missing,
                                     .targets = c.targets };
    }
}

struct live_remote live_worst_remote(const struct live_view *v)
{
    struct live_remote r = { .kind = NULL };

    look(v, "Lustre", "lustre", lustre_fields, &r);
    look(v, "Ceph", "ceph", ceph_fields, &r);
    return r;
}
