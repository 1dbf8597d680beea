#include "tellers.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#include "base/clock.h"
#include "control/source/gather.h"
#include "control/source/prometheus.h"

enum { NODES = 10000, GPUS = 8, ROUNDS = 4, PERIOD_S = 15, EVENTS = 256, TEXT = 4096 };
enum { DESCRIPTORS = 1024 /* as a process has by default */ };

static const uint32_t first_address = 0x7f010001; /* 127.1.0.1 */

static double now_s(clockid_t which)
{
    struct timespec t;

    clock_gettime(which, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- the agents: one process, which serves all addresses of 127/8 on a port ---- */

/* What each of them answers. */
static size_t make_reply(char *reply)
{
    struct node_report r = { .host = "n1234",
                             .version = BRIM_VERSION,
                             .time_ms = clock_wall_ns(&clock_system) / NS_PER_MS,
                             .gpus = GPUS,
                             .n_busy = GPUS };
    CLEANUP(str_done) struct str text = STR_INIT(TEXT);

    snprintf(r.verdict.sentence, sizeof(r.verdict.sentence),
             "storage limits this node: disk vda is 98 %% busy and takes 84 ms a request; 8 GPUs "
             "wait 62 %% of the time");
    for (size_t i = 0; i < GPUS; i++)
        r.busy[i] = 0.1 * (double)i;
    node_report_write(&r, &text);
    return (size_t)snprintf(reply, TEXT,
                            "HTTP/1.0 200 OK\r\nConnection: close\r\nContent-Type: "
                            "application/json\r\nContent-Length: %zu\r\n\r\n%s",
                            text.len, str_text(&text));
}

/* Whether the node of that address is one that does not answer. */
static bool is_silent(int peer, uint32_t silent)
{
    struct sockaddr_in at;
    socklen_t size = sizeof(at);

    return getsockname(peer, (struct sockaddr *)&at, &size) < 0 ||
           ntohl(at.sin_addr.s_addr) - first_address < silent;
}

static _Noreturn void serve(int listener, uint32_t silent)
{
    static char reply[TEXT], request[TEXT];
    struct epoll_event ready[EVENTS], event = { .events = EPOLLIN, .data.fd = listener };
    size_t len = make_reply(reply);
    int poll = epoll_create1(EPOLL_CLOEXEC);

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    epoll_ctl(poll, EPOLL_CTL_ADD, listener, &event);
    while (true) {
        int n = epoll_wait(poll, ready, EVENTS, -1);

        for (int i = 0; i < n; i++) {
            int peer = ready[i].data.fd;

            if (peer == listener) {
                event.data.fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
                if (event.data.fd >= 0)
                    epoll_ctl(poll, EPOLL_CTL_ADD, event.data.fd, &event);
            } else if (read(peer, request, sizeof(request)) <= 0 ||
                       (!is_silent(peer, silent) && write(peer, reply, len) >= 0)) {
                close(peer);
            }
        }
    }
}

/* Start it; its port, or 0. silent: so many of the nodes never answer. */
static unsigned start_agents(uint32_t silent, pid_t *pid)
{
    struct sockaddr_in at = { .sin_family = AF_INET };
    socklen_t size = sizeof(at);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || bind(fd, (struct sockaddr *)&at, size) < 0 || listen(fd, 4096) < 0 ||
        getsockname(fd, (struct sockaddr *)&at, &size) < 0)
        return 0;
    *pid = fork();
    if (*pid == 0)
        serve(fd, silent);
    close(fd);
    return *pid > 0 ? ntohs(at.sin_port) : 0;
}

/* ---- the site ---- */

static void name_address(unsigned node, char *text, size_t size)
{
    struct in_addr at = { htonl(first_address + node) };

    inet_ntop(AF_INET, &at, text, (socklen_t)size);
}

static int make_site(struct site *s, bool by_name)
{
    char text[INET_ADDRSTRLEN];

    *s = (struct site){ .n_nodes = NODES, .cluster = "made up" };
    s->nodes = arena_alloc(&s->arena, NODES * sizeof(*s->nodes));
    if (!s->nodes)
        return -1;
    for (unsigned i = 0; i < NODES; i++) {
        name_address(i, text, sizeof(text));
        s->nodes[i].name = arena_printf(&s->arena, "brim-bench-n%u", i);
        s->nodes[i].address = by_name ? NULL : arena_strdup(&s->arena, text);
        s->nodes[i].devices = GPUS;
    }
    return site_index(s);
}

/* Have the names of all nodes in /etc/hosts, for this process. */
static int name_nodes(void)
{
    char path[] = "/tmp/brim-bench-hosts-XXXXXX", text[INET_ADDRSTRLEN];
    int fd = mkstemp(path), rc;
    FILE *f = fd < 0 ? NULL : fdopen(fd, "w");

    if (!f)
        return -1;
    fprintf(f, "127.0.0.1 localhost\n");
    for (unsigned i = 0; i < NODES; i++) {
        name_address(i, text, sizeof(text));
        fprintf(f, "%s brim-bench-n%u\n", text, i);
    }
    fclose(f);
    rc = unshare(CLONE_NEWNS);
    if (rc == 0)
        rc = mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL);
    if (rc == 0)
        rc = mount(path, "/etc/hosts", NULL, MS_BIND, NULL);
    unlink(path);
    return rc;
}

/* ---- what asking them costs ---- */

/* What rounds took: the first one, and the worst of the others. */
struct cost {
    double first_s, first_cpu_s, s, cpu_s;
    size_t told; /* in the last one */
};

static int ask_all(const struct site *s, unsigned port, struct cost *ret)
{
    static bool which[NODES];
    static const struct node_answer *of[NODES];
    const struct gather_config config = { .port = port, .patience_ns = 10 * NS_PER_S };
    CLEANUP(gather_closep) struct gather *g = NULL;
    struct err e = { "" };

    *ret = (struct cost){ .told = 0 };
    memset(which, 1, sizeof(which));
    if (gather_open(&g, &config, NULL) < 0)
        return 1;
    for (int i = 0; i < ROUNDS; i++) {
        double begin_s = now_s(CLOCK_MONOTONIC), cpu_s = now_s(CLOCK_PROCESS_CPUTIME_ID);

        if (gather_ask(g, s, which, of, &e) < 0) {
            fprintf(stderr, "control: %s\n", e.text);
            return 1;
        }
        begin_s = now_s(CLOCK_MONOTONIC) - begin_s;
        cpu_s = now_s(CLOCK_PROCESS_CPUTIME_ID) - cpu_s;
        if (i == 0) {
            ret->first_s = begin_s;
            ret->first_cpu_s = cpu_s;
        } else {
            ret->s = MAX(ret->s, begin_s);
            ret->cpu_s = MAX(ret->cpu_s, cpu_s);
        }
    }
    for (size_t i = 0; i < NODES; i++)
        ret->told += of[i] && of[i]->fault == NODE_ANSWERED;
    return 0;
}

static void say(const char *what, const struct cost *c)
{
    struct rusage used;

    getrusage(RUSAGE_SELF, &used);
    printf("control: %s\t%.3f\tcores\t<= 1\t%zu of 10,000 answer; a round each 15 s, the worst of "
           "%d; the first one %.3f\n",
           what, c->cpu_s / PERIOD_S, c->told, ROUNDS - 1, c->first_cpu_s / PERIOD_S);
    printf("control: %s, a round\t%.2f\ts\t<= 15\tthe first one %.2f s; %.0f MiB at most; %d "
           "descriptors\n",
           what, c->s, c->first_s, (double)used.ru_maxrss / 1024, DESCRIPTORS);
}

static int measure_agents(const char *what, bool by_name, uint32_t silent)
{
    const struct rlimit few = { DESCRIPTORS, DESCRIPTORS }; /* of who asks, and not of agents */
    struct cost c;
    struct site s = { 0 };
    pid_t agents = 0;
    unsigned port = start_agents(silent, &agents);
    int rc = 1;

    setrlimit(RLIMIT_NOFILE, &few);
    if (by_name && name_nodes() < 0) {
        fprintf(stderr, "control: %s: not measured without root\n", what);
        rc = 0;
    } else if (port && make_site(&s, by_name) == 0) {
        rc = ask_all(&s, port, &c);
        if (rc == 0)
            say(what, &c);
    }
    site_done(&s);
    if (agents > 0) {
        kill(agents, SIGKILL);
        waitpid(agents, NULL, 0);
    }
    return rc;
}

/* ---- one Prometheus ---- */

static void make_answer(struct str *out)
{
    str_add(out, "{\"status\":\"success\",\"data\":{\"resultType\":\"vector\",\"result\":[");
    for (unsigned i = 0; i < NODES * GPUS; i++)
        str_addf(
            out,
            "%s{\"metric\":{\"Hostname\":\"brim-bench-n%u\",\"__name__\":\"DCGM_FI_DEV_GPU_UTIL"
            "\",\"gpu\":\"%u\",\"instance\":\"10.20.30.40:9400\"},\"value\":[1795770090.089,"
            "\"%u\"]}",
            i ? "," : "", i / GPUS, i % GPUS, i % 101);
    str_add(out, "]}}");
}

static int measure_prometheus(void)
{
    static struct node_answer answers[NODES], *of[NODES];
    CLEANUP(str_done) struct str text = STR_INIT(PROMETHEUS_ANSWER_MAX);
    struct site s = { 0 };
    struct err e = { "" };
    double worst_s = 0;
    struct rusage used;
    int rc = make_site(&s, true);

    make_answer(&text);
    for (size_t i = 0; i < NODES; i++)
        of[i] = &answers[i];
    for (int i = 0; i < ROUNDS && rc == 0; i++) {
        CLEANUP(arena_done) struct arena a = ARENA_INIT;
        const struct prometheus_text t = { str_text(&text), text.len, INT64_C(1795770090200) };
        double begin_s = now_s(CLOCK_PROCESS_CPUTIME_ID);

        rc = prometheus_read(&s, of, &a, &t, &e);
        worst_s = MAX(worst_s, now_s(CLOCK_PROCESS_CPUTIME_ID) - begin_s);
    }
    getrusage(RUSAGE_SELF, &used);
    if (rc == 0 && !isnan(answers[NODES - 1].report.busy[GPUS - 1]))
        printf(
            "control: an answer of Prometheus\t%.0f\tms CPU\t<= 500\t80,000 GPUs, %.1f MiB; %.0f "
            "MiB at most\n",
            worst_s * 1e3, (double)text.len / (1 << 20), (double)used.ru_maxrss / 1024);
    site_done(&s);
    return rc < 0;
}

/* Each in a process of its own, whose memory is counted. */
int tellers_measure(void)
{
    static const struct {
        const char *what;
        bool by_name;
        uint32_t silent;
    } cases[] = {
        { "agents", false, 0 },
        { "agents by name", true, 0 },
        { "agents, a tenth silent", false, NODES / 10 },
        { NULL, false, 0 },
    };
    int wrong = 0;

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        pid_t pid;
        int status = 1;

        fflush(stdout);
        pid = fork();
        if (pid == 0) {
            int rc = cases[i].what
                         ? measure_agents(cases[i].what, cases[i].by_name, cases[i].silent)
                         : measure_prometheus();

            fflush(stdout);
            _exit(rc);
        }
        wrong |= waitpid(pid, &status, 0) < 0 || status != 0;
    }
    return wrong;
}
