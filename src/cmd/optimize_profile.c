#include "cmd/optimize_profile.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "base/conf.h"
#include "base/file.h"
#include "run/archive.h"

enum { PROFILE_BYTES = 64 << 10, NAME_MOST = 64 };

/* FNV-1a, 64 bits: tells jobs apart; nobody gains by making two alike. */
static uint64_t hash_text(uint64_t hash, const char *text)
{
    do
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3ULL;
    while (*text++);
    return hash;
}

static const char *note_of(const struct run *r, const char *name)
{
    for (size_t i = 0; i < r->n_environment; i++)
        if (!strcmp(r->environment[i].name, name))
            return r->environment[i].value;
    return "?";
}

static int fill(const struct optimize_profile_about *about, struct profile *p, struct err *e)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    CLEANUP(str_done) struct str date = STR_INIT(64);
    const struct run *r = about->run;
    uint64_t hash = hash_text(hash_text(0xcbf29ce484222325ULL, r->command), r->folder);
    const char *key = arena_printf(&a, "%016llx", (unsigned long long)hash);
    const char *machine = arena_printf(&a, "%s, %s CPUs", note_of(r, "cpu"), note_of(r, "cpus"));
    int rc = key && machine
                 ? profile_init(p, r->name, key, machine, r->n_ranks ? r->ranks[0].framework : "")
                 : -ENOMEM;

    clock_add_iso(&date, about->wall_ns);
    if (rc < 0 || str_error(&date) || date.len < 10)
        return err_nomem(e);
    date.data[10] = 0; /* the day */
    return session_profile(about->session, str_text(&date), p, e);
}

/* FOLDER/NAME-KEY.ini, in a name whose letters no shell minds. */
static int make_path(const struct profile *p, struct str *path, struct err *e)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    const char *folder = conf_state(&a, "profiles");
    int rc = folder ? runs_make(folder, e) : err_nomem(e);

    if (rc < 0)
        return rc;
    str_addf(path, "%s/", folder);
    for (size_t i = 0; p->name[i] && i < NAME_MOST; i++)
        str_add_char(path, isalnum((unsigned char)p->name[i]) || strchr("._-", p->name[i])
                               ? p->name[i]
                               : '_');
    str_addf(path, "-%s.ini", p->key);
    return str_error(path) ? err_nomem(e) : 0;
}

int optimize_profile(const struct optimize_profile_about *about, struct str *path, struct err *e)
{
    CLEANUP(str_done) struct str text = STR_INIT(PROFILE_BYTES);
    struct profile p = { .count = 0 };
    int rc = fill(about, &p, e);

    str_reset(path);
    if (rc == 0 && p.count && about->file)
        str_add(path, about->file);
    else if (rc == 0 && p.count)
        rc = make_path(&p, path, e);
    if (rc == 0 && p.count) {
        profile_write(&p, &text);
        rc = str_error(&text) || str_error(path)
                 ? err_nomem(e)
                 : file_write(str_text(path), str_text(&text), text.len, e);
    }
    profile_done(&p);
    return rc;
}
