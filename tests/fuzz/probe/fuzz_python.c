/* Memory of any content in place of an interpreter's: words and where they stand
 * (python_image.h). Whatever comes out, it ends, and is text. */
#include <errno.h>

#include "base/utf8.h"
#include "fuzz.h"
#include "probe/python/reader.h"
#include "python_image.h"

enum { MOST = 32 };

static void check_text(const char *text, size_t size)
{
    check(memchr(text, 0, size) != NULL);
    while (*text) {
        uint32_t code;

        text += utf8_decode(text, &code);
        check(!utf8_is_control(code));
    }
}

static void check_frame(const struct python_frame *f)
{
    check_text(f->function, sizeof(f->function));
    check_text(f->file, sizeof(f->file));
    check(f->line >= 0);
}

static void look_for_loops(struct python_reader *r, uint64_t thread)
{
    struct python_loop_of_call loops[MOST];
    int n = python_reader_loops(r, thread, loops, MOST);

    check(n <= MOST && (n >= 0 || n == -ENOENT));
    for (int i = 0; i < n; i++) {
        check_frame(&loops[i].place);
        check(loops[i].loop.id && loops[i].loop.iterator);
        (void)!python_reader_again(r, &loops[i].loop);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct python_frame frames[MOST];
    struct python_reader *r = NULL;
    struct python_memory memory;
    struct err e = { "" };
    struct image m;
    int rc;

    if (image_parse(&m, (const char *)data, size) == 0) {
        memory = image_memory(&m);
        rc = python_reader_open(&r, &memory, m.runtime, m.version, &e);
        check(rc == 0 || (rc < 0 && *e.text));
        for (int i = 0; rc == 0 && i < 2; i++) {
            int n = python_reader_stack(r, m.thread, frames, MOST);

            check(n <= MOST && (n >= 0 || n == -ENOENT));
            for (int k = 0; k < n; k++)
                check_frame(&frames[k]);
            look_for_loops(r, m.thread);
        }
        python_reader_close(r);
    }
    image_done(&m);
    return 0;
}
