#include "run/profile/job_key.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/str.h"
#include "base/file.h"
#include "base/parse.h"
#include "model/machine/cpulist.h"
#include "run/job/environ.h"
#include "run/profile/python.h"

enum { FILE_MAX = 1 << 20, TEXT = 64 << 10, KINDS = 16 };

/* ---- the key ---- */

/* FNV-1a, 64 bits: tells jobs apart; nobody gains by making two alike. */
static void hash_add(uint64_t *hash, const void *data, size_t len)
{
    const unsigned char *bytes = data;

    for (size_t i = 0; i < len; i++)
        *hash = (*hash ^ bytes[i]) * 0x100000001b3ULL;
}

/* Words and files with their ends, so that none runs into the next. */
static void hash_text(uint64_t *hash, const char *text, size_t len)
{
    static const char end = 0;

    hash_add(hash, text, len);
    hash_add(hash, &end, 1);
}

static bool is_small_file(const char *path)
{
    struct stat st;

    return *path && stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= FILE_MAX;
}

static int hash_word(uint64_t *hash, const char *word)
{
    CLEANUP(str_done) struct str text = STR_INIT(FILE_MAX);
    const char *equals = strchr(word, '='), *path = word;
    int rc;

    if (equals && word[0] == '-')
        path = equals + 1;
    hash_text(hash, word, strlen(word));
    if (!is_small_file(path))
        return 0;
    rc = file_read(path, &text, NULL);
    if (rc == 0)
        hash_text(hash, str_text(&text), text.len);
    return rc == -ENOMEM ? rc : 0;
}

static int make_key(struct arena *a, char *const *argv, const char **ret)
{
    const char *slash = argv[0] ? strrchr(argv[0], '/') : NULL;
    const char *name = slash ? slash + 1 : argv[0];
    uint64_t hash = 0xcbf29ce484222325ULL;
    int rc = 0;

    if (name)
        hash_text(&hash, name, strlen(name));
    for (size_t i = 1; name && argv[i] && rc == 0; i++)
        rc = hash_word(&hash, argv[i]);
    if (rc == 0)
        *ret = name ? arena_printf(a, "%016llx", (unsigned long long)hash) : "";
    return rc < 0 || !*ret ? -ENOMEM : 0;
}

/* ---- the machine ---- */

/* The line of a file of "name : value" lines into value; false. */
static bool line_of(struct tree *t, const char *path, const char *name, char *value, size_t size)
{
    char text[4096];
    const char *at;

    if (tree_read(t, path, text, sizeof(text)) <= 0)
        return false;
    at = strstr(text, name);
    at = at ? strchr(at, ':') : NULL;
    if (!at)
        return false;
    at += 1 + strspn(at + 1, " \t");
    snprintf(value, size, "%.*s", (int)strcspn(at, "\n"), at);
    return value[0] != 0;
}

/* Accelerators of one kind, and how many. */
struct kind {
    uint16_t vendor, device;
    int count;
};

static long long number_of(struct tree *t, const char *address, const char *file)
{
    char path[TREE_PATH];

    snprintf(path, sizeof(path), "sys/bus/pci/devices/%s/%s", address, file);
    return tree_number(t, path);
}

/* 3D controllers and processing accelerators; of display controllers those that the catalogue
 * has. */
static void count_device(const struct job_key_about *about, const char *address,
                         struct kind kinds[KINDS])
{
    long long class = number_of(about->tree, address, "class") >> 8;
    uint16_t vendor, device;
    size_t i = 0;

    if (class != 0x0302 && class != 0x1200 && class != 0x0300 && class != 0x0380)
        return;
    vendor = (uint16_t)number_of(about->tree, address, "vendor");
    device = (uint16_t)number_of(about->tree, address, "device");
    if (class >> 8 == 3 && class != 0x0302 &&
        (!about->devices || catalogue_find(about->devices, vendor, device) < 0))
        return;
    while (i < KINDS && kinds[i].count && (kinds[i].vendor != vendor || kinds[i].device != device))
        i++;
    if (i == KINDS)
        return;
    kinds[i].vendor = vendor;
    kinds[i].device = device;
    kinds[i].count++;
}

static void add_kind(const struct job_key_about *about, const struct kind *k, struct str *out)
{
    int row = about->devices ? catalogue_find(about->devices, k->vendor, k->device) : -1;

    str_addf(out, ", %d x ", k->count);
    if (row >= 0)
        str_add(out, about->devices->products[row].name);
    else
        str_addf(out, "%04x:%04x", k->vendor, k->device);
}

static int add_accelerators(const struct job_key_about *about, struct str *out)
{
    CLEANUP(str_done) struct str list = STR_INIT(TREE_LIST_MAX);
    const char *visible = environ_get(about->env, "CUDA_VISIBLE_DEVICES");
    struct kind kinds[KINDS] = { { .count = 0 } };
    char address[64];
    int rc = tree_list(about->tree, "sys/bus/pci/devices", &list);

    if (rc < 0)
        return rc == -ENOMEM ? rc : 0;
    for (const char *at = str_text(&list); *at; at += strcspn(at, "\n"), at += *at == '\n') {
        snprintf(address, sizeof(address), "%.*s", (int)MIN(strcspn(at, "\n"), (size_t)40), at);
        count_device(about, address, kinds);
    }
    for (size_t i = 0; i < KINDS && kinds[i].count; i++)
        add_kind(about, &kinds[i], out);
    if (kinds[0].count && visible) {
        int n = *visible && *visible != '-';

        for (const char *c = visible; n && *c; c++)
            n += *c == ',';
        str_addf(out, " (%d visible)", n);
    }
    return 0;
}

/* Memory in GiB with two digits: what the kernel keeps for itself varies by version. */
static double about_gib(double kib)
{
    double gib = kib / (1 << 20), unit = 1;

    while (gib / unit >= 100)
        unit *= 10;
    return (double)(long)(gib / unit + 0.5) * unit;
}

static int make_machine(struct arena *a, const struct job_key_about *about, const char **ret)
{
    CLEANUP(str_done) struct str out = STR_INIT(TEXT);
    char text[256];
    uint64_t kib;
    int cpus = cpulist_count(about->cpus), rc;

    if (line_of(about->tree, "proc/cpuinfo", "model name", text, sizeof(text)))
        str_add(&out, text);
    else
        str_add(&out, "CPU");
    if (cpus > 0)
        str_addf(&out, ", %d CPU%s", cpus, str_plural(cpus));
    if (line_of(about->tree, "proc/meminfo", "MemTotal", text, sizeof(text)) &&
        parse_digits(text, 10, 15, &kib) > 0)
        str_addf(&out, ", %.0f GiB", about_gib((double)kib));
    rc = add_accelerators(about, &out);
    *ret = rc < 0 || str_error(&out) ? NULL : arena_strdup(a, str_text(&out));
    return *ret ? 0 : -ENOMEM;
}

/* ---- versions ---- */

static int make_versions(struct arena *a, const struct job_key_about *about, const char **ret)
{
    CLEANUP(str_done) struct str out = STR_INIT(TEXT);
    char text[64];
    int rc = python_versions(about->argv, about->env, &out);

    if (tree_line(about->tree, "sys/module/nvidia/version", text, sizeof(text)) > 0)
        str_addf(&out, "%snvidia driver %s", out.len ? ", " : "", text);
    *ret = rc < 0 || str_error(&out) ? NULL : arena_strdup(a, str_text(&out));
    return *ret ? 0 : -ENOMEM;
}

/* A profile is printable ASCII: what is not becomes '?', here as there, so that both are alike. */
static void make_plain(const char **text, struct arena *a, int *rc)
{
    char *plain = arena_strndup(a, *text, strnlen(*text, PROFILE_TEXT_MAX));

    for (char *c = plain; c && *c; c++)
        if (*c < ' ' || *c > '~')
            *c = '?';
    if (!plain)
        *rc = -ENOMEM;
    *text = plain;
}

int job_key_make(struct arena *a, const struct job_key_about *about, struct job_key *ret)
{
    struct job_key made = { .key = NULL };
    int rc = make_key(a, about->argv, &made.key);

    if (rc == 0)
        rc = make_machine(a, about, &made.machine);
    if (rc == 0)
        rc = make_versions(a, about, &made.versions);
    if (rc == 0)
        make_plain(&made.machine, a, &rc);
    if (rc == 0)
        make_plain(&made.versions, a, &rc);
    if (rc == 0)
        *ret = made;
    return rc;
}

static bool differs(const char *then, const char *now)
{
    return *then && *now && strcmp(then, now) != 0;
}

unsigned job_key_differs(const struct profile *p, const struct job_key *now)
{
    return (differs(p->key, now->key) ? JOB_COMMAND : 0U) |
           (differs(p->machine, now->machine) ? JOB_MACHINE : 0U) |
           (differs(p->versions, now->versions) ? JOB_VERSIONS : 0U);
}

void job_key_tell(const struct profile *p, const struct job_key *now, struct str *out)
{
    unsigned all = job_key_differs(p, now);

    if (all & JOB_MACHINE)
        str_addf(out, "on another machine (%s; here %s)", p->machine, now->machine);
    if (all & JOB_VERSIONS)
        str_addf(out, "%swith other versions (%s; now %s)", all & JOB_MACHINE ? " and " : "",
                 p->versions, now->versions);
    if (all & JOB_COMMAND)
        str_addf(out, "%sfor another command, or its script has changed",
                 all != JOB_COMMAND ? " and " : "");
}
