#include "sampled.h"

extern const struct sampler_ops sampler_net;

#define DEV "proc/net/dev"
#define HEADER \
    "Inter-|   Receive                                                |  Transmit\n" \
    " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs " \
    "drop fifo colls carrier compressed\n"

static void test_values(struct sampled *s)
{
    folder_text(s->folder, DEV,
                HEADER
                "    lo: 100 2 0 0 0 0 0 0 100 2 0 0 0 0 0 0\n"
                "  eth0: 987654321012 70000000001 3 4 5 6 7 8 9123456789 10 11 12 13 14 15 16\n"
                "ib0:4294967296 1 0 0 0 0 0 0 2 3 0 0 0 0 0 0\n"
                "veth12ab: 1 1 0 0 0 0 0 0 1 1 0 0 0 0 0 0\n"
                "docker0: 1 1 0 0 0 0 0 0 1 1 0 0 0 0 0 0\n"
                "cni0: 1 1 0 0 0 0 0 0 1 1 0 0 0 0 0 0\n"
                "virbr0: 1 1 0 0 0 0 0 0 1 1 0 0 0 0 0 0\n"
                "ifb0: 1 1 0 0 0 0 0 0 1 1 0 0 0 0 0 0\n"
                "down0: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
                "old0: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
                "idle0: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n");
    folder_text(s->folder, "sys/class/net/eth0/speed", "100000\n");
    folder_text(s->folder, "sys/class/net/down0/speed", "-1\n");
    folder_text(s->folder, "sys/class/net/old0/speed", "4294967295\n");
    folder_text(s->folder, "sys/class/net/idle0/speed", "0\n");
    is_int(sampled_open(s), 0, "the sampler opens with eleven interfaces");
    is_int(sampled_at(s, 0), 5, "interfaces that lead out alone have rows");
    is_value(s, "eth0", "receive_bytes_total", "987654321012");
    is_value(s, "eth0", "receive_packets_total", "70000000001");
    is_value(s, "eth0", "receive_errors_total", "3");
    is_value(s, "eth0", "receive_dropped_total", "4");
    is_value(s, "eth0", "transmit_bytes_total", "9123456789");
    is_value(s, "eth0", "transmit_packets_total", "10");
    is_value(s, "eth0", "transmit_errors_total", "11");
    is_value(s, "eth0", "transmit_dropped_total", "12");
    is_value(s, "eth0", "speed_bytes", "12500000000");
    is_value(s, "ib0", "receive_bytes_total", "4294967296");
    is_value(s, "ib0", "speed_bytes", "absent");
    is_value(s, "down0", "speed_bytes", "absent");
    is_value(s, "old0", "speed_bytes", "absent");
    is_value(s, "idle0", "speed_bytes", "absent");
    is_value(s, "lo", "receive_bytes_total", "no row");
    is_value(s, "veth12ab", "receive_bytes_total", "no row");
}

static void test_changes(struct sampled *s)
{
    char path[PATH_MAX];

    folder_text(s->folder, DEV,
                HEADER "eth0: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n"
                       "eth1: 2 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n");
    folder_text(s->folder, "sys/class/net/eth0/speed", "25000\n");
    folder_text(s->folder, "sys/class/net/eth1/speed", "1000\n");
    is_int(sampled_at(s, 9), 2, "an interface that came has a row");
    is_value(s, "eth1", "speed_bytes", "125000000");
    is_value(s, "eth0", "speed_bytes", "12500000000");
    is_int(sampled_at(s, 10), 2, "ten seconds later the speed is asked again");
    is_value(s, "eth0", "speed_bytes", "3125000000");
    folder_text(s->folder, DEV, HEADER);
    is_int(sampled_at(s, 11), 0, "interfaces that are gone have no rows");
    folder_path(s->folder, "sys/class/net/eth0/speed", path);
    folder_need(remove(path), path);
    folder_text(s->folder, DEV, HEADER "eth0: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n");
    is_int(sampled_at(s, 12), 1, "an interface that is back has a row without a speed");
    is_value(s, "eth0", "speed_bytes", "absent");
    folder_text(s->folder, "sys/class/net/eth0/speed", "10000\n");
    is_int(sampled_at(s, 22), 1, "an interface has its speed ten seconds later");
    is_value(s, "eth0", "speed_bytes", "1250000000");
    folder_text(s->folder, DEV, "");
    is_int(sampled_at(s, 23), 0, "an empty table of interfaces has no rows");
}

static void test_hostile(struct sampled *s)
{
    folder_text(s->folder, "secret/speed", "1000\n");
    folder_text(s->folder, "sys/class/speed", "1000\n");
    folder_text(s->folder, "sys/class/net/a/b/speed", "1000\n");
    folder_text(s->folder, DEV,
                HEADER "\n:\n: 1 2 3\nno colon 1 2 3\n"
                       "../../../secret: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n"
                       "..: 2 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n"
                       "a/b: 2 99999999999999999999999 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n"
                       "\xff\"\\: 3 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n"
                       "a-name-that-is-much-longer-than-any-name-of-a-device-can-be: 1 2 3\n"
                       "lo1: 5 6\n"
                       "lo1: 7 8\n"
                       "eth0: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15");
    is_int(sampled_at(s, 40), 5, "bad lines are passed over, and one that was cut");
    is_value(s, "../../../secret", "receive_bytes_total", "1");
    is_value(s, "../../../secret", "speed_bytes", "absent");
    is_value(s, "..", "speed_bytes", "absent");
    is_value(s, "a/b", "speed_bytes", "absent");
    is_value(s, "a/b", "receive_bytes_total", "2");
    is_value(s, "a/b", "receive_packets_total", "absent");
    is_value(s, "a/b", "receive_errors_total", "absent");
    is_value(s, "\xff\"\\", "receive_bytes_total", "3");
    is_value(s, "lo1", "receive_packets_total", "6");
    is_value(s, "lo1", "receive_errors_total", "absent");
    is_value(s, "eth0", "receive_bytes_total", "no row");
}

static void test_many(struct sampled *s)
{
    char path[PATH_MAX], speed[64];
    FILE *f;

    folder_path(s->folder, DEV, path);
    f = fopen(path, "we");
    folder_need(f ? 0 : -1, path);
    for (int i = 0; i < 300; i++) {
        fprintf(f, "vf%d: %d 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n", i, i);
        snprintf(speed, sizeof(speed), "sys/class/net/vf%d/speed", i);
        if (i < 70)
            folder_text(s->folder, speed, "1000\n");
    }
    fclose(f);
    is_int(sampled_at(s, 50), 256, "the sampler has 256 rows at most");
    is_int(sampled_at(s, 51), 256, "interfaces that are gone have left their places");
    is_value(s, "vf63", "speed_bytes", "125000000");
    is_value(s, "vf64", "speed_bytes", "absent");
    is_value(s, "vf255", "receive_bytes_total", "255");
}

/* What has no row takes no place, and a machine that loses its interfaces keeps its own files. */
static void test_many_skipped(struct sampled *s)
{
    char path[PATH_MAX];
    FILE *f;

    folder_path(s->folder, DEV, path);
    f = fopen(path, "we");
    folder_need(f ? 0 : -1, path);
    for (int i = 0; i < 300; i++)
        fprintf(f, "no interface %d\nveth%d: 1 1 0 0 0 0 0 0 1 1 0 0 0 0 0 0\n", i, i);
    fprintf(f, "eth0: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n");
    fclose(f);
    is_int(sampled_at(s, 60), 1, "an interface behind 600 lines of none has a row");
    ok(fcntl(STDIN_FILENO, F_GETFD) >= 0, "a file that the sampler did not open stays open");
}

int main(void)
{
    struct sampled s;

    sampled_make(&s, &sampler_net);
    is_int(sampled_open(&s), -ENOENT, "the sampler does not open without interfaces");
    test_values(&s);
    test_changes(&s);
    test_hostile(&s);
    test_many(&s);
    test_many_skipped(&s);
    sampled_oom(&s);
    sampled_remove(&s);
    return done();
}
