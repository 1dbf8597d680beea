#include "control/board/board.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/board/board_private.h"

enum { TENTHS = 10 };

/* A board while it is made. */
struct making {
    const struct board_scene *scene;
    struct board *board;
    uint32_t *at; /* by number of the node in the site: in the board; CONTROL_NONE */
    struct board_room room;
};

/* ---- nodes ---- */

static uint8_t kind_of(struct board *b, const char *kind)
{
    size_t i = 0;

    kind = kind ? kind : "";
    while (i < b->n_kinds && strcmp(b->kinds[i], kind) != 0)
        i++;
    if (i < b->n_kinds)
        return (uint8_t)i;
    if (b->n_kinds == BOARD_KINDS)
        return BOARD_KINDS - 1;
    b->kinds[i] = i == BOARD_KINDS - 1 ? "" : kind;
    b->n_kinds++;
    return (uint8_t)i;
}

static int add_nodes(struct making *m)
{
    const struct site *s = m->scene->site;
    struct board *b = m->board;

    b->nodes = arena_alloc(&b->arena, s->n_nodes * sizeof(*b->nodes));
    m->at = arena_alloc(&b->arena, s->n_nodes * sizeof(*m->at));
    if (!b->nodes || !m->at)
        return -ENOMEM;
    for (size_t i = 0; i < s->n_nodes; i++) {
        struct board_node *n = &b->nodes[b->n_nodes];
        int32_t told = MIN(s->nodes[i].devices, SITE_DEVICES);

        m->at[i] = CONTROL_NONE;
        if (told <= 0)
            continue;
        m->at[i] = (uint32_t)b->n_nodes++;
        n->node = (uint32_t)i;
        n->kind = kind_of(b, s->nodes[i].kind);
        memset(n->cells, '.', (size_t)told);
        memset(n->job, 0xff, sizeof(n->job));
        b->devices += s->nodes[i].devices;
    }
    return 0;
}

static enum board_use use_of_node(const struct site_node *n)
{
    if (n->state == SITE_NODE_OFF)
        return BOARD_OFF;
    if (n->state == SITE_NODE_DOWN || n->silent)
        return BOARD_DOWN;
    if (n->drained)
        return BOARD_DRAINED;
    return n->reserved ? BOARD_RESERVED : BOARD_FREE;
}

/* What no job has. */
static void count_rest(struct making *m)
{
    struct board *b = m->board;

    for (size_t i = 0; i < b->n_nodes; i++) {
        struct board_node *n = &b->nodes[i];
        const struct site_node *node = &b->site->nodes[n->node];
        enum board_use use = use_of_node(node);
        int32_t rest = MAX(node->devices - n->held, 0);

        if (use != BOARD_FREE) {
            b->used[n->kind][use] += rest;
            for (char *c = strchr(n->cells, '.'); c; c = strchr(c, '.'))
                *c = 'x';
            continue;
        }
        m->room.free[n->kind] += rest;
        for (int32_t k = 1; k <= MIN(rest, SITE_DEVICES); k++)
            m->room.nodes_with[n->kind][k]++;
    }
}

/* ---- jobs ---- */

static bool has_parts(const struct site_job *j)
{
    return j->n_parts > 0 && j->state != SITE_WAITING && j->state != SITE_ENDED;
}

static enum board_use use_of_job(const struct site_job *j, int busy, int64_t idle_ms)
{
    switch (j->state) {
    case SITE_STARTING:
        return BOARD_STARTING;
    case SITE_SUSPENDED:
        return BOARD_SUSPENDED;
    case SITE_ENDING:
        return BOARD_ENDING;
    default:
        break;
    }
    if (idle_ms)
        return BOARD_IDLE;
    return busy < 0 ? BOARD_UNKNOWN : BOARD_WORKS;
}

/* How one of its devices looks. */
static char cell_of(const struct making *m, uint32_t node, int device, enum board_use use)
{
    const struct node_report *r = NULL;
    double busy;

    switch (use) {
    case BOARD_STARTING:
        return 's';
    case BOARD_ENDING:
        return 'e';
    case BOARD_SUSPENDED:
        return 'z';
    default:
        break;
    }
    if (m->scene->answers.of)
        r = control_report(&m->scene->answers, node);
    busy = r && device < (int)r->n_busy ? r->busy[device] : -1;
    if (!(busy >= 0)) /* NaN, too */
        return '?';
    return (char)('0' + MIN((int)(busy * TENTHS), TENTHS - 1));
}

static void fill_part(struct making *m, uint32_t job, const struct site_part *p, enum board_use use)
{
    uint32_t at = p->node < m->scene->site->n_nodes ? m->at[p->node] : CONTROL_NONE;
    struct board_node *n = at == CONTROL_NONE ? NULL : &m->board->nodes[at];
    bool told = __builtin_popcount(p->devices) == p->count;
    int32_t left = p->count;

    if (!n || p->count <= 0)
        return;
    n->held += p->count;
    m->board->used[n->kind][use] += p->count;
    for (int i = 0; i < SITE_DEVICES && n->cells[i]; i++) {
        if (told ? !(p->devices >> i & 1) : n->cells[i] != '.' || left-- <= 0)
            continue;
        n->cells[i] = '?';
        if (told)
            n->cells[i] = cell_of(m, p->node, i, use);
        n->job[i] = job;
    }
}

/* Those whose devices Slurm tells come first: the others are drawn where room is left. */
static void fill_cells(struct making *m, const enum board_use *uses)
{
    const struct site *s = m->scene->site;

    for (int told = 1; told >= 0; told--)
        for (uint32_t i = 0; i < s->n_jobs; i++) {
            const struct site_job *j = &s->jobs[i];

            for (size_t k = 0; has_parts(j) && k < j->n_parts; k++)
                if ((__builtin_popcount(j->parts[k].devices) == j->parts[k].count) == told)
                    fill_part(m, i, &j->parts[k], uses[i]);
        }
}

static int look_at_jobs(struct making *m)
{
    const struct site *s = m->scene->site;
    struct board *b = m->board;
    enum board_use *uses = arena_alloc(&b->arena, s->n_jobs * sizeof(*uses));

    if (!uses)
        return -ENOMEM;
    for (uint32_t i = 0; i < s->n_jobs; i++) {
        const struct site_job *j = &s->jobs[i];
        struct board_job *row;
        int busy = -1;

        if (!has_parts(j) || j->devices <= 0)
            continue;
        row = ARENA_PUSH(&b->arena, &b->running, &b->n_running);
        if (!row)
            return -ENOMEM;
        if (m->scene->answers.of && j->state == SITE_RUNNING)
            busy = control_busy(s, j, &m->scene->answers);
        *row = (struct board_job){ .job = i, .busy = busy };
        if (j->state == SITE_RUNNING)
            row->idle_ms = bursts_idle_ms(&m->scene->seen[i].bursts, b->now_ms);
        uses[i] = use_of_job(j, busy, row->idle_ms);
    }
    fill_cells(m, uses);
    return 0;
}

/* Idle ones first, and of these those with most devices. */
struct ranked {
    struct board_job row;
    bool idle;
    int32_t devices;
};

static int compare_ranked(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    if (x->idle != y->idle)
        return x->idle ? -1 : 1;
    if (x->devices != y->devices)
        return x->devices > y->devices ? -1 : 1;
    return COMPARE(x->row.job, y->row.job);
}

static int rank_running(struct board *b)
{
    struct ranked *all = arena_alloc(&b->arena, b->n_running * sizeof(*all));

    if (!all)
        return -ENOMEM;
    for (size_t i = 0; i < b->n_running; i++)
        all[i] = (struct ranked){ b->running[i], b->running[i].idle_ms != 0,
                                  b->site->jobs[b->running[i].job].devices };
    if (b->n_running > 0)
        qsort(all, b->n_running, sizeof(*all), compare_ranked);
    for (size_t i = 0; i < b->n_running; i++)
        b->running[i] = all[i].row;
    return 0;
}

/* ---- the board ---- */

int board_make(struct board *ret, const struct board_scene *scene, struct err *e)
{
    struct making m = { .scene = scene, .board = ret };
    int rc;

    *ret = (struct board){ .site = scene->site, .now_ms = scene->answers.now_ms };
    rc = add_nodes(&m);
    if (rc == 0)
        rc = look_at_jobs(&m);
    if (rc == 0)
        rc = rank_running(ret);
    if (rc == 0)
        rc = board_line_up(ret);
    if (rc == 0)
        rc = board_sum_parties(ret, scene->seen);
    if (rc < 0) {
        board_done(ret);
        return err_nomem(e);
    }
    board_find_runs(ret, &scene->answers);
    count_rest(&m);
    board_share_out(ret, &m.room);
    return 0;
}

void board_done(struct board *b)
{
    arena_done(&b->arena);
    *b = (struct board){ .n_nodes = 0 };
}

int64_t board_used(const struct board *b, enum board_use use)
{
    int64_t sum = 0;

    for (size_t i = 0; i < b->n_kinds; i++)
        sum += b->used[i][use];
    return sum;
}
