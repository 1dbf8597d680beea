/* Samplers whose table is longer than what there is room for at first: it is read whole, and a
 * sampler that gets no more memory for it says so. */
#include "probe/sample/node_exporter.h"
#include "sampled.h"

extern const struct sampler_ops sampler_disk, sampler_filesystem, sampler_memory, sampler_net,
    sampler_nfs, sampler_process, sampler_stat, sampler_vmstat;

enum { LONG = 100 << 10 };

static const struct {
    const struct sampler_ops *ops;
    const char *path, *first, *last; /* lines of a table, between them those that tell nothing */
    int rows;
} tables[] = {
    { &sampler_disk, "proc/diskstats", " 8 0 sda 1 2 3 4 5 6 7 8 9 10 11\n",
      " 8 16 sdb 1 2 3 4 5 6 7 8 9 10 11\n", 2 },
    { &sampler_filesystem, "proc/self/mounts", "/dev/a / ext4 rw 0 0\n",
      "/dev/b /dev/shm ext4 rw 0 0\n", 2 },
    { &sampler_memory, "proc/meminfo", "MemTotal: 4 kB\n", "MemFree: 2 kB\n", 1 },
    { &sampler_net, "proc/net/dev", "eth0: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n",
      "eth1: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n", 2 },
    { &sampler_nfs, "proc/self/mountstats", "device a:/a mounted on /a with fstype nfs4\n",
      "device b:/b mounted on /b with fstype nfs4\n", 2 },
    { &sampler_process, "proc/stat", "cpu 1 2 3 4\n", "btime 1700000000\n", 1 },
    { &sampler_stat, "proc/stat", "cpu 1 2 3 4\n", "ctxt 9\n", 2 },
    { &sampler_vmstat, "proc/vmstat", "pgfault 5\n", "pgmajfault 6\n", 1 },
    { &sampler_compat, "proc/meminfo", "MemTotal: 4 kB\n", "MemFree: 2 kB\n", 1 },
};

static char text[LONG];

static void write_table(const char *folder, size_t i)
{
    static const char nothing[] = "nothing\n";
    size_t len = strlen(tables[i].first), last = strlen(tables[i].last);

    memcpy(text, tables[i].first, len);
    for (; len + strlen(nothing) + last < sizeof(text); len += strlen(nothing))
        memcpy(text + len, nothing, strlen(nothing));
    memcpy(text + len, tables[i].last, last);
    folder_file(folder, tables[i].path, text, len + last);
    folder_text(folder, "proc/100/stat",
                "100 (a) R 1 1 1 0 -1 0 0 0 7 0 5 6 0 0 20 0 1 0 3 1000 25 1 1 1 0 0 0 0 0 0 "
                "0 0 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 0\n");
}

int main(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
        struct sampled s;

        sampled_make(&s, tables[i].ops);
        write_table(s.folder, i);
        is_int(sampled_open(&s), 0, "the sampler %s opens with a long table", tables[i].ops->name);
        is_int(sampled_at(&s, 0), tables[i].rows, "the sampler %s reads its table to the end",
               tables[i].ops->name);
        sampled_oom(&s);
        sampled_remove(&s);
    }
    return done();
}
