/* A job that does with its devices what a script says, for utilization.py and slurm_day.py: it uses
 * nothing, says how busy it is in a file for each of its devices, and marks steps as fast as it
 * goes on beside the one that shares them.
 *
 *     scripted_job FOLDER NUMBER SCALE COST
 *
 * FOLDER/act.NUMBER has lines of seconds and of how busy it is then, in thousandths, -1: it hangs,
 * until that time is over or it is started anew; SCALE of them pass in one. Where two work on a
 * device both are slower by COST thousandths, and by what they would keep it busy above all of it.
 * An idle stretch passes by the clock, with devices or without. At SIGTERM it writes where it is to
 * FOLDER/state.NUMBER and asks to be queued again. What it did is in FOLDER/did.NUMBER: the time,
 * and device seconds that were busy up to then. */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/parse.h"
#include "brim/step.h"

enum {
    STRETCHES = 256,
    DEVICES = 64,
    TICK_US = 40000,
    LOAD_US = 300000, /* to read a checkpoint */
    IDLE = 10,        /* thousandths: no more is idle */
    WHOLE = 1000,
    REQUEUE = 75,
    PATH = 512,
};

static const double step_s = 0.1, tell_s = 0.5;

struct scripted {
    const char *folder, *number;
    double scale, cost;
    size_t n;
    double seconds[STRETCHES];
    int milli[STRETCHES];
    size_t at;    /* its present stretch */
    double left;  /* of that, in its own seconds */
    double until; /* wall time at which an idle stretch ends; 0: it has not begun */
    int devices[DEVICES];
    int n_devices;
    double did, told_s; /* device seconds, its own; when it said so */
    int shown;
};

static volatile sig_atomic_t asked;

static void ask(int signal)
{
    (void)signal;
    asked = 1;
}

static double now(clockid_t id)
{
    struct timespec t;

    clock_gettime(id, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static FILE *open_file(const struct scripted *s, const char *name, const char *how)
{
    char path[PATH];

    snprintf(path, sizeof(path), "%s/%s.%s", s->folder, name, s->number);
    return fopen(path, how);
}

static int load(struct scripted *s)
{
    FILE *f = open_file(s, "act", "re");
    const char *given = getenv("CUDA_VISIBLE_DEVICES");

    while (f && s->n < STRETCHES && fscanf(f, "%lf %d", &s->seconds[s->n], &s->milli[s->n]) == 2)
        s->n++;
    if (!f || s->n == 0 || !given)
        return -1;
    fclose(f);
    s->left = s->seconds[0];
    for (; *given && s->n_devices < DEVICES; given += strcspn(given, ","), given += *given == ',')
        s->devices[s->n_devices++] = (int)strtol(given, NULL, 10);
    f = open_file(s, "state", "re");
    if (!f)
        return 0;
    if (fscanf(f, "%zu %lf %lf", &s->at, &s->left, &s->until) != 3)
        s->at = 0;
    fclose(f);
    usleep(LOAD_US);
    return 0;
}

/* ---- what others see ---- */

/* How busy it keeps its devices, and would if it were alone. */
static void show(struct scripted *s, int milli, int alone)
{
    if (milli == s->shown)
        return;
    s->shown = milli;
    for (int i = 0; i < s->n_devices; i++) {
        char path[PATH], draft[PATH];
        FILE *f;

        snprintf(path, sizeof(path), "%s/devices/%d.%s", s->folder, s->devices[i], s->number);
        snprintf(draft, sizeof(draft), "%s/draft.%d.%s", s->folder, s->devices[i], s->number);
        f = fopen(draft, "we");
        if (!f)
            continue;
        fprintf(f, "%d %d\n", milli, alone);
        fclose(f);
        (void)rename(draft, path);
    }
}

static void hide(const struct scripted *s)
{
    for (int i = 0; i < s->n_devices; i++) {
        char path[PATH];

        snprintf(path, sizeof(path), "%s/devices/%d.%s", s->folder, s->devices[i], s->number);
        (void)unlink(path);
    }
}

/* How busy others would keep its first device. */
static int others(const struct scripted *s)
{
    char path[PATH], start[32], own[PATH];
    struct dirent *d;
    int sum = 0;
    DIR *dir;

    snprintf(path, sizeof(path), "%s/devices", s->folder);
    snprintf(start, sizeof(start), "%d.", s->devices[0]);
    snprintf(own, sizeof(own), "%d.%s", s->devices[0], s->number);
    dir = opendir(path);
    while (dir && (d = readdir(dir))) {
        char name[PATH + 300];
        int milli, alone;
        FILE *f;

        if (strncmp(d->d_name, start, strlen(start)) != 0 || !strcmp(d->d_name, own))
            continue;
        snprintf(name, sizeof(name), "%s/%s", path, d->d_name);
        f = fopen(name, "re");
        if (f && fscanf(f, "%d %d", &milli, &alone) == 2)
            sum += alone;
        if (f)
            fclose(f);
    }
    if (dir)
        closedir(dir);
    return sum;
}

static void tell(struct scripted *s, double wall, int force)
{
    FILE *f;

    if (!force && wall - s->told_s < tell_s)
        return;
    s->told_s = wall;
    f = open_file(s, "did", "ae");
    if (!f)
        return;
    fprintf(f, "%.3f %.3f\n", wall, s->did);
    fclose(f);
}

/* ---- what it does ---- */

static double rate_of(const struct scripted *s, int milli)
{
    int other = others(s), all = milli + other > WHOLE ? milli + other : WHOLE;

    return other <= IDLE ? 1 : WHOLE / (double)all * WHOLE / (WHOLE + s->cost);
}

/* So many real seconds have passed. Whether there is more to do. */
static int go_on(struct scripted *s, struct brim_step *steps, double passed_s, double *work_s)
{
    double wall = now(CLOCK_REALTIME);

    if (s->milli[s->at] <= IDLE) {
        show(s, 0, 0);
        if (s->until <= 0)
            s->until = wall + s->left / s->scale;
        if (wall < s->until)
            return 1;
    } else {
        double rate = rate_of(s, s->milli[s->at]);

        show(s, (int)(s->milli[s->at] * rate), s->milli[s->at]);
        s->left -= passed_s * rate * s->scale;
        s->did += passed_s * s->scale * rate * s->milli[s->at] / WHOLE * s->n_devices;
        for (*work_s += passed_s * rate; *work_s >= step_s; *work_s -= step_s) {
            brim_step_begin(steps);
            brim_step_end(steps);
        }
        tell(s, wall, 0);
        if (s->left > 0)
            return 1;
    }
    s->until = 0;
    if (++s->at == s->n)
        return 0;
    s->left = s->seconds[s->at];
    return 1;
}

/* Where it goes on; what hung is over then. */
static void save(struct scripted *s)
{
    FILE *f = open_file(s, "state", "we");

    if (!f)
        return;
    if (s->milli[s->at] < 0) {
        s->until = 0;
        s->left = ++s->at < s->n ? s->seconds[s->at] : 0;
    }
    fprintf(f, "%zu %.3f %.3f\n", s->at, s->left, s->until);
    fclose(f);
}

int main(int argc, char **argv)
{
    struct scripted s = { .shown = -1 };
    double last, work_s = 0;
    struct brim_step *steps;
    int more = 1;

    if (argc != 5 || parse_double(argv[3], &s.scale) < 0 || parse_double(argv[4], &s.cost) < 0)
        return 2;
    s.folder = argv[1];
    s.number = argv[2];
    signal(SIGTERM, ask);
    steps = brim_step_open("scripted_job 1");
    if (load(&s) < 0)
        return 1;
    more = s.at < s.n;
    last = now(CLOCK_MONOTONIC);
    while (more && !asked) {
        double passed_s;

        usleep(TICK_US);
        passed_s = now(CLOCK_MONOTONIC) - last;
        last += passed_s;
        more = go_on(&s, steps, passed_s, &work_s);
    }
    tell(&s, now(CLOCK_REALTIME), 1);
    hide(&s);
    if (more)
        save(&s);
    brim_step_close(steps);
    return more ? REQUEUE : 0;
}
