/* Folders of rings: where they are made, and what is removed of observers that died. */
#include "run/ring/ring_folder.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tap.h"

static char base[] = "/tmp/brim-folder-XXXXXX";

static const char *below(const char *name, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s/%s", base, name);
    return path;
}

int main(void)
{
    const char *bases[] = { "/nonexistent/brim", base, NULL }, *nowhere[] = { bases[0], NULL };
    char old[PATH_MAX], ring[PATH_MAX], other[PATH_MAX];
    struct str path = STR_INIT(PATH_MAX);
    struct err e = { "" };
    struct stat st;
    FILE *f;

    if (!mkdtemp(base) || mkdir(below("brim-run-999999999-5", old), 0700) < 0 ||
        mkdir(below("brim-run-x", other), 0700) < 0 ||
        !(f = fopen(below("brim-run-999999999-5/rank-0-1.ring", ring), "we"))) {
        printf("Bail out! %s: %m\n", base);
        return 1;
    }
    fclose(f);
    is_int(ring_folder_make(bases, &path, &e), 0, "a folder where there can be one %s", e.text);
    ok(stat(str_text(&path), &st) == 0 && (st.st_mode & 0777) == 0700, "for its owner alone: %s",
       str_text(&path));
    ok(access(old, F_OK) < 0, "one of a process that is no more goes, with its rings");
    ok(access(other, F_OK) == 0, "what has no such name stays");
    is_int(ring_folder_make(bases, &path, &e), -EEXIST, "another one of this process: %s", e.text);
    ring_folder_remove(str_text(&path));
    ok(access(str_text(&path), F_OK) < 0, "it is gone");
    ring_folder_remove("/nonexistent/brim");
    ok(ring_folder_make(nowhere, &path, &e) < 0 && strstr(e.text, "/nonexistent"), "nowhere: %s",
       e.text);
    str_done(&path);
    (void)rmdir(other);
    (void)rmdir(base);
    return done();
}
