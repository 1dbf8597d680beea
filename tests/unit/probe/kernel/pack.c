#include "probe/kernel/pack.h"

#include <errno.h>
#include <string.h>

#include "tap.h"

static void test_format(void)
{
    CLEANUP(str_done) struct str out = STR_INIT(64 << 10);

    pack_begin(&out);
    pack_add(&out, 'f', "proc/one", "text\n", 5);
    pack_add(&out, 'f', "sys/config", "\x86\x80\0\0\0\0\1\0\0\0", 10);
    pack_add(&out, 'l', "sys/driver", "../nvidia", 9);
    pack_add(&out, 'd', "sys", "a\nb\n", 4);
    pack_add(&out, 'e', "sys/secret", "13", 2);
    pack_end(&out, 5);
    is_str(str_text(&out),
           "brim-pack 1\n"
           "f 5 proc/one\ntext\n\n"
           "x 15 sys/config\n8680(4)01000000\n"
           "l 9 sys/driver\n../nvidia\n"
           "d 4 sys\na\nb\n\n"
           "e 2 sys/secret\n13\n"
           "end 5\n",
           "a pack of five entries is this text");
}

/* Write one file, read it back; the type that was chosen for it comes back too. */
static char round_trip(const void *data, size_t len, bool *same)
{
    CLEANUP(str_done) struct str out = STR_INIT(8 << 20);
    CLEANUP(pack_closep) struct pack *p = NULL;
    CLEANUP(freep) char *back = malloc(len + 1);
    const struct pack_entry *at;
    struct err e = { "" };

    *same = false;
    pack_begin(&out);
    pack_add(&out, 'f', "a/b", data, len);
    pack_end(&out, 1);
    if (str_error(&out) || pack_open(&p, "p", str_text(&out), out.len, &e) != 0)
        return 0;
    at = pack_find(p, "a/b");
    if (!at || !back)
        return 0;
    if (at->type == 'x')
        *same = pack_unhex(at, back, len + 1) == (long)len && !memcmp(back, data, len);
    else
        *same = at->data_len == len && !memcmp(at->data, data, len);
    return at->type;
}

static void is_round(const void *data, size_t len, char type, const char *what)
{
    bool same;

    is_int(round_trip(data, len, &same), type, "%s is packed with type %c", what, type);
    ok(same, "%s comes back as it was", what);
}

static void test_round_trip(void)
{
    static const char zeros[5000];
    unsigned char space[4096];

    is_round("", 0, 'f', "an empty file");
    is_round("32.0 GT/s PCIe\n", 15, 'f', "a line");
    is_round("a\tb\nend 3\nf 1 x\n", 16, 'f', "lines that look like a pack");
    is_round("\xc3\xa9", 2, 'f', "UTF-8");
    is_round("a\r\n", 3, 'x', "a carriage return");
    is_round("\x7f", 1, 'x', "a delete");
    is_round("a\0b", 3, 'x', "a NUL");
    is_round("\0\0\0", 3, 'x', "a short run of zeros");
    is_round("\0\0\0\0", 4, 'x', "a run");
    is_round("x\0\0\0\0\0y", 7, 'x', "a run between");
    is_round(zeros, sizeof(zeros), 'x', "only zeros");
    for (size_t i = 0; i < sizeof(space); i++)
        space[i] = (unsigned char)(i % 300 < 256 ? i % 300 : 0);
    is_round(space, sizeof(space), 'x', "every byte, with runs");
}

static void test_find(void)
{
    CLEANUP(str_done) struct str out = STR_INIT(1 << 20);
    CLEANUP(pack_closep) struct pack *p = NULL;
    struct err e = { "" };
    bool good = true;
    char path[32];

    pack_begin(&out);
    for (int i = 0; i < 1000; i++) {
        snprintf(path, sizeof(path), "sys/%d/%d", i % 7, i);
        pack_add(&out, 'f', path, path, strlen(path));
    }
    pack_end(&out, 1000);
    is_int(pack_open(&p, "p", str_text(&out), out.len, &e), 0,
           "pack_open opens a pack of a thousand entries");
    is_int((long long)pack_count(p), 1000, "pack_count counts a thousand entries");
    for (int i = 0; i < 1000; i++) {
        const struct pack_entry *at;

        snprintf(path, sizeof(path), "sys/%d/%d", i % 7, i);
        at = pack_find(p, path);
        good = good && at && at->data_len == strlen(path) && !memcmp(at->data, path, at->data_len);
    }
    ok(good, "pack_find finds each of a thousand entries");
    ok(!pack_find(p, "sys/0/1000") && !pack_find(p, "sys/0") && !pack_find(p, ""),
       "pack_find finds no path that is not there");
}

static void test_duplicates(void)
{
    static const char text[] = "brim-pack 1\nf 1 a\n1\nf 1 b\n2\nf 1 a\n3\nend 3\n";
    CLEANUP(pack_closep) struct pack *p = NULL;
    struct err e = { "" };

    is_int(pack_open(&p, "p", text, strlen(text), &e), 0,
           "pack_open opens a pack with a path that stands twice");
    ok(pack_find(p, "a")->data[0] == '1', "the first entry of a path counts");
    is_int((long long)pack_count(p), 3, "pack_count counts both entries of a path");
}

/* To know that a path is there is less than to know what is in it. */
static void test_bare(void)
{
    static const char text[] = "brim-pack 1\n"
                               "d 0 a\n\nf 1 a\n1\nd 0 a\n\n"
                               "d 1 b\nx\nd 0 b\n\n"
                               "end 5\n";
    CLEANUP(pack_closep) struct pack *p = NULL;
    struct err e = { "" };

    is_int(pack_open(&p, "p", text, strlen(text), &e), 0, "pack_open opens a pack of bare paths");
    is_int(pack_find(p, "a")->type, 'f', "a path that is there, then read, is a file");
    is_int(pack_find(p, "b")->data_len, 1, "a path that was read, then there, keeps its data");
}

static void test_empty(void)
{
    static const char text[] = "brim-pack 1\nend 0\n";
    CLEANUP(pack_closep) struct pack *p = NULL;
    struct err e = { "" };

    is_int(pack_open(&p, "p", text, strlen(text), &e), 0, "pack_open opens a pack without entries");
    ok(!pack_find(p, "a"), "pack_find finds nothing in a pack without entries");
    pack_close(NULL);
}

#define NO_PACK "p: is no recording (the first line is not 'brim-pack 1')"
#define CUT "p: is cut off (the last line is not 'end COUNT'); record it again"
#define DAMAGED(at, i, n) "p: damaged at byte " #at " (entry " #i " of " #n "); record it again"
#define MORE(n) "p: has more entries than the " #n " that its last line says; record it again"

static void test_damage(void)
{
    static const struct {
        const char *text, *want;
    } packs[] = {
        { "", NO_PACK },
        { "brim-pack 1", NO_PACK },
        { "brim-pack 2\nend 0\n", NO_PACK },
        { "{}\n", NO_PACK },
        { "brim-pack 1\n", CUT },
        { "brim-pack 1\nf 1 a\n1\n", CUT },
        { "brim-pack 1\nf 1 a\n1\nend 1", CUT },
        { "brim-pack 1\nf 1 a\n1\nend \n", CUT },
        { "brim-pack 1\nf 1 a\n1\nend x\n", CUT },
        { "brim-pack 1\nf 1 a\n1\nend 1 \n", CUT },
        { "brim-pack 1\nf 1 a\n1\nend 9999999\n", CUT },
        { "brim-pack 1\nf 1 a\n1\nend 900\n",
          "p: is cut off (900 entries are promised); record it again" },
        { "brim-pack 1\ng 1 a\n1\nend 1\n", DAMAGED(12, 1, 1) },
        { "brim-pack 1\nf  1 a\n1\nend 1\n", DAMAGED(12, 1, 1) },
        { "brim-pack 1\nf -1 a\n1\nend 1\n", DAMAGED(12, 1, 1) },
        { "brim-pack 1\nf 1\n1\nend 1\n", DAMAGED(12, 1, 1) },
        { "brim-pack 1\nf 1 \n1\nend 1\n", DAMAGED(12, 1, 1) },
        { "brim-pack 1\nf 2 a\n1\nend 1\n", DAMAGED(12, 1, 1) },
        { "brim-pack 1\nf 0 a\n1\nend 1\n", DAMAGED(12, 1, 1) },
        { "brim-pack 1\nf 500 a\n1\nend 1\n", DAMAGED(12, 1, 1) },
        { "brim-pack 1\nf 7 a\n1\nend 1\n", DAMAGED(12, 1, 1) }, /* the last line is no data */
        { "brim-pack 1\nf 1048577 a\n1\nend 1\n", DAMAGED(12, 1, 1) },
        { "brim-pack 1\nf 99999999999999999999 a\n1\nend 1\n", DAMAGED(12, 1, 1) },
        { "brim-pack 1\nf 1 a\n1\nf 2 b\n1\nend 2\n", DAMAGED(20, 2, 2) },
        { "brim-pack 1\nf 1 a\n1\nend 2\n", DAMAGED(20, 2, 2) },
        { "brim-pack 1\nf 1 a\n1\nf 1 b\n1\nend 1\n", MORE(1) },
        { "brim-pack 1\nf 1 a\n1\nend 1\nf 1 b\n1\nend 1\n", MORE(1) },
        { "brim-pack 1\nf 1 a\n1\nend 0\nend 1\n", MORE(1) },
    };

    for (size_t i = 0; i < ARRAY_SIZE(packs); i++) {
        size_t len = strlen(packs[i].text);
        CLEANUP(freep) char *exact = malloc(len); /* without a NUL behind it */
        struct pack *p = NULL;
        struct err e = { "" };

        memcpy(exact, packs[i].text, len);
        is_int(pack_open(&p, "p", exact, len, &e), -EINVAL, "pack_open refuses damage %zu", i);
        is_str(e.text, packs[i].want, "pack_open says: %s", packs[i].want);
        ok(!p, "pack_open sets nothing of damage %zu", i);
        pack_close(p);
    }
}

/* A good pack cut at every byte is never taken for a whole one. */
static void test_cuts(void)
{
    static const char text[] = "brim-pack 1\nf 5 a\nend 1\nd 4 b\nc\nd\n\nend 2\n";
    size_t taken = 0;

    for (size_t len = 0; len <= strlen(text); len++) {
        CLEANUP(freep) char *exact = malloc(len);
        CLEANUP(pack_closep) struct pack *p = NULL;

        memcpy(exact, text, len);
        taken += pack_open(&p, "p", exact, len, NULL) == 0;
    }
    is_int((long long)taken, 1, "only the whole pack is a pack");
}

static void test_paths(void)
{
    CLEANUP(str_done) struct str out = STR_INIT(8192);
    struct pack *p = NULL;
    struct err e = { "" };

    pack_begin(&out);
    str_add(&out, "f 0 ");
    str_fill(&out, 'a', 511);
    str_add(&out, "\n\nend 1\n");
    is_int(pack_open(&p, "p", str_text(&out), out.len, &e), 0,
           "pack_open takes a path of 511 bytes");
    pack_close(p);
    p = NULL;
    str_reset(&out);
    pack_begin(&out);
    str_add(&out, "f 0 ");
    str_fill(&out, 'a', 512);
    str_add(&out, "\n\nend 1\n");
    is_int(pack_open(&p, "p", str_text(&out), out.len, &e), -EINVAL,
           "pack_open refuses a path of 512 bytes");
    pack_close(p);
}

static void test_unhex(void)
{
    static const struct {
        const char *text;
        int len; /* what comes out, or the error */
    } texts[] = {
        { "", 0 },          { "00ff", 2 },        { "(4)", 4 },
        { "01(2)02", 4 },   { "(0)", 0 },         { "0", -EINVAL },
        { "0g", -EINVAL },  { "FF", -EINVAL },    { "(", -EINVAL },
        { "(4", -EINVAL },  { "()", -EINVAL },    { "(-1)", -EINVAL },
        { "(x)", -EINVAL }, { "00 ff", -EINVAL }, { "(1048577)", -EINVAL },
    };
    char buf[8];

    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        size_t len = strlen(texts[i].text);
        CLEANUP(freep) char *exact = malloc(len);
        struct pack_entry at = { .data = exact, .data_len = (uint32_t)len, .type = 'x' };

        memcpy(exact, texts[i].text, len);
        is_int(pack_unhex(&at, buf, sizeof(buf)), texts[i].len,
               "pack_unhex of '%s' has its length or error", texts[i].text);
    }
}

static void test_unhex_cut(void)
{
    struct pack_entry at = { .data = "0102(99)03", .data_len = 10, .type = 'x' };
    char buf[8] = "1234567";

    is_int(pack_unhex(&at, buf, 4), 4, "pack_unhex cuts what is longer than the buffer");
    ok(!memcmp(buf,
               "\1\2\0\0"
               "567",
               7),
       "pack_unhex writes nothing behind the buffer");
    is_int(pack_unhex(&at, buf, 0), 0, "pack_unhex takes a buffer of no bytes");
}

/* What does not fit a pack must not become one that cannot be opened. */
static void test_too_large(void)
{
    CLEANUP(str_done) struct str out = STR_INIT(8 << 20);
    CLEANUP(freep) char *text = malloc(2 << 20);

    memset(text, 'a', 2 << 20);
    pack_begin(&out);
    pack_add(&out, 'f', "a", text, 1 << 20);
    is_int(str_error(&out), 0, "pack_add takes an entry of 1 MiB");
    pack_add(&out, 'f', "b", text, (1 << 20) + 1);
    is_int(str_error(&out), -EFBIG, "pack_add refuses an entry of 1 MiB and a byte");
    str_reset(&out);
    text[0] = 0;
    pack_add(&out, 'f', "c", text, 1 << 20);
    is_int(str_error(&out), -EFBIG, "pack_add refuses an entry too large in hexadecimal");
}

int main(void)
{
    test_format();
    test_round_trip();
    test_find();
    test_duplicates();
    test_bare();
    test_empty();
    test_damage();
    test_cuts();
    test_paths();
    test_unhex();
    test_unhex_cut();
    test_too_large();
    return done();
}
