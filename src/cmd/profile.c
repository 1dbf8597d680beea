/* brim profile: settings that won their trials: list, show, hand over, remove. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/conf.h"
#include "cmd/common/cmd.h"
#include "cmd/profile/show.h"
#include "cmd/common/terminal_text.h"
#include "cmd/common/job_identity.h"
#include "run/profile/export.h"
#include "run/profile/profiles.h"

enum { OUTPUT_MAX = 4 << 20, LIST_MAX = 1 << 20, PATH_BYTES = 4096, OPERANDS_MAX = 64 };

struct profile_opts {
    bool env, slurm, torchrun;
    const char *json, *output, *knobs;
};

static const struct opt opts[] = {
    { OPT_OUTPUT, 'j', "json", offsetof(struct profile_opts, json), "FILE",
      "with list and show: print JSON" },
    { OPT_FLAG, 0, "env", offsetof(struct profile_opts, env), NULL,
      "with export: lines for a shell" },
    { OPT_FLAG, 0, "slurm", offsetof(struct profile_opts, slurm), NULL,
      "with export: a fragment for a batch script of Slurm" },
    { OPT_FLAG, 0, "torchrun", offsetof(struct profile_opts, torchrun), NULL,
      "with export: a script that starts torchrun so" },
    { OPT_STRING, 'o', "output", offsetof(struct profile_opts, output), "FILE",
      "with export: write it to a file", .file = OPT_SCRIPT },
    { OPT_STRING, 0, "knobs", offsetof(struct profile_opts, knobs), "FILE",
      "more knobs that profiles may set" },
    { .kind = OPT_END },
};

static const struct profile_opts defaults = { .json = NULL };

struct profiles {
    const struct app *app;
    const struct profile_opts *o;
    const char *folder;
    struct knobs knobs;
};

/* ---- list ---- */

/* What cannot be read is told on stderr and left out. */
static int list_one(const struct profiles *s, const char *name, struct json *j, struct str *out)
{
    CLEANUP(profile_done) struct profile p = { .count = 0 };
    char path[PATH_BYTES];
    struct err e = { "" };
    int rc;

    if (snprintf(path, sizeof(path), "%s/%s.ini", s->folder, name) >= (int)sizeof(path))
        return 0;
    rc = profiles_load(&p, path, &e);
    if (rc == -ENOMEM)
        return rc;
    if (rc < 0)
        say("brim profile", e.text);
    else
        profile_list_one(name, &p, j, out);
    return 0;
}

static int list(const struct profiles *s, struct err *e)
{
    CLEANUP(str_done) struct str names = STR_INIT(LIST_MAX), out = STR_INIT(OUTPUT_MAX);
    struct json j = JSON_INIT(&out);
    int rc = profiles_list(s->folder, &names, e);

    if (rc < 0)
        return rc;
    if (s->o->json) {
        json_object(&j, NULL);
        json_string(&j, "schema", "brim.profiles.v1");
        json_array(&j, "profiles");
    } else if (names.len) {
        profile_list_head(&out);
    }
    for (const char *name = str_text(&names); name < str_text(&names) + names.len && rc == 0;
         name += strlen(name) + 1)
        rc = list_one(s, name, s->o->json ? &j : NULL, &out);
    if (rc < 0)
        return err_nomem(e);
    if (s->o->json) {
        json_end(&j);
        json_end(&j);
    } else if (!names.len) {
        str_add(&out, "no profile is kept yet\n");
    }
    return cmd_print(&out, s->o->json, e);
}

/* ---- one ---- */

static int load(const struct profiles *s, const char *which, struct profile *p, struct str *path,
                struct err *e)
{
    int rc = profiles_find(s->folder, which, NULL, path, e);

    return rc < 0 ? rc : profiles_load(p, str_text(path), e);
}

static int show(const struct profiles *s, const char *which, struct err *e)
{
    CLEANUP(str_done) struct str path = STR_INIT(PATH_BYTES), out = STR_INIT(OUTPUT_MAX);
    CLEANUP(profile_done) struct profile p = { .count = 0 };
    int rc = load(s, which, &p, &path, e);

    if (rc < 0)
        return rc;
    if (s->o->json)
        profile_show_json(&p, &s->knobs, str_text(&path), &out);
    else
        profile_show(&p, &s->knobs, str_text(&path), &out);
    return cmd_print(&out, s->o->json, e);
}

static int export(const struct profiles *s, const char *which, struct err *e)
{
    CLEANUP(str_done) struct str path = STR_INIT(PATH_BYTES), out = STR_INIT(OUTPUT_MAX);
    CLEANUP(profile_done) struct profile p = { .count = 0 };
    const struct profile_opts *o = s->o;
    enum export_form form = o->slurm ? EXPORT_SLURM : o->torchrun ? EXPORT_TORCHRUN : EXPORT_ENV;
    int rc = load(s, which, &p, &path, e);

    if (rc == 0)
        rc = profile_check(&p, &s->knobs, str_text(&path), e);
    if (rc == 0 && profile_export(&p, &s->knobs, form, NULL, &out) < 0)
        rc = err_nomem(e);
    return rc < 0 ? rc : cmd_print(&out, o->output, e);
}

static int remove_one(const struct profiles *s, const char *which, struct err *e)
{
    CLEANUP(str_done) struct str path = STR_INIT(PATH_BYTES);
    int rc;

    if (strchr(which, '/') || !*which)
        return err_usage(e, "'%.100s' is no profile's name ('brim profile list')", which);
    rc = profiles_find(s->folder, which, NULL, &path, e);
    if (rc == 0 && !strchr(str_text(&path), '/'))
        rc = err_usage(e, "'%.100s' is a file here: rm removes it", which);
    if (rc == 0 && unlink(str_text(&path)) < 0)
        rc = err_set(e, -errno, "%s: %s", str_text(&path), strerror(errno));
    return rc;
}

/* ---- which ---- */

static const char *const words[] = { "list", "show", "export", "remove", NULL };

static int check(const struct profile_opts *o, const char *word, char **operands, struct err *e)
{
    bool is_list = !strcmp(word, "list"), exports = !strcmp(word, "export");
    int forms = o->env + o->slurm + o->torchrun;

    if (exports && forms != 1)
        return err_usage(e, "export takes one of --env, --slurm and --torchrun");
    if (is_list && operands[0])
        return err_usage(e, "list takes no name, not '%.100s'", operands[0]);
    if (!is_list && !operands[0])
        return err_usage(e, "%s takes one profile", word);
    if (!is_list && operands[1])
        return err_usage(e, "%s takes one profile, not '%.100s' too", word, operands[1]);
    return 0;
}

static const struct cmd_sub subs[] = {
    { "list", "", "the profiles that are kept", { "profile list", "profile list --json" } },
    { "show",
      "P",
      "what a profile sets, and how each setting won its trials",
      { "profile show mytrain", "profile show mytrain --json" },
      CMD_PROFILES },
    { "export",
      "P",
      "write a profile as what a shell, a batch script or torchrun takes",
      { "profile export mytrain --env", "profile export mytrain --slurm --output=mytrain.sh" },
      CMD_PROFILES },
    { "remove",
      "P",
      "remove a profile",
      { "profile remove mytrain", "profile remove mytrain-5f1c2a3b4d5e6f70" },
      CMD_PROFILES },
    { .name = NULL },
};

static int run(const struct app *app, const void *values, char **operands, struct err *e)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    struct profiles s = { .app = app, .o = values, .folder = conf_state(&a, "profiles") };
    const char *word = operands[0] ? operands[0] : "list";
    char **rest = operands[0] ? operands + 1 : operands;
    size_t i = 0;
    int rc;

    while (words[i] && strcmp(words[i], word) != 0)
        i++;
    rc = words[i] ? check(s.o, word, rest, e) : opt_unknown("subcommand", word, words, e);
    if (rc != 0)
        return rc;
    if (!s.folder)
        return err_nomem(e);
    rc = load_knobs(&s.knobs, s.o->knobs, e);
    if (rc == 0 && i == 0)
        rc = list(&s, e);
    else if (rc == 0 && i == 1)
        rc = show(&s, rest[0], e);
    else if (rc == 0 && i == 2)
        rc = export(&s, rest[0], e);
    else if (rc == 0)
        rc = remove_one(&s, rest[0], e);
    knobs_done(&s.knobs);
    return rc;
}

const struct cmd cmd_profile = {
    .name = "profile",
    .args = "[list | show P | export P | remove P]",
    .summary = "settings that won their trials: list, show, hand over, remove",
    .about =
        "A profile is what 'brim optimize' found for a job; 'brim run --profile P' applies it.\n"
        "P is a profile's name, its file's, or a path. export writes what a shell, a batch script\n"
        "of Slurm or torchrun takes; what cannot be handed over so is a comment in it.",
    .subs = subs,
    .opts = opts,
    .defaults = &defaults,
    .size = sizeof(struct profile_opts),
    .max_operands = OPERANDS_MAX,
    .run = run,
};
