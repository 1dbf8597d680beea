/* The processes of a job in a made-up /proc: who is a member, and what they did. The file is a
 * transcript, with what comes of a line "$ ..." below it:
 *
 *     $ proc ANCESTOR       begin anew
 *     < PID KEY=VALUE...    a process as it is now: parent, state, user, system, wuser, wsystem (of
 *                           those that it waited for), threads, start, pages, major, wmajor;
 *                           io=R,W,RC,WC,DR,DW (-: may not be read), sched=RAN,WAITED, wchan
 *     < PID end             it has gone
 *     < last PID            the number that was given out last
 *     $ take PID            it is a member, whosever child it is
 *     $ ranks PID...        these mark steps
 *     $ reaped SECONDS      the ancestor waited for one that used so much
 *     $ glance              what members used since the beginning
 *     $ kin                 who they are
 *     $ sample              what all did
 *
 *     t_run_job_family FILE */
#include "run/job/family.h"

#include <math.h>

#include "base/str.h"
#include "folder.h"
#include "golden.h"

enum { ROOM = 1 << 20, WORDS = 40, RANKS = 8 };

struct scene {
    char root[PATH_MAX];
    int proc;
    struct family *family;
    pid_t ranks[RANKS];
    double tick_s; /* of this machine; figures are in hundredths of a second */
};

static void end(struct scene *s)
{
    if (!s->family)
        return;
    family_close(s->family);
    s->family = NULL;
    close(s->proc);
    folder_remove(s->root);
}

static void begin(struct scene *s, const char *ancestor)
{
    struct err e = { "" };

    end(s);
    folder_make(s->root);
    s->proc = open(s->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    folder_text(s->root, "loadavg", "0.1 0.2 0.3 1/100 1\n");
    folder_need(family_open(&s->family, s->proc, false, (pid_t)strtol(ancestor, NULL, 10), &e),
                e.text);
}

static const char *value_of(char **words, const char *key, const char *fallback)
{
    size_t len = strlen(key);

    for (; *words; words++)
        if (!strncmp(*words, key, len) && (*words)[len] == '=')
            return *words + len + 1;
    return fallback;
}

/* A file of a process: the same one as before, for some stay open. */
static void write_file(const struct scene *s, const char *pid, const char *name, const char *text)
{
    char path[64];

    snprintf(path, sizeof(path), "%s/%s", pid, name);
    folder_text(s->root, path, text);
}

static void write_io(const struct scene *s, const char *pid, char *counts)
{
    static const char *const names[] = { "rchar", "wchar",      "syscr",
                                         "syscw", "read_bytes", "write_bytes" };
    CLEANUP(str_done) struct str text = STR_INIT(4096);

    for (size_t i = 0; i < ARRAY_SIZE(names) && *counts != '-'; i++)
        str_addf(&text, "%s: %s\n", names[i], strsep(&counts, ","));
    write_file(s, pid, "io", str_text(&text));
}

static void process(const struct scene *s, char **words)
{
    static const char *const none[] = { "stat", "io" };
    CLEANUP(str_done) struct str text = STR_INIT(4096);
    char **with = words + 1, counts[256], path[PATH_MAX];
    const char *pid = words[0], *sched = value_of(with, "sched", NULL);

    if (words[1] && !strcmp(words[1], "end")) {
        for (size_t i = 0; i < ARRAY_SIZE(none); i++)
            write_file(s, pid, none[i], "");
        folder_path(s->root, pid, path);
        folder_remove(path);
        return;
    }
#define IS(key, fallback) value_of(with, key, fallback)
    str_addf(&text, "%s (a b) %s %s 1 1 0 -1 %s 0 0 %s %s %s %s %s %s 20 0 %s 0 %s 1000 %s", pid,
             IS("state", "S"), IS("parent", "1"), IS("kernel", "4194304"), IS("major", "0"),
             IS("wmajor", "0"), IS("user", "0"), IS("system", "0"), IS("wuser", "0"),
             IS("wsystem", "0"), IS("threads", "1"), IS("start", "7"), IS("pages", "0"));
    str_add(&text, " 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n");
    write_file(s, pid, "stat", str_text(&text));
    snprintf(counts, sizeof(counts), "%s", IS("io", "-"));
    write_io(s, pid, counts);
    write_file(s, pid, "wchan", IS("wchan", "0"));
    if (sched) {
        str_reset(&text);
        for (const char *at = sched; *at; at++)
            str_add_char(&text, *at == ',' ? ' ' : *at);
        str_add(&text, " 1\n");
        write_file(s, pid, "schedstat", str_text(&text));
    }
}

#define TELL(member) \
    if (isnan(g.member)) \
        str_addf(out, " %s=?", #member); \
    else if (g.member != 0) \
    str_addf(out, " %s=%.9g", #member, g.member)
#define TELL_S(member) \
    g.member /= 100 * s->tick_s; \
    TELL(member)

static void sample(const struct scene *s, struct str *out)
{
    struct family_growth g;

    folder_need(family_sample(s->family, &g), "family_sample");
    g.resident_b /= (double)sysconf(_SC_PAGESIZE);
    str_add(out, "all:");
    TELL(processes);
    TELL(threads);
    TELL_S(cpu_s);
    TELL(run_wait_s);
    TELL(io_wait_s);
    TELL(memory_wait_s);
    TELL(blocked);
    TELL(read_b);
    TELL(written_b);
    TELL(io_read_b);
    TELL(io_written_b);
    TELL(read_calls);
    TELL(write_calls);
    TELL(resident_b);
    TELL(major_faults);
    TELL(preemptions);
    TELL(ranks);
    TELL_S(rank_cpu_s);
    TELL(thread_cpu_s);
    TELL(thread_run_wait_s);
    TELL(workers);
    TELL_S(worker_cpu_s);
    TELL(worker_io_wait_s);
    TELL(worker_blocked);
    TELL(unreadable);
    str_add_char(out, '\n');
}

static void kin(const struct scene *s, struct str *out)
{
    struct family_kin all[16];
    size_t n = family_kin(s->family, all, 16);

    for (size_t i = 0; i < n; i++)
        str_addf(out, "%d of %d: %g\n", (int)all[i].pid, (int)all[i].parent,
                 all[i].cpu_s / s->tick_s / 100);
}

static void glance(const struct scene *s, bool bytes, struct str *out)
{
    struct family_glance g;

    family_look(s->family, &g, bytes);
    str_addf(out, "%g s, %g bytes\n", g.cpu_s / s->tick_s / 100, g.bytes);
}

static void run(struct scene *s, char **words, struct str *out)
{
    char text[64];
    size_t n = 0;

    if (!strcmp(words[0], "proc")) {
        begin(s, words[1]);
    } else if (!strcmp(words[0], "take")) {
        family_take(s->family, (pid_t)strtol(words[1], NULL, 10));
    } else if (!strcmp(words[0], "ranks")) {
        while (n < RANKS && words[n + 1]) {
            s->ranks[n] = (pid_t)strtol(words[n + 1], NULL, 10);
            n++;
        }
        family_ranks(s->family, s->ranks, n);
    } else if (!strcmp(words[0], "reaped")) {
        family_reaped(s->family, strtod(words[1], NULL) * 100 * s->tick_s);
    } else if (!strcmp(words[0], "last")) {
        snprintf(text, sizeof(text), "0.1 0.2 0.3 1/100 %s\n", words[1]);
        folder_text(s->root, "loadavg", text);
    } else if (!strcmp(words[0], "glance")) {
        glance(s, words[1] != NULL, out);
    } else if (!strcmp(words[0], "kin")) {
        kin(s, out);
    } else if (!strcmp(words[0], "sample")) {
        sample(s, out);
    } else {
        process(s, words);
    }
}

int main(int argc, char **argv)
{
    CLEANUP(str_done) struct str out = STR_INIT(ROOM);
    struct scene s = { .tick_s = 1.0 / (double)sysconf(_SC_CLK_TCK) };
    char *file, *line, *at;

    if (argc != 2) {
        printf("Bail out! FILE\n");
        return 1;
    }
    file = at = golden_read(argv[1]);
    while ((line = strsep(&at, "\n"))) {
        char *words[WORDS + 1] = { NULL }, *rest = line + 2;
        size_t n = 0;

        if (strncmp(line, "$ ", 2) != 0 && strncmp(line, "< ", 2) != 0)
            continue;
        str_addf(&out, "%s\n", line);
        while (rest && n < WORDS)
            words[n++] = strsep(&rest, " ");
        run(&s, words, &out);
    }
    end(&s);
    golden(argv[1], str_text(&out));
    free(file);
    return done();
}
