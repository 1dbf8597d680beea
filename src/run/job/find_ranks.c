#include "run/job/find_ranks.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/compiler.h"

enum { DEPTH_MAX = 16, COMMAND_MAX = 512, LOOK_SAMPLES = 32 };

/* Of a CPU: who uses more does not only wait for its children. */
static const double computes = 0.05;

static size_t length(const char *command)
{
    const char *at = command;

    while (*at)
        at += strlen(at) + 1;
    return (size_t)(at - command);
}

/* How Python's and PyTorch's own helpers call themselves. */
static bool says_worker(const char *command)
{
    for (const char *at = command; *at; at += strlen(at) + 1)
        if (strstr(at, "multiprocessing.") || strstr(at, "compile_worker"))
            return true;
    return false;
}

static bool is_worker_of(const struct find_ranks *child, const struct find_ranks *parent)
{
    size_t len = length(child->command);

    if (len && len == length(parent->command) && !memcmp(child->command, parent->command, len))
        return true;
    return says_worker(child->command);
}

static bool is_rank(const struct find_ranks *all, size_t n, const struct find_ranks *k)
{
    bool alone = true;

    if (k->busy >= computes)
        return true;
    for (size_t i = 0; i < n; i++) {
        if (all[i].parent != k->pid || &all[i] == k)
            continue;
        if (is_worker_of(&all[i], k))
            return true;
        alone = false;
    }
    return alone;
}

static void find(const struct find_ranks *all, size_t n, const struct find_ranks *k,
                 const struct find_ranks *found[], size_t *n_found)
{
    const struct find_ranks *stack[DEPTH_MAX * 16];
    size_t depth = 0;

    stack[depth++] = k;
    for (size_t looked = 0; depth && looked < n; looked++) {
        k = stack[--depth];
        if (is_rank(all, n, k)) {
            if (*n_found < KIN_MAX)
                found[(*n_found)++] = k;
            continue;
        }
        for (size_t i = n; i-- > 0;)
            if (all[i].parent == k->pid && &all[i] != k && depth < ARRAY_SIZE(stack))
                stack[depth++] = &all[i];
    }
}

size_t find_ranks_list(const struct find_ranks *all, size_t n, pid_t ret[KIN_MAX])
{
    const struct find_ranks *found[KIN_MAX];
    size_t n_found = 0, kept = 0;
    bool any = false;

    if (n)
        find(all, n, &all[0], found, &n_found);
    for (size_t i = 0; i < n_found; i++)
        any |= found[i]->busy >= computes;
    for (size_t i = 0; i < n_found; i++)
        if (!any || found[i]->busy >= computes)
            ret[kept++] = found[i]->pid;
    return kept;
}

static void read_command(int proc, pid_t pid, char text[COMMAND_MAX])
{
    CLEANUP(closep) int fd = -1;
    char name[32];
    ssize_t len;

    memset(text, 0, COMMAND_MAX);
    snprintf(name, sizeof(name), "%d/cmdline", (int)pid);
    fd = openat(proc, name, O_RDONLY | O_CLOEXEC);
    len = fd < 0 ? 0 : read(fd, text, COMMAND_MAX - 2);
    if (len < 0)
        text[0] = 0;
}

static void find_ranks(struct find_ranks_watch *w, int proc, const struct family_kin *now, size_t n,
                       double seconds)
{
    CLEANUP(freep) struct find_ranks *all = calloc(KIN_MAX, sizeof(*all));
    CLEANUP(freep) char *commands = calloc(KIN_MAX, COMMAND_MAX);

    if (!all || !commands)
        return; /* those of before stay */
    for (size_t i = 0; i < n; i++) {
        char *command = commands + i * COMMAND_MAX;
        double used = now[i].cpu_s;

        for (size_t k = 0; k < w->n_before; k++)
            if (w->before[k].pid == now[i].pid)
                used -= w->before[k].cpu_s;
        read_command(proc, now[i].pid, command);
        all[i] = (struct find_ranks){ now[i].pid, now[i].parent, used / seconds, command };
    }
    w->n = find_ranks_list(all, n, w->ranks);
}

void find_ranks_look(struct find_ranks_watch *w, int proc, const struct family *f, double seconds)
{
    struct family_kin now[KIN_MAX];
    size_t n = family_kin(f, now, KIN_MAX);

    if (w->samples && seconds > 0 && (!w->n || w->samples % LOOK_SAMPLES == 0))
        find_ranks(w, proc, now, n, seconds);
    memcpy(w->before, now, n * sizeof(*now));
    w->n_before = n;
    w->samples++;
}
