/* A board in words. */
#include <string.h>

#include "control/board/board_private.h"

enum { CAUSES = 3 /* that the sentence names */ };

struct use_words {
    const char *name, *text;
    bool wastes;
};

static const struct use_words uses[BOARD_USES] = {
    [BOARD_WORKS] = { "works", "at work", false },
    [BOARD_UNKNOWN] = { "unknown", "held, and nobody tells how busy they are", false },
    [BOARD_IDLE] = { "idle", "held by jobs that keep them idle", true },
    [BOARD_STARTING] = { "starting", "held by jobs that start", true },
    [BOARD_ENDING] = { "ending", "held by jobs that end", true },
    [BOARD_SUSPENDED] = { "suspended", "held by jobs that are suspended", true },
    [BOARD_WANTED] = { "wanted", "free while a job waits that would fit, by its GPUs alone", true },
    [BOARD_SPLIT] = { "split", "free, and too few together for the jobs that wait", true },
    [BOARD_BARRED] = { "barred", "free while the jobs that wait may not start", true },
    [BOARD_FREE] = { "free", "free, and no job waits for them", false },
    [BOARD_RESERVED] = { "reserved", "free on nodes that are reserved", true },
    [BOARD_DRAINED] = { "drained", "on drained nodes", true },
    [BOARD_DOWN] = { "down", "on nodes that are down", true },
    [BOARD_OFF] = { "off", "on nodes that are switched off", false },
};

const char *board_use_name(enum board_use use)
{
    return uses[use].name;
}

const char *board_use_text(enum board_use use)
{
    return uses[use].text;
}

bool board_use_wastes(enum board_use use)
{
    return uses[use].wastes;
}

/* ---- why a job waits ---- */

/* Slurm's words, or what several of them begin with: the first that fits. */
static const struct reason_words {
    const char *word, *text;
} reasons[] = {
    { "Resources", "what it asks for is not free" },
    { "Priority", "jobs of a higher priority wait before it" },
    { "DependencyNeverSatisfied", "the job that it depends on will never end as it should" },
    { "Dependency", "it depends on a job that has not ended" },
    { "BeginTime", "its time to begin has not come, or it was requeued a moment ago" },
    { "JobHeldUser", "its owner holds it" },
    { "JobHeldAdmin", "an administrator holds it" },
    { "JobArrayTaskLimit", "as many tasks of its array run as may at a time" },
    { "QOSGrp", "its QOS has as much as all of its jobs may have together" },
    { "QOSMax", "it asks for more than its QOS allows one user or job" },
    { "QOSMin", "it asks for less than its QOS wants" },
    { "QOS", "its QOS does not allow it now" },
    { "InvalidQOS", "its QOS does not exist any more" },
    { "AssocGrp", "its account has as much as all of its jobs may have together" },
    { "AssocMax", "it asks for more than its account allows one job" },
    { "Assoc", "its account does not allow it now" },
    { "MaxGRESPerAccount", "its account has as many GPUs as it may" },
    { "MaxTRESPer", "it asks for more than one user or job may have" },
    { "MaxJobsPer", "as many of its owner's jobs run as may at a time" },
    { "MaxCpuPer", "as many CPUs are in use as its owner may have" },
    { "InvalidAccount", "its account does not exist any more" },
    { "AccountNotAllowed", "its account may not use this partition" },
    { "PartitionTimeLimit", "it asks for more time than its partition allows" },
    { "PartitionNodeLimit", "it asks for more nodes than its partition has or allows" },
    { "PartitionDown", "its partition starts nothing" },
    { "PartitionInactive", "its partition starts nothing" },
    { "Partition", "its partition does not take it as it is" },
    { "ReqNodeNotAvail", "a node that it needs is drained, down or reserved" },
    { "NodeDown", "a node that it needs is down" },
    { "Reservation", "its reservation has not begun, or is full" },
    { "Licenses", "licenses that it asks for are in use" },
    { "BadConstraints", "no node can ever be what it asks for" },
    { "Constraints", "no node is what it asks for" },
    { "Cleaning", "what it had before is still being cleaned" },
    { "BurstBuffer", "its burst buffer is not ready" },
    { "Prolog", "its prolog runs" },
    { "launch_failed_requeued_held", "it could not be started, was requeued, and is held" },
    { "job_requeued_in_held_state", "it was requeued, and is held" },
    { "SchedDefer", "Slurm looks at it later" },
    { "FedJobLock", "another cluster of the federation looks at it" },
};

void board_add_reason(const char *word, struct str *out)
{
    if (!word || !*word) {
        str_add(out, "Slurm has not looked at it yet");
        return;
    }
    for (size_t i = 0; i < ARRAY_SIZE(reasons); i++)
        if (!strncmp(word, reasons[i].word, strlen(reasons[i].word))) {
            str_add(out, reasons[i].text);
            return;
        }
    str_addf(out, "Slurm's word for it: %s", word);
}

/* ---- the sentence ---- */

static int64_t wasted(const struct board *b)
{
    int64_t sum = 0;

    for (enum board_use u = 0; u < BOARD_USES; u++)
        sum += uses[u].wastes ? board_used(b, u) : 0;
    return sum;
}

/* The largest causes, and what the others come to. */
static void add_causes(const struct board *b, int64_t rest, struct str *out)
{
    bool named[BOARD_USES] = { false };

    for (int n = 0; n < CAUSES; n++) {
        enum board_use most = BOARD_USES;

        for (enum board_use u = 0; u < BOARD_USES; u++)
            if (uses[u].wastes && !named[u] && board_used(b, u) > 0 &&
                (most == BOARD_USES || board_used(b, u) > board_used(b, most)))
                most = u;
        if (most == BOARD_USES)
            return;
        named[most] = true;
        rest -= board_used(b, most);
        str_addf(out, "%s%lld %s %s", n ? ", " : "", (long long)board_used(b, most),
                 board_used(b, most) == 1 ? "is" : "are", uses[most].text);
    }
    if (rest > 0)
        str_addf(out, ", %lld for other reasons", (long long)rest);
}

void board_sentence(const struct board *b, struct str *out)
{
    int64_t lost = wasted(b), works = board_used(b, BOARD_WORKS);
    int64_t unknown = board_used(b, BOARD_UNKNOWN);
    size_t waits = 0;

    for (size_t i = 0; i < b->n_queue; i++)
        waits += b->site->jobs[b->queue[i]].devices > 0;
    if (b->devices == 0) {
        str_add(out, "Slurm has no GPUs here");
        return;
    }
    if (lost > 0) {
        str_addf(out, "%lld of %lld GPUs do nothing that pays: ", (long long)lost,
                 (long long)b->devices);
        add_causes(b, lost, out);
    } else {
        str_addf(out, "%lld of %lld GPUs are at work", (long long)works, (long long)b->devices);
        if (unknown > 0)
            str_addf(out, ", nobody tells how busy %lld are, and none is known to be wasted",
                     (long long)unknown);
        else
            str_add(out, ", and none is wasted");
    }
    if (waits > 0)
        str_addf(out, "; %zu job%s wait%s for %lld GPU%s", waits, str_plural((int64_t)waits),
                 waits == 1 ? "s" : "", (long long)b->waited, str_plural(b->waited));
    else
        str_add(out, "; no job waits for any");
}
