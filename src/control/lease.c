#include "control/lease.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"

/* ---- who leads ---- */

void lease_name(struct lease *l, const char *host, int64_t process, uint64_t random)
{
    *l = (struct lease){ .fence = 0 };
    snprintf(l->holder, sizeof(l->holder), "%.100s:%lld:%016llx", host, (long long)process,
             (unsigned long long)random);
}

bool lease_answered(struct lease *l, int64_t asked_ns, int64_t fence, const char *leader)
{
    bool changed = fence != l->fence || strcmp(leader, l->leader) != 0;

    l->fence = fence;
    l->asked_ns = asked_ns;
    snprintf(l->leader, sizeof(l->leader), "%s", leader);
    return changed;
}

bool lease_leads(const struct lease *l, int64_t now_ns)
{
    return l->fence > 0 && now_ns - l->asked_ns < LEASE_TRUST_MS * NS_PER_MS;
}

bool lease_due(const struct lease *l, int64_t now_ns)
{
    return l->fence == 0 || now_ns - l->asked_ns >= LEASE_RENEW_MS * NS_PER_MS;
}

/* ---- in the database ---- */

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS lease (name TEXT PRIMARY KEY, holder TEXT NOT NULL,"
    " fence BIGINT NOT NULL, until_ms BIGINT NOT NULL)";

/* The database's own clock, in milliseconds since 1970. */
#define FILE_NOW "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"
#define SHARED_NOW "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)"

/* $1: who asks, $2: for how long. One statement, so that of two who ask one gets it. */
#define TAKE(now) \
    "INSERT INTO lease (name, holder, fence, until_ms) VALUES ('control', $1, 1, $2 + " now ")" \
    " ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until_ms = excluded.until_ms," \
    " fence = lease.fence + CASE WHEN lease.holder = excluded.holder THEN 0 ELSE 1 END" \
    " WHERE lease.holder = excluded.holder OR lease.until_ms < " now " RETURNING fence"

static const char take_file[] = TAKE(FILE_NOW), take_shared[] = TAKE(SHARED_NOW);
static const char who_file[] =
    "SELECT holder FROM lease WHERE name = 'control' AND until_ms >= " FILE_NOW;
static const char who_shared[] =
    "SELECT holder FROM lease WHERE name = 'control' AND until_ms >= " SHARED_NOW;

/* A file has one writer at a time anyway. Whose time is over has it until another one takes it. */
#define HOLD "SELECT fence FROM lease WHERE name = 'control' AND holder = $1 AND fence = $2"
static const char hold_file[] = HOLD, hold_shared[] = HOLD " FOR SHARE";
static const char give[] =
    "UPDATE lease SET until_ms = 0 WHERE name = 'control' AND holder = $1 AND fence = $2";

int lease_prepare(struct db *d, struct err *e)
{
    return db_script(d, schema, e);
}

static int take_name(void *arg, const struct db_value *columns)
{
    snprintf(arg, LEASE_NAME, "%s", columns->text);
    return 1;
}

int lease_ask(struct lease *l, struct db *d, int64_t now_ns, struct err *e)
{
    const struct db_value values[] = { { .text = l->holder }, { .number = LEASE_MS } };
    char leader[LEASE_NAME] = "";
    int64_t fence = 0;
    int rc = db_number(d, db_shared(d) ? take_shared : take_file, values, ARRAY_SIZE(values),
                       &fence, e);

    if (rc == 1)
        return lease_answered(l, now_ns, fence, l->holder);
    if (rc == 0)
        rc = db_run(d, db_shared(d) ? who_shared : who_file, NULL, 0, take_name, leader, e);
    return rc < 0 ? rc : lease_answered(l, now_ns, 0, leader);
}

int lease_hold(struct lease *l, struct db *d, struct err *e)
{
    const struct db_value values[] = { { .text = l->holder }, { .number = l->fence } };
    int64_t fence;
    int rc = db_number(d, db_shared(d) ? hold_shared : hold_file, values, ARRAY_SIZE(values),
                       &fence, e);

    if (rc != 0)
        return MIN(rc, 0);
    l->fence = 0;
    return err_set(e, -EPERM, "another brim control leads by now: nothing more is stored here");
}

void lease_give(struct lease *l, struct db *d)
{
    const struct db_value values[] = { { .text = l->holder }, { .number = l->fence } };
    int rc = l->fence ? db_run(d, give, values, ARRAY_SIZE(values), NULL, NULL, NULL) : 0;

    (void)rc; /* it is over soon where this failed */
    l->fence = 0;
}
