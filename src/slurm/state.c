#include "slurm/state.h"

#include <string.h>
#include <strings.h>

#include "base/compiler.h"

#define BIT(n) (UINT32_C(1) << (n))

enum { NODE_BASE = 15, NODE_UNKNOWN = 0, NODE_DOWN = 1, NODE_IDLE = 2, NODE_ALLOCATED = 3 };
enum { NODE_ERROR = 4, NODE_MIXED = 5, NODE_FUTURE = 6 };
enum { JOB_BASE = 255, JOB_PENDING = 0, JOB_RUNNING = 1, JOB_SUSPENDED = 2, JOB_COMPLETED = 3 };
enum { JOB_CANCELLED = 4, JOB_FAILED = 5, JOB_TIMEOUT = 6, JOB_NODE_FAIL = 7, JOB_PREEMPTED = 8 };
enum { JOB_BOOT_FAIL = 9, JOB_DEADLINE = 10, JOB_NO_MEMORY = 11 };

#define NODE_RESERVED BIT(5)
#define NODE_DRAIN BIT(9)
#define NODE_SILENT BIT(11)
#define NODE_POWERED_DOWN BIT(12)
#define NODE_FAIL BIT(13)
#define NODE_POWERING_UP BIT(14)
#define NODE_MAINTENANCE BIT(15)
#define NODE_POWERING_DOWN BIT(18)
#define NODE_INVALID BIT(22)
#define NODE_POWER_DOWN BIT(23)
#define NODE_POWER_DRAIN BIT(25)
#define JOB_CONFIGURING BIT(14)
#define JOB_COMPLETING BIT(15)

#define NODE_OFF_BITS (NODE_POWERED_DOWN | NODE_POWERING_UP | NODE_POWERING_DOWN | NODE_POWER_DOWN)
#define NODE_DRAIN_BITS (NODE_DRAIN | NODE_FAIL | NODE_INVALID | NODE_POWER_DRAIN)

struct word {
    const char *word;
    uint32_t bits;
};

static const struct word node_words[] = {
    { "unknown", NODE_UNKNOWN },
    { "down", NODE_DOWN },
    { "idle", NODE_IDLE },
    { "allocated", NODE_ALLOCATED },
    { "error", NODE_ERROR },
    { "mixed", NODE_MIXED },
    { "future", NODE_FUTURE },
    { "reserved", NODE_RESERVED },
    { "drain", NODE_DRAIN },
    { "not_responding", NODE_SILENT },
    { "powered_down", NODE_POWERED_DOWN },
    { "fail", NODE_FAIL },
    { "powering_up", NODE_POWERING_UP },
    { "maintenance", NODE_MAINTENANCE },
    { "maint", NODE_MAINTENANCE },
    { "powering_down", NODE_POWERING_DOWN },
    { "invalid_reg", NODE_INVALID },
    { "power_down", NODE_POWER_DOWN },
    { "power_drain", NODE_POWER_DRAIN },
};

static const struct word job_words[] = {
    { "pending", JOB_PENDING },         { "running", JOB_RUNNING },
    { "suspended", JOB_SUSPENDED },     { "completed", JOB_COMPLETED },
    { "cancelled", JOB_CANCELLED },     { "failed", JOB_FAILED },
    { "timeout", JOB_TIMEOUT },         { "node_fail", JOB_NODE_FAIL },
    { "preempted", JOB_PREEMPTED },     { "boot_fail", JOB_BOOT_FAIL },
    { "deadline", JOB_DEADLINE },       { "out_of_memory", JOB_NO_MEMORY },
    { "configuring", JOB_CONFIGURING }, { "completing", JOB_COMPLETING },
};

/* By number; those of later releases are the same up to here. */
static const char *const reasons[] = {
    "None",
    "Priority",
    "Dependency",
    "Resources",
    "PartitionNodeLimit",
    "PartitionTimeLimit",
    "PartitionDown",
    "PartitionInactive",
    "JobHeldAdmin",
    "BeginTime",
    "Licenses",
    "AssociationJobLimit",
    "AssociationResourceLimit",
    "AssociationTimeLimit",
    "Reservation",
    "ReqNodeNotAvail",
    "JobHeldUser",
};

static const char *const dependent[] = {
    "Account",    "Assoc",   "BeginTime",         "BurstBuffer", "Cleaning", "Dependency",
    "FedJobLock", "Invalid", "JobArrayTaskLimit", "Licenses",    "Max",      "Other",
    "Partition",  "QOS",
};

void slurm_state_of_node(uint32_t state, struct site_node *ret)
{
    uint32_t base = state & NODE_BASE;

    ret->state = SITE_NODE_UP;
    if (base != NODE_IDLE && base != NODE_ALLOCATED && base != NODE_MIXED)
        ret->state = SITE_NODE_DOWN;
    if (state & NODE_OFF_BITS)
        ret->state = SITE_NODE_OFF;
    ret->drained = state & NODE_DRAIN_BITS;
    ret->silent = state & NODE_SILENT;
    ret->reserved = state & (NODE_RESERVED | NODE_MAINTENANCE);
}

uint8_t slurm_state_of_job(uint32_t state)
{
    if (state & JOB_COMPLETING)
        return SITE_ENDING;
    switch (state & JOB_BASE) {
    case JOB_PENDING:
        return SITE_WAITING;
    case JOB_RUNNING:
        return state & JOB_CONFIGURING ? SITE_STARTING : SITE_RUNNING;
    case JOB_SUSPENDED:
        return SITE_SUSPENDED;
    default:
        return SITE_ENDED;
    }
}

uint8_t slurm_state_outcome(uint32_t state)
{
    switch (state & JOB_BASE) {
    case JOB_PENDING:
    case JOB_RUNNING:
    case JOB_SUSPENDED:
        return SITE_NOT_ENDED;
    case JOB_COMPLETED:
        return SITE_DONE;
    case JOB_CANCELLED:
        return SITE_CANCELLED;
    case JOB_TIMEOUT:
    case JOB_DEADLINE:
        return SITE_TIMEOUT;
    case JOB_NODE_FAIL:
    case JOB_BOOT_FAIL:
        return SITE_LOST;
    default:
        return SITE_FAILED;
    }
}

static uint32_t bits_of(const struct word *words, size_t n, const char *text)
{
    uint32_t bits = 0;

    while (*text) {
        size_t len = strcspn(text, "+");

        for (size_t i = 0; i < n; i++)
            if (strncasecmp(words[i].word, text, len) == 0 && !words[i].word[len])
                bits |= words[i].bits;
        text += len + (text[len] == '+');
    }
    return bits;
}

uint32_t slurm_state_node_bits(const char *words)
{
    return bits_of(node_words, ARRAY_SIZE(node_words), words);
}

uint32_t slurm_state_job_bits(const char *words)
{
    return bits_of(job_words, ARRAY_SIZE(job_words), words);
}

const char *slurm_state_reason(uint32_t reason)
{
    return reason < ARRAY_SIZE(reasons) ? reasons[reason] : NULL;
}

bool slurm_state_depends(const char *reason)
{
    for (size_t i = 0; i < ARRAY_SIZE(dependent); i++)
        if (strncmp(reason, dependent[i], strlen(dependent[i])) == 0)
            return true;
    return false;
}
