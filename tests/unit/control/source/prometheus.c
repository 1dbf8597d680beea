/* What a Prometheus says of GPUs: answers that a real one gave (tests/fuzz/corpus/prometheus), and
 * made-up ones. */
#include "control/source/prometheus.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "control/watch.h"
#include "tap.h"

enum { NODES = 6 };

static const int64_t now_ms = INT64_C(1795770090200); /* when the answers were recorded */

/* A site, and answers about its nodes; of the last one none is wanted. */
struct scene {
    struct site site;
    struct site_node nodes[NODES];
    struct node_answer answers[NODES], *of[NODES];
    struct arena arena;
    struct err e;
    int rc;
};

static void begin(struct scene *s)
{
    static const char *const names[] = { "n0", "n1", "n2", "n3", "10", "n5" };

    *s = (struct scene){ .rc = 0 };
    for (size_t i = 0; i < NODES; i++) {
        s->nodes[i] = (struct site_node){ .name = names[i] };
        s->of[i] = i + 1 < NODES ? &s->answers[i] : NULL;
    }
    s->nodes[0].address = "10.0.0.7";
    s->nodes[1].address = s->nodes[2].address = "10.0.0.8"; /* two nodes of one machine */
    s->nodes[3].address = "fd00::3";
    s->site.nodes = s->nodes;
    s->site.n_nodes = NODES;
    if (site_index(&s->site) < 0)
        abort();
}

static void end(struct scene *s)
{
    arena_done(&s->arena);
    arena_done(&s->site.arena);
}

static void read_text(struct scene *s, const char *text)
{
    const struct prometheus_text t = { text, strlen(text), now_ms };

    s->rc = prometheus_read(&s->site, s->of, &s->arena, &t, &s->e);
}

static void read_recorded(struct scene *s, const char *name)
{
    static char text[64 << 10];
    char path[512];
    FILE *f;

    snprintf(path, sizeof(path), "%s/%s.json", RECORDED, name);
    f = fopen(path, "re");
    if (!f)
        abort();
    text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
    fclose(f);
    begin(s);
    read_text(s, text);
}

/* Series of a vector whose labels and values are given: {"gpu":"0",...} and "0.5". */
static void read_one(struct scene *s, const char *labels, const char *value)
{
    char text[2000];

    begin(s);
    snprintf(text, sizeof(text),
             "{\"data\":{\"resultType\":\"vector\",\"result\":[{\"metric\":{%s},\"value\":["
             "1795770090.1,\"%s\"]}]}}",
             labels, value);
    read_text(s, text);
}

static int milli(const struct scene *s, size_t node, size_t gpu)
{
    const struct node_answer *a = &s->answers[node];

    if (a->fault != NODE_ANSWERED || gpu >= a->report.n_busy || isnan(a->report.busy[gpu]))
        return -1;
    return (int)lround(a->report.busy[gpu] * 1000);
}

static void test_recorded(void)
{
    struct scene s;

    read_recorded(&s, "vector");
    is_int(s.rc, 0, "an answer of agents and exporters is read");
    is_int(milli(&s, 0, 0), 250, "a GPU of an agent has its share");
    is_int(milli(&s, 0, 1), 0, "an idle GPU of an agent has none");
    is_int(milli(&s, 0, 2), 250, "the last GPU of an agent has its share");
    is_int(milli(&s, 0, 3), -1, "of a GPU that the agent does not have nothing is known");
    is_int(s.answers[0].report.time_ms, 1795770090089, "an answer is of its time");
    is_int(milli(&s, 2, 0), 0, "an idle GPU of an exporter is idle");
    is_int(milli(&s, 2, 1), 914, "of two values of a GPU the larger one counts, percents or not");
    is_int(s.answers[3].fault, NODE_UNTOLD, "of a node with divided GPUs nothing is told");
    is_str(s.answers[3].why,
           "node n3: its GPUs are divided (MIG): Slurm numbers other things than Prometheus does",
           "divided GPUs are named");
    is_str(s.answers[1].why, "Prometheus says nothing of node n1",
           "a node without series is named");
    end(&s);
    read_recorded(&s, "matrix");
    is_int(milli(&s, 2, 1), 870, "of samples over time the newest one counts, a percentage");
    is_int(s.answers[2].report.time_ms, 1795770089888, "a sample has its own time");
    end(&s);
    read_recorded(&s, "nan");
    is_int(milli(&s, 0, 0), -1, "what is no number says nothing of a GPU");
    ok(s.answers[0].fault == NODE_ANSWERED && !s.answers[0].why, "what is no number is no fault");
    end(&s);
    read_recorded(&s, "percent");
    is_int(milli(&s, 0, 0), -1, "percents of a query are no shares");
    is_int(milli(&s, 0, 1), 0, "0 percent are a share");
    is_str(s.answers[0].why, "Prometheus says 25, which is no share of the time (0 to 1)",
           "percents are named");
    end(&s);
    read_recorded(&s, "empty");
    is_str(s.answers[0].why, "Prometheus has no series of the last minute for the query",
           "an answer without series is named");
    end(&s);
    read_recorded(&s, "scalar");
    is_int(s.rc, -EINVAL, "a number is no list of series");
    is_str(s.e.text, "answers with a scalar: the query must give a series for each GPU",
           "what is no list of series is named");
    end(&s);
    read_recorded(&s, "error");
    is_str(s.e.text, "answers with something that is none of Prometheus", "an error is no answer");
    end(&s);
}

static void test_names(void)
{
    static const struct {
        const char *labels;
        int node, gpu;
    } cases[] = {
        { "\"instance\":\"n1:9400\",\"gpu\":\"0\"", 1, 0 },
        { "\"instance\":\"n1\",\"gpu\":\"15\"", 1, 15 },
        { "\"instance\":\"n1:9400\",\"gpu\":\"16\"", -1, 0 },
        { "\"instance\":\"n1.site.example:9400\",\"gpu\":\"2\"", 1, 2 },
        { "\"instance\":\"10.0.0.7:9400\",\"gpu\":\"2\"", 0, 2 },
        { "\"instance\":\"10.0.0.8:9400\",\"gpu\":\"2\"", -1, 0 },
        { "\"instance\":\"10.9.9.9:9400\",\"gpu\":\"2\"", -1, 0 },
        { "\"instance\":\"[fd00::3]:9400\",\"gpu\":\"2\"", 3, 2 },
        { "\"instance\":\"fd00::3\",\"gpu\":\"2\"", 3, 2 },
        { "\"instance\":\"10\",\"gpu\":\"2\"", 4, 2 },
        { "\"instance\":\"pod-x:9400\",\"Hostname\":\"n2\",\"gpu\":\"1\"", 2, 1 },
        { "\"instance\":\"n1:9400\",\"Hostname\":\"n2\",\"gpu\":\"1\"", 2, 1 },
        { "\"instance\":\"n1:9400\",\"Hostname\":\"pod-x\",\"gpu\":\"1\"", 1, 1 },
        { "\"hostname\":\"n2\",\"gpu_id\":\"1\"", 2, 1 },
        { "\"node\":\"n2\",\"index\":\"1\"", 2, 1 },
        { "\"nodename\":\"n2\",\"minor_number\":\"1\"", 2, 1 },
        { "\"instance\":\"n1:9400\",\"device\":\"nvidia3\"", 1, 3 },
        { "\"instance\":\"n1:9400\",\"gpu\":\"amd3\"", 1, 3 },
        { "\"instance\":\"n1:9400\",\"gpu\":\"GPU-1b2c\",\"index\":\"4\"", 1, 4 },
        { "\"instance\":\"n1:9400\",\"device\":\"card3\"", -1, 0 },
        { "\"instance\":\"n1:9400\",\"gpu\":\"\"", -1, 0 },
        { "\"instance\":\"n1:9400\",\"gpu\":\"-1\"", -1, 0 },
        { "\"instance\":\"n1:9400\",\"gpu\":3", -1, 0 },
        { "\"instance\":\"n1:9400\",\"gpu\":\"99999999999999999999\"", -1, 0 },
        { "\"instance\":\"n5:9400\",\"gpu\":\"0\"", -1, 0 },
        { "\"instance\":\"\",\"gpu\":\"0\"", -1, 0 },
        { "\"gpu\":\"0\"", -1, 0 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct scene s;
        int told = 0;

        read_one(&s, cases[i].labels, "0.5");
        for (size_t n = 0; n < NODES; n++)
            told += s.of[n] && s.of[n]->fault == NODE_ANSWERED;
        is_int(told, cases[i].node >= 0, "series {%s} is of a node or of none", cases[i].labels);
        if (cases[i].node >= 0)
            is_int(milli(&s, (size_t)cases[i].node, (size_t)cases[i].gpu), 500,
                   "{%s} is a GPU of that node", cases[i].labels);
        end(&s);
    }
}

static void test_values(void)
{
    static const struct {
        const char *name, *value;
        int milli;
    } cases[] = {
        { "x", "0", 0 },
        { "x", "1", 1000 },
        { "x", "1.01", 1000 },
        { "x", "1.02", -1 },
        { "x", "-0.1", -1 },
        { "x", "+Inf", -1 },
        { "x", "", -1 },
        { "x", "0x1", -1 },
        { "x", "1e-3", 1 },
        { "DCGM_FI_DEV_GPU_UTIL", "1", 10 },
        { "DCGM_FI_DEV_GPU_UTIL", "101", 1000 },
        { "DCGM_FI_DEV_GPU_UTIL", "102", -1 },
        { "DCGM_FI_PROF_GR_ENGINE_ACTIVE", "1", 1000 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct scene s;
        char labels[200];

        snprintf(labels, sizeof(labels), "\"__name__\":\"%s\",\"instance\":\"n1\",\"gpu\":\"0\"",
                 cases[i].name);
        read_one(&s, labels, cases[i].value);
        is_int(milli(&s, 1, 0), cases[i].milli, "%s of %s", cases[i].value, cases[i].name);
        end(&s);
    }
}

/* One series: when its sample was, and what is known then. */
static void read_at(struct scene *s, const char *time)
{
    char text[500];

    begin(s);
    snprintf(text, sizeof(text),
             "{\"data\":{\"resultType\":\"vector\",\"result\":[{\"metric\":{\"instance\":\"n1\","
             "\"gpu\":\"0\"},\"value\":[%s,\"0\"]}]}}",
             time);
    read_text(s, text);
}

static void test_times(void)
{
    struct scene s;

    read_at(&s, "1795770030.2");
    is_int(milli(&s, 1, 0), 0, "a sample of 60 s ago is of now");
    end(&s);
    read_at(&s, "1795770030.198");
    is_int(milli(&s, 1, 0), -1, "an older one is not");
    is_str(s.answers[1].why, "what Prometheus says of node n1 is 60 s old",
           "the age of a sample is said");
    end(&s);
    for (int i = 0; i < 4; i++) {
        static const char *const times[] = { "-1", "1e300", "\"1795770030.2\"", "null" };

        read_at(&s, times[i]);
        is_int(milli(&s, 1, 0), -1, "a sample at %s is none", times[i]);
        end(&s);
    }
}

static void test_together(void)
{
    struct scene s;

    begin(&s);
    read_text(&s, "{\"data\":{\"resultType\":\"vector\",\"result\":["
                  "{\"metric\":{\"instance\":\"n1\",\"gpu\":\"1\"},\"value\":[1795770090,\"0.1\"]},"
                  "{\"metric\":{\"instance\":\"n1\",\"gpu\":\"1\"},\"value\":[1795770080,\"0.7\"]},"
                  "{\"metric\":{\"instance\":\"n1\",\"gpu\":\"1\"},\"value\":[1795770070,\"NaN\"]},"
                  "{\"metric\":{\"instance\":\"n1\"},\"value\":[1795770090,\"0.9\"]},"
                  "{\"metric\":{\"instance\":\"elsewhere\",\"gpu\":\"0\"},\"value\":[1,\"0\"]},"
                  "7,{\"metric\":[]},{}]}}");
    is_int(s.rc, 0, "an answer with strange series is read");
    is_int(milli(&s, 1, 1), 700, "a GPU told of twice is as busy as the busier one says");
    is_int(milli(&s, 1, 0), -1, "of a GPU before it nothing is known");
    is_int(s.answers[1].report.time_ms, 1795770070000,
           "the oldest of its samples is a node's time");
    is_str(s.answers[1].why, "its series have no label gpu with a number", "others are named");
    end(&s);
    read_one(&s, "\"instance\":\"\\u001b[2Jx:1\",\"gpu\":\"0\"", "0");
    is_str(
        s.answers[0].why,
        "none of the 1 series of Prometheus is of a node that Slurm knows: the first one has the "
        "instance \"?[2Jx:1\"",
        "series of others are named, harmless");
    end(&s);
    begin(&s);
    read_text(&s, "{");
    is_int(s.rc, -EINVAL, "half an answer is none");
    read_text(&s, "{\"data\":{\"resultType\":\"\\u001b\",\"result\":[]}}");
    is_str(s.e.text, "answers with a ?: the query must give a series for each GPU",
           "a kind of answer is harmless");
    end(&s);
}

static void test_place(void)
{
    static const struct {
        const char *url, *name, *path, *shown;
        unsigned port;
    } cases[] = {
        { "http://prom:9090", "prom", "", "http://prom:9090", 9090 },
        { "http://prom", "prom", "", "http://prom:80", 80 },
        { "prom:9090/", "prom", "", "http://prom:9090", 9090 },
        { "http://10.0.0.1/a/b//", "10.0.0.1", "/a/b", "http://10.0.0.1:80/a/b", 80 },
        { "http://[::1]:9090/x", "::1", "/x", "http://[::1]:9090/x", 9090 },
        { "http://[::1]", "::1", "", "http://[::1]:80", 80 },
    };
    static const char *const wrong[] = {
        "https://prom:9090", "",           "http://",       "http://:9090",
        "http://a:0",        "http://a,b", "http://a:x",    "http://u@a",
        "http://a/?x",       "http://a b", "http://n[1-2]", "http://a/\n",
        "http://a/\"",       "ftp://a:21",
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(arena_done) struct arena a = ARENA_INIT;
        struct prometheus_place p;
        struct err e = { "" };

        if (!ok(prometheus_place_read(&p, &a, cases[i].url, &e) == 0, "%s is an address: %s",
                cases[i].url, e.text))
            continue;
        is_str(p.at.nodes[0].name, cases[i].name, "%s has its name", cases[i].url);
        is_str(p.path, cases[i].path, "%s has its path", cases[i].url);
        is_str(p.shown, cases[i].shown, "%s is shown", cases[i].url);
        is_int(p.at.nodes[0].port, cases[i].port, "%s has its port", cases[i].url);
    }
    for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
        CLEANUP(arena_done) struct arena a = ARENA_INIT;
        struct prometheus_place p;
        struct err e = { "" };

        is_int(prometheus_place_read(&p, &a, wrong[i], &e), ERR_USAGE, "\"%s\" is no address",
               wrong[i]);
        ok(strstr(e.text, "--prometheus ") == e.text, "a wrong address is named: %s", e.text);
    }
}

static void test_question(void)
{
    const struct prometheus_place p = { .path = "/x" };
    CLEANUP(str_done) struct str out = STR_INIT(1000);

    prometheus_path(&p, "a{b=\"c d\"}/1-_.~\xc3\xa4", &out);
    is_str(str_text(&out), "/x/api/v1/query?query=a%7Bb%3D%22c%20d%22%7D%2F1-_.~%C3%A4",
           "an expression is written for a path");
}

static void test_refusal(void)
{
    static const struct {
        unsigned status;
        const char *text, *want;
    } cases[] = {
        { 400, "{\"error\":\"parse\\u001b error\"}", "refuses the query: parse? error" },
        { 401, "", "refuses (401): --prometheus-token FILE has what it asks for" },
        { 403, "x", "refuses (403): --prometheus-token FILE has what it asks for" },
        { 404, "x", "has no /api/v1/query there (404): the address may need a path" },
        { 503, "Service Unavailable", "answers with status 503" },
        { 422, "{\"error\":7}", "answers with status 422" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(str_done) struct str out = STR_INIT(300);

        prometheus_refusal(cases[i].status, cases[i].text, strlen(cases[i].text), &out);
        is_str(str_text(&out), cases[i].want, "a status of %u is told", cases[i].status);
    }
}

int main(void)
{
    test_recorded();
    test_names();
    test_values();
    test_times();
    test_together();
    test_place();
    test_question();
    test_refusal();
    return done();
}
