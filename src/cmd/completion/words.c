#include "cmd/completion/words.h"

#include <stdio.h>
#include <string.h>

#include "base/conf.h"
#include "gpus_csv.h"
#include "models_csv.h"
#include "plan/cluster/gpus.h"
#include "plan/shape/models.h"
#include "run/archive/archive.h"
#include "run/profile/profiles.h"
#include "sched/policy/policy.h"

enum { LIST_MAX = 8 << 20, PATH_BYTES = 4096, RUNS_MOST = 100 };

#define EACH_NAME(list, name) \
    for (const char *name = str_text(list); (name) < str_text(list) + (list)->len; \
         (name) += strlen(name) + 1)

static void add_word(struct str *out, const char *word)
{
    if (!word[strcspn(word, " \t\n'\"\\$`*?[;&|<>()")]) /* others would have to be quoted */
        str_addf(out, "%s\n", word);
}

/* The ids of the youngest, and their names. */
static int add_runs(struct str *out, struct err *e)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    CLEANUP(str_done) struct str list = STR_INIT(LIST_MAX);
    const char *runs = conf_state(&a, "runs");
    int rc = runs ? runs_list(runs, &list, e) : err_nomem(e);
    size_t n = 0, i = 0;

    if (rc < 0)
        return rc;
    add_word(out, "last");
    EACH_NAME(&list, id)
    n++;
    EACH_NAME(&list, id)
    {
        CLEANUP(run_done) struct run r = { .id = NULL };
        char path[PATH_BYTES];

        if (i++ + RUNS_MOST < n)
            continue;
        add_word(out, id);
        if (snprintf(path, sizeof(path), "%s/%s", runs, id) < (int)sizeof(path) &&
            run_load_about(path, &r, NULL) == 0 && r.name)
            add_word(out, r.name);
    }
    return 0;
}

static int add_profiles(struct str *out, struct err *e)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    CLEANUP(str_done) struct str list = STR_INIT(LIST_MAX);
    const char *folder = conf_state(&a, "profiles");
    int rc = folder ? profiles_list(folder, &list, e) : err_nomem(e);

    if (rc == 0)
        EACH_NAME(&list, name)
    add_word(out, name);
    return rc;
}

static int add_policies(struct str *out, struct err *e)
{
    (void)e;
    for (size_t i = 0; policy_name_at(i); i++)
        add_word(out, policy_name_at(i));
    return 0;
}

static int add_models(struct str *out, struct err *e)
{
    CLEANUP(models_done) struct models m = { .n_rows = 0 };
    int rc = models_load(&m, (const char *)data_models_csv, data_models_csv_len, e);

    for (size_t i = 0; rc == 0 && i < m.n_rows; i++)
        add_word(out, m.rows[i].shape.name);
    return rc;
}

static int add_gpus(struct str *out, struct err *e)
{
    CLEANUP(gpus_done) struct gpus g = { .n_rows = 0 };
    int rc = gpus_load(&g, (const char *)data_gpus_csv, data_gpus_csv_len, e);

    for (size_t i = 0; rc == 0 && i < g.n_rows; i++)
        add_word(out, g.rows[i].gpu.name);
    return rc;
}

static const struct {
    const char *name;
    int (*add)(struct str *out, struct err *e);
} kinds[] = {
    [CMD_RUNS] = { "runs", add_runs },
    [CMD_PROFILES] = { "profiles", add_profiles },
    [CMD_POLICIES] = { "policies", add_policies },
    [CMD_MODELS] = { "models", add_models },
    [CMD_GPUS] = { "gpus", add_gpus },
};

const char *completion_kind(enum cmd_words words)
{
    return kinds[words].name;
}

enum cmd_words completion_of_option(const struct opt *o)
{
    static const struct {
        const char *begins; /* the placeholder */
        enum cmd_words words;
    } placeholders[] = { { "RUN", CMD_RUNS },
                         { "PROFILE", CMD_PROFILES },
                         { "POLICY", CMD_POLICIES },
                         { "MODEL", CMD_MODELS } };

    for (size_t i = 0; o->kind == OPT_STRING && i < ARRAY_SIZE(placeholders); i++)
        if (!strncmp(o->arg, placeholders[i].begins, strlen(placeholders[i].begins)))
            return placeholders[i].words;
    return CMD_NO_WORDS;
}

int completion_words(const char *kind, struct str *out, struct err *e)
{
    const char *names[ARRAY_SIZE(kinds)] = { NULL };

    for (size_t i = 1; i < ARRAY_SIZE(kinds); i++) {
        if (!strcmp(kinds[i].name, kind))
            return kinds[i].add(out, e);
        names[i - 1] = kinds[i].name;
    }
    return opt_unknown("kind of words", kind, names, e);
}
