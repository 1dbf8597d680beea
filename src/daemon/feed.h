/* What is made of each tick: alerts, what limits the node, and the texts that are served. No I/O.
 *
 *     tick = feed_next(f, wall, monotonic);      the agent's samplers fill it
 *     feed_judge(f);                             adds what follows from it
 *     feed_metrics(f, ...), feed_live(f, ...)    as often as is asked for */
#ifndef BRIM_DAEMON_FEED_H
#define BRIM_DAEMON_FEED_H
#include "base/err.h"
#include "diagnose/alerts/rules.h"
#include "model/verdict/live.h"
#include "render/node/metrics.h"

struct feed;

/* host and rules are borrowed and must outlive the feed. */
int feed_open(struct feed **ret, const char *host, const struct rules *rules, struct err *e)
    CHECK_RESULT;
void feed_close(struct feed *f);
DEFINE_CLEANUP(struct feed, feed_close)

/* The tick to fill next; the one before it is kept for rates. */
struct tick *feed_next(struct feed *f, int64_t wall_ns, int64_t monotonic_ns);

/* The runs that go on now, borrowed until the next call; of those that are shown. */
void feed_runs(struct feed *f, const struct live_run *runs, size_t n);

/* Add alerts and the load of each stage to the tick, and keep its events. 0 or -ENOMEM. */
int feed_judge(struct feed *f) CHECK_RESULT;

const struct tick *feed_tick(const struct feed *f);

/* What was made of it. */
const struct live *feed_view(const struct feed *f);

/* Alerts of the last tick that were one too many: they are not shown. */
size_t feed_dropped(const struct feed *f);

/* Append the texts; failures stick in out. */
void feed_metrics(const struct feed *f, enum metrics_format format, struct str *out);
void feed_live(const struct feed *f, struct str *out);

/* What those ask for who ask many nodes. */
void feed_node(const struct feed *f, struct str *out);

#endif
