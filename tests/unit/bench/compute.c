/* Which machine it is that is measured, by a folder that stands in for the root. */
#include "bench/compute.h"

#include <errno.h>
#include <math.h>

#include "folder.h"
#include "tap.h"

static struct tree *tree_of(const char *root)
{
    struct tree *tree = NULL;

    folder_need(tree_open_dir(&tree, root, NULL), root);
    return tree;
}

static void test_names(const char *root)
{
    static const struct {
        const char *cpuinfo, *cpu;
    } cpus[] = {
        { "processor\t: 0\nmodel name\t: Xeon 8\nmodel name\t: other\n", "Xeon 8" },
        { "model name: \t Xeon", "Xeon" },
        { "model name\t: a \"b\" \\c\td\xc3\xa4~ \n", "a ?b? ?c?d??~ " },
        { "model name", "CPU" },
        { "CPU part\t: 0xd4f\n", "CPU" },
        { "", "CPU" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cpus); i++) {
        CLEANUP(tree_closep) struct tree *tree = NULL;
        struct compute c = { .cpus = 0 };

        folder_text(root, "proc/cpuinfo", cpus[i].cpuinfo);
        tree = tree_of(root);
        compute_machine(tree, &c);
        is_str(c.cpu, cpus[i].cpu, "a CPU is called '%s'", cpus[i].cpu);
        ok(*c.host, "a machine has a name");
    }
}

static void test_none(const char *root)
{
    CLEANUP(tree_closep) struct tree *tree = tree_of(root);
    struct compute c = { .cpus = 0 };

    compute_machine(tree, &c);
    is_str(c.cpu, "CPU", "a CPU without /proc/cpuinfo is called CPU");
}

static void test_nothing_measured(const char *root)
{
    CLEANUP(tree_closep) struct tree *tree = NULL;
    struct compute_about about = { .window_ns = 1, .no_cpus = true, .no_gpus = true };
    struct compute c = { .cpus = 0 };
    struct err e = { "" };

    folder_text(root, "proc/cpuinfo", "model name\t: X\nvendor_id : GenuineIntel\nflags : sse2\n");
    folder_text(root, "sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "3000000\n");
    tree = tree_of(root);
    about.tree = tree;
    is_int(compute_run(&about, &c, &e), 0, "compute_run measures nothing: %s", e.text);
    is_str(c.cpu, "X", "compute_run tells the CPU");
    ok(c.cores >= 1 && c.cpus >= c.cores, "compute_run tells %d CPUs of %d cores", c.cpus, c.cores);
    ok(fabs(c.nominal.ghz - 3) < 1e-9 && c.nominal.flop32 == 8,
       "compute_run tells what is nominal");
    ok(c.copy_one == 0 && c.gpus.count == 0 && !*c.blas, "what is left out is not measured");
}

static void test_refused(const char *root)
{
    CLEANUP(tree_closep) struct tree *tree = tree_of(root);
    struct compute_about about = { .tree = tree, .window_ns = 1, .no_gpus = true };
    struct compute c = { .cpus = 7 };
    struct err e = { "" };

    about.blas = "/nowhere/libblas.so";
    ok(compute_run(&about, &c, &e) < 0 && strstr(e.text, "/nowhere/libblas.so"),
       "compute_run refuses a BLAS that is not there: %s", e.text);
    about.no_cpus = true;
    about.cublas = "/nowhere/libcublas.so";
    e.text[0] = 0;
    is_int(compute_run(&about, &c, &e), -ENOENT, "compute_run refuses a cuBLAS that is not there");
    ok(strstr(e.text, "/nowhere/libcublas.so") && strstr(e.text, "--cublas names cuBLAS"),
       "compute_run says which cuBLAS it is: %s", e.text);
    is_int(c.cpus, 7, "compute_run leaves the result alone when it is refused");
}

int main(void)
{
    char root[PATH_MAX];

    if (!folder_can_copy()) {
        puts("1..0 # SKIP no openat2");
        return 0;
    }
    folder_make(root);
    test_none(root);
    test_names(root);
    test_nothing_measured(root);
    test_refused(root);
    folder_remove(root);
    return done();
}
