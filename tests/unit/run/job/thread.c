#include "run/job/thread.h"

#include <errno.h>

#include "tap.h"

static void test_times(void)
{
    static const char *const bad[] = {
        "", "12", "x 1 2", "12 ", "12 y", "12  3", "99999999999999999999999 1 2"
    };
    struct thread_times t = { 7, 7 };

    is_int(thread_parse_times("957258713 238892 16\n", &t), 0,
           "thread_parse_times reads a line of schedstat");
    is_int((long long)t.ran_ns, 957258713, "the thread ran on a CPU for 957258713 ns");
    is_int((long long)t.waited_ns, 238892, "the thread waited for a CPU for 238892 ns");
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
        is_int(thread_parse_times(bad[i], &t), -EINVAL, "thread_parse_times refuses '%s'", bad[i]);
    is_int((long long)t.ran_ns, 957258713, "a line that is refused sets nothing");
}

static void test_file_wait(void)
{
    ok(thread_is_file_wait("request_wait_answer"), "a thread waits for a file in FUSE's function");
    ok(thread_is_file_wait("ptlrpc_set_wait"), "a thread waits for a file in Lustre's function");
    ok(!thread_is_file_wait("hrtimer_nanosleep"), "no file is waited for in a sleep");
    ok(!thread_is_file_wait("0"), "a thread without a known function waits for no file");
    ok(!thread_is_file_wait(""), "a thread with an empty function waits for no file");
}

int main(void)
{
    test_times();
    test_file_wait();
    return done();
}
