/* The samplers on the files of a made-up node of which one is broken: gone, empty, of other words,
 * cut, or without one of its lines. What they find then, where that is not what they found before.
 *
 *     t_probe_sample_broken_files FILES FILE */
#include <fcntl.h>

#include "folder.h"
#include "golden.h"
#include "new_lines.h"
#include "probe/sample/node_exporter.h"
#include "probe/samplers.h"

enum { ROOM = 8 << 20, FILES_MAX = 400, NAMES = 10 };

struct file {
    char *path, *content;
};

/* Which samplers read a file; what no row is about, those of the last one read. */
static const struct reads {
    const char *below;
    const char *names[NAMES];
} reads[] = {
    { "proc/diskstats", { "disk" } },
    { "proc/fs/lustre/", { "lustre" } },
    { "proc/net/dev", { "net" } },
    { "sys/class/net/", { "net" } },
    { "proc/net/softnet_stat", { "softnet" } },
    { "proc/self/mountstats", { "nfs" } },
    { "proc/self/cgroup", { "cgroup" } },
    { "sys/fs/cgroup/", { "cgroup" } },
    { "sys/bus/pci/", { "pcie" } },
    { "sys/class/drm/", { "intel" } },
    { "sys/class/hwmon/", { "sensor", "sensors" } },
    { "sys/class/infiniband/", { "infiniband" } },
    { "sys/class/powercap/", { "rapl" } },
    { "sys/devices/system/cpu/", { "cpufreq" } },
    { "sys/devices/system/edac/", { "edac" } },
    { "sys/devices/system/node/", { "numa" } },
    { "", { "stat", "memory", "vmstat", "pressure" } },
};

static const struct reads *reads_of(const char *path)
{
    const struct reads *r = reads;

    while (strncmp(path, r->below, strlen(r->below)) != 0)
        r++;
    return r;
}

/* "==> PATH <==", and below it what is in the file. Returns how many there are. */
static size_t cut_files(char *text, struct file *files)
{
    size_t n = 0;

    for (char *at = text; at && *at && n < FILES_MAX; n++) {
        char *path = at + strlen("==> "), *end = strstr(path, " <==\n");

        if (!end)
            break;
        *end = 0;
        files[n] = (struct file){ path, end + strlen(" <==\n") };
        at = strncmp(files[n].content, "==> ", 4) ? strstr(files[n].content, "\n==> ")
                                                  : files[n].content;
        if (at == files[n].content)
            files[n].content = end;
        else if (at)
            *at++ = 0;
    }
    for (size_t i = 0; i < n; i++) /* the last newline was the next one's */
        files[i].content = strdup(files[i].content);
    return n;
}

static void add_rows(const struct tick *t, struct str *out)
{
    for (size_t i = 0; i < t->n_rows; i++) {
        const struct signal_row *row = &t->rows[i];
        const struct signal_set *set = row->set;

        str_addf(out, "%s '%s'\n", set->name, row->thing);
        for (size_t k = 0; set->facts && set->facts[k]; k++)
            if (signal_fact(row, set->facts[k]))
                str_addf(out, "%s '%s' %s: %s\n", set->name, row->thing, set->facts[k],
                         signal_fact(row, set->facts[k]));
        for (size_t k = 0; k < set->n_defs; k++)
            if (!isnan(row->values[k]))
                str_addf(out, "%s '%s' %s%s%s %.12g\n", set->name, row->thing, set->defs[k].name,
                         set->defs[k].label ? " " : "",
                         set->defs[k].label ? set->defs[k].label : "", row->values[k]);
    }
    for (size_t i = 0; i < t->n_events; i++)
        str_addf(out, "event %s %s: %s\n", t->events[i].kind, t->events[i].thing,
                 t->events[i].text);
}

/* What is sampled an hour after the first time. */
static void sample(int root, const struct reads *r, struct str *out)
{
    const struct sampler_env env = { .root = root, .only = r->names };
    CLEANUP(samplers_closep) struct samplers *s = NULL;
    struct tick t = { .n_rows = 0 };
    struct err e = { "" };
    void *compat = NULL;

    str_reset(out);
    if (samplers_open(&s, &env, &e) != 0) {
        str_addf(out, "%s\n", e.text);
        return;
    }
    for (int64_t hour = 0; hour < 2; hour++) {
        tick_begin(&t, 0, hour * 3600000000000);
        if (samplers_sample(s, &t) != 0)
            str_add(out, "no memory\n");
    }
    add_rows(&t, out);
    if (!*r->below && sampler_compat.open(&compat, &env, &e) == 0) {
        tick_begin(&t, 0, 0);
        if (sampler_compat.sample(compat, &t) == 0)
            add_rows(&t, out);
        sampler_compat.close(compat);
    }
    tick_done(&t);
}

struct sweep {
    char folder[PATH_MAX];
    int root;
    struct str *out;
    struct str before, now;
};

/* What changes when the file holds another text; NULL: when it is gone. */
static void try(struct sweep *s, const struct file *f, const char *how, const char *text)
{
    struct str gone = STR_INIT(ROOM);
    char path[PATH_MAX];
    size_t lines = 0;

    folder_path(s->folder, f->path, path);
    if (text)
        folder_text(s->folder, f->path, text);
    else
        folder_need(unlink(path), path);
    sample(s->root, reads_of(f->path), &s->now);
    folder_text(s->folder, f->path, f->content);
    if (strcmp(str_text(&s->now), str_text(&s->before)) == 0)
        return;
    new_lines(&gone, str_text(&s->before), str_text(&s->now));
    for (const char *at = str_text(&gone); *at; at++)
        lines += *at == '\n';
    str_addf(s->out, "%s %s: %zu lines are gone\n", f->path, how, lines);
    new_lines(s->out, str_text(&s->now), str_text(&s->before));
    str_done(&gone);
}

/* Each number is another word. */
static void words_for_numbers(const char *text, const char *word, struct str *out)
{
    str_reset(out);
    for (const char *at = text; *at;) {
        size_t digits = strspn(at, "0123456789");

        if (digits)
            str_add(out, word);
        else
            str_add_char(out, *at);
        at += digits ? digits : 1;
    }
}

static void without_lines(struct sweep *s, const struct file *f, struct str *text)
{
    size_t number = 1;
    char how[32];

    for (const char *at = f->content; *at; number++) {
        size_t len = strcspn(at, "\n") + (at[strcspn(at, "\n")] == '\n');

        str_reset(text);
        str_add_n(text, f->content, (size_t)(at - f->content));
        str_add(text, at + len);
        snprintf(how, sizeof(how), "without line %zu", number);
        if (len < strlen(f->content))
            try(s, f, how, str_text(text));
        at += len;
    }
}

static void break_file(struct sweep *s, const struct file *f)
{
    static const char *const words[] = { "x", "-5", "18446744073709551616", "0" };
    struct str text = STR_INIT(ROOM);

    sample(s->root, reads_of(f->path), &s->before);
    try(s, f, "is gone", NULL);
    try(s, f, "is empty", "");
    for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
        words_for_numbers(f->content, words[i], &text);
        try(s, f, words[i], str_text(&text));
    }
    str_reset(&text);
    str_add_n(&text, f->content, strlen(f->content) / 2);
    try(s, f, "is cut in the middle", str_text(&text));
    without_lines(s, f, &text);
    str_done(&text);
}

int main(int argc, char **argv)
{
    static struct file files[FILES_MAX];
    CLEANUP(str_done) struct str out = STR_INIT(ROOM);
    struct sweep s = { .out = &out, .before = STR_INIT(ROOM), .now = STR_INIT(ROOM) };
    char *text = argc < 3 ? NULL : golden_read(argv[1]);
    size_t n = text ? cut_files(text, files) : 0;

    if (!n)
        return 1;
    folder_make(s.folder);
    for (size_t i = 0; i < n; i++)
        folder_text(s.folder, files[i].path, files[i].content);
    s.root = open(s.folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    for (size_t i = 0; i < n; i++)
        break_file(&s, &files[i]);
    close(s.root);
    folder_remove(s.folder);
    is_int(str_error(&out), 0, "the text of all files has room");
    golden(argv[2], str_text(&out));
    for (size_t i = 0; i < n; i++)
        free(files[i].content);
    free(text);
    str_done(&s.before);
    str_done(&s.now);
    return done();
}
