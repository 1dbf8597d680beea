/* Scripts of accelerators that are not there, for tests and demonstrations.
 *
 *     [fake]
 *     count = 8                                 0 to 7; without it, those that have a section
 *     [gpu *]                                   all of them
 *     model = H100
 *     power_watts = 650 for 50s, 120 for 10s    starts over when it has ended
 *     pcie_received_bytes_total = 2e9           a counter: how much a second
 *     gpu_throttle.active:power = 1             signals of other sets, and their label
 *     gpu_error.ecc_total:corrected = 0.1
 *     [gpu 3]                                   this one differs
 *     busy_ratio = 0
 *     [event]                                   happens once
 *     after = 30s
 *     kind = xid
 *     severity = critical                       or note, warning
 *     code = 79
 *     thing = fake3
 *     text = "GPU has fallen off the bus"
 */
#ifndef BRIM_PROBE_GPU_FAKE_SCRIPT_H
#define BRIM_PROBE_GPU_FAKE_SCRIPT_H
#include "base/err.h"
#include "model/signal/event.h"
#include "probe/gpu/gpu_reading.h"

enum { FAKE_GPUS = 64, FAKE_STEPS = 8, FAKE_KIND = 32, FAKE_RULES = 4096, FAKE_EVENTS = 256 };
enum { FAKE_ALL = -1 };

/* One value over time: its steps follow each other and start over. */
struct fake_rule {
    int gpu;                      /* or FAKE_ALL */
    const struct signal_set *set; /* NULL: fact of gpu_set */
    size_t value;                 /* of the set, or number of the fact */
    size_t n_steps;
    struct {
        double value, seconds; /* 0 seconds: for ever */
    } steps[FAKE_STEPS];
    char text[SIGNAL_THING]; /* of a fact */
};

struct fake_event {
    int64_t after_ns;
    char kind[FAKE_KIND];
    struct event event;
    bool fired;
    int line;
};

struct fake_script {
    int count;
    size_t n_rules, rules_room;
    struct fake_rule *rules;
    size_t n_events, events_room;
    struct fake_event *events;
};

/* Read a script. -EINVAL with "FILE:LINE: why", which proposes a name for an unknown one;
 * -ENOMEM. */
int fake_script_read(struct fake_script *s, const char *name, const char *text, size_t len,
                     struct err *e) CHECK_RESULT;
void fake_script_done(struct fake_script *s);

/* What accelerator number gpu shows after so many seconds. */
void fake_script_play(const struct fake_script *s, int gpu, double seconds, struct gpu_reading *r);

#endif
