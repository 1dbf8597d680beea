/* Whether a job can be started with a setting that needs a restart. */
#include "cmd/optimize/race.h"

#include <string.h>

#include "knobs_ini.h"
#include "tap.h"
#include "tune/session.h"

static struct knobs knobs;

/* "" or why not. */
static const char *why_not(const char *first, const char *second, const char *knob,
                           const char *value)
{
    static char why[SESSION_TEXT];
    char one[64], two[64];
    char *env[] = { first ? one : NULL, second ? two : NULL, NULL };
    char name[] = "job";
    char *argv[] = { name, NULL };
    const struct profile_settings_about about = { .knobs = &knobs, .cpus = "0-7", .shim = true };
    const struct profile_settings job = { .env = env, .argv = argv };
    const struct candidate c = { .knob = knobs_find(&knobs, knob), .value = value };

    snprintf(one, sizeof(one), "%s", first ? first : "");
    snprintf(two, sizeof(two), "%s", second ? second : "");
    why[0] = '\0';
    return optimize_race_fits(&about, &job, &c, why) ? "" : why;
}

static void test_fits(void)
{
    is_str(why_not(NULL, NULL, "threads.openmp", "2"), "", "a job without variables is given one");
    is_str(why_not("A=1", NULL, "threads.openmp", "2"), "", "a job is given one more variable");
    is_str(why_not("BRIM_KNOBS=loader.workers=3", "A=1", "loader.pin", "yes"), "",
           "a first variable that changes makes another job");
    is_str(why_not("A=1", "BRIM_KNOBS=loader.workers=3", "loader.pin", "yes"), "",
           "a second variable that changes makes another job");
    is_str(why_not("BRIM_KNOBS=loader.pin=yes", "A=1", "loader.pin", "yes"),
           "the job has it already", "a job whose variables are the same is the same");
    is_str(why_not("OMP_NUM_THREADS=2", NULL, "threads.openmp", "2"), "the job has it already",
           "a job that has set a variable so is the same");
    is_str(why_not("OMP_NUM_THREADS=4", NULL, "threads.openmp", "2"),
           "OMP_NUM_THREADS is '4' in the environment", "a user's own variable stays");
    is_str(why_not(NULL, NULL, "threads.openmp", "many"),
           "threads.openmp takes 1 to 256, not 'many'", "a value that is none is told");
}

int main(void)
{
    struct err e = { "" };

    is_int(knobs_load(&knobs, "knobs.ini", data_knobs_ini, data_knobs_ini_len, &e), 0,
           "the table of knobs is read: %s", e.text);
    test_fits();
    knobs_done(&knobs);
    return done();
}
