/* All samplers on the files of one made-up node, and all that is rendered of what they find: each
 * signal, the metrics of brim and of other exporters, the live view.
 *
 *     t_render_node_whole_node FILES ROWS METRICS LIVE */
#include <fcntl.h>

#include "diagnose/node/live.h"
#include "folder.h"
#include "golden.h"
#include "probe/sample/node_exporter.h"
#include "probe/samplers.h"
#include "render/node/exporters.h"
#include "render/node/live_json.h"
#include "render/node/live_text.h"
#include "render/node/metrics.h"

enum { ROOM = 4 << 20 };

/* Not those that ask the system itself: mounted file systems, processes, the kernel's log. */
static const char *const asked[] = { "stat",   "memory", "vmstat",  "numa",   "pressure",
                                     "disk",   "net",    "softnet", "nfs",    "infiniband",
                                     "lustre", "ceph",   "pcie",    "sensor", "sensors",
                                     "rapl",   "edac",   "cpufreq", "cgroup", "intel",
                                     "fake",   NULL };

/* The files of a text: "==> PATH <==", and below it what is in it. */
static void make_files(const char *folder, char *text)
{
    for (char *next, *at = text; at && *at; at = next) {
        char *path = at + strlen("==> "), *end = strstr(path, " <==\n"), *content;

        if (!end) {
            printf("Bail out! there is no head of a file\n");
            exit(1);
        }
        *end = 0;
        content = end + strlen(" <==\n");
        next = strncmp(content, "==> ", 4) ? strstr(content, "\n==> ") : content;
        if (next && next != content)
            *next++ = 0;
        if (next == content) {
            folder_text(folder, path, "");
            continue;
        }
        folder_file(folder, path, content, strlen(content));
    }
}

static void add_rows(const struct tick *t, struct str *out)
{
    for (size_t i = 0; i < t->n_rows; i++) {
        const struct signal_row *row = &t->rows[i];
        const struct signal_set *set = row->set;

        str_addf(out, "%s '%s'\n", set->name, row->thing);
        for (size_t k = 0; set->facts && set->facts[k]; k++)
            if (signal_fact(row, set->facts[k]))
                str_addf(out, "  %s: %s\n", set->facts[k], signal_fact(row, set->facts[k]));
        for (size_t k = 0; k < set->n_defs; k++) {
            const struct signal_def *def = &set->defs[k];

            if (!isnan(row->values[k]))
                str_addf(out, "  %s %s%s%.12g\n", def->name, def->label ? def->label : "",
                         def->label ? " " : "", row->values[k]);
        }
    }
}

/* A later tick of the same rows: each counter has grown by a tenth and what its place is. */
static void grow(const struct tick *t, struct tick *later)
{
    tick_begin(later, t->wall_ns + 2000000000, t->monotonic_ns + 2000000000);
    for (size_t i = 0; i < t->n_rows; i++) {
        const struct signal_row *row = &t->rows[i];
        struct signal_row *to = tick_add(later, row->set, row->thing);

        if (!to)
            exit(1);
        for (size_t k = 0; k < row->set->n_defs; k++) {
            double more = row->values[k] * 0.1 + (double)(k + 1) / 16;

            to->values[k] = row->values[k] + (row->set->defs[k].kind == SIGNAL_COUNTER ? more : 0);
        }
        for (size_t k = 0; row->set->facts && row->set->facts[k]; k++)
            if (signal_fact(row, row->set->facts[k]))
                tick_fact(to, k, signal_fact(row, row->set->facts[k]));
    }
}

static void add_every(struct tick *t, const struct signal_set *set, const char *thing)
{
    struct signal_row *row = tick_add(t, set, thing);

    if (!row)
        exit(1);
    for (size_t k = 0; k < set->n_defs; k++)
        row->values[k] = 1e6 * (double)(k + 1) + 0.5;
    for (size_t k = 0; set->facts && set->facts[k]; k++)
        tick_fact(row, k, set->facts[k]);
}

/* What other exporters would say of each signal that there is, of sets that this node lacks too. */
static void add_exporters(struct str *out)
{
    static const struct utsname host = { "Linux", "n1", "6.1", "#1", "x86_64", "(none)" };
    struct tick t = { .n_rows = 0 };

    tick_begin(&t, 0, 0);
    for (size_t i = 0; samplers_set(i); i++) {
        const struct signal_set *set = samplers_set(i);
        size_t n;

        tick_set(&t, set->name, &n);
        if (n) /* several samplers have it */
            continue;
        if (strcmp(set->name, "pressure")) {
            add_every(&t, set, set->thing ? "1" : "");
            continue;
        }
        add_every(&t, set, "cpu");
        add_every(&t, set, "io");
        add_every(&t, set, "memory");
    }
    exporters_render(&t, NULL, &host, out);
    tick_done(&t);
}

static void add_live(const struct tick *before, const struct tick *now, struct str *out)
{
    static const struct live_alert alerts[] = {
        { "disk-full", "critical", "/", "it is full", "make room", 5, -1 },
        { "gpu-hot", "warning", "0", "it is hot", NULL, 61, -1 },
    };
    static struct event events[] = { { .wall_ns = 3000000, .kind = "xid", .code = 79 },
                                     { .wall_ns = 4000000, .kind = "oom" } };
    static const struct live_extra extra = { "n1", alerts, 2, events, 2 };
    static const struct live_look looks[] = {
        { .columns = 120, .unicode = true },
        { .columns = 80, .colour = true, .footer = "q quits" },
        { .columns = 60, .rows = 20, .unicode = true }
    };
    static struct live live;

    live_update(&live, before, now);
    live_json(&live, &extra, out);
    str_add_char(out, '\n');
    for (size_t i = 0; i < ARRAY_SIZE(looks); i++) {
        str_addf(out, "\n== %u columns\n", looks[i].columns);
        live_text(&live, &extra, &looks[i], out);
    }
}

int main(int argc, char **argv)
{
    static const struct utsname host = { "Linux", "n1", "6.1", "#1", "x86_64", "(none)" };
    CLEANUP(samplers_closep) struct samplers *s = NULL;
    CLEANUP(str_done) struct str rows = STR_INIT(ROOM), metrics = STR_INIT(ROOM);
    CLEANUP(str_done) struct str live = STR_INIT(ROOM);
    struct tick first = { .n_rows = 0 }, t = { .n_rows = 0 }, more = { .n_rows = 0 };
    struct tick later = { .n_rows = 0 };
    struct sampler_env env = { .only = asked, .fake = "2xH100-SXM5-80GB" };
    char folder[PATH_MAX], *files = argc == 5 ? golden_read(argv[1]) : NULL;
    void *compat = NULL;
    struct err e = { "" };

    if (!files || !*files) {
        printf("Bail out! FILES ROWS METRICS LIVE\n");
        return 1;
    }
    folder_make(folder);
    make_files(folder, files);
    env.root = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    is_int(samplers_open(&s, &env, &e), 0, "the samplers open on the files of a node: %s", e.text);
    is_int(sampler_compat.open(&compat, &env, &e), 0, "node_exporter's sets open there, too");
    tick_begin(&first, 0, 0);
    tick_begin(&t, 0, (int64_t)3600 * 1000000000);
    tick_begin(&more, 0, 0);
    is_int(samplers_sample(s, &first), 0, "the samplers take a first tick");
    is_int(samplers_sample(s, &t), 0, "the samplers take a tick an hour later");
    is_int(sampler_compat.sample(compat, &more), 0, "node_exporter's sets have a row");
    add_rows(&t, &rows);
    add_rows(&more, &rows);
    golden(argv[2], str_text(&rows));
    metrics_render(&t, METRICS_PROMETHEUS, &metrics);
    str_add(&metrics, "== OpenMetrics\n");
    metrics_render(&t, METRICS_OPENMETRICS, &metrics);
    str_add(&metrics, "== exporters\n");
    exporters_render(&t, &more, &host, &metrics);
    str_add(&metrics, "== exporters, of every signal\n");
    add_exporters(&metrics);
    golden(argv[3], str_text(&metrics));
    grow(&t, &later);
    add_live(&t, &later, &live);
    golden(argv[4], str_text(&live));
    sampler_compat.close(compat);
    tick_done(&first);
    tick_done(&t);
    tick_done(&more);
    tick_done(&later);
    close(env.root);
    folder_remove(folder);
    free(files);
    return done();
}
