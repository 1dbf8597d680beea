#include "control/watch.h"

#include <math.h>

#include "tap.h"

enum { NOW = 1000000 };

static const char *names[] = { "n0", "n1" };

static void test_mean(void)
{
    struct site_node nodes[2] = { { .name = names[0] }, { .name = names[1] } };
    const struct site site = { .nodes = nodes, .n_nodes = 2 };
    struct node_answer a = { .report = { .time_ms = NOW,
                                         .busy = { 0, 0.5, 1, (double)NAN },
                                         .n_busy = 4 } },
                       b = a;
    const struct node_answer *of[] = { &a, &b };
    const struct control_answers answers = { of, NOW };
    CLEANUP(str_done) struct str why = STR_INIT(200);
    struct site_part parts[] = { { 0, 3, 2 }, { 1, 6, 2 } };
    const struct site_job j = { .parts = parts, .n_parts = 2 }, none = { .n_parts = 0 };

    is_int(control_busy(&site, &j, &answers), 500, "a job is as busy as its devices in the mean");
    is_int(control_busy(&site, &none, &answers), -1, "of a job without devices nobody tells");
    control_blind(&site, &j, &answers, &why);
    is_str(str_text(&why), "", "nothing is missing of a job whose agents answer");
    parts[1].devices = 12;
    is_int(control_busy(&site, &j, &answers), -1, "a job with a device of which nobody tells");
    control_blind(&site, &j, &answers, &why);
    is_str(str_text(&why), "nothing is known of GPU 3 of node n1",
           "a device of which nobody tells is named");
    parts[1].devices = 1 << 4 | 1;
    is_int(control_busy(&site, &j, &answers), -1, "a device that the agent does not have");
    parts[1].devices = 1;
    str_done(&why);
    why = (struct str)STR_INIT(200);
    is_int(control_busy(&site, &j, &answers), -1, "two devices of which one is told");
    control_blind(&site, &j, &answers, &why);
    is_str(str_text(&why), "Slurm does not tell which GPUs of node n1 it has",
           "devices that Slurm does not tell apart are said");
    parts[1].devices = 6;
    b.report.time_ms = NOW - CONTROL_STALE_MS;
    is_int(control_busy(&site, &j, &answers), 500, "an answer of 60 s ago is of now");
    b.report.time_ms--;
    is_int(control_busy(&site, &j, &answers), -1, "an older one is not");
    b.report.time_ms = NOW;
    b.fault = NODE_SILENT;
    is_int(control_busy(&site, &j, &answers), -1, "a node that does not answer");
    of[1] = NULL;
    str_done(&why);
    why = (struct str)STR_INIT(200);
    control_blind(&site, &j, &answers, &why);
    is_str(str_text(&why), "no agent answers for node n1", "a node without an answer is named");
    str_done(&why);
    why = (struct str)STR_INIT(200);
    b.fault = NODE_UNTOLD;
    b.why = "Prometheus says nothing of node n1";
    of[1] = &b;
    is_int(control_busy(&site, &j, &answers), -1, "a node of which Prometheus says nothing");
    control_blind(&site, &j, &answers, &why);
    is_str(str_text(&why), b.why, "what Prometheus does not say is said");
    str_done(&why);
    why = (struct str)STR_INIT(200);
    b.fault = NODE_ANSWERED;
    b.why = "it is odd";
    parts[1].devices = 12;
    control_blind(&site, &j, &answers, &why);
    is_str(str_text(&why), "nothing is known of GPU 3 of node n1: it is odd",
           "what is wrong with a node's values is said");
    parts[1].devices = 6;
    parts[1].node = 2;
    is_int(control_busy(&site, &j, &answers), -1, "a node that the site does not have");
}

int main(void)
{
    test_mean();
    return done();
}
