/* What a mark costs: CPU time of the thread, the least of many rounds. Alone, with a second thread
 * that marks into the same ring, and without a ring. Name, value, unit, limit and note with tabs
 * between them; script/bench makes the table. */
#include <glob.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "brim/step.h"

enum { ROUNDS = 200, MARKS = 10000 };

struct beside {
    struct brim_step *ring;
    atomic_bool stop;
};

static double least_ns(struct brim_step *s)
{
    double best = 1e9;

    for (int round = 0; round < ROUNDS; round++) {
        struct timespec a, b;
        double ns;

        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
        for (int i = 0; i < MARKS; i++)
            brim_stage_begin(s, BRIM_STAGE_FORWARD);
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
        ns = ((double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec)) / MARKS;
        if (ns < best)
            best = ns;
    }
    return best;
}

static void *mark_beside(void *arg)
{
    struct beside *b = arg;

    while (!atomic_load(&b->stop))
        brim_stage_begin(b->ring, BRIM_STAGE_FORWARD);
    return NULL;
}

int main(void)
{
    char folder[] = "/tmp/brim-bench-XXXXXX", path[64];
    struct brim_step *s;
    struct beside beside;
    glob_t made;
    pthread_t thread;

    if (!mkdtemp(folder))
        return 1;
    s = brim_step_open_at(folder, "bench", 0, 0, 1);
    if (!s)
        return 1;
    printf("step: a mark\t%.1f\tns\t<= 100\tCPU\n", least_ns(s));
    beside.ring = s;
    atomic_init(&beside.stop, false);
    if (pthread_create(&thread, NULL, mark_beside, &beside) == 0) {
        printf("step: a mark, two threads\t%.1f\tns\t\tCPU\n", least_ns(s));
        atomic_store(&beside.stop, true);
        pthread_join(thread, NULL);
    }
    printf("step: a mark without a ring\t%.1f\tns\t<= 10\tCPU\n", least_ns(NULL));
    brim_step_close(s);
    snprintf(path, sizeof(path), "%s/rank-0-*.ring", folder);
    if (glob(path, 0, NULL, &made) == 0) {
        unlink(made.gl_pathv[0]);
        globfree(&made);
    }
    rmdir(folder);
    return 0;
}
