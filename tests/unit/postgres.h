/* A PostgreSQL of the test's own (Debian: postgresql), below a folder, which listens on a socket
 * there and ends with the test:
 *
 *     struct postgres p;
 *     if (postgres_start(&p)) ... p.address ...
 *     postgres_stop(&p);
 */
#ifndef BRIM_TESTS_POSTGRES_H
#define BRIM_TESTS_POSTGRES_H
#include <glob.h>
#include <pwd.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "folder.h"

struct postgres {
    char folder[PATH_MAX], address[PATH_MAX + 64], programs[PATH_MAX];
    const char *why; /* there is none */
    pid_t pid;
};

/* Its own programs are on no PATH. */
static inline bool postgres_find(struct postgres *p)
{
    glob_t found;
    bool there = glob("/usr/lib/postgresql/*/bin/initdb", 0, NULL, &found) == 0;

    if (there)
        snprintf(p->programs, sizeof(p->programs), "%.*s",
                 (int)(strlen(found.gl_pathv[0]) - strlen("/initdb")), found.gl_pathv[0]);
    globfree(&found);
    return there;
}

/* Begin one of its programs, as a user who is not root: it does not run as root. */
static inline pid_t postgres_begin(const struct postgres *p, const char *name,
                                   const char *const *words)
{
    const struct passwd *user = getuid() == 0 ? getpwnam("nobody") : NULL;
    char path[PATH_MAX + 16];
    pid_t pid = fork();

    if (pid != 0)
        return pid;
    snprintf(path, sizeof(path), "%s/%s", p->programs, name);
    if (getuid() == 0 && (!user || setgid(user->pw_gid) < 0 || setuid(user->pw_uid) < 0))
        _exit(1);
    prctl(PR_SET_PDEATHSIG, SIGQUIT); /* at which it removes what it has in /dev/shm */
    if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr) ||
        chdir(p->folder) < 0)
        _exit(1);
    execv(path, (char *const *)(uintptr_t)words);
    _exit(1);
}

static inline bool postgres_make(const struct postgres *p, const char *data)
{
    const char *const words[] = { "initdb", "-D",        data,          "-A", "trust", "-U",
                                  "brim",   "--no-sync", "--no-locale", "-E", "UTF8",  NULL };
    pid_t pid = postgres_begin(p, "initdb", words);
    int status = 1;

    return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

/* Its state is in the last line of that file. */
static inline bool postgres_is_ready(const char *path)
{
    char text[1000];
    FILE *f = fopen(path, "re");
    size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;

    if (f)
        fclose(f);
    text[n] = '\0';
    return strstr(text, "\nready") != NULL;
}

/* Wait until it takes connections, or it has ended. */
static inline bool postgres_wait(struct postgres *p)
{
    char path[PATH_MAX + 32];
    int status;

    snprintf(path, sizeof(path), "%s/data/postmaster.pid", p->folder);
    while (!postgres_is_ready(path)) {
        if (waitpid(p->pid, &status, WNOHANG) == p->pid) {
            p->pid = 0;
            return false;
        }
        usleep(10000);
    }
    return true;
}

/* Its server; again after postgres_end(). */
static inline void postgres_again(struct postgres *p)
{
    char data[PATH_MAX + 8];
    const char *const words[] = { "postgres",
                                  "-D",
                                  data,
                                  "-k",
                                  p->folder,
                                  "-c",
                                  "listen_addresses=",
                                  "-c",
                                  "fsync=off",
                                  "-c",
                                  "shared_buffers=4MB",
                                  NULL };

    snprintf(data, sizeof(data), "%s/data", p->folder);
    p->pid = postgres_begin(p, "postgres", words);
    if (p->pid > 0 && postgres_wait(p))
        return;
    printf("Bail out! PostgreSQL does not start in %s\n", p->folder);
    exit(1);
}

static inline bool postgres_start(struct postgres *p)
{
    const struct passwd *user = getuid() == 0 ? getpwnam("nobody") : NULL;
    char data[PATH_MAX + 8];

    *p = (struct postgres){ .why = "no initdb (Debian: postgresql)" };
    if (!postgres_find(p))
        return false;
    folder_make(p->folder);
    snprintf(data, sizeof(data), "%s/data", p->folder);
    if (user && chown(p->folder, user->pw_uid, user->pw_gid) < 0)
        exit(1);
    if (!postgres_make(p, data)) {
        printf("Bail out! PostgreSQL makes no %s\n", data);
        exit(1);
    }
    postgres_again(p);
    snprintf(p->address, sizeof(p->address), "postgresql://brim@/postgres?host=%s", p->folder);
    return true;
}

/* At once: nothing of it is kept. */
static inline void postgres_end(struct postgres *p)
{
    if (p->pid > 0) {
        kill(p->pid, SIGQUIT);
        waitpid(p->pid, NULL, 0);
    }
    p->pid = 0;
}

static inline void postgres_stop(struct postgres *p)
{
    postgres_end(p);
    if (*p->folder)
        folder_remove(p->folder);
}

#endif
