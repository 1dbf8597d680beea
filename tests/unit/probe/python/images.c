/* Calls out of recorded memory of CPython 3.11 to 3.14, whole and with every word wrong. */
#include <errno.h>

#include "../../oom.h"
#include "golden.h"
#include "probe/python/reader.h"
#include "python_image.h"

enum { MOST = 64, TEXT = 32 << 10 };

static void load(struct image *m, const char *path)
{
    CLEANUP(freep) char *text = golden_read(path);

    if (image_parse(m, text, strlen(text)) < 0 || !m->n) {
        printf("Bail out! %s has no words\n", path);
        exit(1);
    }
}

/* What an image tells, in a text; how many calls, or a negative errno. */
static int tell(const struct image *m, char *out, size_t size)
{
    struct python_memory memory = image_memory(m);
    CLEANUP(python_reader_closep) struct python_reader *r = NULL;
    struct python_frame frames[MOST];
    struct err e = { "" };
    size_t len = 0;
    int n = python_reader_open(&r, &memory, m->runtime, m->version, &e);

    out[0] = 0;
    if (n < 0) {
        snprintf(out, size, "%s\n", e.text);
        return n;
    }
    n = python_reader_stack(r, m->thread, frames, MOST);
    for (int i = 0; i < n && len < size; i++)
        len += (size_t)snprintf(out + len, size - len, "%s\t%s:%d\n", frames[i].function,
                                frames[i].file, frames[i].line);
    return n;
}

static const char *base(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* Several calls of a reader: threads, code objects and lines that are known by then. */
static void test_again(const struct image *m, const char *name)
{
    struct python_memory memory = image_memory(m);
    CLEANUP(python_reader_closep) struct python_reader *r = NULL;
    struct python_frame frames[MOST], again[MOST];
    long first, second;
    int n, rc = python_reader_open(&r, &memory, m->runtime, m->version, NULL);

    is_int(rc, 0, "%s opens once more", name);
    memset(frames, 0, sizeof(frames));
    memset(again, 0, sizeof(again));
    n = python_reader_stack(r, m->thread, frames, MOST);
    first = m->reads;
    is_int(python_reader_stack(r, m->thread, again, MOST), n, "%s has as many calls again", name);
    second = m->reads - first;
    ok(!memcmp(frames, again, sizeof(frames)), "%s has the same calls again", name);
    ok(second < first, "%s takes fewer reads the second time: %ld, then %ld", name, first, second);
    is_int(python_reader_stack(r, m->thread, again, 2), 2, "%s tells as many calls as wanted",
           name);
    ok(!memcmp(frames, again, 2 * sizeof(frames[0])), "%s tells the innermost calls", name);
    is_int(python_reader_stack(r, m->thread, again, 0), 0, "%s tells no calls of none", name);
    is_int(python_reader_stack(r, m->thread + 1, again, MOST), -ENOENT,
           "%s has no thread of another number", name);
}

/* Each word is nothing, all ones, a small number, where it stands itself, where the next word
 * stands: whatever comes out, it ends and is text. */
static void test_any(struct image *m, const char *name)
{
    char text[TEXT];
    long told = 0, kept = 0;

    for (size_t i = 0; i < m->n; i++) {
        const uint64_t was = m->words[i].value;
        const uint64_t values[] = { 0, UINT64_MAX, 3, m->words[i].at, m->words[(i + 1) % m->n].at };

        for (size_t v = 0; v < ARRAY_SIZE(values); v++) {
            int n;

            m->words[i].value = values[v];
            n = tell(m, text, sizeof(text));
            told++;
            kept += n >= -4096 && n <= MOST;
        }
        m->words[i].value = was;
    }
    is_int(kept, told, "%s with a wrong word tells calls or a reason", name);
}

static void test_memory(const struct image *m, const char *name)
{
    char text[TEXT];
    int n, refused = 0, others = 0;
    bool failed;

    oom_restart();
    do {
        oom_next();
        n = tell(m, text, sizeof(text));
        failed = oom_end();
        refused += n == -ENOMEM;
        others += n < 0 && n != -ENOMEM;
    } while (failed);
    is_int(refused, 2, "%s is not opened without memory", name);
    is_int(others, 0, "%s without memory has no other error", name);
    ok(n > 0, "%s tells calls once there is memory", name);
}

int main(int argc, char **argv)
{
    char text[4 * TEXT] = "";
    size_t len = 0;

    for (int i = 1; i < argc - 1; i++) {
        const char *name = base(argv[i]);
        struct image m;

        load(&m, argv[i]);
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%s\n", name);
        ok(tell(&m, text + len, sizeof(text) - len) > 8, "%s has a stack of calls", name);
        len += strlen(text + len);
        test_again(&m, name);
        test_any(&m, name);
        test_memory(&m, name);
        image_done(&m);
    }
    golden(argv[argc - 1], text);
    return done();
}
