#include "run/profile/job_library.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

enum { CHOICES = 4 };

#if defined(__x86_64__)
#define TRIPLET "x86_64-linux-gnu"
#elif defined(__aarch64__)
#define TRIPLET "aarch64-linux-gnu"
#elif defined(__powerpc64__)
#define TRIPLET "powerpc64le-linux-gnu"
#elif defined(__riscv)
#define TRIPLET "riscv64-linux-gnu"
#else
#define TRIPLET "linux-gnu"
#endif

/* The first is one text: NOLINTNEXTLINE(bugprone-suspicious-missing-comma) */
const char *const library_folders[] = { "/usr/lib/" TRIPLET, "/usr/lib64", "/usr/lib",
                                        "/usr/local/lib", NULL };

struct known {
    const char *name;
    const char *choices[CHOICES]; /* the best first */
    const char *package;
    const char *why;
};

/* Folders of Debian's alternatives: each has a libblas.so.3 in it. */
static const struct known blas[] = {
    { "openblas",
      { "openblas-pthread", "openblas-openmp", "openblas-serial" },
      "libopenblas0-pthread",
      NULL },
    { "blis", { "blis-pthread", "blis-openmp", "blis-serial" }, "libblis4-pthread", NULL },
    { "reference", { "blas" }, "libblas3", NULL },
    { "mkl",
      { NULL },
      "libmkl-rt",
      "MKL has no folder with a libblas.so.3 of its own: choose it with update-alternatives "
      "--config libblas.so.3-" TRIPLET " (package libmkl-rt)" },
};

static const struct known malloc_libraries[] = {
    { "jemalloc", { "libjemalloc.so.2", "libjemalloc.so.1" }, "libjemalloc2", NULL },
    { "tcmalloc",
      { "libtcmalloc_minimal.so.4", "libtcmalloc.so.4" },
      "libtcmalloc-minimal4",
      NULL },
};

/* file: what each choice has in it. */
struct table {
    const struct known *rows;
    size_t n;
    const char *file;
};

static int find(struct arena *a, const struct table *t, const char *const *folders,
                const char *name, struct job_library *ret)
{
    const struct known *known = t->rows;
    size_t i = 0;

    *ret = (struct job_library){ .path = NULL };
    while (i < t->n && strcmp(known[i].name, name) != 0)
        i++;
    if (i == t->n)
        return 0;
    ret->package = known[i].package;
    ret->why = known[i].why;
    folders = folders ? folders : library_folders;
    for (size_t c = 0; c < CHOICES && known[i].choices[c]; c++)
        for (size_t f = 0; folders[f]; f++) {
            const char *path = arena_printf(a, "%s/%s", folders[f], known[i].choices[c]);
            const char *whole = path ? arena_printf(a, "%s%s", path, t->file) : NULL;

            if (!whole)
                return -ENOMEM;
            if (access(whole, R_OK) < 0)
                continue;
            ret->path = path;
            return 0;
        }
    return 0;
}

int job_library_blas(struct arena *a, const char *const *folders, const char *name,
                     struct job_library *ret)
{
    static const struct table table = { blas, ARRAY_SIZE(blas), "/libblas.so.3" };

    return find(a, &table, folders, name, ret);
}

int job_library_malloc(struct arena *a, const char *const *folders, const char *name,
                       struct job_library *ret)
{
    static const struct table table = { malloc_libraries, ARRAY_SIZE(malloc_libraries), "" };

    return find(a, &table, folders, name, ret);
}

const char *job_library_blas_name(struct arena *a, const char *path)
{
    static const char *const known[] = { "openblas", "mkl", "blis", "atlas", "armpl", "nvpl" };
    CLEANUP(freep) char *whole = realpath(path, NULL);
    const char *slash;

    path = whole ? whole : path;
    for (size_t i = 0; i < ARRAY_SIZE(known); i++)
        if (strstr(path, known[i]))
            return known[i];
    if (strstr(path, "/blas/") || strstr(path, "refblas"))
        return "reference";
    slash = strrchr(path, '/');
    return arena_strdup(a, slash ? slash + 1 : path);
}

bool job_library_same(const char *one, const char *other)
{
    struct stat a, b;

    return stat(one, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}
