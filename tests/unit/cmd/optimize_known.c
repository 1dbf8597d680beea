/* A profile that was tried again: what of it goes into the file, and what is told. Without
 * cmd/run/start_job.c, whose job_tell() is here. */
#include "cmd/optimize/known.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

enum { TEXT = 4096 };

static char said[TEXT], made[TEXT];

void job_tell(void *arg, const char *sentence)
{
    size_t len = strlen(said);

    (void)arg;
    snprintf(said + len, sizeof(said) - len, "%s\n", sentence);
}

/* A session that has come to an end; of no gain nothing was measured. */
static void tried(struct session *s, const char *knob, const char *value,
                  enum session_outcome outcome, double gain, const char *note)
{
    struct session_entry *k = &s->entries[s->n_entries++];

    *k = (struct session_entry){ .outcome = outcome, .effect = { gain, -1, (double)INFINITY } };
    snprintf(k->knob, sizeof(k->knob), "%s", knob);
    snprintf(k->value, sizeof(k->value), "%s", value);
    snprintf(k->note, sizeof(k->note), "%s", note);
}

/* "written: loader.workers=5 malloc.arenas=2" or "left: ...": what came of a profile that has
 * loader.workers=7 and malloc.arenas=2, and that differs so. */
static const char *settle(const struct session *s, unsigned differs)
{
    struct profile_setting old[] = {
        { .knob = "loader.workers", .value = "7", .gain = 3, .date = "2026-11-20" },
        { .knob = "malloc.arenas", .value = "2", .gain = 0.1, .date = "2026-11-20" },
    };
    const struct optimize_known known = { .profile = { .name = "p", .settings = old, .count = 2 },
                                          .path = "p.ini",
                                          .differs = differs };
    struct profile to = { .count = 0 };
    bool write = false;
    size_t len;

    said[0] = '\0';
    if (profile_init(&to, "p", "", "", "") < 0 || session_profile(s, "2026-11-23", &to, NULL) < 0 ||
        optimize_known_settle(&known, s, NULL, &to, &write, NULL) < 0)
        return "out of memory";
    len = (size_t)snprintf(made, sizeof(made), "%s:", write ? "written" : "left");
    for (size_t i = 0; i < to.count; i++)
        len += (size_t)snprintf(made + len, sizeof(made) - len, " %s=%s", to.settings[i].knob,
                                to.settings[i].value);
    profile_done(&to);
    return made;
}

#define RESTART "it takes effect with a restart: --restarts 12 would try it"
#define LEFT_OUT "malloc.arenas=2 of the profile was not tried here and is left out: "
#define STAYS "the profile stays as it is: none of its settings was tried to the end\n"
#define NOTHING "nothing of the profile holds here: it stays as it is, for where it was found\n"

static void test_held(void)
{
    struct session s = { .n_entries = 0 };

    tried(&s, "malloc.arenas", "2", SESSION_LEFT, (double)NAN, RESTART);
    tried(&s, "loader.workers", "7", SESSION_ADOPTED, 2, "");
    is_str(settle(&s, 0), "written: loader.workers=7 malloc.arenas=2",
           "a profile tried again keeps what held and what was not tried");
    is_str(said, "", "nothing is said where a profile's settings hold");
    is_str(settle(&s, JOB_MACHINE), "written: loader.workers=7",
           "on another machine only what held is written");
    is_str(said, LEFT_OUT RESTART "\n", "the sentence says what would try the rest");
    is_str(settle(&s, JOB_VERSIONS), "written: loader.workers=7",
           "with other versions only what held is written");
    is_str(settle(&s, JOB_COMMAND), "written: loader.workers=7",
           "of another command only what held is written");
    s.entries[0].outcome = SESSION_REJECTED;
    s.entries[0].note[0] = '\0';
    s.entries[0].effect.gain = -0.1;
    is_str(settle(&s, 0), "written: loader.workers=7", "a setting that was slower is taken out");
    is_str(said,
           "malloc.arenas=2 of the profile does not hold here and is taken out: -10.0 % steps/s\n",
           "the sentence names the setting that was slower");
    s.n_entries = 0;
    tried(&s, "loader.workers", "7", SESSION_ADOPTED, 2, "");
    tried(&s, "loader.workers", "12", SESSION_ADOPTED, 1, "");
    is_str(settle(&s, 0), "written: loader.workers=12 malloc.arenas=2",
           "the last value kept of a knob is written");
    is_str(said, "", "nothing is said of a value that was replaced");
    is_str(settle(&s, JOB_MACHINE), "written: loader.workers=12",
           "on another machine a setting that had no turn is left out");
    is_str(said, LEFT_OUT "it does not fit this job, or its turn did not come\n",
           "the sentence says that the setting had no turn");
}

static void test_fell(void)
{
    struct session s = { .n_entries = 0 };

    tried(&s, "loader.workers", "7", SESSION_REJECTED, -0.25, "");
    is_str(settle(&s, 0), "written: malloc.arenas=2",
           "a setting that fell goes and the one not tried stays");
    is_str(settle(&s, JOB_VERSIONS),
           "written:", "with other versions a setting not tried goes, too");
    is_str(said,
           "loader.workers=7 of the profile does not hold here and is taken out: -25.0 % "
           "steps/s\n" LEFT_OUT "it does not fit this job, or its turn did not come\n",
           "both sentences are told: what fell and what is left out");
    is_str(settle(&s, JOB_MACHINE),
           "left:", "a profile of another machine of which nothing held is not written");
    is_str(said, "loader.workers=7 of the profile does not hold here: -25.0 % steps/s\n" NOTHING,
           "a profile of another machine loses no setting");
    is_str(settle(&s, JOB_COMMAND),
           "left:", "a profile of another command of which nothing held is not written");
    tried(&s, "loader.workers", "5", SESSION_ADOPTED, 1, "");
    is_str(settle(&s, 0), "written: loader.workers=5 malloc.arenas=2",
           "another value that held replaces the one that fell");
    is_str(settle(&s, JOB_COMMAND), "written: loader.workers=5",
           "another value that held is written alone for another command");
    ok(!strncmp(said, "loader.workers=7 of the profile does not hold here: -25.0 %", 59),
       "the profile of another command stays as it is: %s", said);
    s.n_entries = 0;
    tried(&s, "loader.workers", "7", SESSION_BROKE, (double)NAN, "the job died");
    is_str(settle(&s, 0), "written: malloc.arenas=2", "a setting that broke the job is taken out");
    is_str(said,
           "loader.workers=7 of the profile does not hold here and is taken out: the job died\n",
           "the sentence says why the setting broke");
    s.entries[0].outcome = SESSION_ROLLED_BACK;
    is_str(settle(&s, 0), "written: malloc.arenas=2", "a setting that did not last is taken out");
    s.entries[0].outcome = SESSION_UNDECIDED;
    s.entries[0].note[0] = '\0';
    is_str(settle(&s, 0), "written: malloc.arenas=2",
           "a setting that used its pairs up is taken out");
}

static void test_open(void)
{
    struct session s = { .n_entries = 0 };

    is_str(settle(&s, 0), "left: loader.workers=7 malloc.arenas=2",
           "a profile of which nothing was tried is not written");
    is_str(said, STAYS, "the sentence says that nothing was tried");
    is_str(settle(&s, JOB_MACHINE),
           "left:", "a profile of which nothing was tried is not written elsewhere");
    is_str(said, STAYS, "nothing is said to be left out of a file that stays");
    tried(&s, "loader.workers", "7", SESSION_UNDECIDED, 0.5, "the job ended");
    is_str(settle(&s, JOB_VERSIONS), "left:", "a trial that was cut short decides nothing");
    is_str(said, STAYS, "the sentence says that no trial came to its end");
}

/* What is remembered stays until it is tried; what is refused stays. */
static void test_memos(void)
{
    struct profile_setting memos[] = {
        { .knob = "loader.workers", .value = "9", .kind = PROFILE_CANDIDATE },
        { .knob = "threads.intra", .value = "2", .kind = PROFILE_CANDIDATE },
        { .knob = "loader.workers", .value = "30", .kind = PROFILE_REFUSED },
    };
    const struct optimize_known known = {
        .profile = { .name = "p", .memos = memos, .n_memos = ARRAY_SIZE(memos) }, .path = "p.ini"
    };
    struct session s = { .n_entries = 0 };
    struct profile to = { .count = 0 };
    bool write = false;

    tried(&s, "loader.workers", "9", SESSION_REJECTED, -0.1, "");
    if (profile_init(&to, "p", "", "", "") < 0 ||
        optimize_known_settle(&known, &s, NULL, &to, &write, NULL) < 0)
        abort();
    ok(write, "a profile that remembers something is written");
    ok(!profile_memo(&to, PROFILE_CANDIDATE, "loader.workers"), "a candidate that lost is gone");
    ok(profile_memo(&to, PROFILE_CANDIDATE, "threads.intra"), "a candidate not tried stays");
    ok(profile_memo(&to, PROFILE_REFUSED, "loader.workers"), "what is refused stays refused");
    profile_done(&to);
}

int main(void)
{
    test_memos();
    test_held();
    test_fell();
    test_open();
    return done();
}
