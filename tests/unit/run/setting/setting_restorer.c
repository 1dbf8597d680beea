/* The process that changes settings of a machine: what it changes is put back when it is told so,
 * when the one who started it is killed, and by the next one when it was killed as well. */
#include "run/setting/setting_restorer.h"

#include <dirent.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "folder.h"
#include "oom.h"
#include "tap.h"

#define DISK "sys/block/sda/"
#define KB DISK "queue/read_ahead_kb"

struct bench {
    char root[PATH_MAX], state[PATH_MAX], note[PATH_MAX + 8];
    struct machine_setting_about about;
};

static const char *now(const struct bench *b)
{
    static char text[64];
    char full[PATH_MAX];
    FILE *f;

    folder_path(b->root, KB, full);
    f = fopen(full, "re");
    text[f ? fread(text, 1, sizeof(text) - 1, f) : 0] = 0;
    if (f)
        fclose(f);
    text[strcspn(text, "\n")] = 0;
    return text;
}

static void set_up(struct bench *b)
{
    folder_make(b->root);
    folder_path(b->root, "state/machine", b->state);
    snprintf(b->note, sizeof(b->note), "%s/undo", b->state);
    b->about = (struct machine_setting_about){ .root = b->root };
    folder_text(b->root, DISK "stat", "1 0 100 0 0\n");
    folder_text(b->root, KB, "128\n");
}

static struct setting_restorer *start(const struct bench *b)
{
    struct setting_restorer *w = NULL;
    struct err e = { "" };

    folder_text(b->root, DISK "stat", "1 0 100 0 0\n");
    is_int(setting_restorer_start(&w, b->state, &b->about, &e), 0,
           "setting_restorer_start starts a restorer: %s", e.text);
    /* It has looked at its disks when it answers. */
    ok(w && !setting_restorer_now(w, "disk.readahead", (char[LEVER_WORD]){ 0 }),
       "nothing is read yet");
    folder_text(b->root, DISK "stat", "1 0 900 0 0\n");
    return w;
}

static void read_boot(char boot[64])
{
    FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");

    boot[f ? fread(boot, 1, 63, f) : 0] = 0;
    boot[strcspn(boot, "\n")] = 0;
    if (f)
        fclose(f);
}

/* What the note says; "" when there is none. */
static void read_note(const struct bench *b, char text[256])
{
    FILE *f = fopen(b->note, "re");

    text[f ? fread(text, 1, 255, f) : 0] = 0;
    if (f)
        fclose(f);
}

static void check_life(const struct bench *b)
{
    struct setting_restorer *w = start(b), *other = NULL;
    char value[LEVER_WORD] = "", boot[64], text[256], want[256];
    struct err e = { "" };

    ok(setting_restorer_now(w, "disk.readahead", value),
       "the restorer reads a value that is in force");
    is_str(value, "128", "the value in force is the disk's");
    is_int(setting_restorer_set(w, "disk.readahead", "4096", &e), 0,
           "setting_restorer_set sets read-ahead: %s", e.text);
    is_str(now(b), "4096", "the disk has the read-ahead that was set");
    read_boot(boot);
    read_note(b, text);
    snprintf(want, sizeof(want), "boot %s\ndisk.readahead sda 128\n", boot);
    is_str(text, want, "the note says what was there before, and in which boot");
    is_int(setting_restorer_set(w, "disk.readahead", "128", &e), 0,
           "the restorer sets the first value again: %s", e.text);
    is_int(setting_restorer_set(w, "disk.readahead", "512", &e), 0,
           "the restorer sets a third value: %s", e.text);
    ok(setting_restorer_set(w, "cpu.governor", "performance", &e) < 0, "what there is not: %s",
       e.text);
    is_int(setting_restorer_start(&other, b->state, &b->about, &e), -EBUSY,
           "one restorer alone may run: %s", e.text);
    is_int(setting_restorer_undo(b->state, &b->about, NULL, &e), -EBUSY, "what it has is its own");
    is_int(setting_restorer_end(w, &e), 0, "setting_restorer_end ends the restorer: %s", e.text);
    is_str(now(b), "128", "the end of the restorer puts back the first value");
    ok(access(b->note, F_OK) < 0, "the note is gone");
    is_int(setting_restorer_undo(b->state, &b->about, NULL, &e), 0, "nothing is left to do");
}

/* Whether the machine is as it was, soon. */
static bool comes_back(const struct bench *b)
{
    for (int i = 0; i < 1000; i++) {
        if (!strcmp(now(b), "128") && access(b->note, F_OK) < 0)
            return true;
        nanosleep(&(const struct timespec){ .tv_nsec = 10000000 }, NULL);
    }
    return false;
}

/* In a child, which is killed. */
static void change_and_die(const struct bench *b)
{
    pid_t pid = fork();

    if (pid == 0) {
        struct setting_restorer *w = NULL;

        if (setting_restorer_start(&w, b->state, &b->about, NULL) == 0)
            (void)setting_restorer_now(w, "disk.readahead", (char[LEVER_WORD]){ 0 });
        folder_text(b->root, DISK "stat", "1 0 5000 0 0\n");
        _exit(w && setting_restorer_set(w, "disk.readahead", "4096", NULL) == 0 &&
                      !strcmp(now(b), "4096")
                  ? raise(SIGKILL)
                  : 1);
    }
    waitpid(pid, &(int){ 0 }, 0);
}

static void check_killed(const struct bench *b)
{
    folder_text(b->root, DISK "stat", "1 0 100 0 0\n");
    change_and_die(b);
    ok(comes_back(b), "brim killed: it is put back");
}

/* A child of this process, or 0. */
static pid_t any_child(void)
{
    DIR *proc = opendir("/proc");
    const struct dirent *entry;
    pid_t found = 0;

    while (proc && !found && (entry = readdir(proc)) != NULL) {
        char path[PATH_MAX], text[512] = "";
        const char *end;
        int parent = 0;
        FILE *f;

        snprintf(path, sizeof(path), "/proc/%.20s/stat", entry->d_name);
        f = strtol(entry->d_name, NULL, 10) > 0 ? fopen(path, "re") : NULL;
        if (!f)
            continue;
        end = fgets(text, sizeof(text), f) ? strrchr(text, ')') : NULL;
        fclose(f);
        if (end && sscanf(end, ") %*c %d", &parent) == 1 && parent == getpid())
            found = (pid_t)strtol(entry->d_name, NULL, 10);
    }
    if (proc)
        closedir(proc);
    return found;
}

/* The restorer is nobody's child; here it becomes ours. */
static void check_restorer_killed(const struct bench *b)
{
    char value[LEVER_WORD] = "";
    struct setting_restorer *w;
    struct err e = { "" };
    pid_t pid;

    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    w = start(b);
    (void)prctl(PR_SET_CHILD_SUBREAPER, 0);
    pid = any_child();
    if (!ok(pid > 0 && kill(pid, SIGKILL) == 0 && waitpid(pid, NULL, 0) == pid,
            "the process that puts settings back is killed"))
        return;
    ok(!setting_restorer_now(w, "disk.readahead", value),
       "a restorer that was killed reads nothing");
    is_int(setting_restorer_set(w, "disk.readahead", "512", &e), -EIO,
           "a restorer that was killed sets nothing");
    is_str(e.text,
           "the process that changes settings of this machine does not answer: "
           "brim optimize --undo puts them back",
           "the error of a setting names the process that does not answer");
    is_str(now(b), "128", "a restorer that was killed has changed nothing");
    is_int(setting_restorer_end(NULL, &e), 0, "no restorer has nothing to end");
    ok(setting_restorer_end(w, &e) < 0, "the end of a restorer that was killed fails");
    is_str(e.text,
           "the process that changed settings of this machine does not answer: "
           "brim optimize --undo puts them back",
           "the error names the process that does not answer");
}

/* What a killed restorer leaves: the note, and the machine as it was changed. */
static void leave(const struct bench *b, const char *boot)
{
    char text[256];

    snprintf(text, sizeof(text), "boot %s\ndisk.readahead sda 128\n", boot);
    folder_text(b->root, "state/machine/undo", text);
    folder_text(b->root, KB, "4096\n");
}

static void check_left(const struct bench *b)
{
    CLEANUP(str_done) struct str told = STR_INIT(4096);
    struct err e = { "" };
    char boot[64], gone[PATH_MAX];

    read_boot(boot);
    leave(b, boot);
    is_int(setting_restorer_undo(b->state, &b->about, &told, &e), 1, "one is put back: %s", e.text);
    is_str(now(b), "128", "undo puts back the first value");
    is_str(str_text(&told), "disk.readahead of sda is 128 again\n",
           "undo names the value that it put back");
    leave(b, boot);
    is_int(setting_restorer_end(start(b), &e), 0, "the next one does it, too");
    is_str(now(b), "128", "the next restorer puts back the first value");
    leave(b, "of-another-day");
    is_int(setting_restorer_undo(b->state, &b->about, NULL, &e), 0, "after a boot nothing is");
    is_str(now(b), "4096", "left as it is");
    leave(b, boot);
    folder_path(b->root, KB, gone);
    folder_need(unlink(gone), gone);
    ok(setting_restorer_undo(b->state, &b->about, NULL, &e) < 0, "what can not be put back");
    ok(strstr(e.text, "disk.readahead of sda could not be put back to 128"), "says so: %s", e.text);
    ok(access(b->note, F_OK) == 0, "the note stays when a value cannot be put back");
    leave(b, boot);
}

static void check_memory(const struct bench *b)
{
    bool failed;

    do {
        struct err e = { "" };
        int rc;

        oom_next();
        rc = setting_restorer_undo(b->state, &b->about, NULL, &e);
        failed = oom_end();
        ok(failed ? rc == -ENOMEM : rc >= 0,
           "setting_restorer_undo with allocation %d failing returns %d: %s", oom_at, rc, e.text);
    } while (failed);
    is_str(now(b), "128", "the first value is back when no allocation fails");
}

int main(void)
{
    struct bench b;

    set_up(&b);
    check_life(&b);
    check_killed(&b);
    check_restorer_killed(&b);
    check_left(&b);
    check_memory(&b);
    folder_remove(b.root);
    return done();
}
