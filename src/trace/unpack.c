#include "trace/unpack.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* inflate() only reads what it is given */
#define ZLIB_CONST
#include <zlib.h>

#include "base/file.h"

enum { CHUNK = 64 << 10, GZIP_ONLY = 16 + MAX_WBITS, TAR_MARK = 257 };

/* Archives that are for other programs. */
static const struct {
    const char *begins;
    size_t len;
    const char *reads;
} others[] = {
    { "\x28\xb5\x2f\xfd", 4, "zstdcat" },
    { "\xfd\x37zXZ", 5, "xzcat" },
    { "\x04\x22\x4d\x18", 4, "lz4cat" },
    { "PK\x03\x04", 4, "unzip -p" },
};

static bool begins(const struct str *s, const char *bytes, size_t len)
{
    return s->len >= len && memcmp(str_text(s), bytes, len) == 0;
}

/* bzip2 begins with letters: they count with the number of the first block. */
static bool is_bzip2(const struct str *s)
{
    return begins(s, "BZh", 3) && s->len >= 10 && memcmp(str_text(s) + 4, "1AY&SY", 6) == 0;
}

static bool is_gzip(const struct str *s)
{
    return begins(s, "\x1f\x8b", 2);
}

/* Whose it is, for sentences. */
struct source {
    const char *file, *command;
};

/* What is written where a file is to be named in a command: standard input has no name. */
static const char *operand(const struct source *from)
{
    return strchr(from->file, ' ') ? "FILE" : from->file;
}

static int foreign(const struct source *from, const struct str *s, struct err *e)
{
    const char *reads = is_bzip2(s) ? "bzcat" : NULL;

    for (size_t i = 0; i < ARRAY_SIZE(others) && !reads; i++)
        if (begins(s, others[i].begins, others[i].len))
            reads = others[i].reads;
    return reads ? err_set(e, -EINVAL, "%s is compressed: %s %s | %s -", from->file, reads,
                           operand(from), from->command)
                 : 0;
}

static int broken(const struct source *from, const char *why, struct err *e)
{
    return err_set(e, -EINVAL,
                   "%s is a broken gzip archive (%s): get it anew, or read what is left of it: "
                   "zcat %s | %s -",
                   from->file, why, operand(from), from->command);
}

/* Behind a member is another one, or nothing, or zeros. */
static int next_member(z_stream *z, const struct source *from, bool *more, struct err *e)
{
    while (z->avail_in > 0 && *z->next_in == 0) {
        z->next_in++;
        z->avail_in--;
    }
    *more = z->avail_in > 0;
    if (*more && (z->avail_in < 2 || z->next_in[0] != 0x1f || z->next_in[1] != 0x8b))
        return broken(from, "something else stands behind it", e);
    return *more && inflateReset(z) != Z_OK ? err_nomem(e) : 0;
}

/* Whatever it holds, no more than the ceiling of out is unpacked. */
static int inflate_all(z_stream *z, const struct source *from, struct str *out, struct err *e)
{
    unsigned char chunk[CHUNK];
    bool more = true;
    int rc = 0;

    while (more && rc == 0) {
        int said;

        z->next_out = chunk;
        z->avail_out = sizeof(chunk);
        said = inflate(z, Z_NO_FLUSH);
        str_add_n(out, (const char *)chunk, sizeof(chunk) - z->avail_out);
        if (str_error(out) == -EFBIG)
            return err_set(e, -EFBIG,
                           "cannot read %s: it holds more than %zu MiB, the most that brim unpacks",
                           from->file, out->max >> 20);
        if (str_error(out) || said == Z_MEM_ERROR)
            return err_nomem(e);
        if (said == Z_STREAM_END)
            rc = next_member(z, from, &more, e);
        else if (said == Z_BUF_ERROR || (said == Z_OK && z->avail_in == 0 && z->avail_out > 0))
            return broken(from, "it ends in the middle", e);
        else if (said != Z_OK)
            return broken(from, z->msg ? z->msg : "it needs a dictionary", e);
    }
    return rc;
}

static int gunzip(const struct source *from, const struct str *packed, struct str *out,
                  struct err *e)
{
    z_stream z = { .next_in = (const unsigned char *)str_text(packed),
                   .avail_in = (unsigned)packed->len };
    int rc;

    if (inflateInit2(&z, GZIP_ONLY) != Z_OK)
        return err_nomem(e);
    rc = inflate_all(&z, from, out, e);
    inflateEnd(&z);
    return rc;
}

static bool is_tar(const struct str *s)
{
    return s->len > TAR_MARK + 5 && memcmp(str_text(s) + TAR_MARK, "ustar", 5) == 0;
}

int unpack_read(const char *path, const char *command, struct str *out, struct err *e)
{
    CLEANUP(str_done) struct str packed = STR_INIT(out->max);
    const struct source from = { file_input_name(path), command };
    int rc = file_read_input(path, out, e);

    if (rc == 0)
        rc = foreign(&from, out, e);
    if (rc < 0)
        return rc;
    if (is_gzip(out)) {
        packed = *out;
        *out = (struct str)STR_INIT(packed.max);
        rc = gunzip(&from, &packed, out, e);
    }
    if (rc == 0 && is_tar(out))
        rc = err_set(e, -EINVAL,
                     "cannot read %s: it is a tar archive: unpack it (tar -xf) and name one of "
                     "its files",
                     from.file);
    return rc;
}
