/* What squeue and sinfo of 22.05 printed for a job that runs, one that is held and an array; and
 * the same in the form of later releases. */
#include <errno.h>

#include "base/file.h"
#include "oom_arena.h"
#include "slurm/commands.h"
#include "slurm/take.h"
#include "tap.h"

static void load(const char *name, struct str *out)
{
    char path[256];
    struct err e = { "" };

    *out = (struct str)STR_INIT(1 << 20);
    snprintf(path, sizeof(path), "%s/slurm/%s", FIXTURES, name);
    if (file_read(path, out, &e) < 0) {
        printf("Bail out! %s\n", e.text);
        exit(1);
    }
}

static int read_both(struct site *s, const struct str *nodes, const struct str *jobs)
{
    struct err e = { "" };
    int rc = slurm_json_nodes(s, nodes->data, nodes->len, &e);

    if (rc == 0)
        rc = site_index(s);
    if (rc == 0)
        rc = slurm_json_jobs(s, jobs->data, jobs->len, &e);
    return rc < 0 ? rc : slurm_take_end(s);
}

static void check_nodes(const struct site *s)
{
    is_int((long long)s->n_nodes, 4, "there are four nodes");
    if (s->n_nodes != 4)
        return;
    is_str(s->nodes[0].name, "n0", "the first has its name");
    is_int(s->nodes[0].devices, 8, "the first has eight GPUs");
    is_str(s->nodes[0].kind, "h100", "the GPUs of the first have a kind");
    is_int(s->nodes[0].memory_mib, 64000, "the first has its memory");
    is_str(s->nodes[0].reason, NULL, "the first has no reason");
    ok(!s->nodes[0].drained && s->nodes[1].drained && s->nodes[1].state == SITE_NODE_UP,
       "the second is drained");
    is_str(s->nodes[1].reason, "bad gpu", "the second says why it is drained");
}

static void check_jobs(const struct site *s)
{
    const struct site_job *j = s->jobs;

    is_int((long long)s->n_jobs, 3, "there are three jobs");
    if (s->n_jobs != 3)
        return;
    is_str(s->cluster, "faketest", "the cluster's name");
    ok(j[0].state == SITE_RUNNING && j[0].exclusive && j[0].batch && j[0].requeue && !j[0].held,
       "one runs and has its nodes alone");
    is_int(j[0].devices, 16, "GPUs that it has");
    is_int(j[0].devices_per_node, 4, "GPUs that it asks for");
    is_int((long long)j[0].n_parts, 2, "on two nodes");
    ok(j[0].n_parts == 2 && j[0].parts[1].node == 1 && j[0].parts[1].devices == 0xff &&
           j[0].parts[1].count == 8,
       "a part says which GPUs it has");
    is_int(j[0].memory_mib, 16000, "memory of a node from that of a CPU");
    is_int(j[0].limit_ms, 0, "a year is no limit");
    ok(j[1].state == SITE_WAITING && j[1].held && !j[1].depends && j[1].n_parts == 0,
       "one is held");
    is_str(j[1].why, "JobHeldUser", "the reason says who held it");
    is_str(j[1].comment, "a b", "a job has its comment");
    is_int(j[1].task, SITE_NO_TASK, "a single job is of no array");
    ok(j[2].pending_tasks && j[2].array == 3 && j[2].task == SITE_NO_TASK,
       "one stands for an array's tasks");
    ok(j[2].tasks && j[2].tasks[0], "one that stands for tasks says which");
    is_int(j[2].devices, 3, "GPUs of the whole job");
}

static void test_form(const char *form)
{
    CLEANUP(str_done) struct str nodes = STR_INIT(0), jobs = STR_INIT(0);
    struct site s = { .time_ms = INT64_C(1795761500000) };
    char name[64];
    bool failed;
    int rc;

    snprintf(name, sizeof(name), "nodes-%s.json", form);
    load(name, &nodes);
    snprintf(name, sizeof(name), "jobs-%s.json", form);
    load(name, &jobs);
    is_int(read_both(&s, &nodes, &jobs), 0, "the form of %s is read", form);
    check_nodes(&s);
    check_jobs(&s);
    site_done(&s);
    oom_restart();
    do {
        oom_next();
        rc = read_both(&s, &nodes, &jobs);
        failed = oom_end();
        if (failed ? rc != -ENOMEM : rc != 0)
            ok(false, "reading with allocation %d failing: %d", oom_at, rc);
        site_done(&s);
    } while (failed);
    ok(oom_at > 10, "%d allocations failed, each with an error", oom_at - 1);
}

static void test_refused(void)
{
    struct site s = { .time_ms = 0 };
    struct err e = { "" };

    is_int(slurm_json_nodes(&s, "{\"sinfo\": []}", 13, &e), -ENODATA, "no list of nodes");
    is_int(slurm_json_nodes(&s, "{\"nodes\": 1}", 12, &e), -ENODATA, "nodes that are no list");
    is_int(slurm_json_jobs(&s, "{", 1, &e), -EINVAL, "half an object is refused");
    is_int(slurm_json_jobs(&s, "{\"jobs\": [1, {}, {\"job_id\": -1}]}", 33, &e), 0,
           "jobs that are none are left out");
    is_int((long long)s.n_jobs, 0, "all of them");
    site_done(&s);
}

static void check_deed(struct site_deed d, const char *want)
{
    struct arena a = ARENA_INIT;
    const char *const *argv = slurm_command_of(&d, &a);
    char line[256] = "";

    for (size_t i = 0, n = 0; argv && argv[i] && n < sizeof(line); i++)
        n += (size_t)snprintf(line + n, sizeof(line) - n, "%s%s", i ? "|" : "", argv[i]);
    is_str(line, want, "a deed of kind %d runs %s", d.kind, want);
    arena_done(&a);
}

static void test_deeds(void)
{
    check_deed((struct site_deed){ SITE_DO_PRIORITY, 7, NULL, NULL, 5 },
               "scontrol|update|JobId=7|Priority=5");
    check_deed((struct site_deed){ SITE_DO_HOLD, 7, NULL, NULL, 0 }, "scontrol|hold|7");
    check_deed((struct site_deed){ SITE_DO_AVOID, 7, NULL, "n[1-2]", 0 },
               "scontrol|update|JobId=7|ExcNodeList=n[1-2]");
    check_deed((struct site_deed){ SITE_DO_NOTE, 7, NULL, "two words; $x", 0 },
               "scontrol|update|JobId=7|AdminComment=two words; $x");
    check_deed((struct site_deed){ SITE_DO_CANCEL, 7, NULL, NULL, 0 }, "scancel|--verbose|7");
    check_deed((struct site_deed){ SITE_DO_SIGNAL, 7, NULL, NULL, 10 },
               "scancel|--verbose|--full|--signal=10|7");
    check_deed((struct site_deed){ SITE_DO_SIGNAL_STEPS, 7, NULL, NULL, 10 },
               "scancel|--verbose|--signal=10|7");
    check_deed((struct site_deed){ SITE_DO_SIGNAL_SCRIPT, 7, NULL, NULL, 10 },
               "scancel|--verbose|--batch|--signal=10|7");
    check_deed((struct site_deed){ SITE_DO_TELL, 7, NULL, "hello", 0 }, "scontrol|notify|7|hello");
    check_deed((struct site_deed){ SITE_DO_NODE_DRAIN, 0, "n1", "bad gpu", 0 },
               "scontrol|update|NodeName=n1|State=DRAIN|Reason=bad gpu");
    check_deed((struct site_deed){ SITE_DO_NODE_RESUME, 0, "n1", NULL, 0 },
               "scontrol|update|NodeName=n1|State=RESUME");
    check_deed((struct site_deed){ SITE_DO_NODE_FEATURES, 0, "n1", "a", 0 },
               "scontrol|update|NodeName=n1|ActiveFeatures=a");
}

int main(void)
{
    test_form("22.05");
    test_form("later");
    test_refused();
    test_deeds();
    return done();
}
