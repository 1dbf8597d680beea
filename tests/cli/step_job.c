/* A job with known steps: step_job STEPS WAIT_US COMPUTE_US [SAMPLES]. Prints how long the steps
 * took and how long it waited in them, by its own clock (own_clock.h). STEP_HOLD in the environment
 * names a file without which it does not end. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/parse.h"
#include "brim/step.h"

#include "own_clock.h"

int main(int argc, char **argv)
{
    uint64_t n[4] = { 10, 10000, 10000, 32 };
    struct brim_step *s = brim_step_open("step_job 1");
    const char *hold = getenv("STEP_HOLD");
    int64_t first, waited = 0;

    for (int i = 1; i < argc && i <= 4; i++)
        if (parse_u64(argv[i], &n[i - 1]) < 0)
            return 2;
    first = brim_step_now();
    brim_step_note(s, "loader.workers=3");
    for (uint64_t i = 0; i < n[0]; i++) {
        int64_t from;

        brim_step_begin(s);
        from = brim_step_now();
        brim_stage_begin(s, BRIM_STAGE_WAIT);
        own_clock_sleep((int64_t)n[1]);
        brim_stage_end(s, BRIM_STAGE_WAIT);
        waited += brim_step_now() - from;
        brim_stage_begin(s, BRIM_STAGE_FORWARD);
        own_clock_sleep((int64_t)n[2]);
        brim_stage_end(s, BRIM_STAGE_FORWARD);
        brim_step_samples(s, n[3]);
        brim_step_end(s);
    }
    while (hold && access(hold, F_OK) < 0)
        usleep(1000);
    printf("%.6f %.6f\n", (double)(brim_step_now() - first) / 1e9, (double)waited / 1e9);
    brim_step_close(s);
    return 0;
}
