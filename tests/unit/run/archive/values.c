/* Files of runs in which one value is another: what is read, where that is not what was read
 * before, or what is said.
 *
 *     t_run_archive_values FILE */
#include <errno.h>
#include <inttypes.h>
#include <math.h>

#include "golden.h"
#include "new_lines.h"
#include "run/archive/archive.h"
#include "run/archive/archive_format.h"

enum { ROOM = 1 << 20, N_SIGNALS = 3, N_MOMENTS = 2, N_STEPS = 3, BYTES = 8192 };

static const char about[] = "[run]\n"
                            "version = 1\nid = 20261121-000000-0001\nname = some\n"
                            "command = sh -c\ncommand =  x\nfolder = /tmp\nuser = me\n"
                            "host = node1\npid = 17\nstart_ticks = 3\npid_space = 4\n"
                            "begin_ns = 1000\nend_ns = 2000\noffset_ns = 5\ninterval_ns = 6\n"
                            "end = exited\nstatus = 7\ninferred = kernels\nconfidence = 0.5\n"
                            "[note]\nnote = a=b\nnote =  c\n"
                            "[note]\nnote = none\n"
                            "[tuning]\ngoal = throughput\n"
                            "[tuning.before]\nsteps_per_s = 2\nsamples_per_s = 64\nprice = 3\n"
                            "[tuning.after]\nsteps_per_s = 5\nsamples_per_s = 160\nprice = 4\n"
                            "[trial]\nknob = loader.workers\nvalue = 8\nbefore = 2\n"
                            "also = loader.pin\nnote = well\nend = adopted\ngain = 1.5\nlow = 1.2\n"
                            "high = 1.8\nspeed = 1.4\nsteps = 100\nstarts = 2\nbegin_ns = 10\n"
                            "end_ns = 20\n"
                            "[trial]\nknob = loader.prefetch\nvalue = 3\nend = rejected\n"
                            "gain = -0.01\nbegin_ns = 30\nend_ns = 40\n"
                            "[other]\nkey = 1\n";

/* ---- what was read ---- */

static const char *or_none(const char *text)
{
    return text ? text : "-";
}

static void add_tuning(const struct run_tuning *t, struct str *out)
{
    str_addf(out, "goal %s, before %g %g %g, after %g %g %g\n", run_goal_name(t->goal),
             t->before.steps_per_s, t->before.samples_per_s, t->before.price, t->after.steps_per_s,
             t->after.samples_per_s, t->after.price);
    for (size_t i = 0; i < t->n_trials; i++) {
        const struct run_trial *k = &t->trials[i];

        str_addf(out, "trial %s %s %s %s %s %s %g %g %g %g %u %u %" PRId64 " %" PRId64 "\n",
                 k->knob, k->value, or_none(k->before), or_none(k->also), or_none(k->note),
                 run_trial_end_name(k->end), k->gain, k->low, k->high, k->speed, k->steps,
                 k->starts, k->begin_ns, k->end_ns);
    }
    str_add(out, "says ");
    run_tuning_say(t, out);
    str_add(out, "\n");
}

static void add_step(const struct step *s, struct str *out)
{
    str_addf(out, "%" PRIu64 " %" PRId64 " %" PRId64 " %g %g %g %g %g %u host", s->number,
             s->begin_ns, s->end_ns, s->samples, s->loss, s->backwards, s->collective_s,
             s->collective_b, s->collectives);
    for (unsigned i = 0; i < BRIM_STAGES; i++)
        str_addf(out, " %g/%g", s->host_s[i], s->device_s[i]);
    str_add(out, "\n");
}

static void add_run(const struct run *r, struct str *out)
{
    str_addf(out, "%s '%s' '%s' %s %s %s %s\n", or_none(r->id), or_none(r->name),
             or_none(r->command), or_none(r->folder), or_none(r->user), or_none(r->host),
             or_none(r->inferred));
    str_addf(out, "%" PRId64 " to %" PRId64 ", end %u, status %d, sure %g\n", r->begin_ns,
             r->end_ns, (unsigned)r->end, r->status, r->inferred_confidence);
    for (size_t i = 0; i < r->n_environment; i++)
        str_addf(out, "note '%s' '%s'\n", r->environment[i].name, r->environment[i].value);
    if (r->tuning)
        add_tuning(r->tuning, out);
    for (size_t i = 0; i < r->n_moments; i++) {
        str_addf(out, "moment %" PRId64 " %" PRId64 " %g", r->moments[i].wall_ns,
                 r->moments[i].monotonic_ns, r->moments[i].seconds);
        for (unsigned s = 0; s < RUN_SIGNALS; s++)
            if (!isnan(r->moments[i].values[s]))
                str_addf(out, " %s=%g", run_signal_name((enum run_signal)s),
                         r->moments[i].values[s]);
        str_add(out, "\n");
    }
    for (size_t i = 0; i < r->n_ranks; i++) {
        const struct run_rank *k = &r->ranks[i];

        str_addf(out, "rank %d %d %d %d '%s' '%s', %zu steps, %" PRIu64 " dropped\ntotal ", k->rank,
                 k->local_rank, k->world, k->pid, k->host, k->framework, k->n_steps,
                 (uint64_t)k->dropped);
        add_step(&k->total, out);
        for (size_t n = 0; n < k->n_notes; n++)
            str_addf(out, "note '%s' '%s'\n", k->notes[n].name, k->notes[n].value);
        for (size_t n = 0; n < k->n_steps; n++)
            add_step(&k->steps[n], out);
    }
}

/* ---- the three kinds of files ---- */

typedef int parser(const void *data, size_t len, struct run *r, struct str *out, struct err *e);

static int read_about(const void *data, size_t len, struct run *r, struct str *out, struct err *e)
{
    struct archive_part part;
    int rc = archive_parse_about(data, len, r, &part, e);

    str_addf(out, "part of %s %d %" PRIu64 " %" PRIu64 " %" PRId64 " %" PRId64 "\n", part.host,
             part.pid, part.start_ticks, part.pid_space, part.offset_ns, part.interval_ns);
    return rc;
}

static int read_moments(const void *data, size_t len, struct run *r, struct str *out, struct err *e)
{
    (void)out;
    return archive_parse_moments(data, len, r, e);
}

static int read_steps(const void *data, size_t len, struct run *r, struct str *out, struct err *e)
{
    (void)out;
    return archive_parse_steps(data, len, r, e);
}

static void tell(parser *parse, const void *data, size_t len, struct str *out)
{
    struct run r = { .id = NULL };
    struct err e = { "" };
    int rc;

    str_reset(out);
    rc = parse(data, len, &r, out, &e);
    if (rc < 0) {
        str_reset(out);
        str_addf(out, "%s: %s\n", strerror(-rc), e.text);
    } else {
        str_addf(out, "%s", rc ? "more than 0\n" : "");
        add_run(&r, out);
    }
    run_done(&r);
}

static void compare(parser *parse, const void *data, size_t len, const char *what,
                    const struct str *before, struct str *out)
{
    CLEANUP(str_done) struct str now = STR_INIT(ROOM);

    tell(parse, data, len, &now);
    if (strcmp(str_text(&now), str_text(before)) == 0)
        return;
    str_addf(out, "%s\n", what);
    new_lines(out, str_text(&now), str_text(before));
}

/* Whether any text is as good there. */
static bool is_word(const char *value)
{
    return !strchr("-0123456789", *value) && strncmp(value, "exited", 6) != 0 &&
           strncmp(value, "adopted", 7) != 0 && strncmp(value, "rejected", 8) != 0 &&
           strncmp(value, "throughput", 10) != 0;
}

/* Each value of a text, and each line that is not there. */
static void sweep_text(const char *text, struct str *out)
{
    static const char *const values[] = { "",
                                          "x",
                                          "0",
                                          "1",
                                          "-1",
                                          "0.05",
                                          "nan",
                                          "inf",
                                          "lost",
                                          "failed",
                                          "energy",
                                          "4294967295",
                                          "4294967296",
                                          "2147483648",
                                          "2305843009213693951",
                                          "2305843009213693952",
                                          "9223372036854775808" };
    CLEANUP(str_done) struct str before = STR_INIT(ROOM);

    tell(read_about, text, strlen(text), &before);
    str_addf(out, "== about\n%s", str_text(&before));
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
        const char *end = line + strcspn(line, "\n"), *equals = memchr(line, '=', strlen(line));
        size_t key = equals && equals < end ? (size_t)(equals - line) : 0;

        for (size_t i = 0; i <= ARRAY_SIZE(values); i++) {
            CLEANUP(str_done) struct str now = STR_INIT(ROOM), what = STR_INIT(ROOM);
            bool gone = i == ARRAY_SIZE(values);

            if (!gone && (!key || (is_word(equals + 2) && i > 1)))
                continue;
            str_add_n(&now, text, (size_t)(line - text));
            if (!gone)
                str_addf(&now, "%.*s= %s", (int)key, line, values[i]);
            str_add(&now, end + gone);
            str_addf(&what, "%.*s%s%s", (int)(key && !gone ? key : (size_t)(end - line)), line,
                     gone ? " is gone" : "is ", gone ? "" : values[i]);
            compare(read_about, str_text(&now), now.len, str_text(&what), &before, out);
        }
    }
}

/* Each word of 'step' bytes from 'from' to 'to', and lengths that cut the file there. */
static void sweep_bytes(parser *parse, const char *data, size_t len, size_t from, size_t to,
                        struct str *out)
{
    static const uint64_t values[] = { 0,
                                       1,
                                       16,
                                       17,
                                       60,
                                       61,
                                       UINT64_MAX,
                                       0x7ff8000000000000,
                                       0x416312d000000000,
                                       0x1fffffffffffffff,
                                       0x2000000000000000 };
    CLEANUP(str_done) struct str before = STR_INIT(ROOM);
    char what[96];

    tell(parse, data, len, &before);
    str_addf(out, "== %zu bytes\n%s", len, str_text(&before));
    for (size_t at = from; at < to; at += 4)
        for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
            size_t size = values[i] > UINT32_MAX && at % 8 == 0 ? 8 : 4;
            char copy[BYTES];

            memcpy(copy, data, len);
            memcpy(copy + at, &values[i], size);
            snprintf(what, sizeof(what), "at %zu: %zu bytes of %" PRIx64, at, size, values[i]);
            compare(parse, copy, len, what, &before, out);
        }
    for (size_t cut = 0; cut < len; cut += 4) {
        snprintf(what, sizeof(what), "cut at %zu", cut);
        compare(parse, data, cut, what, &before, out);
    }
}

/* ---- files as they are written ---- */

static size_t put(char *to, size_t at, const void *what, size_t len)
{
    memcpy(to + at, what, len);
    return at + len;
}

static size_t make_moments(char *to)
{
    static const char names[24] = "job_cpu\0no_such\0gpus";
    struct archive_moments_header h = { .magic = ARCHIVE_MOMENTS_MAGIC,
                                        .order = ARCHIVE_ORDER,
                                        .version = ARCHIVE_VERSION,
                                        .header_size = sizeof(h) + sizeof(names),
                                        .record_size = sizeof(struct archive_moment) +
                                                       N_SIGNALS * sizeof(float),
                                        .n_signals = N_SIGNALS };
    size_t at = put(to, put(to, 0, &h, sizeof(h)), names, sizeof(names));

    for (int i = 0; i < N_MOMENTS; i++) {
        const struct archive_moment m = { 1000 + i, 10 + i, 0.5 };
        const float values[N_SIGNALS] = { 1.5F, 2, (float)(4 + i) };

        at = put(to, put(to, at, &m, sizeof(m)), values, sizeof(values));
    }
    return at;
}

static size_t make_steps(char *to)
{
    static const char notes[] = "a=1\0none\0b=2";
    struct archive_steps_header h = { .magic = ARCHIVE_STEPS_MAGIC,
                                      .order = ARCHIVE_ORDER,
                                      .version = ARCHIVE_VERSION,
                                      .header_size = sizeof(h),
                                      .notes_size = 16,
                                      .record_size = sizeof(struct archive_step),
                                      .first = 2,
                                      .last = 4,
                                      .rank = 3,
                                      .local_rank = 1,
                                      .world = 4,
                                      .pid = 17,
                                      .notes_used = sizeof(notes),
                                      .host = "node1",
                                      .framework = "torch",
                                      .total = { .count = 7, .begin_ns = 5, .end_ns = 95 } };
    size_t at = put(to, 0, &h, sizeof(h));

    memset(to + at, 0, h.notes_size);
    put(to, at, notes, sizeof(notes));
    at += h.notes_size;
    for (unsigned i = 0; i < N_STEPS; i++) {
        const struct archive_step s = { .number = 9 - 3 * i,
                                        .begin_ns = 50 - 10 * (int64_t)i,
                                        .end_ns = 60 - 10 * (int64_t)i,
                                        .samples = 32,
                                        .collectives = i };

        at = put(to, at, &s, sizeof(s));
    }
    return at;
}

int main(int argc, char **argv)
{
    CLEANUP(str_done) struct str out = STR_INIT(ROOM);
    static _Alignas(8) char bytes[BYTES];
    size_t len, head = sizeof(struct archive_steps_header) + 16;

    if (argc < 2)
        return 1;
    sweep_text(about, &out);
    len = make_moments(bytes);
    sweep_bytes(read_moments, bytes, len, 0, len, &out);
    len = make_steps(bytes);
    sweep_bytes(read_steps, bytes, len, 0, 56, &out);
    sweep_bytes(read_steps, bytes, len, head, head + sizeof(struct archive_step), &out);
    is_int(str_error(&out), 0, "the text of all files has room");
    golden(argv[1], str_text(&out));
    return done();
}
