#include "probe/kernel/tree.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "folder.h"
#include "tap.h"

static void plant(char root[PATH_MAX])
{
    folder_make(root);
    folder_text(root, "sys/number", "42\n");
    folder_text(root, "sys/hex", "0x10de\n");
    folder_text(root, "sys/negative", "-1\n");
    folder_text(root, "sys/word", "  two words \t \nsecond line\n");
    folder_text(root, "sys/empty", "");
    folder_file(root, "sys/config", "\x86\x80\0\0\0\0\0\x10", 8);
    folder_text(root, "sys/devices/pci/a/file", "in a\n");
    folder_text(root, "sys/devices/pci/b/file", "in b\n");
    folder_folder(root, "sys/none");
    folder_link(root, "sys/bus/a", "../devices/pci/a");
    folder_link(root, "sys/bus/b", "/sys/devices/pci/b");
    folder_link(root, "sys/bus/out", "../../../../../../etc/passwd");
    folder_link(root, "sys/bus/root", "/etc/passwd");
    folder_link(root, "sys/bus/dangling", "nowhere");
    folder_link(root, "sys/bus/self", "self");
    folder_link(root, "top", "sys");
    folder_text(root, "sys/.hidden", "x");
    folder_text(root, "sys/new\nline", "x");
}

static void say_link(struct tree *t, const char *path, struct str *out)
{
    char target[TREE_PATH] = "";
    int rc = tree_link(t, path, target, sizeof(target));

    str_addf(out, "link %s: %d '%s'\n", path, rc, rc ? "" : target);
}

static void say_read(struct tree *t, const char *path, size_t size, struct str *out)
{
    char text[128];
    ssize_t len = tree_read(t, path, text, size);

    str_addf(out, "read %s: %zd", path, len);
    for (ssize_t i = 0; i < len; i++)
        str_addf(out, " %02x", (unsigned char)text[i]);
    str_addf(out, "%s\n", text[len > 0 ? len : 0] ? " not terminated" : "");
}

static void say_list(struct tree *t, const char *path, struct str *out)
{
    CLEANUP(str_done) struct str names = STR_INIT(4096);
    int rc = tree_list(t, path, &names);

    str_addf(out, "list %s: %d '%s'\n", path, rc, str_text(&names));
}

/* Ask everything of a tree, as text. */
static void ask(struct tree *t, struct str *out)
{
    static const char *const numbers[] = { "sys/number", "sys/hex", "sys/negative", "sys/word",
                                           "sys/empty",  "sys/no",  "sys/none" };
    static const char *const links[] = { "sys/bus/a",        "sys/bus/b",  "sys/bus/out",
                                         "sys/bus/root",     "sys/bus/no", "sys/number",
                                         "sys/bus/dangling", "top",        "sys/bus/self" };
    static const char *const files[] = { "sys/number", "sys/empty", "sys/config", "sys/no",
                                         "sys/devices/pci/a/file" };
    static const char *const lists[] = { "sys", "sys/devices/pci", "sys/none", "sys/no" };
    char line[64];

    for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
        str_addf(out, "number %s: %lld\n", numbers[i], tree_number(t, numbers[i]));
    for (size_t i = 0; i < ARRAY_SIZE(links); i++)
        say_link(t, links[i], out);
    for (size_t i = 0; i < ARRAY_SIZE(files); i++)
        say_read(t, files[i], 128, out);
    for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
        say_list(t, lists[i], out);
    str_addf(out, "line: %d '%s'\n", tree_line(t, "sys/word", line, sizeof(line)), line);
    str_addf(out, "no line: %d '%s'\n", tree_line(t, "sys/no", line, sizeof(line)), line);
    str_addf(out, "there: %d %d %d\n", tree_exists(t, "sys/devices/pci/b/file"),
             tree_exists(t, "sys/devices"), tree_exists(t, "sys/no"));
    say_read(t, "sys/devices/pci/b/file", 128, out);
    say_list(t, "sys/devices", out);
}

static const char answers[] =
    "number sys/number: 42\n"
    "number sys/hex: 4318\n"
    "number sys/negative: -1\n"
    "number sys/word: -1\n"
    "number sys/empty: -1\n"
    "number sys/no: -1\n"
    "number sys/none: -1\n"
    "link sys/bus/a: 0 'sys/devices/pci/a'\n"
    "link sys/bus/b: 0 'sys/devices/pci/b'\n"
    "link sys/bus/out: 0 'etc/passwd'\n"
    "link sys/bus/root: 0 'etc/passwd'\n"
    "link sys/bus/no: -2 ''\n"
    "link sys/number: -2 ''\n"
    "link sys/bus/dangling: 0 'sys/bus/nowhere'\n"
    "link top: 0 'sys'\n"
    "link sys/bus/self: 0 'sys/bus/self'\n"
    "read sys/number: 3 34 32 0a\n"
    "read sys/empty: 0\n"
    "read sys/config: 8 86 80 00 00 00 00 00 10\n"
    "read sys/no: -2\n"
    "read sys/devices/pci/a/file: 5 69 6e 20 61 0a\n"
    "list sys: 9 'bus\nconfig\ndevices\nempty\nhex\nnegative\nnone\nnumber\nword\n'\n"
    "list sys/devices/pci: 2 'a\nb\n'\n"
    "list sys/none: 0 ''\n"
    "list sys/no: -2 ''\n"
    "line: 11 '  two words'\n"
    "no line: -2 ''\n"
    "there: 1 1 0\n"
    "read sys/devices/pci/b/file: 5 69 6e 20 62 0a\n"
    "list sys/devices: 1 'pci\n'\n";

/* A directory and what was recorded of it answer alike, to the letter. */
static void test_replay(void)
{
    CLEANUP(str_done) struct str said = STR_INIT(64 << 10);
    CLEANUP(str_done) struct str record = STR_INIT(64 << 10);
    CLEANUP(tree_closep) struct tree *dir = NULL, *pack = NULL;
    char root[PATH_MAX];
    struct err e = { "" };

    plant(root);
    is_int(tree_open_dir(&dir, root, &e), 0, "tree_open_dir opens a directory: %s", e.text);
    ok(!tree_is_live(dir), "a directory is not this machine");
    tree_record(dir, &record);
    ask(dir, &said);
    is_int(tree_record_end(dir), 0, "the recording of a directory ends well");
    is_str(str_text(&said), answers, "a directory answers all that is asked");
    folder_remove(root);

    is_int(tree_open_pack(&pack, "p", str_text(&record), record.len, &e), 0,
           "tree_open_pack opens the recording: %s", e.text);
    ok(!tree_is_live(pack), "a recording is not this machine");
    str_reset(&said);
    ask(pack, &said);
    is_str(str_text(&said), answers, "a recording answers as its directory did");
}

/* A recording of a recording is the same. */
static void test_record_twice(void)
{
    CLEANUP(str_done) struct str said = STR_INIT(64 << 10);
    CLEANUP(str_done) struct str first = STR_INIT(64 << 10);
    CLEANUP(str_done) struct str second = STR_INIT(64 << 10);
    CLEANUP(tree_closep) struct tree *dir = NULL, *pack = NULL;
    char root[PATH_MAX];
    struct err e = { "" };

    plant(root);
    is_int(tree_open_dir(&dir, root, &e), 0,
           "tree_open_dir opens a directory to be recorded twice");
    tree_record(dir, &first);
    ask(dir, &said);
    is_int(tree_record_end(dir), 0, "the first recording ends well");
    folder_remove(root);
    is_int(tree_open_pack(&pack, "p", str_text(&first), first.len, &e), 0,
           "tree_open_pack opens the first recording");
    tree_record(pack, &second);
    ask(pack, &said);
    is_int(tree_record_end(pack), 0, "the recording of a recording ends well");
    is_str(str_text(&second), str_text(&first), "the recording of a recording is the same text");
}

/* No link leads out of the directory, neither by "..", nor by "/", nor as a folder on the way. */
static void test_inside(void)
{
    CLEANUP(tree_closep) struct tree *t = NULL;
    char root[PATH_MAX], text[64];
    struct err e = { "" };

    plant(root);
    folder_link(root, "sys/bus/etc", "/etc");
    folder_text(root, "etc/hostname", "inside\n");
    is_int(tree_open_dir(&t, root, &e), 0, "tree_open_dir opens a directory with links out of it");
    is_int(tree_read(t, "sys/bus/out", text, sizeof(text)), -ENOENT,
           "a link up and out is not followed");
    is_int(tree_read(t, "sys/bus/root", text, sizeof(text)), -ENOENT,
           "a link to the root is not followed");
    is_int(tree_read(t, "../../../../../../../../etc/passwd", text, sizeof(text)), -ENOENT,
           "a path up and out is not read");
    is_int(tree_read(t, "sys/bus/etc/hostname", text, sizeof(text)), 7,
           "a link to a folder of the root is read inside");
    is_str(text, "inside\n", "the file inside is read, not the root's");
    is_int(tree_read(t, "sys/bus/a/file", text, sizeof(text)), 5, "links inside are followed");
    ok(!tree_exists(t, "sys/bus/out"), "what is outside of a directory is not there");
    is_int(tree_read(t, "sys/bus/self", text, sizeof(text)), -ELOOP,
           "a link to itself ends with -ELOOP");
    folder_remove(root);
}

static void test_cut(void)
{
    CLEANUP(tree_closep) struct tree *t = NULL, *pack = NULL;
    static const char text[] = "brim-pack 1\nf 5 a\n12345\nx 6 b\n(1000)\nend 2\n";
    char root[PATH_MAX], buf[64];
    struct err e = { "" };

    folder_make(root);
    folder_text(root, "a", "12345");
    is_int(tree_open_dir(&t, root, &e), 0, "tree_open_dir opens a directory with a file to be cut");
    is_int(tree_open_pack(&pack, "p", text, strlen(text), &e), 0,
           "tree_open_pack opens a pack with files to be cut");
    memset(buf, 'x', sizeof(buf));
    is_int(tree_read(t, "a", buf, 4), 3, "tree_read cuts a file to the buffer");
    is_str(buf, "123", "a file that was cut ends with a NUL");
    ok(buf[4] == 'x', "tree_read writes nothing behind the buffer");
    memset(buf, 'x', sizeof(buf));
    is_int(tree_read(pack, "a", buf, 4), 3, "tree_read cuts a file in a pack to the buffer");
    is_str(buf, "123", "a file of a pack that was cut ends with a NUL");
    ok(buf[4] == 'x', "tree_read of a pack writes nothing behind the buffer");
    is_int(tree_read(pack, "b", buf, 4), 3, "tree_read cuts a file in hexadecimal to the buffer");
    ok(!memcmp(buf, "\0\0\0\0x", 5), "tree_read of hexadecimal writes nothing behind the buffer");
    is_int(tree_read(t, "a", buf, 1), 0, "a size of 1 is room for nothing");
    folder_remove(root);
}

/* Pieces that nobody asked for do not get into the recording. */
static bool is_wanted(const char *piece)
{
    return piece[0] == 'w';
}

static void test_some(void)
{
    static const struct {
        const char *text, *want;
    } texts[] = {
        { "w1 secret w2 more\n", "w1 w2 " },
        { "secret w1", "w1" },
        { "w1", "w1" },
        { "secret", "" },
        { "", "" },
        { "  w1  ", "w1 " },
    };

    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        CLEANUP(str_done) struct str record = STR_INIT(4096);
        CLEANUP(tree_closep) struct tree *t = NULL, *pack = NULL;
        char root[PATH_MAX], buf[64];
        struct err e = { "" };

        folder_make(root);
        folder_text(root, "a", texts[i].text);
        is_int(tree_open_dir(&t, root, &e), 0, "tree_open_dir opens a directory with '%s'",
               texts[i].text);
        tree_record(t, &record);
        is_int(tree_read_some(t, "a", ' ', is_wanted, buf, sizeof(buf)),
               (long long)strlen(texts[i].want),
               "tree_read_some reads the pieces that are wanted of '%s'", texts[i].text);
        is_str(buf, texts[i].want, "tree_read_some has only what is wanted of '%s'", texts[i].text);
        is_int(tree_record_end(t), 0, "the recording of '%s' ends well", texts[i].text);
        ok(!strstr(str_text(&record), "secret"), "the recording lacks what is not wanted of '%s'",
           texts[i].text);
        is_int(tree_open_pack(&pack, "p", str_text(&record), record.len, &e), 0,
               "tree_open_pack opens the recording of '%s'", texts[i].text);
        is_int(tree_read_some(pack, "a", ' ', is_wanted, buf, sizeof(buf)),
               (long long)strlen(texts[i].want), "the recording of '%s' answers alike",
               texts[i].text);
        is_int(tree_read_some(t, "no", ' ', is_wanted, buf, sizeof(buf)), -ENOENT,
               "tree_read_some is -ENOENT where there is no file");
        is_str(buf, "", "tree_read_some leaves an empty text where there is no file");
        folder_remove(root);
    }
}

static void test_denied(void)
{
    static const char text[] = "brim-pack 1\n"
                               "e 2 a\n13\n"
                               "e 1 b\n1\n"
                               "e 1 c\n5\n"
                               "e 1 d\n2\n"
                               "e 4 f\nmany\n"
                               "e 0 g\n\n"
                               "e 3 h\n-13\n"
                               "x 1 i\n0\n"
                               "end 8\n";
    static const struct {
        const char *path;
        int error;
        unsigned denied;
    } files[] = {
        { "d", ENOENT, 0 }, { "a", EACCES, 1 }, { "b", EPERM, 2 },
        { "c", EIO, 3 },    { "f", EIO, 4 },    { "g", EIO, 5 },
        { "h", EIO, 6 },    { "i", EIO, 7 },    { "no", ENOENT, 7 },
    };
    CLEANUP(str_done) struct str names = STR_INIT(64);
    CLEANUP(tree_closep) struct tree *t = NULL;
    char buf[64];
    const char *path;
    struct err e = { "" };
    int error;

    is_int(tree_open_pack(&t, "p", text, strlen(text), &e), 0,
           "tree_open_pack opens a pack with errors: %s", e.text);
    is_int(tree_denied(t, &path, &error), 0, "a tree that was not read has denied nothing");
    for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
        is_int(tree_read(t, files[i].path, buf, sizeof(buf)), -files[i].error,
               "tree_read of %s has the error of the pack", files[i].path);
        is_str(buf, "", "tree_read of %s leaves an empty text", files[i].path);
        is_int(tree_denied(t, &path, &error), files[i].denied, "tree_denied counts up to %s",
               files[i].path);
    }
    is_str(path, "a", "tree_denied names the first path that was denied");
    is_int(error, EACCES, "tree_denied has the error of the first path");
    is_int(tree_list(t, "a", &names), -EACCES,
           "tree_list has the error of a directory that was refused");
    is_int(tree_link(t, "a", buf, sizeof(buf)), -EACCES,
           "tree_link has the error of a link that was refused");
    ok(tree_exists(t, "a"), "a file that was refused is there");
}

/* A file without the right to read it; root has every right, so it gives up its own for a
 * while. */
static void test_denied_live(void)
{
    CLEANUP(str_done) struct str record = STR_INIT(4096);
    CLEANUP(tree_closep) struct tree *t = NULL, *pack = NULL;
    char root[PATH_MAX], path[PATH_MAX], buf[64];
    const char *first;
    struct err e = { "" };
    int error;

    folder_make(root);
    folder_text(root, "a", "secret");
    folder_path(root, "a", path);
    folder_need(chmod(path, 0), path);
    folder_need(chmod(root, 0755), root);
    is_int(tree_open_dir(&t, root, &e), 0, "tree_open_dir opens a directory with a file of mode 0");
    tree_record(t, &record);
    if (geteuid() == 0 && seteuid(65534) < 0) {
        ok(true, "a file that cannot be read # SKIP no other user to be");
    } else {
        is_int(tree_read(t, "a", buf, sizeof(buf)), -EACCES,
               "tree_read is -EACCES for a file of mode 0");
        ok(tree_exists(t, "a"), "a file of mode 0 is there");
        is_int(tree_denied(t, &first, &error), 1, "tree_denied counts a file of mode 0");
        folder_need(getuid() == 0 ? seteuid(0) : 0, "seteuid");
        is_int(tree_record_end(t), 0, "the recording of a file of mode 0 ends well");
        is_str(str_text(&record), "brim-pack 1\ne 2 a\n13\nd 0 a\n\nend 2\n",
               "the recording has the error of a file of mode 0");
        is_int(tree_open_pack(&pack, "p", str_text(&record), record.len, &e), 0,
               "tree_open_pack opens the recording of an error");
        is_int(tree_read(pack, "a", buf, sizeof(buf)), -EACCES,
               "a recording denies what its directory denied");
    }
    folder_remove(root);
}

static void test_types(void)
{
    static const char text[] = "brim-pack 1\n"
                               "f 3 file\n1\n2\n"
                               "l 9 link\n../target\n"
                               "d 3 list\nb\na\n"
                               "l 5 dots\n./b/.\n"
                               "l 0 none\n\n"
                               "end 5\n";
    CLEANUP(str_done) struct str names = STR_INIT(64);
    CLEANUP(tree_closep) struct tree *t = NULL;
    char buf[TREE_PATH];
    struct err e = { "" };

    is_int(tree_open_pack(&t, "p", text, strlen(text), &e), 0,
           "tree_open_pack opens a pack of all types: %s", e.text);
    is_int(tree_read(t, "link", buf, sizeof(buf)), -ENOENT, "tree_read takes no link for a file");
    is_int(tree_read(t, "list", buf, sizeof(buf)), -ENOENT,
           "tree_read takes no directory for a file");
    is_int(tree_list(t, "file", &names), -ENOENT, "tree_list takes no file for a directory");
    is_int(tree_link(t, "file", buf, sizeof(buf)), -ENOENT, "tree_link takes no file for a link");
    is_int(tree_list(t, "list", &names), 2, "tree_list counts two names");
    is_str(str_text(&names), "b\na\n", "tree_list ends the last name with a newline");
    is_int(tree_link(t, "dots", buf, sizeof(buf)), 0, "tree_link reads a link with dots");
    is_str(buf, "b", "tree_link leaves the dots out of a target");
    is_int(tree_link(t, "none", buf, sizeof(buf)), 0, "tree_link reads an empty link");
    is_str(buf, "", "an empty link leads to the directory itself");
    is_int(tree_link(t, "link", buf, 3), -ENAMETOOLONG,
           "tree_link refuses a target that does not fit");
}

static void test_errors(void)
{
    struct tree *t = NULL;
    struct err e = { "" };

    is_int(tree_open_dir(&t, "/nowhere/at/all", &e), -ENOENT,
           "tree_open_dir fails where there is no directory");
    is_str(e.text, "/nowhere/at/all: No such file or directory",
           "the error names the directory that is not there");
    is_int(tree_open_dir(&t, "/dev/null", &e), -ENOTDIR, "tree_open_dir refuses a device");
    is_str(e.text, "/dev/null: Not a directory", "the error names what is no directory");
    is_int(tree_open_pack(&t, "p", "text", 4, &e), -EINVAL,
           "tree_open_pack refuses a text that is no pack");
    is_str(e.text, "p: is no recording (the first line is not 'brim-pack 1')",
           "the error says that the text is no recording");
    ok(!t, "no tree is handed out on an error");
    tree_close(NULL);
}

static void test_record_full(void)
{
    CLEANUP(str_done) struct str record = STR_INIT(20);
    CLEANUP(tree_closep) struct tree *t = NULL;
    char root[PATH_MAX], buf[64];
    struct err e = { "" };

    folder_make(root);
    folder_text(root, "a", "12345678901234567890");
    is_int(tree_open_dir(&t, root, &e), 0,
           "tree_open_dir opens a directory with a file too large to record");
    tree_record(t, &record);
    tree_record_note(t, "brim/note", "x", 1);
    is_int(tree_read(t, "a", buf, sizeof(buf)), 20, "tree_read goes on when the recording is full");
    is_int(tree_record_end(t), -EFBIG, "tree_record_end says that the recording was full");
    tree_record_note(t, "brim/note", "x", 1);
    is_int(tree_read(t, "a", buf, sizeof(buf)), 20,
           "tree_read goes on after the recording has ended");
    folder_remove(root);
}

/* A kernel that does not know openat2, from here to the end of the program. */
static void test_old_kernel(void)
{
    static struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    static const struct sock_fprog program = { ARRAY_SIZE(code), code };
    struct tree *t = NULL;
    struct err e = { "" };

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0) {
        ok(true, "an old kernel is told # SKIP no system call filter");
        return;
    }
    is_int(tree_open_dir(&t, "/tmp", &e), -ENOSYS,
           "tree_open_dir fails on a kernel without openat2");
    is_str(e.text,
           "/tmp: this kernel cannot keep links inside a directory (openat2: Function not "
           "implemented); read a recording instead",
           "the error names openat2 and the way out");
    is_int(tree_open_dir(&t, "/", &e), 0, "tree_open_dir opens this machine without openat2");
    ok(t && tree_is_live(t), "this machine is live without openat2");
    tree_close(t);
}

int main(void)
{
    if (!folder_can_copy()) {
        puts("1..0 # SKIP no openat2");
        return 0;
    }
    test_replay();
    test_record_twice();
    test_inside();
    test_cut();
    test_some();
    test_denied();
    test_denied_live();
    test_types();
    test_errors();
    test_record_full();
    test_old_kernel();
    return done();
}
