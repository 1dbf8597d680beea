/* Profiles: written, read, applied; what is refused, and where; allocations failing. */
#include "model/job/profile.h"

#include <errno.h>
#include <math.h>

#include "knobs_ini.h"
#include "oom_arena.h"
#include "tap.h"

static const char text[] = "[profile]\n"
                           "name = \"resnet \\\"50\\\"\"\n"
                           "key = \"5f1c\"\n"
                           "machine = \"8 x H100-SXM\"\n"
                           "versions = \"torch 2.4.0\"\n"
                           "\n[loader.workers]\n"
                           "value = \"13\"\n"
                           "before = \"0\"\n"
                           "gain = 11.6\n"
                           "low = 9.1\n"
                           "high = 14.25\n"
                           "steps = 104\n"
                           "date = \"2026-11-21\"\n"
                           "\n[threads.openmp]\n"
                           "value = \"4\"\n"
                           "steps = 0\n"
                           "\n[candidate loader.workers]\n"
                           "value = \"24\"\n"
                           "gain = 3.6\n"
                           "low = 1.1\n"
                           "high = 8.8\n"
                           "steps = 70\n"
                           "\n[refused loader.workers]\n"
                           "value = \"30\"\n"
                           "steps = 0\n"
                           "why = \"memory ran low\"\n";

#define NO_KNOB "f:2: a section behind [profile] has the name of a knob"
#define LETTERS_40 "abcdefghijabcdefghijabcdefghijabcdefghij"

static const struct {
    const char *text, *why;
} refused[] = {
    { "", "f:1: a profile begins with [profile]" },
    { "a = b\n", "f:1: a profile begins with [profile]" },
    { "[loader.workers]\n", "f:1: a profile begins with [profile]" },
    { "[profile]\nnmae = x\n", "f:2: unknown key 'nmae' (did you mean name?)" },
    { "[profile]\nname = x\nname = x\n", "f:3: 'name' stands twice in [profile]" },
    { "[profile]\n[profile]\n", "f:2: a section behind [profile] has the name of a knob" },
    { "[profile]\n[a]\n", "f:2: [a] has no 'value'" },
    { "[profile]\n[a]\n[b]\nvalue = 1\n", "f:2: [a] has no 'value'" },
    { "[profile]\n[a]\nvalue = 1\n[b]\nvalue = 1\n[a]\n", "f:6: [a] stands twice" },
    { "[profile]\n[profile]\n", NO_KNOB },
    { "[profile]\n[refused profile]\n", NO_KNOB },
    { "[profile]\n[a\001b]\n", NO_KNOB },
    { "[profile]\n[" LETTERS_40 "]\n", NO_KNOB },
    { "[profile]\n[refused a]\nvalue = 1\n[a]\nvalue = 1\n[refused a]\n",
      "f:6: [refused a] stands twice" },
    { "[profile]\n[a]\nvalue =\n", "f:3: a value has 1 to 63 letters" },
    { "[profile]\n[a]\nvalue = \xc3\xa4\n", "f:3: a profile is printable ASCII" },
    { "[profile]\n[a]\nvalue = 1\ngain = nan\n", "f:4: 'gain' is a number" },
    { "[profile]\n[a]\nvalue = 1\nsteps = -1\n", "f:4: 'steps' is a whole number" },
    { "[profile]\n[a]\nvalue = " LETTERS_40 LETTERS_40 "\n", "f:3: a value has 1 to 63 letters" },
    { "[profile]\n[a]\nvalue = 1\nwhy = x\nwhy = x\n", "f:5: 'why' stands twice in [a]" },
    { "[profile]\nsteps = 1\n", "f:2: unknown key 'steps'" },
    { "[profile]\n[candidate a]\nvalue = 1\n[candidate a]\n", "f:4: [candidate a] stands twice" },
};

static void test_refused(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
        struct profile p;
        struct err e = { "" };

        is_int(profile_read(&p, "f", refused[i].text, strlen(refused[i].text), &e), -EINVAL,
               "profile_read refuses: %s", refused[i].why);
        is_str(e.text, refused[i].why, "profile_read says: %s", refused[i].why);
    }
}

static void test_round_trip(void)
{
    CLEANUP(profile_done) struct profile p = { .count = 0 };
    CLEANUP(str_done) struct str out = STR_INIT(64 << 10);
    struct err e = { "" };

    ok(profile_read(&p, "f", text, strlen(text), &e) == 0, "profile_read reads a profile: %s",
       e.text);
    is_str(p.name, "resnet \"50\"", "quotes in a profile's name are read");
    ok(p.count == 2 && p.settings[0].steps == 104 && p.settings[0].line == 7,
       "a profile's two settings are read with steps and line");
    ok(isnan(p.settings[1].gain) && !p.settings[1].before && !p.settings[1].date,
       "keys that a setting lacks are absent");
    profile_write(&p, &out);
    is_str(str_text(&out), text, "profile_write writes a profile as it was read");
    ok(p.count == 2 && p.n_memos == 2, "what is remembered is no setting");
    is_str(profile_memo(&p, PROFILE_CANDIDATE, "loader.workers")->value, "24",
           "a candidate is found by its knob");
    is_str(profile_memo(&p, PROFILE_REFUSED, "loader.workers")->why, "memory ran low",
           "what is refused has its reason");
    ok(!profile_memo(&p, PROFILE_REFUSED, "threads.openmp"), "a kept setting is not refused");
}

static void test_set(void)
{
    CLEANUP(profile_done) struct profile p = { .count = 0 };
    struct profile_setting s = { .knob = "loader.workers", .value = "4", .gain = 1 };
    struct err e;

    is_int(profile_init(&p, "n", "k", "m", "v"), 0, "profile_init makes a profile");
    is_int(profile_set(&p, &s, &e), 0, "profile_set adds a setting");
    s.value = "8";
    is_int(profile_set(&p, &s, &e), 0, "profile_set takes another value of a knob");
    ok(p.count == 1 && !strcmp(p.settings[0].value, "8"),
       "another value takes the place of the first");
    s.value = "a\nb";
    is_int(profile_set(&p, &s, &e), -EINVAL, "profile_set refuses a value of two lines");
    s.value = "";
    is_int(profile_set(&p, &s, &e), -EINVAL, "profile_set refuses an empty value");
    s.value = "1";
    for (int i = 0; i < PROFILE_MAX; i++) {
        char name[16];
        int rc;

        snprintf(name, sizeof(name), "k%d", i);
        s.knob = name;
        rc = profile_set(&p, &s, &e);
        if (i == PROFILE_MAX - 1)
            is_int(rc, -EINVAL, "profile_set refuses the 65th setting");
    }
    is_str(e.text, "there are more than 64 settings", "the error names the maximum of settings");
    is_int((int)p.count, PROFILE_MAX, "a profile has 64 settings");
    s.knob = "loader.workers";
    is_int(profile_set(&p, &s, &e), 0, "a profile that is full takes another value of a knob");
    s.knob = "memo";
    s.kind = PROFILE_REFUSED;
    is_int(profile_remember(&p, &s, &e), 0, "a profile that is full remembers a value");
}

/* Each text of a setting, with letters that no file, shell or environment may have. */
static void test_letters(void)
{
    static const struct {
        const char *text;
        bool plain;
    } texts[] = { { " ~", true }, { "\x1f", false }, { "\x7f", false }, { "\xc3", false } };
    char value[KNOB_VALUE_MAX + 1] = "", name[KNOB_NAME_MAX + 1] = "";

    for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
        for (int which = 0; which < 5; which++) {
            CLEANUP(profile_done) struct profile p = { .count = 0 };
            const char *t = texts[i].text;
            struct profile_setting s = { .knob = which == 0 ? t : "k",
                                         .value = which == 1 ? t : "1",
                                         .before = which == 2 ? t : NULL,
                                         .date = which == 3 ? t : NULL,
                                         .why = which == 4 ? t : NULL };

            is_int(profile_set(&p, &s, NULL), texts[i].plain || which == 4 ? 0 : -EINVAL,
                   "text %d of a setting with the letter %d is taken, or not", which,
                   (unsigned char)*t);
            if (which == 4)
                is_str(p.settings[0].why, texts[i].plain ? t : NULL,
                       "a reason with the letter %d is kept, or left out", (unsigned char)*t);
        }
    memset(value, 'v', KNOB_VALUE_MAX - 1);
    memset(name, 'n', KNOB_NAME_MAX - 1);
    for (int more = 0; more < 3; more++) {
        CLEANUP(profile_done) struct profile p = { .count = 0 };
        struct profile_setting s = { .knob = name, .value = value };
        struct err e = { "" };

        value[KNOB_VALUE_MAX - 1] = more == 1 ? 'v' : '\0';
        name[KNOB_NAME_MAX - 1] = more == 2 ? 'n' : '\0';
        is_int(profile_set(&p, &s, &e), more ? -EINVAL : 0,
               "a knob of %zu letters with a value of %zu is taken, or not", strlen(name),
               strlen(value));
        is_str(e.text, more ? "a setting has a value of 1 to 63 letters" : "",
               "the error names how many letters a value has");
    }
}

/* A value and a name with all the letters that they may have, and each number of a file. */
static void test_read_limits(void)
{
    CLEANUP(str_done) struct str in = STR_INIT(64 << 10);
    CLEANUP(profile_done) struct profile p = { .count = 0 };
    struct err e = { "" };

    str_add(&in, "[profile]\n[");
    str_fill(&in, 'k', KNOB_NAME_MAX - 1);
    str_add(&in, "]\nvalue = ");
    str_fill(&in, 'v', KNOB_VALUE_MAX - 1);
    str_add(&in, "\n");
    for (int i = 1; i < PROFILE_MAX; i++)
        str_addf(&in, "[k%d]\nvalue = %d\n", i, i);
    for (int i = 0; i < PROFILE_MAX; i++)
        str_addf(&in, "[refused k%d]\nvalue = %d\n", i, i);
    ok(profile_read(&p, "f", str_text(&in), in.len, &e) == 0,
       "profile_read reads 64 settings and 64 memos: %s", e.text);
    ok(strlen(p.settings[0].knob) == KNOB_NAME_MAX - 1 &&
           strlen(p.settings[0].value) == KNOB_VALUE_MAX - 1,
       "a name and a value have all of their letters");
    ok(!*p.name && !*p.key && !*p.machine && !*p.versions,
       "texts that a profile's head lacks are empty");
    profile_done(&p);
    str_add(&in, "[more]\nvalue = 1\n");
    is_int(profile_read(&p, "f", str_text(&in), in.len, &e), -EINVAL,
           "profile_read refuses a 65th setting");
    is_str(e.text, "f:258: there are more than 64 settings", "the error names the 65th setting");
}

/* What an agent of this version would never write, in a file that is written. */
static void test_written(void)
{
    CLEANUP(str_done) struct str out = STR_INIT(64 << 10);
    struct profile_setting s = { .knob = "k",
                                 .value = " ~\x7f\x1f\"\\",
                                 .gain = (double)NAN,
                                 .low = (double)INFINITY,
                                 .high = 2 };
    const struct profile p = {
        .name = "n", .key = "k", .machine = "m", .versions = "v", .settings = &s, .count = 1
    };

    profile_write(&p, &out);
    is_str(str_text(&out),
           "[profile]\nname = \"n\"\nkey = \"k\"\nmachine = \"m\"\nversions = \"v\"\n\n[k]\n"
           "value = \" ~??\\\"\\\\\"\nhigh = 2\nsteps = 0\n",
           "what is not printable is masked, and numbers that are none are left out");
}

/* Quoting makes texts longer; what was read can be written and read again. */
static void test_long(void)
{
    CLEANUP(str_done) struct str in = STR_INIT(64 << 10), out = STR_INIT(64 << 10);
    CLEANUP(profile_done) struct profile p = { .count = 0 }, again = { .count = 0 };
    struct err e = { "" };

    str_add(&in, "[profile]\nname = x");
    str_fill(&in, '"', PROFILE_TEXT_MAX - 1);
    is_int(profile_read(&p, "f", str_text(&in), in.len, &e), 0,
           "profile_read reads a name of 1,000 letters");
    profile_write(&p, &out);
    ok(profile_read(&again, "f", str_text(&out), out.len, &e) == 0,
       "profile_write makes a profile that can be read: %s", e.text);
    is_str(again.name, p.name, "a name of 1,000 letters is read as it was written");
    str_add_char(&in, '"');
    is_int(profile_read(&p, "f", str_text(&in), in.len, &e), -EINVAL,
           "profile_read refuses a name of 1,001 letters");
    is_str(e.text, "f:2: a text of a profile has 1000 letters at most",
           "the error names the line and the maximum of letters");
    profile_done(&p);
    is_int(profile_init(&p, str_text(&in), "", "", ""), 0,
           "profile_init takes a name that is too long");
    is_int((long long)strlen(p.name), PROFILE_TEXT_MAX,
           "profile_init cuts a name that is too long");
}

static void test_apply(void)
{
    static const char declared[] = "[knob.readers]\nflag = --readers\nvalues = 0,2\n"
                                   "[knob.mode]\napply = env\ntarget = MODE\nvalues = it's, b\n";
    static const char more[] = "[profile]\n[loader.workers]\nvalue = 13\n[threads.openmp]\n"
                               "value = 4\n[loader.prefetch]\nvalue = 2\n[readers]\nvalue = 2\n"
                               "[mode]\nvalue = it's\n";
    CLEANUP(knobs_done) struct knobs k = { .count = 0 };
    CLEANUP(profile_done) struct profile p = { .count = 0 };
    CLEANUP(str_done) struct str out = STR_INIT(64 << 10);
    struct profile_setting s = { .knob = "loader.worker", .value = "1" };
    struct err e = { "" };

    ok(knobs_load(&k, "k", data_knobs_ini, data_knobs_ini_len, &e) == 0 &&
           knobs_declare(&k, "j", declared, strlen(declared), &e) == 0 &&
           profile_read(&p, "f", more, strlen(more), &e) == 0,
       "the knobs and the profile are read: %s", e.text);
    is_int(profile_check(&p, &k, "f", &e), 0, "profile_check accepts values that the knobs take");
    profile_env(&p, &k, &out);
    is_str(str_text(&out),
           "export OMP_NUM_THREADS='4'\n# flag --readers 2\nexport MODE='it'\\''s'\n"
           "export BRIM_KNOBS='loader.workers=13;loader.prefetch=2'\n",
           "profile_env exports each setting in its way");
    is_int(profile_set(&p, &s, &e), 0, "profile_set adds a knob that is not there");
    is_int(profile_check(&p, &k, "f", &e), -EINVAL,
           "profile_check refuses a knob that is not there");
    is_str(e.text, "f:0: unknown knob 'loader.worker' (did you mean loader.workers?)",
           "the error names the unknown knob and one near it");
    str_reset(&out);
    profile_env(&p, &k, &out);
    ok(!strstr(str_text(&out), "worker=1"), "profile_env leaves out a knob that is not there");
    p.settings[0].value = "65";
    is_int(profile_check(&p, &k, "f", &e), -EINVAL, "profile_check refuses a value out of range");
    is_str(e.text, "f:2: loader.workers takes 0 to 64, not '65'",
           "the error names the line and the range");
    profile_done(&p);
    profile_env(&p, &k, &out);
    s.knob = "mine";
    is_int(profile_init(&p, "", "", "", ""), 0, "a profile may have no names");
    is_int(profile_set(&p, &s, &e), 0, "profile_set takes a knob that is far from all others");
    is_int(profile_check(&p, &k, "f", &e), -EINVAL, "profile_check refuses a knob of nobody's");
    is_str(e.text, "f:0: unknown knob 'mine' (one of your own? --knobs FILE)",
           "the error names the option for knobs of one's own");
    str_reset(&out);
    profile_env(&p, &k, &out);
    is_str(str_text(&out), "", "profile_env exports nothing of a knob that nobody knows");
    profile_done(&p);
    s.kind = PROFILE_REFUSED;
    is_int(profile_init(&p, "", "", "", ""), 0, "a profile may be empty");
    is_int(profile_check(&p, &k, "f", &e), 0, "profile_check accepts an empty profile");
    is_int(profile_remember(&p, &s, &e), 0, "profile_remember takes a knob of nobody's");
    is_int(profile_check(&p, &k, "f", &e), -EINVAL,
           "profile_check refuses a knob of nobody's that is remembered");
}

static void test_oom(void)
{
    bool failed;

    oom_restart();
    do {
        struct profile p = { .count = 0 }, made = { .count = 0 };
        int rc;

        oom_next();
        rc = profile_read(&p, "f", text, strlen(text), NULL);
        if (rc == 0)
            rc = profile_init(&made, "n", "k", "m", "v");
        if (rc == 0)
            rc = profile_set(&made, &p.settings[0], NULL);
        if (rc == 0)
            rc = profile_remember(&made, &p.memos[1], NULL);
        failed = oom_end();
        ok(failed ? rc == -ENOMEM : rc == 0, "a profile with allocation %d failing returns %d",
           oom_at, rc);
        profile_done(&p);
        profile_done(&made);
    } while (failed);
}

int main(void)
{
    test_refused();
    test_round_trip();
    test_set();
    test_letters();
    test_read_limits();
    test_written();
    test_long();
    test_apply();
    test_oom();
    return done();
}
