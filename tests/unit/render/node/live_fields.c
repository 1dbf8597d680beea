/* The live view of a node filled by hand, so that each field has values of all sizes, is 0 and is
 * absent: as JSON, and as text in several sizes.
 *
 *     t_render_node_live_fields FILE */
#include <math.h>

#include "golden.h"
#include "render/node/live_json.h"
#include "render/node/live_text.h"

enum { ROOM = 4 << 20, ROWS = 12 };

static struct live live;

/* The doubles from the first to the last of a struct: another one of the values in each. */
static void fill(double *first, const double *last, size_t row)
{
    static const double values[] = { 0.013, 0.25,  0.994, 3.6,  61,          1234,
                                     5.6e6, 7.8e9, 0,     9e12, (double)NAN, 0.9996 };

    for (size_t i = 0; first + i <= last; i++)
        first[i] = values[(i * 5 + row) % ARRAY_SIZE(values)];
}

static void fill_devices(void)
{
    static const char *const names[] = { "0", "1", "2", "3", "4",  "5",
                                         "6", "7", "8", "9", "10", "eleven" };

    for (size_t i = 0; i < ROWS; i++) {
        struct live_gpu *g = &live.gpus[live.n_gpus++];

        g->gpu = names[i];
        g->model = i % 3 ? "H100" : NULL;
        g->uuid = i % 2 ? "GPU-1" : NULL;
        g->vendor = i % 4 ? "nvidia" : NULL;
        fill(&g->busy, &g->throttled, i);
        g->lost = i == 4;
        g->throttle = i < 5 ? 1U << i : i == 5 ? 31 : 0;
        live.disks[live.n_disks++].device = names[i];
        fill(&live.disks[i].read, &live.disks[i].queue, i);
        live.filesystems[live.n_filesystems++].mount = names[i];
        fill(&live.filesystems[i].size, &live.filesystems[i].free, i);
        live.nfs[live.n_nfs++].mount = names[i];
        fill(&live.nfs[i].ops, &live.nfs[i].waiting, i);
        live.nets[live.n_nets++] = (struct live_net){ .device = names[i],
                                                      .kind = i % 2 ? "ethernet" : NULL };
        fill(&live.nets[i].rx, &live.nets[i].packets, i);
        live.processes[live.n_processes++] = (struct live_process){ i == 3 ? "x" : names[i],
                                                                    i % 2 ? "python" : NULL,
                                                                    i % 3 ? "1000" : NULL,
                                                                    i % 4 ? "/job_7" : NULL };
        fill(&live.processes[i].cpu, &live.processes[i].blocked, i);
    }
}

static void fill_stages(size_t row)
{
    static const char *const values[] = { "", "412 MB/s", "a long value of a stage" };

    for (size_t i = 0; i < LIVE_STAGES; i++) {
        struct live_stage *s = &live.stages[i];

        s->state = (enum live_state)((i + row) % 5);
        s->load = (i + row) % 4 ? (double)((i * 3 + row) % 11) / 10 : (double)NAN;
        snprintf(s->value, sizeof(s->value), "%s", values[(i + row) % ARRAY_SIZE(values)]);
        snprintf(s->detail, sizeof(s->detail), "detail %zu", i);
        snprintf(s->thing, sizeof(s->thing), "%s", i % 2 ? "vda" : "");
    }
    fill(&live.cpu.busy, &live.cpu.run_wait, row);
    fill(&live.memory.total, &live.memory.pressure, row);
    live.io_pressure = row % 2 ? 0.25 : (double)NAN;
    live.cpu_mean = row % 3 ? 0.375 : (double)NAN;
    live.interval_s = row % 3 ? 1.0004 : (double)NAN;
    live.wall_ns = (int64_t)row * 86400000000001;
    live.sort = (enum live_sort)(row % LIVE_SORTS);
    live.verdict.state = (enum live_state)(row % 5);
    live.verdict.severity = (enum severity)(row % 4);
    live.verdict.bottleneck = (enum live_stage_id)(row % (LIVE_STAGES + 1));
    snprintf(live.verdict.sentence, LIVE_TEXT, "sentence %zu of some words that may need a line",
             row);
    snprintf(live.verdict.waste, LIVE_VALUE_TEXT, "%s", row % 2 ? "1.0 of 2 GPUs idle" : "");
    snprintf(live.verdict.action, LIVE_TEXT, "%s", row % 3 ? "do this" : "");
    snprintf(live.verdict.run, LIVE_RUN_NAME, "%s", row % 2 ? "r1" : "");
}

/* The JSON, an object a line. */
static void add_json(const struct live_extra *x, struct str *out)
{
    CLEANUP(str_done) struct str text = STR_INIT(ROOM);

    live_json(&live, x, &text);
    for (const char *at = str_text(&text); *at; at++) {
        str_add_char(out, *at);
        if ((*at == '}' || *at == ']') && at[1] == ',')
            str_add(out, "\n ");
    }
    str_add_char(out, '\n');
}

static const struct live_run runs[] = {
    { .id = "20261125-1",
      .name = "train.py",
      .user = "alice",
      .since_ms = 7,
      .ranks = 8,
      .steps = 400,
      .steps_per_s = 31.25,
      .samples_per_s = (double)NAN,
      .split = { [BRIM_STAGE_WAIT] = 0.5, [BRIM_STAGE_FORWARD] = 0.5 },
      .severity = SEVERITY_CRITICAL,
      .cause = "few-workers",
      .limited = true,
      .share = 0.93,
      .sentence = "one worker loads",
      .trying = "loader.workers=4" },
    { .id = "20261125-2",
      .name = "a-name-that-is-longer-than-its-column.py",
      .user = "a-user-of-long-name",
      .steps_per_s = (double)NAN,
      .samples_per_s = 12,
      .split = { (double)NAN, (double)NAN, (double)NAN, (double)NAN, (double)NAN, (double)NAN,
                 (double)NAN, (double)NAN },
      .share = (double)NAN },
    { .id = "20261125-3",
      .name = "eval.py",
      .user = "bob",
      .steps_per_s = 0.125,
      .split = { (double)NAN, 0.125, 0.625, 0.25, (double)NAN },
      .severity = SEVERITY_NOTE,
      .sentence = "it computes" },
    { .id = "20261125-4",
      .name = "last.py",
      .user = "cid",
      .steps_per_s = 2,
      .split = { 0.75, 0.25, 0, 0, 0 },
      .trying = "loader.prefetch=8" },
};

int main(int argc, char **argv)
{
    static const struct live_alert alerts[] = {
        { "disk-full", "critical", "/", "it is full", "make room", 5, -1 },
        { "hot", "warning", NULL, "it is hot", NULL, 61, 79 },
        { "other", "note", "", "something", "", 3600000, -1 },
    };
    static struct event events[] = { { .wall_ns = 3000000, .kind = "xid", .code = 79 },
                                     { .wall_ns = 4000000, .kind = "oom", .code = -1 } };
    static const struct live_look looks[] = {
        { .columns = 200, .unicode = true },
        { .columns = 100 },
        { .columns = 79, .rows = 30, .colour = true, .footer = "q quits" },
        { .columns = 60, .rows = 24, .unicode = true, .footer = "q" },
        { .columns = 40, .rows = 10 },
        { .columns = 20, .rows = 3, .colour = true },
    };
    CLEANUP(str_done) struct str out = STR_INIT(ROOM);

    if (argc < 2)
        return 1;
    fill_devices();
    for (size_t row = 0; row < 2 * ARRAY_SIZE(looks); row++) {
        bool with_runs = row >= ARRAY_SIZE(looks);
        const struct live_look *look = &looks[row % ARRAY_SIZE(looks)];
        const struct live_extra x = { row % 2 ? "n1" : NULL,
                                      alerts,
                                      row % 4,
                                      events,
                                      row % 3,
                                      runs,
                                      with_runs ? ARRAY_SIZE(runs) - row % 3 : 0 };

        fill_stages(row);
        if (row < 3 || row == ARRAY_SIZE(looks))
            add_json(&x, &out);
        str_addf(&out, "== %u columns, %u rows%s\n", look->columns, look->rows,
                 with_runs ? ", with runs" : "");
        live_text(&live, &x, look, &out);
    }
    is_int(str_error(&out), 0, "the text of all views has room");
    golden(argv[1], str_text(&out));
    return done();
}
