/* What src/slurm says of a real Slurm, as lines of text, and deeds:
 *
 *     slurm_ask [-c] [-l LIBRARY] [-f SLURM_CONF] [-p PATIENCE_MS] STEP...
 *
 * Steps, one after the other in one process: "how", "read" (prints nodes and jobs, or "same"),
 * "time" (a read that prints how long it took and how many there are), "sleep=MS", and deeds,
 * "VERB:JOB[:TEXT or VALUE]" and "node-VERB:NODE[:TEXT]". An error is printed and ends nothing. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/parse.h"
#include "slurm/slurm.h"

static const char *const node_states[] = { "up", "down", "off" };
static const char *const job_states[] = { "waiting",   "starting", "running",
                                          "suspended", "ending",   "ended" };

enum argument { NOTHING, NUMBER, TEXT };

static const struct {
    const char *verb;
    uint8_t kind, argument;
} deeds[] = {
    { "priority", SITE_DO_PRIORITY, NUMBER },
    { "hold", SITE_DO_HOLD, NOTHING },
    { "release", SITE_DO_RELEASE, NOTHING },
    { "place", SITE_DO_PLACE, TEXT },
    { "avoid", SITE_DO_AVOID, TEXT },
    { "requeue", SITE_DO_REQUEUE, NOTHING },
    { "requeue-held", SITE_DO_REQUEUE_HELD, NOTHING },
    { "suspend", SITE_DO_SUSPEND, NOTHING },
    { "go-on", SITE_DO_GO_ON, NOTHING },
    { "cancel", SITE_DO_CANCEL, NOTHING },
    { "signal", SITE_DO_SIGNAL, NUMBER },
    { "signal-steps", SITE_DO_SIGNAL_STEPS, NUMBER },
    { "signal-script", SITE_DO_SIGNAL_SCRIPT, NUMBER },
    { "nodes", SITE_DO_NODES, NUMBER },
    { "note", SITE_DO_NOTE, TEXT },
    { "comment", SITE_DO_COMMENT, TEXT },
    { "tell", SITE_DO_TELL, TEXT },
    { "node-drain", SITE_DO_NODE_DRAIN, TEXT },
    { "node-down", SITE_DO_NODE_DOWN, TEXT },
    { "node-resume", SITE_DO_NODE_RESUME, NOTHING },
    { "node-features", SITE_DO_NODE_FEATURES, TEXT },
};

static const char *or_dash(const char *text)
{
    return text && *text ? text : "-";
}

static void print_node(const struct site_node *n)
{
    printf("node %s %s%s%s%s address=%s cpus=%d memory=%" PRId64 " devices=%d kind=%s features=%s "
           "path=%s partitions=%" PRIx64 " reason=%s\n",
           n->name, node_states[n->state], n->drained ? " drained" : "", n->silent ? " silent" : "",
           n->reserved ? " reserved" : "", or_dash(n->address), n->cpus, n->memory_mib, n->devices,
           or_dash(n->kind), or_dash(n->features), or_dash(n->path), n->partitions,
           or_dash(n->reason));
}

static void print_flags(const struct site_job *j)
{
    printf("%s%s%s%s%s%s", j->held ? " held" : "", j->depends ? " depends" : "",
           j->requeue ? " requeue" : "", j->batch ? " batch" : "", j->exclusive ? " exclusive" : "",
           j->pending_tasks ? " pending-tasks" : "");
    if (j->array)
        printf(" array=%u", j->array);
    if (j->task != SITE_NO_TASK)
        printf(" task=%u", j->task);
}

static void print_job(const struct site *s, const struct site_job *j)
{
    printf("job %u %s", j->id, job_states[j->state]);
    print_flags(j);
    printf(" name=%s user=%s account=%s partition=%s qos=%s", or_dash(j->name), or_dash(j->user),
           or_dash(j->account), or_dash(j->partition), or_dash(j->qos));
    printf(" nodes=%d-%d cpus=%d memory=%" PRId64 " devices=%d per_node=%d kind=%s priority=%u "
           "restarts=%u limit=%" PRId64,
           j->nodes, j->nodes_most, j->cpus, j->memory_mib, j->devices, j->devices_per_node,
           or_dash(j->kind), j->priority, j->restarts, j->limit_ms);
    printf(" why=%s wanted=%s avoided=%s features=%s comment=%s note=%s", or_dash(j->why),
           or_dash(j->wanted), or_dash(j->avoided), or_dash(j->features), or_dash(j->comment),
           or_dash(j->note));
    for (size_t i = 0; i < j->n_parts; i++)
        printf(" on=%s:%d:%x", s->nodes[j->parts[i].node].name, j->parts[i].count,
               j->parts[i].devices);
    printf("\n");
}

static void read_now(struct slurm *slurm, bool brief)
{
    struct site s = { .time_ms = 0 };
    struct err e = { "" };
    int64_t from = clock_monotonic_ns(&clock_system);
    int rc = slurm_read(slurm, &s, &e);
    double ms = (double)(clock_monotonic_ns(&clock_system) - from) / (double)NS_PER_MS;

    if (rc < 0)
        printf("error %s: %s\n", strerrorname_np(-rc), e.text);
    else if (brief)
        printf("read %d: %zu nodes, %zu jobs, %.2f ms\n", rc, s.n_nodes, s.n_jobs, ms);
    else if (rc == 0)
        printf("same\n");
    else
        printf("cluster %s\n", or_dash(s.cluster));
    for (size_t i = 0; !brief && i < s.n_nodes; i++)
        print_node(&s.nodes[i]);
    for (size_t i = 0; !brief && i < s.n_jobs; i++)
        print_job(&s, &s.jobs[i]);
    site_done(&s);
}

static int act(struct slurm *slurm, char *step)
{
    char *verb = strtok_r(step, ":", &step), *whom = strtok_r(NULL, ":", &step);
    struct site_deed d = { .text = step };
    struct err e = { "" };
    uint64_t number = 0;
    size_t i = 0;
    int rc;

    while (i < ARRAY_SIZE(deeds) && verb && strcmp(deeds[i].verb, verb) != 0)
        i++;
    if (i == ARRAY_SIZE(deeds) || !whom)
        return -EINVAL;
    d.kind = deeds[i].kind;
    d.node = whom;
    if (d.kind < SITE_DO_NODE_DRAIN && parse_u64(whom, &number) < 0)
        return -EINVAL;
    d.job = (uint32_t)number;
    if (deeds[i].argument == NUMBER && (!step || parse_u64(step, &number) < 0))
        return -EINVAL;
    d.value = (uint32_t)number;
    rc = slurm_act(slurm, &d, &e);
    if (rc < 0)
        printf("error %s: %s\n", strerrorname_np(-rc), e.text);
    else
        printf("done %s\n", verb);
    return 0;
}

static int take_step(struct slurm *slurm, char *step)
{
    uint64_t ms;

    if (strcmp(step, "how") == 0)
        printf("%s\n", slurm_how(slurm));
    else if (strcmp(step, "read") == 0 || strcmp(step, "time") == 0)
        read_now(slurm, *step == 't');
    else if (strncmp(step, "sleep=", 6) == 0)
        return parse_u64(step + 6, &ms) < 0 ? -EINVAL : usleep((useconds_t)ms * 1000);
    else
        return act(slurm, step);
    return 0;
}

int main(int argc, char **argv)
{
    struct slurm_config config = { .patience_ms = 5000 };
    CLEANUP(slurm_closep) struct slurm *slurm = NULL;
    struct err e = { "" };
    uint64_t patience;
    int option, rc;

    while ((option = getopt(argc, argv, "cl:f:p:")) != -1) {
        if (option == 'c')
            config.commands = true;
        else if (option == 'l')
            config.library = optarg;
        else if (option == 'f')
            config.conf = optarg;
        else if (option == 'p' && parse_u64(optarg, &patience) == 0)
            config.patience_ms = (int64_t)patience;
        else
            return 2;
    }
    rc = slurm_open(&slurm, &config, &e);
    if (rc < 0) {
        printf("error %s: %s\n", strerrorname_np(-rc), e.text);
        return 1;
    }
    for (int i = optind; i < argc; i++) {
        if (take_step(slurm, argv[i]) < 0)
            return 2;
        fflush(stdout);
    }
    return 0;
}
