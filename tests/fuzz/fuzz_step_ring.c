/* A ring file of any bytes: the input is the header, then texts and records of a small ring. */
#include <errno.h>
#include <math.h>

#include "fuzz.h"
#include "model/job/step.h"

static void check_mark(const struct step_mark *m)
{
    check(m->stage < BRIM_STAGES && m->collective < BRIM_COLLECTIVES && m->t_ns >= 0);
    check(m->seconds >= 0 && isfinite(m->seconds));
    for (const char *c = m->text; *c; c++)
        check(*c >= 0x20 && *c < 0x7f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t fixed = sizeof(struct brim_ring_header);
    struct step_track track;
    struct step_ring ring;
    struct step_mark mark;
    struct step step;
    uint8_t *file;
    int rc;

    if (size < fixed)
        return 0;
    file = calloc(1, BRIM_RING_HEADER_SIZE + size - fixed);
    if (!file)
        return 0;
    memcpy(file, data, fixed);
    memcpy(file + BRIM_RING_HEADER_SIZE, data + fixed, size - fixed);
    step_track_init(&track);
    if (step_ring_attach(&ring, file, BRIM_RING_HEADER_SIZE + size - fixed, NULL) == 0) {
        ring.ended = true;
        for (unsigned i = 0; i < 3 * ring.capacity; i++) {
            rc = step_ring_next(&ring, &mark);
            check(rc == 0 || rc == 1 || rc == -EPIPE);
            if (rc == 0)
                break;
            if (rc == -EPIPE)
                step_track_lost(&track);
            else
                check_mark(&mark);
            if (rc == 1 && step_track_mark(&track, &mark, &step))
                check(step.end_ns > step.begin_ns && step.host_s[0] >= 0);
        }
    }
    free(file);
    return 0;
}
