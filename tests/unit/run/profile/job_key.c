/* What a profile belongs to: keys of commands and their scripts, machines, versions from files;
 * profiles on disk; allocations failing. */
#include "run/profile/job_key.h"

#include <errno.h>

#include "devices_csv.h"
#include "folder.h"
#include "oom_arena.h"
#include "probe/kernel/pack.h"
#include "run/profile/profiles.h"
#include "run/profile/python.h"
#include "tap.h"

enum { WORDS = 6 };

struct bench {
    char root[PATH_MAX];
    struct str pack;
    struct tree *tree;
    struct catalogue devices;
};

static const char *const files[][2] = {
    { "proc/cpuinfo", "processor\t: 0\nmodel name\t: Intel(R) Xeon(R) \xc2\xae 8480\n" },
    { "proc/meminfo", "MemTotal:       2113512345 kB\nMemFree: 1 kB\n" },
    { "sys/module/nvidia/version", "550.54.15\n" },
    { "sys/bus/pci/devices/0000:17:00.0/class", "0x030200" },
    { "sys/bus/pci/devices/0000:17:00.0/vendor", "0x10de" },
    { "sys/bus/pci/devices/0000:17:00.0/device", "0x2330" },
    { "sys/bus/pci/devices/0000:65:00.0/class", "0x030200" },
    { "sys/bus/pci/devices/0000:65:00.0/vendor", "0x10de" },
    { "sys/bus/pci/devices/0000:65:00.0/device", "0x2330" },
    { "sys/bus/pci/devices/0000:03:00.0/class", "0x030000" },
    { "sys/bus/pci/devices/0000:03:00.0/vendor", "0x1a03" },
    { "sys/bus/pci/devices/0000:03:00.0/device", "0x2000" },
};

static void set_up(struct bench *b)
{
    static const char devices[] = "0000:03:00.0\n0000:17:00.0\n0000:65:00.0\n";
    struct err e = { "" };

    *b = (struct bench){ .pack = STR_INIT(64 << 10) };
    folder_make(b->root);
    pack_begin(&b->pack);
    for (size_t i = 0; i < ARRAY_SIZE(files); i++)
        pack_add(&b->pack, 'f', files[i][0], files[i][1], strlen(files[i][1]));
    pack_add(&b->pack, 'd', "sys/bus/pci/devices", devices, sizeof(devices) - 1);
    pack_end(&b->pack, ARRAY_SIZE(files) + 1);
    ok(tree_open_pack(&b->tree, "p", str_text(&b->pack), b->pack.len, &e) == 0 &&
           catalogue_load(&b->devices, data_devices_csv, data_devices_csv_len, &e) == 0,
       "the machine and the catalogue are loaded: %s", e.text);
}

/* ---- keys ---- */

static const char *key_of(const struct bench *b, struct arena *a, const char *const words[WORDS])
{
    char *argv[WORDS + 1] = { NULL }, *env[] = { NULL };
    struct job_key_about about = { .argv = argv, .env = env, .tree = b->tree, .cpus = "0-3" };
    struct job_key key = { .key = "?" };

    for (size_t i = 0; i < WORDS && words[i]; i++)
        argv[i] = arena_strdup(a, words[i]);
    is_int(job_key_make(a, &about, &key), 0, "job_key_make makes a key of the command");
    return key.key;
}

static void test_keys(const struct bench *b)
{
    struct arena a = ARENA_INIT;
    char script[PATH_MAX], config[PATH_MAX + 16];
    const char *first, *other;

    folder_text(b->root, "train.py", "print(1)\n");
    folder_text(b->root, "a.yaml", "x: 1\n");
    folder_path(b->root, "train.py", script);
    snprintf(config, sizeof(config), "--config=%s/a.yaml", b->root);
    first = key_of(b, &a, (const char *[WORDS]){ "python3", script, "--epochs", "3", config });
    ok(strlen(first) == 16 && strspn(first, "0123456789abcdef") == 16, "a key has 16 digits: %s",
       first);
    other = key_of(b, &a,
                   (const char *[WORDS]){ "/usr/bin/python3", script, "--epochs", "3", config });
    is_str(other, first, "wherever the program is");
    other = key_of(b, &a, (const char *[WORDS]){ "python3", script, "--epochs", "4", config });
    ok(strcmp(other, first) != 0, "another argument is another job");
    folder_text(b->root, "a.yaml", "x: 2\n");
    other = key_of(b, &a, (const char *[WORDS]){ "python3", script, "--epochs", "3", config });
    ok(strcmp(other, first) != 0, "another configuration is another job");
    folder_text(b->root, "a.yaml", "x: 1\n");
    folder_text(b->root, "train.py", "print(2)\n");
    other = key_of(b, &a, (const char *[WORDS]){ "python3", script, "--epochs", "3", config });
    ok(strcmp(other, first) != 0, "another script is another job");
    folder_text(b->root, "train.py", "print(1)\n");
    other = key_of(b, &a, (const char *[WORDS]){ "python3", script, "--epochs", "3", config });
    is_str(other, first, "the first script makes the first key again");
    ok(strcmp(key_of(b, &a, (const char *[WORDS]){ "a", "bc" }),
              key_of(b, &a, (const char *[WORDS]){ "a", "b", "c" })) != 0,
       "words have ends");
    is_str(key_of(b, &a, (const char *[WORDS]){ NULL }), "", "no command has no key");
    arena_done(&a);
}

/* ---- machines and versions ---- */

static void test_machine(const struct bench *b)
{
    struct arena a = ARENA_INIT;
    char job[] = "job", visible[] = "CUDA_VISIBLE_DEVICES=0", *argv[] = { job, NULL };
    char *env[] = { NULL, NULL };
    struct job_key_about about = {
        .argv = argv, .env = env, .tree = b->tree, .devices = &b->devices, .cpus = "0-3,8"
    };
    struct job_key key;

    is_int(job_key_make(&a, &about, &key), 0, "job_key_make makes a key of the machine");
    is_str(key.machine, "Intel(R) Xeon(R) ?? 8480, 5 CPUs, 2000 GiB, 2 x H100-SXM5-80GB",
           "in words, the card for the screen left out");
    is_str(key.versions, "nvidia driver 550.54.15", "the versions have the driver's");
    about.devices = NULL;
    env[0] = visible;
    is_int(job_key_make(&a, &about, &key), 0, "job_key_make makes a key without the catalogue");
    is_str(key.machine, "Intel(R) Xeon(R) ?? 8480, 5 CPUs, 2000 GiB, 2 x 10de:2330 (1 visible)",
           "the machine has ids, and how many accelerators the job sees");
    arena_done(&a);
}

static const struct {
    const char *what;
    const char *files[3][2]; /* below the root; "@": a program */
    const char *argv[4], *env[2], *want;
} pythons[] = {
    { "a virtual environment",
      { { "v/bin/python3.11", "@" },
        { "v/lib/python3.11/site-packages/torch/version.py",
          "__version__ = '2.4.0+cu124'\ncuda: Optional[str] = '12.4'\nhip = None\n" } },
      { "v/bin/python3.11", "train.py" },
      { NULL },
      "python 3.11, torch 2.4.0+cu124, cuda 12.4" },
    { "Debian's",
      { { "d/bin/python3.9", "@" },
        { "d/lib/python3/dist-packages/torch/version.py",
          "__version__ = '1.13.0a0'\ncuda = None\nhip = '5.7'\n" } },
      { "env", "d/bin/python3.9", "train.py" },
      { NULL },
      "python 3.9, torch 1.13.0a0, hip 5.7" },
    { "by a script's first line",
      { { "s/bin/torchrun", "@s/bin/python3.12" },
        { "s/bin/python3.12", "@" },
        { "s/lib/python3.12/site-packages/torch/version.py", "__version__ = \"2.9.1\"\n" } },
      { "s/bin/torchrun", "train.py" },
      { NULL },
      "python 3.12, torch 2.9.1" },
    { "PYTHONPATH first",
      { { "p/bin/python3.10", "@" },
        { "own/torch/version.py", "__version__ = '9'\n" },
        { "p/lib/python3.10/site-packages/torch/version.py", "__version__ = '8'\n" } },
      { "p/bin/python3.10" },
      { "PYTHONPATH=/nowhere:own" },
      "python 3.10, torch 9" },
    { "by env in a script's first line",
      { { "e/bin/run", "@@env python3.7 -u" }, { "e/bin/python3.7", "@" } },
      { "e/bin/run" },
      { "PATH=e/bin" },
      "python 3.7" },
    { "another program in a script's first line",
      { { "o/bin/run", "@@sh python3.7" }, { "o/bin/python3.7", "@" } },
      { "o/bin/run" },
      { "PATH=o/bin" },
      "" },
    { "a Python behind the script",
      { { "b/bin/sh", "@" }, { "b/bin/python3.6", "@" } },
      { "b/bin/sh", "x.py", "b/bin/python3.6" },
      { NULL },
      "" },
    { "a Python found in PATH",
      { { "f1/x", "" }, { "f2/bin/python3.5", "@" } },
      { "python3.5", "x.py" },
      { "PATH=f1::f2/bin" },
      "python 3.5" },
    { "pip's for Debian",
      { { "l/bin/python3.4", "@" },
        { "l/local/lib/python3.4/dist-packages/torch/version.py", "__version__ = '3'\n" } },
      { "l/bin/python3.4" },
      { NULL },
      "python 3.4, torch 3" },
    { "a user's own",
      { { "u/bin/python3.3", "@" },
        { "home/.local/lib/python3.3/site-packages/torch/version.py",
          "x\n__version__ ='4'\ncuda=None\n" } },
      { "u/bin/python3.3" },
      { "HOME=home" },
      "python 3.3, torch 4" },
    { "a version that is none",
      { { "y/bin/python3.2", "@" },
        { "y/lib/python3.2/site-packages/torch/version.py", "__version__ = version\n" } },
      { "y/bin/python3.2" },
      { NULL },
      "python 3.2" },
    { "a Python in a folder of the working folder",
      { { "bin/python3.26", "@" },
        { "lib/python3.26/site-packages/torch/version.py", "__version__ = '6'" } },
      { "bin/python3.26" },
      { NULL },
      "python 3.26, torch 6" },
    { "a Python of the working folder",
      { { "python3.1", "@" },
        { "lib/python3.1/site-packages/torch/version.py", "__version__ = '5'" } },
      { "./python3.1" },
      { NULL },
      "python 3.1" },
    { "a folder without a name",
      { { "k/bin/python3.20", "@" } },
      { "k/bin/python3.20" },
      { "HOME=" },
      "python 3.20" },
    { "a program that is none",
      { { "w/bin/python3.21", "x" } },
      { "w/bin/python3.21" },
      { NULL },
      "" },
    { "env's third word",
      { { "g/bin/run", "@@env -S python3.22" }, { "g/bin/python3.22", "@" } },
      { "g/bin/run" },
      { "PATH=g/bin" },
      "python 3.22" },
    { "env's fourth word",
      { { "h/bin/run", "@@env -S -u python3.22" }, { "h/bin/python3.22", "@" } },
      { "h/bin/run" },
      { "PATH=h/bin" },
      "" },
    { "a first line that ends",
      { { "i/bin/run", "@@env python3.23\nx" }, { "i/bin/python3.23", "@" } },
      { "i/bin/run" },
      { "PATH=i/bin" },
      "python 3.23" },
    { "a script that ends in .py as the program",
      { { "j/bin/python.py", "@" } },
      { "j/bin/python.py", "x" },
      { NULL },
      "python ." },
    { "cuda of none",
      { { "m/bin/python3.24", "@" },
        { "m/lib/python3.24/site-packages/torch/version.py",
          "__version__: str = \"7\"\ncuda = None\nhip = ''\n" } },
      { "m/bin/python3.24" },
      { NULL },
      "python 3.24, torch 7, hip " },
    { "the first of several folders",
      { { "own1/torch/version.py", "__version__ = '1'\n" },
        { "own2/torch/version.py", "__version__ = '2'\n" },
        { "q/bin/python3.25", "@" } },
      { "q/bin/python3.25" },
      { "PYTHONPATH=own1:own2" },
      "python 3.25, torch 1" },
    { "no torch", { { "n/bin/python3.8", "@" } }, { "n/bin/python3.8" }, { NULL }, "python 3.8" },
    { "no Python", { { "x/bin/prog", "@" } }, { "x/bin/prog", "python.txt" }, { NULL }, "" },
};

static void add_program(const char *root, const char *path, const char *python)
{
    char text[PATH_MAX + 8], full[PATH_MAX];

    if (*python == '@')
        snprintf(text, sizeof(text), "#! /usr/bin/%s\n", python + 1);
    else
        snprintf(text, sizeof(text), "#!%s%s%s\n", *python ? root : "/bin/sh", *python ? "/" : "",
                 python);
    folder_text(root, path, text);
    folder_path(root, path, full);
    folder_need(chmod(full, 0755), full);
}

/* A virtual environment's Python is a link to the one that it was made of. */
static void test_links(const struct bench *b)
{
    static const char *const wants[] = { "python 3.31", "python 3.31, torch below",
                                         "python 3.31, torch above" };
    char path[PATH_MAX];

    add_program(b->root, "real/bin/python3.31", "");
    folder_path(b->root, "venv/bin/python", path);
    folder_link(b->root, "venv/bin/python", "../../real/bin/python3.31");
    for (size_t i = 0; i < ARRAY_SIZE(wants); i++) {
        CLEANUP(str_done) struct str out = STR_INIT(4096);
        char *argv[] = { path, NULL }, *env[] = { NULL };

        if (i == 1)
            folder_text(b->root, "real/lib/python3.31/site-packages/torch/version.py",
                        "__version__ = 'below'\n");
        if (i == 2)
            folder_text(b->root, "venv/lib/python3.31/site-packages/torch/version.py",
                        "__version__ = 'above'\n");
        is_int(python_versions(argv, env, &out), 0, "python_versions follows a link");
        is_str(str_text(&out), wants[i], "the versions behind a link are found: %zu", i);
    }
}

static void test_versions(const struct bench *b)
{
    char here[PATH_MAX];

    folder_need(getcwd(here, sizeof(here)) ? 0 : -1, "getcwd");
    folder_need(chdir(b->root), b->root);
    for (size_t i = 0; i < ARRAY_SIZE(pythons); i++) {
        CLEANUP(str_done) struct str out = STR_INIT(4096);
        struct arena a = ARENA_INIT;
        char *argv[5] = { NULL }, *env[3] = { NULL };

        for (size_t k = 0; k < 3 && pythons[i].files[k][0]; k++)
            if (pythons[i].files[k][1][0] == '@')
                add_program(b->root, pythons[i].files[k][0], pythons[i].files[k][1] + 1);
            else
                folder_text(b->root, pythons[i].files[k][0], pythons[i].files[k][1]);
        for (size_t k = 0; k < 4 && pythons[i].argv[k]; k++)
            argv[k] = arena_strdup(&a, pythons[i].argv[k]);
        env[0] = pythons[i].env[0] ? arena_strdup(&a, pythons[i].env[0])
                                   : arena_strdup(&a, "PATH=/nowhere");
        env[1] = arena_strdup(&a, "PATH=/nowhere");
        is_int(python_versions(argv, env, &out), 0, "python_versions looks at %s", pythons[i].what);
        is_str(str_text(&out), pythons[i].want, "the versions of case '%s' are found",
               pythons[i].what);
        arena_done(&a);
    }
    folder_need(chdir(here), here);
}

static void test_differs(void)
{
    const struct job_key now = { .key = "a", .machine = "m", .versions = "" };
    struct profile p = { .name = "n", .key = "a", .machine = "m", .versions = "v" };

    is_int(job_key_differs(&p, &now), 0, "alike, and what is not known does not differ");
    p.key = "b";
    p.machine = "";
    is_int(job_key_differs(&p, &now), JOB_COMMAND, "another command makes another job");
    {
        CLEANUP(str_done) struct str out = STR_INIT(4096);
        const struct job_key then = { .key = "a", .machine = "m", .versions = "w" };

        p.key = "a";
        job_key_tell(&p, &now, &out);
        is_str(str_text(&out), "", "nothing is told of what is alike");
        p.machine = "k";
        job_key_tell(&p, &then, &out);
        is_str(str_text(&out), "on another machine (k; here m) and with other versions (v; now w)",
               "all that differs is");
        p.key = "b";
        p.machine = "m";
        str_reset(&out);
        job_key_tell(&p, &now, &out);
        is_str(str_text(&out), "for another command, or its script has changed",
               "a command that differs alone is named alone");
    }
    p.machine = "k";
    is_int(job_key_differs(&p, &now), JOB_COMMAND | JOB_MACHINE,
           "another command on another machine differs in both");
}

/* ---- on disk ---- */

static void set_time(const char *folder, const char *name, time_t when)
{
    const struct timespec times[2] = { { .tv_sec = when }, { .tv_sec = when } };
    char path[PATH_MAX];

    folder_path(folder, name, path);
    folder_need(utimensat(AT_FDCWD, path, times, 0), path);
}

static void test_profiles(const struct bench *b)
{
    CLEANUP(profile_done) struct profile p = { .count = 0 }, again = { .count = 0 };
    CLEANUP(str_done) struct str path = STR_INIT(PATH_MAX), list = STR_INIT(4096);
    const struct profile_setting s = { .knob = "loader.workers", .value = "13" };
    char folder[PATH_MAX], want[PATH_MAX + 64];
    struct err e = { "" };

    folder_path(b->root, "state/profiles", folder);
    is_int(profiles_list(folder, &list, &e), 0, "profiles_list lists a folder that does not exist");
    ok(list.len == 0, "a folder that does not exist has no profiles");
    ok(profile_init(&p, "../res net", "00ff", "m", "v") == 0 && profile_set(&p, &s, &e) == 0,
       "a profile with a hostile name");
    is_int(profiles_save(folder, &p, &path, &e), 0,
           "profiles_save saves a profile with a hostile name");
    snprintf(want, sizeof(want), "%s/_._res_net-00ff.ini", folder);
    is_str(str_text(&path), want, "the profile is saved in its folder");
    ok(profiles_load(&again, str_text(&path), &e) == 0 && !strcmp(again.name, "../res net") &&
           again.count == 1,
       "a profile with a hostile name is read again: %s", e.text);
    folder_text(folder, "resnet-aa.ini", "[profile]\n");
    folder_text(folder, "resnet-bb.ini", "[profile]\n");
    folder_text(folder, "other.txt", "x");
    is_int(profiles_list(folder, &list, &e), 0, "profiles_list lists a folder with three profiles");
    ok(list.len == sizeof("_._res_net-00ff") + 2 * sizeof("resnet-aa"),
       "the list has three profiles");
    is_int(profiles_find(folder, "resnet", "aa", &path, &e), 0, "by its name");
    ok(strstr(str_text(&path), "resnet-aa.ini"), "the profile of the job's own key is found");
    is_int(profiles_find(folder, "resnet", "cc", &path, &e), 0,
           "profiles_find finds a profile for another job");
    ok(strstr(str_text(&path), "/resnet-"), "the youngest profile stands in for another job's");
    is_int(profiles_find(folder, "resnet-bb", NULL, &path, &e), 0,
           "profiles_find finds a profile by its file");
    ok(strstr(str_text(&path), "resnet-bb.ini"), "the profile found by its file is that file");
    is_int(profiles_find(folder, "./x", NULL, &path, &e), 0,
           "profiles_find takes a path without a look");
    is_str(str_text(&path), "./x", "profiles_find leaves a path as it is");
    is_int(profiles_find(folder, "resnt", NULL, &path, &e), -ENOENT,
           "profiles_find finds no profile of a misspelt name");
    is_str(e.text, "there is no profile 'resnt' (did you mean resnet?)",
           "the error names the nearest profile");
    is_int(profiles_find(folder, "", NULL, &path, &e), ERR_USAGE, "an empty name");
    is_int(profiles_of(folder, "bb", &path, &e), 0,
           "profiles_of finds a profile by the job's key alone");
    ok(strstr(str_text(&path), "/resnet-bb.ini"), "whatever its name");
    folder_text(folder, "net-bb.ini", "[profile]\n");
    set_time(folder, "resnet-bb.ini", 2000);
    set_time(folder, "net-bb.ini", 1000);
    is_int(profiles_of(folder, "bb", &path, &e), 0,
           "profiles_of finds one of a job's two profiles");
    ok(strstr(str_text(&path), "/resnet-bb.ini"), "the younger one of two profiles is found");
    set_time(folder, "net-bb.ini", 3000);
    is_int(profiles_of(folder, "bb", &path, &e), 0,
           "profiles_of finds one of two in the other order");
    ok(strstr(str_text(&path), "/net-bb.ini"),
       "profiles are compared by their time, in whatever order they are listed");
    is_int(profiles_of(folder, "ff", &path, &e), 0, "profiles_of looks for a job that has none");
    ok(path.len == 0, "there is none");
    is_int(profiles_of(folder, "", &path, &e), 0, "profiles_of looks for a job without a key");
    ok(path.len == 0, "a job without a key has no profile");
}

/* What decides how a job is started is not anybody's, and not what never ends. */
static void test_refused(const struct bench *b)
{
    CLEANUP(profile_done) struct profile pipe = { .count = 0 };
    CLEANUP(str_done) struct str written = STR_INIT(PATH_MAX);
    struct profile p = { .count = 0 };
    char path[PATH_MAX], folder[PATH_MAX];
    struct err e = { "" };

    folder_path(b->root, "state/profiles/resnet-aa.ini", path);
    folder_need(chmod(path, 0666), path);
    is_int(profiles_load(&p, path, &e), -EPERM, "a profile that any user may write to");
    ok(strstr(e.text, "any user may write to it: chmod o-w"),
       "a profile that any user may write to is not used: %s", e.text);
    folder_need(chmod(path, 0664), path);
    is_int(profiles_load(&p, path, &e), 0, "a group may");
    profile_done(&p);
    folder_path(b->root, "state/profiles/pipe.ini", path);
    folder_need(mkfifo(path, 0600), path);
    is_int(profiles_load(&p, path, &e), -EINVAL, "a pipe is not waited for");
    folder_path(b->root, "state/profiles", folder);
    ok(profile_init(&pipe, "pipe", "", "m", "v") == 0, "one of the pipe's name");
    is_int(profiles_save(folder, &pipe, &written, &e), -EINVAL, "neither when it is to be written");
    folder_need(unlink(path), path);
}

static int all_at_once(const struct bench *b, const char *folder, const char *script)
{
    CLEANUP(str_done) struct str path = STR_INIT(PATH_MAX);
    char python[PATH_MAX + 32], file[PATH_MAX], *argv[] = { python, file, NULL };
    char visible[] = "CUDA_VISIBLE_DEVICES=0", *env[] = { visible, NULL };
    struct job_key_about about = {
        .argv = argv, .env = env, .tree = b->tree, .devices = &b->devices, .cpus = "0-3,8"
    };
    struct arena a = ARENA_INIT;
    struct profile p = { .count = 0 };
    struct job_key key;
    int rc;

    snprintf(python, sizeof(python), "%s/v/bin/python3.11", b->root);
    snprintf(file, sizeof(file), "%s", script);
    rc = job_key_make(&a, &about, &key);
    if (rc == 0)
        rc = profiles_find(folder, "resnet", key.key, &path, NULL);
    if (rc == 0)
        rc = profiles_load(&p, str_text(&path), NULL);
    if (rc == 0)
        rc = profiles_save(folder, &p, &path, NULL);
    profile_done(&p);
    arena_done(&a);
    return rc;
}

static void test_oom(const struct bench *b)
{
    char folder[PATH_MAX], script[PATH_MAX];
    bool failed;

    folder_path(b->root, "state/profiles", folder);
    folder_path(b->root, "train.py", script);
    oom_restart();
    do {
        int rc;

        oom_next();
        rc = all_at_once(b, folder, script);
        failed = oom_end();
        ok(failed ? rc == -ENOMEM : rc == 0, "profiles with allocation %d failing return %d",
           oom_at, rc);
    } while (failed);
}

int main(void)
{
    struct bench b;

    set_up(&b);
    test_keys(&b);
    test_machine(&b);
    test_versions(&b);
    test_links(&b);
    test_differs();
    test_profiles(&b);
    test_refused(&b);
    test_oom(&b);
    catalogue_done(&b.devices);
    tree_close(b.tree);
    str_done(&b.pack);
    folder_remove(b.root);
    return done();
}
