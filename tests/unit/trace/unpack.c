/* Files that may be compressed: what is unpacked, what is refused and how it is said. */
#include "trace/unpack.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define ZLIB_CONST
#include <zlib.h>

#include "tap.h"

enum { PACKED = 96 << 10, TEXT = 200000, MOST = 1 << 20 };

static char path[] = "/tmp/brim-unpack-XXXXXX";

static void put(const void *bytes, size_t len)
{
    FILE *f = fopen(path, "w");

    if (!f || fwrite(bytes, 1, len, f) != len || fclose(f) != 0)
        printf("Bail out! cannot write %s\n", path);
}

/* A member of an archive. */
static size_t pack(const char *text, size_t len, unsigned char *ret, size_t size)
{
    z_stream z = { .next_in = (const unsigned char *)text, .avail_in = (unsigned)len };

    if (deflateInit2(&z, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        printf("Bail out! no memory\n");
    z.next_out = ret;
    z.avail_out = (unsigned)size;
    if (deflate(&z, Z_FINISH) != Z_STREAM_END)
        printf("Bail out! the archive is too large\n");
    deflateEnd(&z);
    return size - z.avail_out;
}

static int unpack(struct str *out, struct err *e)
{
    *e = (struct err){ "" };
    out->max = MOST;
    return unpack_read(path, "brim sim", out, e);
}

/* Rows that differ, so that a byte of the archive is worth some of them. */
static void make_text(char text[TEXT])
{
    size_t len = 0;

    for (unsigned i = 0; len + 32 < TEXT; i++)
        len += (size_t)snprintf(text + len, 32, "job%u,%u,%u\n", i, i * 2654435761U >> 12, i % 8);
    memset(text + len, '\n', TEXT - len);
}

static void test_whole(const char *text, const unsigned char *packed, size_t len)
{
    static const struct {
        const char *what;
        size_t members, zeros;
    } cases[] = {
        { "one member", 1, 0 },
        { "three members", 3, 0 },
        { "a member and zeros", 1, 512 },
    };
    unsigned char all[4 * PACKED];
    CLEANUP(str_done) struct str out = STR_INIT(MOST);
    struct err e;

    put(text, TEXT);
    is_int(unpack(&out, &e), 0, "a file that is not compressed is read: %s", e.text);
    ok(out.len == TEXT && !memcmp(str_text(&out), text, TEXT), "plain text stays as it is");
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        size_t n = 0;
        bool same = true;

        for (size_t k = 0; k < cases[i].members; k++, n += len)
            memcpy(all + n, packed, len);
        memset(all + n, 0, cases[i].zeros);
        put(all, n + cases[i].zeros);
        is_int(unpack(&out, &e), 0, "an archive of %s is read: %s", cases[i].what, e.text);
        is_int((int)out.len, (int)cases[i].members * TEXT, "%s hold all rows", cases[i].what);
        for (size_t k = 0; k < out.len; k++)
            same = same && str_text(&out)[k] == text[k % TEXT];
        ok(same, "the text of %s is what was packed", cases[i].what);
    }
}

/* No byte of an archive may be missing, or another one. */
static void test_broken(const unsigned char *packed, size_t len)
{
    static const char *const behind[] = { "more", "m", "\x1f", "\x1fmore", "m\x8b" };
    unsigned char copy[PACKED + 16];
    CLEANUP(str_done) struct str out = STR_INIT(MOST);
    struct err e;
    int taken = 0, told = 0, n = 0;

    for (size_t cut = 2; cut < len; cut += 499, n++) {
        put(packed, cut);
        taken += unpack(&out, &e) != -EINVAL;
        told += strstr(e.text, "broken gzip archive (it ends in the middle)") != NULL;
    }
    is_int(taken, 0, "no archive that ends in the middle is read");
    is_int(told, n, "the error of each says that it ends in the middle");
    taken = 0;
    for (size_t at = 10; at < len;
         at += 499) { /* behind the header, whose time and flags are free */
        memcpy(copy, packed, len);
        copy[at] ^= 0x55;
        put(copy, len);
        taken += unpack(&out, &e) != -EINVAL;
    }
    is_int(taken, 0, "no archive with a wrong byte is read");
    memcpy(copy, packed, len);
    for (size_t i = 0; i < ARRAY_SIZE(behind); i++) {
        size_t more = strlen(behind[i]);

        memcpy(copy + len, behind[i], more);
        put(copy, len + more);
        is_int(unpack(&out, &e), -EINVAL, "what stands behind an archive is not left out: %s",
               behind[i]);
        ok(strstr(e.text, path) && strstr(e.text, "behind it") && strstr(e.text, "zcat"),
           "the error names the file and the way out: %s", e.text);
    }
}

static void test_too_much(void)
{
    static char zeros[MOST + 1];
    static unsigned char packed[PACKED];
    CLEANUP(str_done) struct str out = STR_INIT(MOST);
    struct err e;

    put(packed, pack(zeros, sizeof(zeros) - 1, packed, sizeof(packed)));
    is_int(unpack(&out, &e), 0, "an archive of as much as may be is read: %s", e.text);
    put(packed, pack(zeros, sizeof(zeros), packed, sizeof(packed)));
    is_int(unpack(&out, &e), -EFBIG, "an archive of one byte more is refused");
    ok(strstr(e.text, "more than 1 MiB"), "the error says how much may be unpacked: %s", e.text);
    ok(out.cap <= 2 * MOST, "no more memory is taken than for that");
}

static void test_foreign(void)
{
    static const struct {
        const char *bytes;
        size_t len;
        const char *way_out;
    } cases[] = {
        { "\x28\xb5\x2f\xfd\x04", 5, "zstdcat" }, { "\xfd\x37zXZ\0", 6, "xzcat" },
        { "BZh91AY&SY..", 12, "bzcat" },          { "\x04\x22\x4d\x18", 4, "lz4cat" },
        { "PK\x03\x04", 4, "unzip -p" },
    };
    CLEANUP(str_done) struct str out = STR_INIT(MOST);
    char tar[1024] = "jobs.csv";
    struct err e;

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        put(cases[i].bytes, cases[i].len);
        is_int(unpack(&out, &e), -EINVAL, "brim does not read what %s prints", cases[i].way_out);
        ok(strstr(e.text, path) && strstr(e.text, cases[i].way_out),
           "the error names the file and %s: %s", cases[i].way_out, e.text);
    }
    put("BZh,of,a,trace\n", 15);
    is_int(unpack(&out, &e), 0, "a column may begin as bzip2 does: %s", e.text);
    memcpy(tar + 257, "ustar", 5);
    put(tar, sizeof(tar));
    is_int(unpack(&out, &e), -EINVAL, "a tar archive is no trace");
    ok(strstr(e.text, "tar -xf"), "the error names tar: %s", e.text);
}

int main(void)
{
    static char text[TEXT];
    static unsigned char packed[PACKED];
    int fd = mkstemp(path);
    size_t len;

    if (fd < 0 || close(fd) < 0)
        printf("Bail out! cannot make %s\n", path);
    make_text(text);
    len = pack(text, TEXT, packed, sizeof(packed));
    test_whole(text, packed, len);
    test_broken(packed, len);
    test_too_much();
    test_foreign();
    unlink(path);
    return done();
}
