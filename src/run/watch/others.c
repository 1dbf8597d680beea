/* Observers of one job's ranks on other hosts: who leads, and who may ask the job. */
#include "run/watch/observe_private.h"

const char *observer_why_elsewhere(const struct observer *o, enum meeting_state met)
{
    bool others = o->identity.key[0] && o->identity.world > 1;

    if (met == MEETING_FOLLOWING)
        return "the ranks of this host are steered by the brim beside rank 0";
    if (met == MEETING_LEADING || (met == MEETING_SEEKS && o->meeting) || !others)
        return NULL;
    return "ranks of this job are under other observers, which can not be asked from here: start "
           "all of them below one brim optimize, or set BRIM_TOKEN to the same secret for all of "
           "them";
}

void observer_take_event(void *arg, const struct ring_event *e)
{
    const struct observer *o = arg;

    if (o->c->pilot)
        o->c->pilot->event(o->c->pilot->arg, e);
    if (o->meeting)
        meeting_event(o->meeting, e);
}

void observer_meet(struct observer *o)
{
    const struct observe_pilot *p = o->c->pilot;
    struct meeting_config c = { .clock = o->c->clock,
                                .host = o->out->run.host,
                                .purpose = p ? 'o' : 'r',
                                .rings = o->rings,
                                .control = o->control,
                                .may = p ? p->may : NULL,
                                .may_arg = p ? p->arg : NULL,
                                .say = o->c->say,
                                .arg = o->c->arg };
    struct err why = { "" };

    if (!o->c->place || !o->c->key)
        return;
    c.place = *o->c->place;
    c.key = *o->c->key;
    if (meeting_open(&o->meeting, &c, &why) < 0 || meeting_turn(o->meeting) < 0)
        observer_say(o, *why.text ? why.text : "out of memory: other hosts are not met");
}

bool observer_leads(const struct observer *o)
{
    if (o->meeting &&
        (meeting_state(o->meeting) == MEETING_LEADING || meeting_deserted(o->meeting)))
        return true;
    if (o->meeting && meeting_heard(o->meeting))
        return false;
    return !o->identity.key[0] || o->identity.rank <= 0;
}

int observer_look_at_meeting(struct observer *o)
{
    const struct observe_pilot *p = o->c->pilot;
    int rc = o->meeting ? meeting_turn(o->meeting) : 0;
    enum meeting_state now = o->meeting ? meeting_state(o->meeting) : o->met;

    if (now != o->met && p)
        p->start(p->arg, o->control, observer_why_elsewhere(o, now));
    o->met = now;
    return rc;
}
