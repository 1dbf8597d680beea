#include "slurm/wire.h"

#include <errno.h>

#include "made_site.h"
#include "oom_arena.h"
#include "tap.h"

static void write_made(struct str *out)
{
    struct site s = made_site();

    *out = (struct str)STR_INIT(1 << 20);
    slurm_wire_add_site(out, &s);
    is_int(str_error(out), 0, "a site is written");
}

static void test_round(void)
{
    CLEANUP(str_done) struct str out = STR_INIT(0), again = STR_INIT(1 << 20);
    struct site s = { .time_ms = 0 };

    write_made(&out);
    is_int(slurm_wire_site(&s, out.data, out.len), 0, "a site is read");
    slurm_wire_add_site(&again, &s);
    ok(again.len == out.len && memcmp(again.data, out.data, out.len) == 0,
       "a site is written again to the same bytes");
    is_int(s.time_ms, 123456789, "a site has its time");
    is_str(s.cluster, "made", "a site has its cluster");
    ok(s.n_partitions == 2 && site_partitions_of(&s, "low") == s.nodes[0].partitions,
       "nodes have their partitions");
    ok(site_partitions_of(&s, "low,batch") == 3 && site_partitions_of(&s, "lo") == 0 &&
           site_partitions_of(&s, "low,other") == 0,
       "partitions are found by their names, all or none");
    is_int(site_node_find(&s, "n1"), 1, "a node is found by its name");
    is_int(site_node_find(&s, "n2"), -1, "one that is not there is not");
    is_int(site_job_find(&s, 9), 1, "a job is found by its id");
    is_int(site_job_find(&s, 8), -1, "one that is not there is not");
    is_str(s.jobs[1].account, "", "a text that is never NULL");
    is_str(s.jobs[1].comment, NULL, "a text that is");
    is_int(s.jobs[0].parts[0].devices, 0xf0, "devices of a part");
    is_int(s.jobs[0].outcome, SITE_LOST, "how a job ended");
    is_str(s.jobs[1].after, "afterok:7(unfulfilled)", "what a job waits for");
    is_str(s.jobs[1].tasks, "4-9%2", "tasks that wait");
    site_done(&s);
}

static void test_refused(void)
{
    CLEANUP(str_done) struct str out = STR_INIT(0);
    struct site s = { .time_ms = 0 };
    size_t taken = 0;

    write_made(&out);
    for (size_t n = 0; n < out.len; n++)
        taken += slurm_wire_site(&s, out.data, n) != -EPROTO;
    is_int((long long)taken, 0, "each truncation is refused");
    str_add_char(&out, 0);
    is_int(slurm_wire_site(&s, out.data, out.len), -EPROTO, "a byte too many, too");
}

/* Each byte with some other values: it is a site or it is none, and no more. */
static void test_changed(void)
{
    static const unsigned char values[] = { 0, 1, 0x7f, 0xff };
    CLEANUP(str_done) struct str out = STR_INIT(0);
    size_t wrong = 0;

    write_made(&out);
    for (size_t i = 0; i < out.len; i++)
        for (size_t k = 0; k < sizeof(values); k++) {
            char was = out.data[i];
            struct site s = { .time_ms = 0 };
            int rc;

            memcpy(&out.data[i], &values[k], 1);
            rc = slurm_wire_site(&s, out.data, out.len);
            wrong += rc != 0 && rc != -EPROTO;
            site_done(&s);
            out.data[i] = was;
        }
    is_int((long long)wrong, 0, "bytes that were changed are read or refused");
}

/* What does not hang together although it can be read. */
static void test_senseless(void)
{
    CLEANUP(str_done) struct str a = STR_INIT(1 << 20), b = STR_INIT(1 << 20);
    struct site s = made_site();

    made_parts[1].node = 2;
    slurm_wire_add_site(&a, &s);
    made_parts[1].node = 1;
    is_int(slurm_wire_site(&s, a.data, a.len), -EPROTO, "a part on a node that there is not");
    made_jobs[0].id = 10;
    slurm_wire_add_site(&b, &s);
    made_jobs[0].id = 7;
    is_int(slurm_wire_site(&s, b.data, b.len), -EPROTO, "jobs that are not in their order");
}

static void test_deed(void)
{
    const struct site_deed d = { SITE_DO_PLACE, 7, NULL, "n[0-3]", 12 };
    CLEANUP(str_done) struct str out = STR_INIT(4096);
    struct arena a = ARENA_INIT;
    struct site_deed got;
    size_t taken = 0;

    slurm_wire_add_deed(&out, &d);
    is_int(slurm_wire_deed(&got, &a, out.data, out.len), 0, "a deed is read");
    ok(got.kind == d.kind && got.job == 7 && got.value == 12 && !got.node, "as it was");
    is_str(got.text, "n[0-3]", "a deed has its text");
    for (size_t n = 0; n < out.len; n++)
        taken += slurm_wire_deed(&got, &a, out.data, n) != -EPROTO;
    is_int((long long)taken, 0, "each truncation is refused");
    out.data[0] = SITE_DEED_KINDS;
    is_int(slurm_wire_deed(&got, &a, out.data, out.len), -EPROTO, "a deed that there is not");
    arena_done(&a);
}

static void test_oom(void)
{
    CLEANUP(str_done) struct str out = STR_INIT(0);
    struct site s = { .time_ms = 0 };
    bool failed;
    int rc;

    write_made(&out);
    do {
        oom_next();
        rc = slurm_wire_site(&s, out.data, out.len);
        failed = oom_end();
        ok(failed ? rc == -ENOMEM : rc == 0, "reading with allocation %d failing", oom_at);
    } while (failed);
    site_done(&s);
}

int main(void)
{
    test_round();
    test_refused();
    test_changed();
    test_senseless();
    test_deed();
    test_oom();
    return done();
}
