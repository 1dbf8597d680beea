/* A site's Prometheus, or what answers as one, as the source of how busy devices are: where it is,
 * what it is asked, and what its answer says. One series is one GPU, its value the share of the
 * time in which it was busy. What is in an answer was written by others: nothing in it is trusted.
 * Pure. */
#ifndef BRIM_CONTROL_SOURCE_PROMETHEUS_H
#define BRIM_CONTROL_SOURCE_PROMETHEUS_H
#include "base/err.h"
#include "base/str.h"
#include "model/nodes/node_answer.h"
#include "model/site/site.h"

enum {
    PROMETHEUS_ANSWER_MAX = 64 << 20,
    PROMETHEUS_QUERY_MAX = 4 << 10,
    PROMETHEUS_WHY = 224, /* bytes of a sentence, with its end */
};

/* Which GPUs were busy in their last sample of the last minute, by brim's agents and by NVIDIA's
 * exporter: of several samples of one GPU the largest counts. */
extern const char prometheus_query[];

/* Where it is. */
struct prometheus_place {
    struct node_list at; /* one "node": host and port; the arena's */
    const char *path;    /* what stands before "/api/v1": "" or "/prometheus"; the arena's */
    char shown[PROMETHEUS_WHY / 2]; /* "http://prom:9090", for sentences */
};

/* Read "http://HOST:PORT/PREFIX"; without a port it is 80. 0, -ENOMEM, or ERR_USAGE. */
int prometheus_place_read(struct prometheus_place *ret, struct arena *a, const char *url,
                          struct err *e) CHECK_RESULT;

/* Add the path of a request that asks for an expression. Failures stick in out. */
void prometheus_path(const struct prometheus_place *p, const char *query, struct str *out);

/* An answer, and when it came. */
struct prometheus_text {
    const char *text;
    size_t len;
    int64_t now_ms;
};

/* Read what it answered with a status of 200. of: an answer for each node that is asked about, by
 * number of the node in the site, NULL for others; each becomes NODE_ANSWERED, or NODE_UNTOLD with
 * a sentence of the arena's, and may have one about what is wrong with its values, too. A sample
 * that is older than CONTROL_STALE_MS counts as none. -ENOMEM, or -EINVAL with a sentence when the
 * answer is no list of series: the nodes have nothing set then. */
int prometheus_read(const struct site *site, struct node_answer *const *of, struct arena *a,
                    const struct prometheus_text *t, struct err *e) CHECK_RESULT;

/* Add the words of an answer with another status, as a sentence without its subject: "refuses the
 * query: parse error ...". Failures stick in out. */
void prometheus_refusal(unsigned status, const char *text, size_t len, struct str *out);

#endif
