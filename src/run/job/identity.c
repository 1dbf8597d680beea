#include "run/job/identity.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/clock.h"
#include "base/file.h"
#include "run/job/environ.h"

enum { NAMES_MAX = 6, CLAIMS = 0x10000 };

/* Observers of one job start within so long; a key that a launcher may use again is not looked at
 * after it. */
#define TOGETHER_NS (60 * NS_PER_S)

static int number_of(char *const *env, const char *const names[NAMES_MAX])
{
    int value = -1;

    for (size_t i = 0; i < NAMES_MAX && names[i] && value < 0; i++)
        value = environ_number(env, names[i]);
    return value;
}

/* Add what has no slash: it becomes part of a file's name. */
static void add_key(struct identity *i, const char *text)
{
    size_t len = strlen(i->key);

    for (; *text && len + 1 < sizeof(i->key); text++) {
        if (*text > ' ' && *text != '/' && *text != 0x7f)
            i->key[len++] = *text;
        else
            i->key[len++] = '_';
    }
    i->key[len] = 0;
}

/* A step of Slurm. Numbers of jobs are a cluster's own, and a job that is requeued keeps its
 * number, and those of its steps. */
static void add_slurm(struct identity *i, char *const *env, const char *job, const char *step)
{
    const char *cluster = environ_get(env, "SLURM_CLUSTER_NAME");
    const char *restart = environ_get(env, "SLURM_RESTART_COUNT");

    i->unique = true;
    add_key(i, "slurm-");
    add_key(i, cluster ? cluster : "");
    add_key(i, cluster ? "-" : "");
    add_key(i, job);
    add_key(i, ".");
    add_key(i, step);
    add_key(i, restart ? "-" : "");
    add_key(i, restart ? restart : "");
}

void identity_read(struct identity *i, char *const *env, int parent)
{
    static const char *const ranks[NAMES_MAX] = { "RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK",
                                                  "PMI_RANK", "SLURM_PROCID" };
    static const char *const locals[NAMES_MAX] = { "LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK",
                                                   "MPI_LOCALRANKID", "SLURM_LOCALID" };
    static const char *const worlds[NAMES_MAX] = { "WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
                                                   "SLURM_NTASKS" };
    const char *slurm = environ_get(env, "SLURM_JOB_ID"), *step = environ_get(env, "SLURM_STEP_ID");
    const char *elastic = environ_get(env, "TORCHELASTIC_RUN_ID");
    const char *pmix = environ_get(env, "PMIX_NAMESPACE");
    const char *ompi = environ_get(env, "OMPI_MCA_ess_base_jobid");
    const char *port = environ_get(env, "MASTER_PORT");
    char text[IDENTITY_KEY];

    *i = (struct identity){ .rank = number_of(env, ranks),
                            .local_rank = number_of(env, locals),
                            .world = number_of(env, worlds) };
    if (i->world <= 1 || i->rank < 0)
        return;
    if (elastic && port) {
        snprintf(text, sizeof(text), "torch-%s-%s-%d", elastic, port, parent);
        add_key(i, text);
    } else if (pmix || ompi) {
        i->unique = true;
        add_key(i, "mpi-");
        add_key(i, pmix ? pmix : ompi);
    } else if (slurm && step && environ_get(env, "SLURM_PROCID")) {
        add_slurm(i, env, slurm, step);
    } else if (port) {
        snprintf(text, sizeof(text), "master-%s-%d", port, parent);
        add_key(i, text);
    }
}

void identity_make(struct identity *i, int64_t wall_ns, unsigned chance)
{
    time_t seconds = (time_t)(wall_ns / NS_PER_S);
    struct tm t;

    if (!gmtime_r(&seconds, &t))
        t = (struct tm){ .tm_year = 70, .tm_mday = 1 };
    snprintf(i->id, sizeof(i->id), "%04d%02d%02d-%02d%02d%02d-%04x", t.tm_year + 1900, t.tm_mon + 1,
             t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec, chance & 0xffff);
}

int identity_claim(struct identity *i, const char *runs, int64_t wall_ns, unsigned chance,
                   struct err *e)
{
    char folder[PATH_MAX];
    int rc = -EEXIST;

    for (unsigned tries = 0; rc == -EEXIST && tries < CLAIMS; tries++) {
        identity_make(i, wall_ns, chance + tries);
        if (snprintf(folder, sizeof(folder), "%s/%s", runs, i->id) >= (int)sizeof(folder))
            return err_set(e, -ENAMETOOLONG, "%s: %s", runs, strerror(ENAMETOOLONG));
        rc = mkdir(folder, 0700) < 0 ? -errno : 0;
    }
    return rc < 0 ? err_set(e, rc, "%s: %s", folder, strerror(-rc)) : 0;
}

void identity_release(const struct identity *i, const char *runs)
{
    char folder[PATH_MAX];

    if (snprintf(folder, sizeof(folder), "%s/%s", runs, i->id) < (int)sizeof(folder))
        (void)rmdir(folder);
}

static bool is_id(const char *text)
{
    static const char safe[] = "0123456789abcdef-";

    return strlen(text) == 20 && strspn(text, safe) == 20 && text[0] != '-';
}

/* What another one wrote; false when there is nothing, or what an earlier job left. */
static bool read_id(struct identity *i, const char *path, int64_t wall_ns)
{
    CLEANUP(str_done) struct str text = STR_INIT(256);
    struct stat st;

    if (lstat(path, &st) < 0 || file_read_regular(path, &text, NULL) < 0 || !is_id(str_text(&text)))
        return false;
    if (!i->unique && wall_ns - (int64_t)st.st_mtim.tv_sec * NS_PER_S > TOGETHER_NS) {
        unlink(path);
        return false;
    }
    memcpy(i->id, str_text(&text), 21);
    return true;
}

/* Write it beside and link it: of several the first one wins, and nobody reads half a name. */
static int write_id(const struct identity *i, const char *path)
{
    char draft[PATH_MAX];
    CLEANUP(closep) int fd = file_draft(AT_FDCWD, path, 0600, draft, sizeof(draft));
    int rc = 0;

    if (fd < 0)
        return fd;
    if (write(fd, i->id, strlen(i->id)) != (ssize_t)strlen(i->id))
        rc = -EIO;
    if (rc == 0 && link(draft, path) < 0)
        rc = -errno;
    unlink(draft);
    return rc;
}

/* The one that is there, or ours. */
static int share(struct identity *i, const char *path, int64_t wall_ns)
{
    int rc;

    if (read_id(i, path, wall_ns))
        return 0;
    rc = write_id(i, path);
    return rc == -EEXIST && read_id(i, path, wall_ns) ? 0 : rc;
}

int identity_share(struct identity *i, const char *runs, int64_t wall_ns, struct err *e)
{
    const struct identity own = *i;
    char path[PATH_MAX];
    int rc;

    if (!i->key[0])
        return 0;
    if (snprintf(path, sizeof(path), "%s/.job-%s", runs, i->key) >= (int)sizeof(path))
        return err_set(e, -ENAMETOOLONG, "%s: %s", runs, strerror(ENAMETOOLONG));
    rc = share(i, path, wall_ns);
    if (strcmp(i->id, own.id) != 0)
        identity_release(&own, runs);
    return rc < 0 ? err_set(e, rc, "%s: %s", path, strerror(-rc)) : 0;
}
