#include "sampled.h"

extern const struct sampler_ops sampler_disk;

#define STATS "proc/diskstats"

static void test_values(struct sampled *s)
{
    folder_text(s->folder, STATS,
                "   7       0 loop0 9 0 18 1 0 0 0 0 0 1 1 0 0 0 0 0 0\n"
                "   1       0 ram0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
                " 252       0 zram0 5 0 40 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
                " 259       0 nvme0n1 5000000000 12 80000000000 123456 700 3 5600 250 4 9000 "
                "123706 11 0 2048 5 77 1500\n"
                " 259       1 nvme0n1p1 1 0 8 1 0 0 0 0 0 1 1 0 0 0 0 0 0\n"
                " 259      12 nvme0n1p12 1 0 8 1 0 0 0 0 0 1 1 0 0 0 0 0 0\n"
                "   8       0 sda 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15\n"
                "   8       1 sda1 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15\n"
                "  65      16 sdaa 21 2 3 4 5 6 7 8 9 10 11\n"
                " 254       0 vda 31 2 3 4 5 6 7 8 9 10 11\n"
                "   9       0 md0 41 2 3 4 5 6 7 8 9 10 11\n"
                " 259       7 md0p1 41 2 3 4 5 6 7 8 9 10 11\n"
                " 253       1 dm-1 51 2 3 4 5 6 7 8 9 10 11\n"
                " 253      10 dm-10 61 2 3 4 5 6 7 8 9 10 11\n"
                " 179       0 mmcblk0 71 2 3 4 5 6 7 8 9 10 11\n"
                " 179       8 mmcblk0boot0 81 2 3 4 5 6 7 8 9 10 11\n"
                "   9       1 md0x1 91 2 3 4 5 6 7 8 9 10 11\n"
                "   8      32 sdap1 101 2 3 4 5 6 7 8 9 10 11\n");
    is_int(sampled_open(s), 0, "the sampler opens with eighteen lines of disks");
    is_int(sampled_at(s, 0), 11, "whole disks alone have rows");
    is_value(s, "nvme0n1", "reads_total", "5000000000");
    is_value(s, "nvme0n1", "read_bytes_total", "40960000000000");
    is_value(s, "nvme0n1", "read_seconds_total", "123.456");
    is_value(s, "nvme0n1", "writes_total", "700");
    is_value(s, "nvme0n1", "write_bytes_total", "2867200");
    is_value(s, "nvme0n1", "write_seconds_total", "0.25");
    is_value(s, "nvme0n1", "io_now", "4");
    is_value(s, "nvme0n1", "io_seconds_total", "9");
    is_value(s, "nvme0n1", "queue_seconds_total", "123.706");
    is_value(s, "nvme0n1", "discards_total", "11");
    is_value(s, "nvme0n1", "flushes_total", "77");
    is_value(s, "nvme0n1", "flush_seconds_total", "1.5");
    is_value(s, "sda", "discards_total", "12");
    is_value(s, "sda", "flushes_total", "absent");
    is_value(s, "sdaa", "queue_seconds_total", "0.011");
    is_value(s, "sdaa", "discards_total", "absent");
    is_value(s, "vda", "reads_total", "31");
    is_value(s, "md0", "reads_total", "41");
    is_value(s, "md0p1", "reads_total", "no row");
    is_value(s, "dm-1", "reads_total", "51");
    is_value(s, "dm-10", "reads_total", "61");
    is_value(s, "mmcblk0boot0", "reads_total", "81");
    is_value(s, "md0x1", "reads_total", "91");
    is_value(s, "sdap1", "reads_total", "101");
    is_value(s, "loop0", "reads_total", "no row");
}

static void test_changes(struct sampled *s)
{
    folder_text(s->folder, STATS,
                " 8 0 sda 1 2 3 4 5 6 7 8 9 10 11\n"
                " 8 16 sdb 2 2 3 4 5 6 7 8 9 10 11\n");
    is_int(sampled_at(s, 1), 2, "a disk that came has a row");
    is_value(s, "sdb", "reads_total", "2");
    folder_text(s->folder, STATS, "");
    is_int(sampled_at(s, 2), 0, "an empty table has no rows");
}

static void test_hostile(struct sampled *s)
{
    folder_text(s->folder, STATS,
                "\n \n8\n8 0\n8 0 \nx y z 1 2 3\n"
                "8 0 \033[2J 1 2 3 4 5 6 7 8 9 10 11\n"
                "8 0 123 7 2 3 4 5 6 7 8 9 10 11\n"
                "8 0 p1 8 2 3 4 5 6 7 8 9 10 11\n"
                "8 0 a-name-that-is-much-longer-than-any-name-of-a-disk-can-be 1 2 3\n"
                "8 0 sda 1 2 3 4 x 6 7 8 9 10 11\n"
                "8 0 sda 100 2 3 4 x 6 7 8 9 10 11\n"
                "8 0 sdb 1 2 99999999999999999999999 4 5\n"
                "8 0 sdc 1 2 3 4 5 6 7 8 9 10 1");
    is_int(sampled_at(s, 3), 5, "bad lines are passed over, and one that was cut");
    is_value(s, "\033[2J", "reads_total", "1");
    is_value(s, "123", "reads_total", "7");
    is_value(s, "p1", "reads_total", "8");
    is_value(s, "sda", "reads_total", "1");
    is_value(s, "sda", "read_seconds_total", "0.004");
    is_value(s, "sda", "write_bytes_total", "absent");
    is_value(s, "sdb", "reads_total", "1");
    is_value(s, "sdb", "read_bytes_total", "absent");
    is_value(s, "sdb", "read_seconds_total", "absent");
    is_value(s, "sdc", "reads_total", "no row");
}

static void test_many(struct sampled *s)
{
    FILE *f;
    char path[PATH_MAX];

    folder_path(s->folder, STATS, path);
    f = fopen(path, "we");
    folder_need(f ? 0 : -1, path);
    for (int i = 0; i < 600; i++)
        fprintf(f, " 253 %d dm-%d %d 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 1000000000000\n", i, i,
                i);
    fclose(f);
    is_int(sampled_at(s, 4), 512, "a text longer than its first room is read, up to 512 disks");
    is_value(s, "dm-511", "flush_seconds_total", "1000000000");
}

/* What has no row takes no place. */
static void test_many_skipped(struct sampled *s)
{
    FILE *f;
    char path[PATH_MAX];

    folder_path(s->folder, STATS, path);
    f = fopen(path, "we");
    folder_need(f ? 0 : -1, path);
    for (int i = 0; i < 600; i++)
        fprintf(f, " 7 %d loop%d 1 2 3 4 5 6 7 8 9 10 11\nno disk %d\n", i, i, i);
    fprintf(f, " 8 0 sda 1 2 3 4 5 6 7 8 9 10 11\n");
    fclose(f);
    is_int(sampled_at(s, 5), 1, "a disk behind 1,200 lines of none has a row");
}

int main(void)
{
    struct sampled s;

    sampled_make(&s, &sampler_disk);
    is_int(sampled_open(&s), -ENOENT, "the sampler does not open without disk statistics");
    test_values(&s);
    test_changes(&s);
    test_hostile(&s);
    test_many(&s);
    test_many_skipped(&s);
    sampled_oom(&s);
    sampled_remove(&s);
    return done();
}
