#include "near.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH = 512, LINE = 4096, NAME = 64 };

/* A number at *s below 'below', which is moved behind it; -1. */
static int number(const char **s, int below)
{
    int n = 0;

    if (!isdigit((unsigned char)**s))
        return -1;
    for (; isdigit((unsigned char)**s) && n < below; (*s)++)
        n = n * 10 + (**s - '0');
    return n < below ? n : -1;
}

/* "0,3" into numbers; how many, -1 for what is no such list. */
static int read_list(const char *s, int list[NEAR_GPUS])
{
    int n = 0;

    do {
        int one = number(&s, NEAR_GPUS);

        if (one < 0 || n == NEAR_GPUS)
            return -1;
        list[n++] = one;
    } while (*s++ == ',');
    return s[-1] == '\0' ? n : -1;
}

static bool has(const int *list, int n, int number)
{
    for (int i = 0; i < n; i++)
        if (list[i] == number)
            return true;
    return false;
}

const char *near_gpus(const char *visible, const char *granted, uint64_t *ret)
{
    int own[NEAR_GPUS], all[NEAR_GPUS];
    int n = read_list(visible, own), n_all = read_list(granted, all);
    uint64_t bits = 0;

    if (!*visible && !*granted)
        return "it has no GPUs";
    if (n < 0 || n_all < 0)
        return "Slurm does not tell the numbers of its GPUs";
    for (int i = 0; i < n; i++) {
        int as_is = has(all, n_all, own[i]) ? own[i] : -1;
        int counted = own[i] < n_all ? all[own[i]] : -1;

        if (as_is >= 0 && counted >= 0 && as_is != counted)
            return "the numbers of its GPUs may be read in two ways";
        if (as_is < 0 && counted < 0)
            return "its GPUs are not among those of the step";
        bits |= UINT64_C(1) << (as_is >= 0 ? as_is : counted);
    }
    *ret = bits;
    return NULL;
}

/* ---- the node ---- */

/* "0-3,8" into a set. */
static bool read_cpus(const char *s, cpu_set_t *set)
{
    CPU_ZERO(set);
    do {
        int first = number(&s, CPU_SETSIZE), last = first;

        if (first >= 0 && *s == '-') {
            s++;
            last = number(&s, CPU_SETSIZE);
        }
        if (first < 0 || last < first)
            return false;
        for (int i = first; i <= last; i++)
            CPU_SET((size_t)i, set);
    } while (*s++ == ',');
    return s[-1] == '\n' || s[-1] == '\0';
}

/* The minor number of an NVIDIA GPU; -1. */
static int minor_of(const char *root, const char *address)
{
    static const char head[] = "Device Minor:";
    char path[PATH], line[LINE];
    int found = -1;
    FILE *f;

    snprintf(path, sizeof(path), "%s/proc/driver/nvidia/gpus/%.*s/information", root, NAME,
             address);
    f = fopen(path, "re");
    while (f && found < 0 && fgets(line, sizeof(line), f)) {
        const char *s = line + sizeof(head) - 1;

        if (strncmp(line, head, sizeof(head) - 1) != 0)
            continue;
        found = number((s += strspn(s, " \t"), &s), NEAR_GPUS);
    }
    if (f)
        (void)fclose(f);
    return found;
}

static bool local_cpus(const char *root, const char *address, cpu_set_t *set)
{
    char path[PATH], line[LINE];
    bool good;
    FILE *f;

    snprintf(path, sizeof(path), "%s/sys/bus/pci/devices/%.*s/local_cpulist", root, NAME, address);
    f = fopen(path, "re");
    good = f && fgets(line, sizeof(line), f) && read_cpus(line, set);
    if (f)
        (void)fclose(f);
    return good;
}

const char *near_cpus(const char *root, uint64_t gpus, cpu_set_t *ret)
{
    char path[PATH];
    uint64_t left = gpus;
    struct dirent *d;
    DIR *dir;

    CPU_ZERO(ret);
    snprintf(path, sizeof(path), "%s/proc/driver/nvidia/gpus", root);
    dir = opendir(path);
    while (dir && (d = readdir(dir))) {
        int gpu = d->d_name[0] != '.' ? minor_of(root, d->d_name) : -1;
        cpu_set_t set;

        if (gpu < 0 || !(left >> gpu & 1) || !local_cpus(root, d->d_name, &set))
            continue;
        left &= ~(UINT64_C(1) << gpu);
        CPU_OR(ret, ret, &set);
    }
    if (dir)
        (void)closedir(dir);
    return gpus && !left ? NULL : "the node does not tell which CPUs are beside its GPUs";
}

const char *near_choose(const cpu_set_t *may, const cpu_set_t *near, unsigned tasks, unsigned each,
                        cpu_set_t *ret)
{
    unsigned all = (unsigned)CPU_COUNT(may), share = tasks > 1 ? (all + tasks - 1) / tasks : 1;

    CPU_AND(ret, may, near);
    if (CPU_EQUAL(ret, may))
        return "";
    if ((unsigned)CPU_COUNT(ret) < (share > each ? share : each))
        return "too few of its CPUs are beside its GPUs";
    return NULL;
}
