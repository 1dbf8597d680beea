/* Accounts and users: what their jobs have, keep idle, and wait for. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/board/board_private.h"
#include "model/job/job_spec.h"

/* A name with a number; what jobs there are beyond as many as a table takes is in no row. */
static struct board_party *party(struct board *b, struct workload *names, struct board_parties *p,
                                 const char *name)
{
    int number = work_data_number(names, name);
    struct board_party *row;

    if (number < 0 || (size_t)number < p->n)
        return number < 0 ? NULL : &p->list[number];
    row = ARENA_PUSH(&b->arena, &p->list, &p->n);
    if (row)
        row->name = name;
    return row;
}

static void add(struct board_party *p, const struct site_job *j, bool idle)
{
    if (!p)
        return;
    if (j->state == SITE_WAITING) {
        p->waiting++;
        p->waited += j->devices;
        return;
    }
    p->running++;
    p->held += j->devices;
    p->idle += idle ? j->devices : 0;
}

static int compare(const void *a, const void *b)
{
    const struct board_party *x = a, *y = b;

    if (x->held != y->held)
        return x->held > y->held ? -1 : 1;
    if (x->waited != y->waited)
        return x->waited > y->waited ? -1 : 1;
    return strcmp(x->name, y->name);
}

static void sort(struct board_parties *p)
{
    if (p->list)
        qsort(p->list, p->n, sizeof(*p->list), compare);
}

int board_sum_parties(struct board *b, const struct control_seen *seen)
{
    struct workload accounts = { .n_jobs = 0 }, users = { .n_jobs = 0 };
    bool whole = true;

    for (size_t i = 0; i < b->site->n_jobs && whole; i++) {
        const struct site_job *j = &b->site->jobs[i];
        bool idle = j->state == SITE_RUNNING && bursts_idle_ms(&seen[i].bursts, b->now_ms) != 0;
        struct board_party *account, *user;

        if (j->state == SITE_ENDED)
            continue;
        account = party(b, &accounts, &b->accounts, j->account);
        add(account, j, idle);
        user = party(b, &users, &b->users, j->user);
        if (user)
            user->uid = j->uid;
        add(user, j, idle);
        whole = (account && user) || accounts.data.n == WORK_DATA || users.data.n == WORK_DATA;
    }
    workload_done(&accounts);
    workload_done(&users);
    sort(&b->accounts);
    sort(&b->users);
    return whole ? 0 : -ENOMEM;
}
