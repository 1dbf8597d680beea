/* Which CPUs a rank is bound to, or why to none. The file is a transcript: "$ machine" begins one
 * without files, "< PATH TEXT" is a file of its /sys, "$ numa CPUS VARIABLE=VALUE... -- COMMAND..."
 * and "$ cores ..." ask for a binding of a process that may use those CPUs; "$ one CPUS" asks for
 * one CPU of each core of a list.
 *
 *     t_run_job_binding FILE */
#include "run/job/binding.h"

#include "folder.h"
#include "golden.h"

enum { ROOM = 1 << 20, WORDS = 40 };

static void bind_so(const char *root, char **words, struct str *out)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    CLEANUP(tree_closep) struct tree *t = NULL;
    char *none[] = { NULL }, **argv = none, **env = words + 2;
    struct binding_about about = { .cpus = words[1], .env = env };
    char why[BINDING_WHY];
    const char *list = NULL;
    struct err e = { "" };
    int rc;

    for (char **at = env; *at; at++)
        if (!strcmp(*at, "--")) {
            *at = NULL;
            argv = at + 1;
            break;
        }
    about.argv = argv;
    folder_need(tree_open_dir(&t, root, &e), e.text);
    about.tree = t;
    if (!strcmp(words[0], "one")) {
        str_addf(out, "%s\n", binding_cores(&a, t, words[1]));
        return;
    }
    rc = binding_cpus(&a, &about, words[0], &list, why);
    str_addf(out, "%d %s%s%s\n", rc, list ? list : "none", *why ? ": " : "", why);
}

int main(int argc, char **argv)
{
    CLEANUP(str_done) struct str out = STR_INIT(ROOM);
    char root[PATH_MAX], *file, *line, *at;

    if (argc != 2) {
        printf("Bail out! FILE\n");
        return 1;
    }
    if (!folder_can_copy()) {
        puts("1..0 # SKIP no openat2");
        return 0;
    }
    folder_make(root);
    file = at = golden_read(argv[1]);
    while ((line = strsep(&at, "\n"))) {
        char *words[WORDS + 1] = { NULL }, *rest = line + 2;
        size_t n = 0;

        if (strncmp(line, "$ ", 2) != 0 && strncmp(line, "< ", 2) != 0)
            continue;
        str_addf(&out, "%s\n", line);
        while (rest && n < WORDS)
            words[n++] = strsep(&rest, " ");
        if (*line == '<') {
            folder_text(root, words[0], words[1]);
        } else if (!strcmp(words[0], "machine")) {
            folder_remove(root);
            folder_make(root);
        } else {
            bind_so(root, words, &out);
        }
    }
    folder_remove(root);
    golden(argv[1], str_text(&out));
    free(file);
    return done();
}
