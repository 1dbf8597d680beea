/* The engine of a queue without its processes, whole: what it answers, stores and decides, by a
 * clock of the test's own. The file is a transcript: a line "$ ..." and below it what comes of
 * it. In a value "~" is a blank, ";" a newline, "x*64" is 64 times "x".
 *
 *     $ engine KEY=VALUE...     begin anew: gpus, cpus, policy or text, shared, jobs, of-user ...
 *     $ ask uid=N KEY=VALUE...  a request; its answer
 *     $ states ...              the same, of a list only who is where and why
 *     $ waits KEY=VALUE...      whether a client that asks so has to wait
 *     $ clock MS                later
 *     $ decide                  a pass; guards cannot be started
 *     $ end ID KEY=VALUE...     the word of a guard: status, stop, lost, unstarted, text
 *     $ gone ID started=0|1     a guard that left no word, of a job that it had started or not
 *     $ busy N,N...             what the sensor tells of the devices, in thousandths; gone: no more
 *     $ steps ID N              what a job's observer tells: that it has done so many
 *     $ look                    look at CPUs, where it is time; when to look again
 *     $ again                   another engine comes
 *     $ rows                    what is stored
 *     $ told                    what guards are told
 *
 *     t_queue_engine FILE */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "base/parse.h"
#include "folder.h"
#include "golden.h"
#include "queue/guard/files.h"
#include "queue/queue_private.h"

enum { ROOM = 8 << 20, WORDS = 40, STEPS = 100 };

#define BEGIN INT64_C(1793491200000) /* 2026-11-01 00:00 UTC */

struct engine {
    struct local l;
    struct queue_config config;
    struct policy policy;
    struct node *node;
    struct clock clock;
    int64_t ms;
    int dir; /* l.dir, but while nothing is to be started */
    char root[PATH_MAX], path[PATH_MAX + 16], cpus[64];
    bool open;
    double steps[STEPS]; /* by job */
};

static int64_t now_ns(void *arg)
{
    return ((const struct engine *)arg)->ms * NS_PER_MS;
}

static double steps_of(void *arg, const struct queue_job *j)
{
    const struct engine *g = arg;

    return j->id < STEPS ? g->steps[j->id] : (double)NAN;
}

static void need(int rc, const char *what, const struct err *e)
{
    if (rc >= 0)
        return;
    printf("Bail out! %s: %s\n", what, e->text);
    exit(1);
}

/* ---- words ---- */

static const char *value_of(char **words, const char *key)
{
    size_t len = strlen(key);

    for (; *words; words++)
        if (!strncmp(*words, key, len) && (*words)[len] == '=')
            return *words + len + 1;
    return NULL;
}

static int64_t number_of(char **words, const char *key, int64_t fallback)
{
    const char *text = value_of(words, key);
    int64_t value;

    return text && parse_i64(text, &value) == 0 ? value : fallback;
}

/* "x*64" as it is meant, and blanks and newlines. */
static void expand(const char *text, struct str *out)
{
    const char *star = strchr(text, '*');
    int n = star ? (int)strtol(star + 1, NULL, 10) : 1;

    for (int i = 0; i < n; i++)
        for (const char *at = text; *at && at != star; at++)
            str_add_char(out, *at == '~' ? ' ' : *at == ';' ? '\n' : *at);
}

/* ---- the engine ---- */

/* Two NUMA domains, among which CPUs and accelerators are shared out. */
static struct node *make_node(int gpus)
{
    struct node *n = node_new();
    struct err e = { "out of memory" };

    for (int i = 0; i < 2; i++)
        node_add_numa(n, i)->cpus = i ? "4-7" : "0-3";
    for (int i = 0; i < gpus; i++) {
        struct pci *f = node_add_pci(n, (struct pci_address){ .bus = (uint8_t)(i + 1) });
        struct device *d = node_add_device(n, DEVICE_ACCELERATOR);

        f->vendor = 0x10de;
        d->pci = (int)n->n_pcis - 1;
        d->numa = i * 2 / gpus;
        d->product = "H100";
        d->acc.memory_b = INT64_C(80000000000);
    }
    need(node_settle(n), "node", &e);
    return n;
}

static void load(struct engine *g)
{
    struct local *l = &g->l;
    struct err e = { "" };

    *l = (struct local){ .c = &g->config, .dir = -1, .lock = -1, .listener = -1, .notify = -1 };
    l->signals = l->look.sensor = -1;
    l->again_ms = INT64_MAX;
    need(queue_store_open(&l->store, g->path, &e), "store", &e);
    need(queue_pool_make(&l->pool, g->node, g->cpus, &e), "pool", &e);
    need(life_load(l, &e), "load", &e);
    l->dir = g->dir;
}

static void unload(struct engine *g)
{
    queue_look_done(&g->l);
    life_free(&g->l);
    queue_store_close(g->l.store);
    queue_pool_done(&g->l.pool);
}

static void end(struct engine *g)
{
    if (!g->open)
        return;
    unload(g);
    node_free(g->node);
    close(g->dir);
    folder_remove(g->root);
    g->open = false;
}

static void begin(struct engine *g, char **words)
{
    CLEANUP(str_done) struct str text = STR_INIT(4096);
    const char *policy = value_of(words, "policy"), *cpus = value_of(words, "cpus");
    struct err e = { "" };

    end(g);
    folder_make(g->root);
    g->dir = queue_files_open(g->root, false, &e);
    need(g->dir, "folder", &e);
    snprintf(g->path, sizeof(g->path), "%s/queue.db", g->root);
    snprintf(g->cpus, sizeof(g->cpus), "%s", cpus ? cpus : "0-7");
    g->node = make_node((int)number_of(words, "gpus", 0));
    g->ms = BEGIN;
    g->clock = (struct clock){ now_ns, now_ns, g };
    expand(value_of(words, "text") ? value_of(words, "text") : "", &text);
    need(policy ? policy_named(&g->policy, policy, &e)
                : policy_read(&g->policy, "mine", str_text(&text), text.len, &e),
         "policy", &e);
    g->config = (struct queue_config){
        .clock = &g->clock,
        .folder = g->root,
        .node = g->node,
        .policy = &g->policy,
        .shared = number_of(words, "shared", 0) != 0,
        .keep_ms = number_of(words, "keep", INT64_C(86400000)),
        .most_jobs = number_of(words, "jobs", 1000),
        .most_of_user = number_of(words, "of-user", 1000),
        .most_grace_ms = number_of(words, "grace", 3600000),
        .look_ms = 10000,
        .steps = steps_of,
        .arg = g,
    };
    for (int i = 0; i < STEPS; i++)
        g->steps[i] = (double)NAN;
    load(g);
    g->open = true;
}

/* ---- what is asked ---- */

static void take(struct queue_client *client, char **words)
{
    *client = (struct queue_client){ .fd = -1, .in = STR_INIT(WIRE_ORDER) };
    client->uid = (uid_t)number_of(words, "uid", 0);
    client->gid = client->uid + 1;
    wire_add(&client->in, "team", ""); /* else the name of a group, if this machine has that one */
    for (; *words; words++) {
        CLEANUP(str_done) struct str key = STR_INIT(64), value = STR_INIT(4096);
        const char *equals = strchr(*words, '=');

        if (!equals || !strncmp(*words, "uid=", 4))
            continue;
        str_add_n(&key, *words, (size_t)(equals - *words));
        expand(equals + 1, &value);
        wire_add(&client->in, str_text(&key), str_text(&value));
    }
}

/* Of a list the lines that tell who is where and why. */
static void add_states(const char *text, struct str *out)
{
    for (; *text; text += strcspn(text, "\n"), text += *text == '\n') {
        const char *at = text + strspn(text, " ");
        bool is_job = !strncmp(at, "\"job\"", 5);

        if (is_job || !strncmp(at, "\"state\"", 7) || !strncmp(at, "\"reason\"", 8))
            str_addf(out, "%s%.*s", is_job ? "" : " ", (int)strcspn(at, "\n"), at);
        if (!strncmp(at, "\"reason\"", 8))
            str_add_char(out, '\n');
    }
}

static void ask(struct engine *g, char **words, bool states, struct str *out)
{
    CLEANUP(str_done) struct str answer = STR_INIT(WIRE_MAX);
    struct queue_client client;
    const char *key, *value;
    size_t at = 0, len;

    take(&client, words);
    queue_request(&g->l, &client, &answer);
    while (wire_next(&answer, &at, &key, &len, &value))
        if (states && len == 4 && !memcmp(key, "text", 4))
            add_states(value, out);
        else
            str_addf(out, "%.*s=%s\n", (int)len, key, value);
    str_done(&client.in);
}

static void waits(const struct engine *g, char **words, struct str *out)
{
    struct queue_client client;

    take(&client, words);
    str_add(out, queue_request_waits(&g->l, &client) ? "it waits\n" : "it does not wait\n");
    str_done(&client.in);
}

/* ---- what is stored ---- */

static void add_number(struct str *out, const char *name, long long value)
{
    if (value)
        str_addf(out, " %s=%lld", name, value);
}

static void add_text(struct str *out, const char *name, const char *text)
{
    if (*text)
        str_addf(out, " %s='%s'", name, text);
}

#define NUMBER(member) add_number(out, #member, (long long)j->member)
#define TIME(member) add_number(out, #member, j->member > BEGIN ? j->member - BEGIN : j->member)
#define TEXT(member) add_text(out, #member, j->member)

/* All that is not 0; times from the beginning on. */
static int add_row(void *arg, const struct queue_job *j)
{
    struct str *out = arg;

    str_addf(out, "%lld:", (long long)j->id);
    NUMBER(array), NUMBER(task), NUMBER(width), NUMBER(uid), NUMBER(gid);
    TEXT(user), TEXT(name), TEXT(team), TEXT(class), TEXT(token), TEXT(after);
    NUMBER(devices), NUMBER(least), NUMBER(cpus), NUMBER(priority), NUMBER(limit_ms),
        NUMBER(warn_ms);
    NUMBER(grace_ms), TIME(deadline_ms), NUMBER(signal), NUMBER(held), NUMBER(requeue);
    NUMBER(watch), NUMBER(state), NUMBER(outcome), NUMBER(stop), NUMBER(attempt);
    NUMBER(status), TIME(submit_ms), TIME(start_ms), TIME(end_ms), TIME(since_ms);
    NUMBER(ran_ms), NUMBER(device_ms), TEXT(slots), TEXT(next), TEXT(place), TEXT(bound),
        TEXT(reason), TEXT(stopped);
    NUMBER(yields), TEXT(used), TIME(seen_ms), TIME(told_ms);
    NUMBER(share), NUMBER(memory_b), NUMBER(host), NUMBER(apart), NUMBER(memory_milli);
    NUMBER(worked_ms), NUMBER(worked), NUMBER(alone_ms), NUMBER(alone), TIME(parked_ms);
    str_add_char(out, '\n');
    return 0;
}

static void rows(struct engine *g, struct str *out)
{
    struct err e = { "" };

    need(queue_store_recent(g->l.store, 0, 0, add_row, out, &e), "rows", &e);
}

static void told(const struct engine *g, struct str *out)
{
    for (size_t i = 0; i < g->l.n; i++) {
        const struct queue_job *j = g->l.jobs[i];

        str_addf(out, "%lld: %d\n", (long long)j->id,
                 (int)queue_stop_read(g->dir, j->id, j->attempt));
    }
}

/* ---- what happens ---- */

static struct queue_job *job(const struct engine *g, char **words)
{
    struct queue_job *j = words[0] ? life_find(&g->l, strtoll(words[0], NULL, 10)) : NULL;
    struct err e = { "there is none that has not ended" };

    need(j ? 0 : -1, "job", &e);
    return j;
}

static void look(struct engine *g, struct queue_job *j)
{
    life_look(&g->l, j);
    life_sweep(&g->l);
}

static void word(struct engine *g, char **words)
{
    struct queue_job *j = job(g, words);
    struct queue_end end = {
        .status = (int32_t)number_of(words, "status", 0),
        .stop = (uint8_t)number_of(words, "stop", 0),
        .lost = number_of(words, "lost", 0) != 0,
        .unstarted = number_of(words, "unstarted", 0) != 0,
        .end_ms = g->ms,
    };
    const char *text = value_of(words, "text");
    struct err e = { "" };

    snprintf(end.text, sizeof(end.text), "%s", text ? text : "");
    need(queue_folder_make(g->dir, j->id, &e), "folder", &e);
    need(queue_end_write(g->dir, j->id, j->attempt, &end), "end", &e);
    look(g, j);
}

static void gone(struct engine *g, char **words)
{
    struct queue_job *j = job(g, words);
    struct err e = { "" };
    pid_t pid;
    int fd;

    need(queue_folder_make(g->dir, j->id, &e), "folder", &e);
    fd = queue_claim(g->dir, j->id, j->attempt, "");
    need(fd, "claim", &e);
    if (number_of(words, "started", 0)) {
        pid = fork();
        if (pid == 0)
            _exit(0);
        waitpid(pid, NULL, 0);
        need(queue_start_write(g->dir, j->id, j->attempt, pid, ""), "start", &e);
    }
    look(g, j); /* its guard lives: nothing */
    close(fd);
    look(g, j);
}

static void busy(struct engine *g, char **words)
{
    struct queue_sensed s;
    int ends[2], n = 0;

    for (int i = 0; i < QUEUE_SENSED; i++)
        s.milli[i] = s.memory[i] = -1;
    for (const char *at = words[0]; at && n < QUEUE_SENSED; at = strchr(at, ',')) {
        at += *at == ',';
        s.memory[n] = (int16_t)number_of(words, "memory", -1);
        s.milli[n++] = (int16_t)strtol(at, NULL, 10);
    }
    folder_need(pipe(ends), "pipe");
    if (strcmp(words[0], "gone") != 0)
        folder_need(write(ends[1], &s, sizeof(s)) == (ssize_t)sizeof(s) ? 0 : -1, "write");
    else
        close(ends[1]);
    g->l.look.sensor = ends[0];
    (void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
    queue_look_take(&g->l);
    if (strcmp(words[0], "gone") != 0)
        close(ends[1]);
    queue_look_done(&g->l);
}

/* Of accelerators a process of its own would tell: only when is said. */
static void look_again(struct engine *g, struct str *out)
{
    int64_t due;

    if (g->l.pool.cpus)
        queue_look(&g->l);
    due = queue_look_due(&g->l);
    if (due == INT64_MAX)
        str_add(out, "never\n");
    else
        str_addf(out, "in %lld ms\n", (long long)MAX(due - g->ms, 0));
}

static void steps(struct engine *g, char **words)
{
    const struct queue_job *j = job(g, words);

    if (j->id < STEPS)
        g->steps[j->id] = strtod(words[1] ? words[1] : "nan", NULL);
}

static void decide(struct engine *g, struct str *out)
{
    g->l.dir = -1;
    queue_decide(&g->l);
    g->l.dir = g->dir;
    if (g->l.again_ms != INT64_MAX)
        str_addf(out, "again in %lld ms\n", (long long)(g->l.again_ms - g->ms));
}

static void run(struct engine *g, char **words, struct str *out)
{
    const char *what = *words++;

    if (!strcmp(what, "engine"))
        begin(g, words);
    else if (!strcmp(what, "ask") || !strcmp(what, "states"))
        ask(g, words, *what == 's', out);
    else if (!strcmp(what, "waits"))
        waits(g, words, out);
    else if (!strcmp(what, "clock"))
        g->ms += strtoll(words[0], NULL, 10);
    else if (!strcmp(what, "decide"))
        decide(g, out);
    else if (!strcmp(what, "end"))
        word(g, words);
    else if (!strcmp(what, "steps"))
        steps(g, words);
    else if (!strcmp(what, "gone"))
        gone(g, words);
    else if (!strcmp(what, "busy"))
        busy(g, words);
    else if (!strcmp(what, "look"))
        look_again(g, out);
    else if (!strcmp(what, "again"))
        unload(g), load(g);
    else if (!strcmp(what, "rows"))
        rows(g, out);
    else if (!strcmp(what, "told"))
        told(g, out);
    else
        str_addf(out, "no such command: %s\n", what);
}

int main(int argc, char **argv)
{
    CLEANUP(str_done) struct str out = STR_INIT(ROOM);
    static struct engine g;
    char *file, *line, *at;

    if (argc != 2) {
        printf("Bail out! FILE\n");
        return 1;
    }
    log_set_level("error");
    file = at = golden_read(argv[1]);
    while ((line = strsep(&at, "\n"))) {
        char *words[WORDS + 1] = { NULL }, *rest = line + 2;
        size_t n = 0;

        if (strncmp(line, "$ ", 2) != 0)
            continue;
        str_addf(&out, "%s\n", line);
        while (rest && n < WORDS)
            words[n++] = strsep(&rest, " ");
        run(&g, words, &out);
    }
    end(&g);
    golden(argv[1], str_text(&out));
    free(file);
    return done();
}
