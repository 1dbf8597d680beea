/* What an agent tells of its node in a few words, and the text that it travels in (schema
 * "brim.node.v1"): what many nodes are ranked by. The text comes from another machine: nothing in
 * it is trusted. Pure.
 *
 * Absent is NaN. */
#ifndef BRIM_MODEL_NODES_NODE_REPORT_H
#define BRIM_MODEL_NODES_NODE_REPORT_H
#include "model/verdict/live.h"

enum { NODE_REPORT_HOST = 65, NODE_REPORT_VERSION = 32, NODE_REPORT_MAX = 16 << 10 };
enum { NODE_REPORT_GPUS = 16, NODE_REPORT_RUNS = 8 };

/* A run of a job of Slurm's that goes on there. */
struct node_run {
    uint32_t job; /* its number, as the run says */
    int64_t uid;  /* of who watches it, which is not from the run */
    bool limited; /* something is known to limit it */
    uint8_t severity;
    double share; /* of a step's time that this costs */
    double steps_per_s;
    char sentence[LIVE_RUN_SENTENCE]; /* "": nothing is known yet */
};

struct node_report {
    char host[NODE_REPORT_HOST], version[NODE_REPORT_VERSION]; /* of brim */
    int64_t time_ms;                                           /* of its sample, since 1970; 0 */
    struct live_verdict verdict;
    double gpus;      /* whose business is known */
    double idle;      /* of them: those that are busy less than 5 % of the time */
    double lost;      /* those that the driver does not reach */
    double gpu_hours; /* that are lost in an hour: the time in which accelerators do nothing */
    double critical;  /* alerts that fire */
    double warnings;
    char alert[LIVE_TEXT];         /* the sentence of the worst of them; "" */
    char unfit[LIVE_TEXT];         /* that of one for which no job is to start there; "" */
    uint32_t faulty;               /* GPUs with such an alert, of the first ones: bits */
    bool judged;                   /* it tells the two above: older agents do not */
    double runs;                   /* that go on */
    double busy[NODE_REPORT_GPUS]; /* of each GPU, the first ones in the agent's order: 0 to 1 */
    size_t n_busy;
    struct node_run jobs[NODE_REPORT_RUNS]; /* the oldest of the runs that say whose job they are */
    size_t n_jobs;
};

/* Make it of a live view. x: its host, alerts and runs. */
void node_report_make(struct node_report *r, const struct live *l, const struct live_extra *x);

/* Add its text. Failures stick in out. */
void node_report_write(const struct node_report *r, struct str *out);

/* Read a text. 0, -ENOMEM, -EINVAL for what no agent writes, or -EPROTONOSUPPORT for what one of
 * another version does; *ret is set only on success. What is missing or out of range is absent. */
int node_report_read(struct node_report *ret, const char *text, size_t len) CHECK_RESULT;

#endif
