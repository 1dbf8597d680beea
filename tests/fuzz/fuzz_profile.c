#include <errno.h>

#include "fuzz.h"
#include "model/job/profile.h"

/* Whatever is taken is written and read again as the same. */
static void use(const struct profile *p)
{
    CLEANUP(profile_done) struct profile again = { .count = 0 };
    CLEANUP(str_done) struct str first = STR_INIT(16 << 20), second = STR_INIT(16 << 20);
    CLEANUP(knobs_done) struct knobs none = { .count = 0 };
    struct err e = { "" };

    profile_write(p, &first);
    check(str_error(&first) == 0);
    check(profile_read(&again, "f", str_text(&first), first.len, &e) == 0);
    check(again.count == p->count);
    profile_write(&again, &second);
    check(strcmp(str_text(&first), str_text(&second)) == 0);
    check((profile_check(p, &none, "f", &e) == 0) == (p->count == 0));
    str_reset(&second);
    profile_env(p, &none, &second);
    check(second.len == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(profile_done) struct profile p = { .count = 0 };
    const char *text = (const char *)data;
    struct err e = { "" };
    int rc = profile_read(&p, "f", text, size, &e);

    check(rc == 0 || rc == -EINVAL);
    check((rc == 0) == (e.text[0] == '\0'));
    if (rc < 0) {
        long line = line_told(e.text, "f:");

        check(line >= 1 && line <= count_lines(text, size));
        return 0;
    }
    use(&p);
    return 0;
}
