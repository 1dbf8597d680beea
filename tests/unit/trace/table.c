/* Tables of nodes and of jobs at the limits of what a field may say. */
#include <errno.h>
#include <string.h>

#include "base/str.h"
#include "tap.h"
#include "trace/trace.h"

static int read_nodes(struct pool *p, const char *rows, struct err *e)
{
    CLEANUP(str_done) struct str text = STR_INIT(4096);

    *p = (struct pool){ .n_nodes = 0 };
    str_addf(&text, "sn,cpu_milli,memory_mib,gpu,model,spine,domain,other,leaf,rack\n%s", rows);
    return trace_read_nodes(p, "f", str_text(&text), text.len, e);
}

static void test_nodes(void)
{
    struct err e = { "" };
    struct pool p;

    is_int(read_nodes(&p,
                      "a,8000,1000,2,T4,4,1,x,3,2\nb,1073741823,2147483647,16,T4\n"
                      "c,1,1,0,T4\nd,0,0,1,V100,2147483647,,,,\n",
                      &e),
           0, "a table of nodes is read: %s", e.text);
    is_int((long long)p.n_nodes, 3, "a node without devices is left out");
    ok(p.nodes[0].domain == 1 && p.nodes[0].rack == 2 && p.nodes[0].leaf == 3 &&
           p.nodes[0].spine == 4,
       "columns of domain, rack, leaf and spine may stand in any order");
    ok(p.nodes[1].cpus_milli == 1073741823 && p.nodes[1].memory_mib == 2147483647 &&
           p.nodes[1].devices == POOL_DEVICES,
       "a node has the most CPUs, memory and devices that there may be");
    is_int(p.nodes[2].spine, INT32_MAX, "a spine may have the largest number");
    ok(p.nodes[2].kind == 1 && p.n_kinds == 2, "nodes have their kinds");
    pool_done(&p);
}

static void bad_nodes(const char *rows, const char *want)
{
    struct err e = { "" };
    struct pool p;

    is_int(read_nodes(&p, rows, &e), -EINVAL, "a table of nodes is refused for '%s'", rows);
    is_str(e.text, want, "the error says what is wrong with '%s'", rows);
    pool_done(&p);
}

static void test_bad_nodes(void)
{
    static const char form[] = "f:2: a node is sn,cpu_milli,memory_mib,gpu,model";
    static const char wires[] = "f:2: domain, rack, leaf and spine are numbers";

    bad_nodes("a,1,1,1\n", form);
    bad_nodes("a,x,1,1,T4\n", form);
    bad_nodes("a,1073741824,1,1,T4\n", form);
    bad_nodes("a,1,2147483648,1,T4\n", form);
    bad_nodes("a,1,1,-1,T4\n", form);
    bad_nodes("a,1,1,17,T4\n", "f:2: a node has at most 16 devices");
    bad_nodes("a,1,1,1,T4,2147483648\n", wires);
    bad_nodes("a,1,1,1,T4,1,x\n", wires);
    bad_nodes("a,1,1,1,T4,1,1,1,-1\n", wires);
    bad_nodes("\"a,1,1,1,T4\n", "f:2: not a row of a table");
    bad_nodes("a,1,1,0,T4\n", "f: no node with devices");
}

/* Whether a row is a job, and what is said of it when not. */
static void row(const char *head, const char *text, const char *want)
{
    CLEANUP(str_done) struct str all = STR_INIT(4096);
    struct pool p = { .n_nodes = 0 };
    struct workload w = { .n_jobs = 0 };
    struct trace_notes notes;
    struct err e = { "" };
    struct trace_text t = { "f", NULL, 0, "brim sim" };
    int rc = pool_parse(&p, "2x8", &e);

    /* the job behind it can be used in any case */
    str_addf(&all, "job_id,submit_s,gpus,duration_s%s\na,0,%s\nb,0,1,1\n", head, text);
    t.text = str_text(&all);
    t.len = all.len;
    rc = rc < 0 ? rc : trace_read(&w, &notes, &p, &t, &e);
    is_int(rc, 0, "a trace with '%s' is read: %s", text, e.text);
    is_str(rc == 0 && notes.bad ? notes.text[0] : "", want, "the row '%s'%s is told of rightly",
           text, head);
    workload_done(&w);
    pool_done(&p);
}

static void test_rows(void)
{
    static const char range[] = "line 2: gpus_min and gpus_max are numbers of devices";
    static const char scaling[] = "line 2: scaling is 0 (more devices do not help) to 1 (twice the "
                                  "devices, half the time)";

    row("", "1048576,1", "");
    row("", "1048577,1", "line 2: devices, CPUs or memory that are no numbers");
    row("", "-1,1", "line 2: -1 is no number of devices");
    row("", "1,315360000", "");
    row("", "1,315360000.001", "line 2: it takes more than ten years");
    row("", "1,-0.001", "line 2: it takes less than no time");
    row("", "1,0", "");
    row(",gpus_min,gpus_max", "8,1,1,1048576", "");
    row(",gpus_min,gpus_max", "8,1,1,1048577", range);
    row(",gpus_min,gpus_max", "8,1,0,8", range);
    row(",gpus_min,gpus_max", "0,1,1,1",
        "line 2: gpus_min and gpus_max are for jobs with whole devices");
    row(",gpu_milli,gpus_max", "1,1,500,2",
        "line 2: gpus_min and gpus_max are for jobs with whole devices");
    row(",gpus_min,per_node", "8,1,4,4", "");
    row(",gpus_min,per_node", "8,1,6,4",
        "line 2: gpus_min and gpus_max are not whole nodes of per_node");
    row(",scaling", "1,1,1", "");
    row(",scaling", "1,1,0", "");
    row(",scaling", "1,1,1.001", scaling);
    row(",scaling", "1,1,-0.001", scaling);
    row(",gpu_milli", "1,1,1000", "");
    row(",gpu_milli", "1,1,1", "");
    row(",gpu_milli", "1,1,0", "line 2: a share is 1 to 1000 thousandths of one device");
    row(",gpu_milli", "2,1,999", "line 2: a share is 1 to 1000 thousandths of one device");
    row(",priority", "1,1,32767", "");
    row(",priority", "1,1,32768", "line 2: devices, CPUs or memory that are no numbers");
    row(",limit_s", "1,1,-1", "line 2: a limit that is no time");
    row(",limit_s", "1,1,0", "");
    row(",checkpoint_s", "1,1,-1", "line 2: a time between checkpoints that is none");
}

int main(void)
{
    test_nodes();
    test_bad_nodes();
    test_rows();
    return done();
}
