/* Which engine a command speaks to. */
#include "cmd/queue/engine.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "folder.h"
#include "queue/client.h"
#include "tap.h"

static bool there;

bool queue_is_there(const char *folder)
{
    return there && !strcmp(folder, "/q");
}

static void test_choose(void)
{
    static const struct {
        const char *asked, *directory;
        struct engine_there there;
        int rc;
        enum engine engine;
        const char *what;
    } rows[] = {
        { NULL, NULL, { false, false }, 0, ENGINE_LOCAL, "nothing is there" },
        { NULL, NULL, { true, false }, 0, ENGINE_LOCAL, "there is a queue" },
        { NULL, NULL, { false, true }, 0, ENGINE_SLURM, "there is Slurm" },
        { NULL, NULL, { true, true }, 0, ENGINE_LOCAL, "there is both" },
        { "local", NULL, { false, true }, 0, ENGINE_LOCAL, "the queue is asked for" },
        { "slurm", NULL, { true, false }, 0, ENGINE_SLURM, "Slurm is asked for" },
        { NULL, "/x", { false, true }, 0, ENGINE_LOCAL, "a folder is named" },
        { "local", "/x", { false, true }, 0, ENGINE_LOCAL, "both are of the queue" },
        { "slurm", "/x", { false, true }, ERR_USAGE, ENGINE_LOCAL, "one is of another engine" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        enum engine got = ENGINE_LOCAL;

        is_int(engine_choose(&got, rows[i].asked, rows[i].directory, &rows[i].there, NULL),
               rows[i].rc, "an engine is chosen where %s", rows[i].what);
        is_int(got, rows[i].engine, "the engine is right where %s", rows[i].what);
    }
}

static enum engine found(const char *asked)
{
    enum engine got = ENGINE_N;

    (void)!engine_of(&got, asked, NULL, "/q", NULL);
    return got;
}

static void test_found(void)
{
    char folder[PATH_MAX], conf[PATH_MAX + 16], sbatch[PATH_MAX + 16];
    enum engine got;
    struct err e = { "" };

    folder_make(folder);
    snprintf(conf, sizeof(conf), "%s/slurm.conf", folder);
    snprintf(sbatch, sizeof(sbatch), "%s/sbatch", folder);
    setenv("SLURM_CONF", conf, 1);
    setenv("PATH", folder, 1);
    is_int(found(NULL), ENGINE_LOCAL, "a slurm.conf that is not there is no Slurm");
    is_int(engine_of(&got, "slurm", NULL, "/q", &e), -ENOENT, "one that is asked for is told");
    ok(strstr(e.text, "SLURM_CONF: ") && strstr(e.text, "No such file"),
       "the error names the file: %s", e.text);
    fclose(fopen(conf, "w"));
    is_int(found(NULL), ENGINE_LOCAL, "without sbatch it is no Slurm");
    fclose(fopen(sbatch, "w"));
    chmod(sbatch, 0755);
    is_int(found(NULL), ENGINE_SLURM, "with both it is");
    there = true;
    is_int(found(NULL), ENGINE_LOCAL, "a queue that is there comes first");
    is_int(found("slurm"), ENGINE_SLURM, "Slurm that is asked for comes before a queue");
    folder_remove(folder);
}

int main(void)
{
    test_choose();
    test_found();
    return done();
}
