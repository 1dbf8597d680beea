#include "model/site/words.h"

#include <signal.h>

#include "tap.h"

struct row {
    const char *comment;
    int signal;
    bool to_script;
    int32_t grace_s, fewest, most;
    bool place;
};

static const struct row rows[] = {
    { NULL, 0, false, 60, 0, 0, false },
    { "", 0, false, 60, 0, 0, false },
    { "brim:", 0, false, 60, 0, 0, false },
    { "brim:signal=USR1", SIGUSR1, false, 60, 0, 0, false },
    { "brim:signal=SIGUSR2@5", SIGUSR2, false, 5, 0, 0, false },
    { "brim:signal=B:TERM@3600", SIGTERM, true, 3600, 0, 0, false },
    { "brim:signal=10@7", 10, false, 7, 0, 0, false },
    { "brim:elastic=2-4", 0, false, 60, 2, 4, false },
    { "brim:elastic=3-3", 0, false, 60, 3, 3, false },
    { "brim:place", 0, false, 60, 0, 0, true },
    { "mine brim:elastic=1-8\tplace signal=HUP@1 and more", SIGHUP, false, 1, 1, 8, true },
    { "brim:place elastic=4-2 signal=USR1", 0, false, 60, 0, 0, true },
    { "brim:signal=KILL place", 0, false, 60, 0, 0, false },
    { "brim:signal=STOP", 0, false, 60, 0, 0, false },
    { "brim:signal=USR11", 0, false, 60, 0, 0, false },
    { "brim:signal=USR", 0, false, 60, 0, 0, false },
    { "brim:signal=32", 0, false, 60, 0, 0, false },
    { "brim:signal=0", 0, false, 60, 0, 0, false },
    { "brim:signal=99999999999999999999", 0, false, 60, 0, 0, false },
    { "brim:signal=USR1@", 0, false, 60, 0, 0, false },
    { "brim:signal=USR1@0", 0, false, 60, 0, 0, false },
    { "brim:signal=USR1@3601", 0, false, 60, 0, 0, false },
    { "brim:signal=USR1@5s", 0, false, 60, 0, 0, false },
    { "brim:elastic=2", 0, false, 60, 0, 0, false },
    { "brim:elastic=0-2", 0, false, 60, 0, 0, false },
    { "brim:elastic=2-1000001", 0, false, 60, 0, 0, false },
    { "brim:elastic=2-4x", 0, false, 60, 0, 0, false },
    { "brim:placed", 0, false, 60, 0, 0, false },
    { "xbrim:place", 0, false, 60, 0, 0, false },
    { "xbrim:place brim:place", 0, false, 60, 0, 0, true },
    { "brim: place", 0, false, 60, 0, 0, false },
};

int main(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        const struct row *r = &rows[i];
        struct site_words w = site_words_of(r->comment);

        ok(w.signal == r->signal && w.to_script == r->to_script && w.grace_s == r->grace_s &&
               w.fewest == r->fewest && w.most == r->most && w.place == r->place,
           "the words of '%s' are read: %d%s@%d %d-%d%s", r->comment ? r->comment : "(none)",
           w.signal, w.to_script ? " to the script" : "", (int)w.grace_s, (int)w.fewest,
           (int)w.most, w.place ? " place" : "");
    }
    return done();
}
