/* A job with steps that take real time: paced_job STEP_MS. While there is a file 'slow' in its
 * folder a step takes five times as long; while there is a file 'rest' it does nothing. Runs until
 * it is told to end, and begins with a line of CUDA_VISIBLE_DEVICES in the file 'seen'. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/parse.h"
#include "brim/step.h"

enum { REST_US = 10000 };

int main(int argc, char **argv)
{
    struct brim_step *s = brim_step_open("paced_job 1");
    const char *devices = getenv("CUDA_VISIBLE_DEVICES");
    FILE *seen = fopen("seen", "a");
    uint64_t ms = 10;

    if (argc > 1 && parse_u64(argv[1], &ms) < 0)
        return 2;
    if (!seen)
        return 1;
    fprintf(seen, "%s\n", devices ? devices : "");
    fclose(seen);
    for (;;) {
        while (access("rest", F_OK) == 0)
            usleep(REST_US);
        brim_step_begin(s);
        usleep((useconds_t)(ms * 1000 * (access("slow", F_OK) == 0 ? 5 : 1)));
        brim_step_end(s);
    }
}
