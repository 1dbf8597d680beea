/* What 'brim run' and 'brim optimize' tell of a job while it goes on, for the agent and 'brim top':
 * a file beside its rings (run/ring/live_file.h), judged anew every few seconds. */
#ifndef BRIM_CMD_RUN_LIVE_STATUS_H
#define BRIM_CMD_RUN_LIVE_STATUS_H
#include "model/verdict/live_run.h"
#include "run/watch/observe.h"

struct live_status {
    const struct clock *clock;
    struct observe_teller teller; /* for observe_config; good as long as this is */
    struct live_run told;
    int64_t judge_ns; /* monotonic: not judged anew before */
    int fd;           /* the file's, with its lock; -1 */
};

/* Nothing is told yet. */
void live_status_init(struct live_status *s, const struct clock *clock);
void live_status_done(struct live_status *s);

#endif
