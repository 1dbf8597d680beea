/* All names that the model has for its own things, in one text.
 *
 *     t_model_verdict_names FILE */
#include "base/str.h"
#include "golden.h"
#include "model/job/knob.h"
#include "model/job/run.h"
#include "model/job/step.h"
#include "model/machine/fault.h"
#include "model/machine/way.h"
#include "model/verdict/live.h"
#include "model/verdict/verdict.h"

enum { ROOM = 1 << 16 };

static void add(struct str *out, const char *what, unsigned i, const char *name)
{
    str_addf(out, "%s %u: %s\n", what, i, name ? name : "(none)");
}

static void add_live(struct str *out)
{
    for (unsigned i = 0; i < LIVE_STAGES; i++) {
        add(out, "stage", i, live_stage_name(i));
        add(out, "title", i, live_stage_title(i));
    }
    for (unsigned i = LIVE_UNKNOWN; i <= LIVE_LIMIT; i++)
        add(out, "state", i, live_state_name(i));
    for (unsigned i = 0; i < LIVE_SORTS; i++)
        add(out, "sort", i, live_sort_name(i));
    for (unsigned i = 1; i <= LIVE_THROTTLE_OTHER; i *= 2)
        add(out, "throttle", i, live_throttle_name(i));
    for (unsigned i = 0; i <= SEVERITY_CRITICAL; i++)
        add(out, "severity", i, severity_text(i));
}

static void add_job(struct str *out)
{
    for (unsigned i = 0; i < CAUSES; i++)
        add(out, "cause", i, cause_name(i));
    for (unsigned i = 0; i < RUN_SIGNALS; i++)
        add(out, "signal", i, run_signal_name(i));
    for (unsigned i = 0; i <= BRIM_STAGES; i++)
        add(out, "step", i, step_stage_name(i));
    for (unsigned i = KNOB_ENV; i <= KNOB_SCRIPT; i++)
        add(out, "apply", i, knob_apply_name(i));
    for (unsigned i = KNOB_LIVE; i <= KNOB_RESTART; i++)
        add(out, "effect", i, knob_effect_name(i));
    for (unsigned i = KNOB_SAFE; i <= KNOB_PRIVILEGED; i++)
        add(out, "risk", i, knob_risk_name(i));
}

static void add_machine(struct str *out)
{
    char text[WAY_TEXT];

    for (unsigned i = FAULT_APP; i <= FAULT_MAYBE_FATAL; i++)
        add(out, "fault", i, fault_class_text(i));
    for (unsigned i = WAY_SELF; i <= WAY_UNKNOWN; i++)
        add(out, "way", i, way_text(&(struct way){ .class = i, .count = 3 }, text));
    for (unsigned i = LINK_NVLINK; i <= LINK_FABRIC; i++)
        add(out, "link", i,
            way_text(&(struct way){ .class = WAY_NV, .link = i, .count = 4 }, text));
}

int main(int argc, char **argv)
{
    CLEANUP(str_done) struct str out = STR_INIT(ROOM);

    if (argc < 2)
        return 1;
    add_live(&out);
    add_job(&out);
    add_machine(&out);
    is_int(str_error(&out), 0, "the text of all names has room");
    golden(argv[1], str_text(&out));
    return done();
}
