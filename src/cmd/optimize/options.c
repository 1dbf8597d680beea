#include "cmd/optimize/options.h"

#include <string.h>

#include "base/clock.h"
#include "cmd/common/cmd.h"
#include "cmd/common/fake_option.h"
#include "cmd/optimize/goal_option.h"
#include "optimize/restart_race.h"

enum { RESTARTS_MOST = 1000 };

const struct opt optimize_options[] = {
    { OPT_LIST, 0, "allow", offsetof(struct optimize_opts, allow), "WHAT",
      "also try what changes numbers (numeric), settings of this machine (privileged)" },
    { OPT_LIST, 0, "try", offsetof(struct optimize_opts, named), "KNOB[=VALUE]",
      "also try a setting of which nothing is known (docs/knobs.md lists all)" },
    { OPT_DURATION, 0, "budget", offsetof(struct optimize_opts, budget_ns), "TIME",
      "how long to try settings (10m)", .least = OPT_S },
    { OPT_UINT, 0, "restarts", offsetof(struct optimize_opts, restarts), "N",
      "start the job up to N times, for settings that need it (0: never)" },
    { OPT_CHOICE, 0, "goal", offsetof(struct optimize_opts, goal), "WHAT",
      "steps in a second, of a joule, or for the money", .choices = optimize_goals },
    { OPT_STRING, 0, "price-hour", offsetof(struct optimize_opts, price_hour), "PRICE",
      "of an hour of what the job runs on, for --goal cost" },
    { OPT_STRING, 0, "price-kwh", offsetof(struct optimize_opts, price_kwh), "PRICE",
      "of a kWh, for --goal cost" },
    { OPT_STRING, 0, "name", offsetof(struct optimize_opts, name), "NAME",
      "what the run and its profile are called (the script's name)" },
    { OPT_STRING, 'p', "profile", offsetof(struct optimize_opts, profile), "PROFILE",
      "try its settings first, again (the one of this job, if there is one)" },
    { OPT_FLAG, 0, "once", offsetof(struct optimize_opts, once), NULL,
      "try nothing where this job has a profile of this machine: run it with that" },
    { OPT_STRING, 0, "save-profile", offsetof(struct optimize_opts, save), "FILE",
      "write what was kept there, not to the state folder", .file = OPT_PROFILE },
    { OPT_STRING, 0, "knobs", offsetof(struct optimize_opts, knobs), "FILE",
      "also try knobs that this file declares" },
    MEET_OPTIONS(offsetof(struct optimize_opts, meet)),
    { OPT_OUTPUT, 'j', "json", offsetof(struct optimize_opts, json), "FILE",
      "print what the card says as JSON, or write it to FILE" },
    { OPT_FLAG, 0, "undo", offsetof(struct optimize_opts, undo), NULL,
      "only put back settings of this machine that a killed brim has left changed" },
    { OPT_FLAG, 'q', "quiet", offsetof(struct optimize_opts, quiet), NULL,
      "print nothing of our own: no progress, no card" },
    { OPT_DURATION, 0, "interval", offsetof(struct optimize_opts, interval_ns), "TIME",
      "how often to sample (1s)", .least = 100 * OPT_MS, .most = 10 * OPT_MIN },
    FAKE_OPTION(offsetof(struct optimize_opts, fake)),
    { .kind = OPT_END },
};

const struct optimize_opts optimize_defaults = { .budget_ns = 600 * NS_PER_S,
                                                 .interval_ns = NS_PER_S };

static const char *const allowed[] = { "numeric", "privileged" };

static bool is_word(const char *text, size_t len, const char *word)
{
    return strlen(word) == len && !strncmp(text, word, len);
}

/* "numeric,privileged" */
static bool are_known(const char *words)
{
    for (;;) {
        size_t len = strcspn(words, ","), known = 0;

        for (size_t i = 0; i < ARRAY_SIZE(allowed); i++)
            known += is_word(words, len, allowed[i]);
        if (!known || !words[len])
            return known;
        words += len + 1;
    }
}

bool optimize_allows(const struct optimize_opts *o, const char *word)
{
    for (size_t i = 0; i < o->allow.n; i++)
        for (const char *at = o->allow.items[i]; *at; at += *at == ',') {
            size_t len = strcspn(at, ",");

            if (is_word(at, len, word))
                return true;
            at += len;
        }
    return false;
}

int optimize_check(const struct optimize_opts *o, char **argv, struct err *e)
{
    if (o->undo && argv[0])
        return err_usage(e, "--undo takes no command");
    if (o->undo)
        return 0;
    if (o->once && o->save)
        return err_usage(e,
                         "--once keeps what it finds where it looks for it: leave --save-profile "
                         "out, or --once");
    if (!argv[0] || !*argv[0])
        return err_usage(e, "a command is needed: brim optimize -- COMMAND...");
    for (size_t i = 0; i < o->allow.n; i++)
        if (!are_known(o->allow.items[i]))
            return err_usage(e, "--allow must be numeric, privileged or both, not '%.40s'",
                             o->allow.items[i]);
    if (o->restarts && (o->restarts < CONTEST_RESTARTS_LEAST || o->restarts > RESTARTS_MOST))
        return err_usage(
            e,
            "--restarts must be 0, or from %d to %d: a setting is decided in three runs "
            "with it and three without, and the job is the last",
            CONTEST_RESTARTS_LEAST, RESTARTS_MOST);
    if (o->restarts && o->meet.place)
        return err_usage(e, "--restarts starts a job on one host alone: leave --meet out, or "
                            "--restarts");
    if (o->restarts && o->goal && strcmp(o->goal, "throughput") != 0)
        return err_usage(
            e, "--restarts decides by steps a second: leave --goal %s out, or --restarts", o->goal);
    return fake_option_check(o->fake, e);
}
