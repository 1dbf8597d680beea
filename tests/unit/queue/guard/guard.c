/* What ends a job that could not be started, and what lets it wait again. */
#include "queue/guard/guard.h"

#include <errno.h>
#include <string.h>

#include "tap.h"

int main(void)
{
    static const int pass[] = { ENOSPC, EDQUOT, ENOMEM, EAGAIN, EMFILE, ENFILE };

    for (int error = 1; error < 134; error++) {
        bool want = false;

        for (size_t i = 0; i < ARRAY_SIZE(pass); i++)
            want = want || pass[i] == error;
        is_int(queue_guard_passes(-error), want, "the error '%s' passes or does not",
               strerror(error));
    }
    ok(!queue_guard_passes(0), "what is no error does not pass");
    return done();
}
