/* What is told when the job of brim optimize has ended. */
#include <stdio.h>

#include "cmd/common/cmd.h"
#include "cmd/common/load_run.h"
#include "cmd/common/terminal_text.h"
#include "cmd/optimize/card.h"
#include "cmd/optimize/job.h"
#include "cmd/optimize/profile.h"
#include "run/job/secret.h"

enum { CARD_MAX = 1 << 20, PATH_MOST = 4096, COMMAND_MOST = 64 << 10 };

static int print_json(const struct optimize_ending *x, const struct optimize_card *c, struct err *e)
{
    CLEANUP(str_done) struct str text = STR_INIT(CARD_MAX);
    struct json j = JSON_INIT(&text);
    int rc;

    json_object(&j, NULL);
    json_string(&j, "schema", "brim.optimize.v1");
    optimize_card_json(c, &j);
    rc = run_card_json_in(x->run, x->verdict, "run", &j);
    if (rc < 0)
        return err_nomem(e);
    json_end(&j);
    return cmd_print(&text, x->o->json, e);
}

/* A job that could not be changed ends as under brim run; why it could not is said before. */
static int print_card(const struct optimize_ending *x, const struct optimize_card *c)
{
    CLEANUP(str_done) struct str text = STR_INIT(CARD_MAX);
    const struct run_card_look look = job_look();
    int rc = x->report.ranks ? optimize_card(c, look.columns, &text)
                             : run_card(x->run, x->verdict, x->stored, &look, &text);

    if (!x->report.ranks && !x->report.off)
        job_tell(x->talk, "no process of the job told its steps, so that nothing could be tried: "
                          "jobs with PyTorch do by themselves, others see include/brim/step.h");
    if (rc == 0 && !x->o->quiet)
        (void)say_lines(stderr, str_text(&text), text.len, look.colour);
    return rc;
}

static int tell_end(const struct optimize_ending *x, struct err *e)
{
    CLEANUP(str_done) struct str path = STR_INIT(PATH_MOST), again = STR_INIT(COMMAND_MOST);
    const struct optimize_profile_about about = { x->run,     x->report.session, &x->key,
                                                  x->wall_ns, x->o->save,        &x->known,
                                                  x->talk };
    struct optimize_card c = { .run = x->run, .report = &x->report };
    struct err why = { "" };
    int rc = optimize_profile(&about, &path, &why);

    if (rc < 0)
        job_tell(x->talk, why.text);
    if (rc == 0 && path.len) {
        str_addf(&again, "brim run --profile %s ", str_text(&path));
        if (x->o->knobs)
            str_addf(&again, "--knobs %s ", x->o->knobs);
        str_add(&again, "-- ");
        secret_add_command(&again, x->came.argv);
        c.profile = str_text(&path);
        c.again = str_error(&again) ? NULL : str_text(&again);
    }
    rc = print_card(x, &c);
    if (rc < 0)
        return err_nomem(e);
    return x->o->json ? print_json(x, &c, e) : 0;
}

int optimize_end(struct optimize_ending *x, const struct observed *seen, const struct drive *d,
                 struct err *e)
{
    CLEANUP(run_done) struct run loaded = { .id = NULL };
    CLEANUP(verdict_done) struct verdict verdict = { .sentence = NULL };

    x->stored = seen->stored && load_run_at_end(seen->folder, &loaded);
    x->run = x->stored ? &loaded : &seen->run;
    x->verdict = run_card_judge(x->run, &verdict) == 0 ? &verdict : NULL;
    drive_tell(d, &x->report);
    return tell_end(x, e);
}
