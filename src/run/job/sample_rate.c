#include "run/job/sample_rate.h"

#include "base/clock.h"
#include "brim/ring.h"

/* So long it has been computing alone before it is believed to. */
#define CALM_NS (10 * NS_PER_S)

/* A rank that waits for data for less of its time loses nothing that storage could give back. */
#define WAIT_SHARE 0.02

/* A ring that fills by more than this from one sample to the next is read in between. */
#define FILL 0.25

bool sample_rate_is_calm(struct sample_rate *p, const struct sample_rate_look *now)
{
    const double seconds = clock_seconds(now->now_ns - p->at_ns);
    const double waited_s = now->waited_s - p->waited_s;
    const uint64_t marks = now->marks - p->marks;

    if (!p->stirred_ns || !now->ranks || now->blocked > 0 ||
        waited_s > WAIT_SHARE * seconds * (double)now->ranks)
        p->stirred_ns = now->now_ns;
    p->at_ns = now->now_ns;
    p->waited_s = now->waited_s;
    p->marks = now->marks;
    return now->now_ns - p->stirred_ns >= CALM_NS &&
           (double)marks / seconds * now->next_s <= FILL * BRIM_RING_CAPACITY;
}
