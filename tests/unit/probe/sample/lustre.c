/* Lustre and Ceph clients. */
#include "sampled.h"

extern const struct sampler_ops sampler_lustre, sampler_ceph;

#define PROC "proc/fs/lustre/"
#define DEBUG "sys/kernel/debug/lustre/"
#define MOUNT "ffff9d1c41c3a800"

static void add_import(const struct sampled *s, const char *path, const char *state)
{
    char text[512];

    snprintf(text, sizeof(text),
             "import:\n    name: scratch-OST0000-osc-" MOUNT "\n    target: scratch-OST0000_UUID\n"
             "    state: %s\n    instance: 5\n    connect_flags: [ write_grant, state: FULL ]\n"
             "    connection:\n       failover_nids: [ \"10.0.0.1@o2ib\" ]\n"
             "    rpcs:\n       inflight: 3\n       unregistering: 0\n       timeouts: 2\n"
             "       avg_waittime: 1411 usec\n",
             state);
    folder_text(s->folder, path, text);
}

static void test_lustre(struct sampled *s)
{
    folder_text(s->folder, PROC "llite/scratch-" MOUNT "/stats",
                "snapshot_time             1523008010.817348638 secs.nsecs\n"
                "read_bytes                25673 samples [bytes] 1 3366225 145121869\n"
                "write_bytes               13641 samples [bytes] 1 3366225 468230469 7777\n"
                "open                      10 samples [usec] 1 2 30 40\n"
                "close                     9 samples [usecs] 1 2 30 40\n"
                "getattr                   8 samples [regs]\n"
                "getxattr                  1 samples [regs]\n"
                "mmap                      100 samples [regs]\n");
    folder_text(s->folder, PROC "osc/scratch-OST0000-osc-" MOUNT "/stats",
                "snapshot_time             1523008010.817348638 secs.nsecs\n"
                "req_waittime              2193784 samples [usec] 31 19323671 22792548119 282587\n"
                "req_active                2193784 samples [reqs] 1 19 4197043 17147705\n"
                "read_bytes                591036 samples [bytes] 4096 1048576 452705124352\n");
    add_import(s, PROC "osc/scratch-OST0000-osc-" MOUNT "/import", "FULL");
    folder_text(s->folder, DEBUG "osc/scratch-OST0001-osc-" MOUNT "/stats",
                "req_waittime              16 samples [usecs] 31 99 1000000 5\n");
    add_import(s, DEBUG "osc/scratch-OST0001-osc-" MOUNT "/import", "DISCONN");
    add_import(s, DEBUG "mdc/scratch-MDT0000-mdc-" MOUNT "/import", "IDLE");
    folder_text(s->folder, DEBUG "llite/home-" MOUNT "/stats",
                "write_bytes               1 samples [bytes] 5 5 5\n");
    folder_text(s->folder, PROC "osc/num_refs", "5\n");
    folder_text(s->folder, PROC "osc/other/stats", "req_waittime 1 samples [usec] 1 1 1\n");
    is_int(sampled_open(s), 0, "the sampler opens with two file systems of Lustre");
    is_int(sampled_at(s, 0), 2, "two file systems of Lustre have rows");
    is_value(s, "scratch", "reads_total", "25673");
    is_value(s, "scratch", "read_bytes_total", "145121869");
    is_value(s, "scratch", "writes_total", "13641");
    is_value(s, "scratch", "write_bytes_total", "468230469");
    is_value(s, "scratch", "opens_total", "10");
    is_value(s, "scratch", "getattrs_total", "8");
    is_value(s, "scratch", "metadata_total", "28");
    is_value(s, "scratch", "rpcs_total", "2193800");
    is_value(s, "scratch", "rpc_wait_seconds_total", "22793.548119");
    is_value(s, "scratch", "rpc_timeouts_total", "6");
    is_value(s, "scratch", "rpcs_now", "9");
    is_value(s, "scratch", "targets", "3");
    is_value(s, "scratch", "connected", "2");
    is_value(s, "home", "write_bytes_total", "5");
    is_value(s, "home", "read_bytes_total", "absent");
    is_value(s, "home", "targets", "absent");
    is_value(s, "home", "opens_total", "absent");
}

/* Each line of a mount's statistics that is an operation on names or attributes. */
static void test_lustre_operations(struct sampled *s)
{
    static const char *const names[] = {
        "open",   "getattr",  "close",    "readdir",   "setattr",     "truncate", "statfs",
        "create", "link",     "unlink",   "symlink",   "mkdir",       "rmdir",    "mknod",
        "rename", "setxattr", "getxattr", "listxattr", "removexattr",
    };
    char text[128];

    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        snprintf(text, sizeof(text), "inode_permission 9 samples [regs]\n%s %zu samples [regs]\n",
                 names[i], i + 1);
        folder_text(s->folder, DEBUG "llite/home-" MOUNT "/stats", text);
        (void)sampled_at(s, 1);
        snprintf(text, sizeof(text), "%zu", i + 1);
        is_value(s, "home", "metadata_total", text);
        is_value(s, "home", "opens_total", i == 0 ? "1" : "absent");
        is_value(s, "home", "getattrs_total", i == 1 ? "2" : "absent");
    }
}

/* Each folder in which a version of the client has its mounts and targets. */
static void test_lustre_places(void)
{
    static const struct {
        const char *path;
        bool mount;
    } places[] = {
        { PROC "llite/a-1", true },
        { DEBUG "llite/a-1", true },
        { PROC "osc/a-OST0000-osc-1", false },
        { DEBUG "osc/a-OST0000-osc-1", false },
        { PROC "mdc/a-MDT0000-mdc-1", false },
        { DEBUG "mdc/a-MDT0000-mdc-1", false },
    };

    for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
        struct sampled s;
        char path[128];

        sampled_make(&s, &sampler_lustre);
        snprintf(path, sizeof(path), "%s/stats", places[i].path);
        folder_text(s.folder, path,
                    places[i].mount ? "open 3 samples [regs]\n"
                                    : "req_waittime 3 samples [usec] 1 2 5000000\n");
        is_int(sampled_open(&s), 0, "the sampler opens with %s", places[i].path);
        is_int(sampled_at(&s, 0), 1, "the file system of %s has a row", places[i].path);
        is_value(&s, "a", places[i].mount ? "opens_total" : "rpcs_total", "3");
        is_value(&s, "a", places[i].mount ? "rpcs_total" : "opens_total", "absent");
        sampled_remove(&s);
    }
}

static void test_lustre_hostile(struct sampled *s)
{
    folder_text(s->folder, DEBUG "llite/home-" MOUNT "/stats",
                "write_bytes\nwrite_bytes x samples\nread_bytes 5\nread_bytes 2 samples [bytes]\n"
                "read_bytes 2 [bytes] 1 1 9\n"
                "open 3 samples\nopen 4 samples [\n\nclose -1 samples [reqs] 1 1 1\n"
                "write_bytes 1 samples [bytes] -1 -2 -3\nread_bytesx 100 samples [bytes] 1 1 1\n"
                "getattr 99999999999999999999999 samples [regs]\n");
    add_import(s, PROC "osc/scratch-OST0000-osc-" MOUNT "/import", "EVICTED");
    is_int(sampled_at(s, 10), 2, "two file systems have rows with broken statistics");
    is_value(s, "home", "reads_total", "9");
    is_value(s, "home", "read_bytes_total", "absent");
    is_value(s, "home", "writes_total", "1");
    is_value(s, "home", "write_bytes_total", "3");
    is_value(s, "home", "opens_total", "7");
    is_value(s, "home", "metadata_total", "7");
    is_value(s, "scratch", "connected", "1");
}

#define CEPH "sys/kernel/debug/ceph/"
#define OLD CEPH "9a972bfc-68cb-4d52-a610-7cd9a9adbbdd.client52904/"
#define NEW CEPH "0c93a60d-5645-4c46-8568-4c8f63db4c7f.client4267001/"
#define LATENCY \
    "item          total       avg_lat(us)     min_lat(us)     max_lat(us)     stdev(us)\n" \
    "-----------------------------------------------------------------------------------\n"
#define SIZE \
    "item          total       avg_sz(bytes)   min_sz(bytes)   max_sz(bytes)  total_sz(bytes)\n" \
    "----------------------------------------------------------------------------------------\n"
#define HITS \
    "item          total           miss            hit\n" \
    "-------------------------------------------------\n"

static void test_ceph(struct sampled *s)
{
    const struct signal_row *row;

    folder_text(
        s->folder, OLD "metrics",
        "item                               total\n"
        "------------------------------------------\n"
        "opened files  / total inodes       0 / 4\n\n" LATENCY
        "read          798         32000           4000            196000          560.3\n"
        "write         2394        588000          28000           4812000         36673.9\n"
        "metadata      7           116000          2000            707000          8282\n\n" SIZE
        "write         5           4194304         4194304         4194304         20971520"
        "\n\n" HITS "d_lease       11              0               29\n"
        "caps          5               68              10702\n");
    folder_text(s->folder, OLD "osdc", "1\tosd2\t3.4\tx\n2\tosd1\t3.5\ty\n");
    folder_text(s->folder, OLD "mdsc", "");
    folder_text(s->folder, NEW "metrics/latency",
                LATENCY "read          10          1000            1 2 3\n"
                        "copyfrom      2           500000          1 2 3\n");
    folder_text(s->folder, NEW "metrics/size", SIZE "read          10  100  1  200  1000\n");
    folder_text(s->folder, NEW "metrics/caps", HITS "caps          5               6       7\n");
    folder_text(s->folder, NEW "osdc",
                "REQUESTS 3 homeless 0\n1\tosd2\nLINGER REQUESTS\nBACKOFFS\n");
    folder_text(s->folder, NEW "mdsc", "11\tmds0\tgetattr\t #100\n");
    folder_text(s->folder, CEPH "meta/osdc", "REQUESTS 1 homeless 0\n");
    is_int(sampled_open(s), 0, "the sampler opens with two clients of Ceph");
    is_int(sampled_at(s, 0), 2, "two clients of Ceph have rows");
    is_labelled(s, "9a972bfc.client52904", "operations_total", "op=\"read\"", "798");
    is_labelled(s, "9a972bfc.client52904", "wait_seconds_total", "op=\"read\"", "25.536");
    is_labelled(s, "9a972bfc.client52904", "wait_seconds_total", "op=\"write\"", "1407.672");
    is_labelled(s, "9a972bfc.client52904", "operations_total", "op=\"metadata\"", "7");
    is_labelled(s, "9a972bfc.client52904", "bytes_total", "op=\"write\"", "20971520");
    is_labelled(s, "9a972bfc.client52904", "bytes_total", "op=\"read\"", "absent");
    is_value(s, "9a972bfc.client52904", "cap_misses_total", "68");
    is_value(s, "9a972bfc.client52904", "cap_hits_total", "10702");
    is_labelled(s, "9a972bfc.client52904", "requests_now", "to=\"osd\"", "2");
    is_labelled(s, "9a972bfc.client52904", "requests_now", "to=\"mds\"", "0");
    is_labelled(s, "0c93a60d.client4267001", "operations_total", "op=\"read\"", "10");
    is_labelled(s, "0c93a60d.client4267001", "wait_seconds_total", "op=\"copy\"", "1");
    is_labelled(s, "0c93a60d.client4267001", "bytes_total", "op=\"read\"", "1000");
    is_value(s, "0c93a60d.client4267001", "cap_hits_total", "7");
    is_labelled(s, "0c93a60d.client4267001", "requests_now", "to=\"osd\"", "3");
    is_labelled(s, "0c93a60d.client4267001", "requests_now", "to=\"mds\"", "1");
    row = tick_find(&s->tick, s->ops->set, "0c93a60d.client4267001");
    is_str(row ? signal_fact(row, "fsid") : "", "0c93a60d-5645-4c46-8568-4c8f63db4c7f",
           "a client has the id of its file system");
}

static void test_ceph_changes(struct sampled *s)
{
    folder_text(s->folder, NEW "metrics/latency",
                LATENCY "read          11          900             1 2 3\n"
                        "copyfrom      3           500000          1 2 3\n");
    is_int(sampled_at(s, 1), 2, "two clients have rows a second later");
    is_labelled(s, "0c93a60d.client4267001", "operations_total", "op=\"read\"", "11");
    is_labelled(s, "0c93a60d.client4267001", "wait_seconds_total", "op=\"read\"", "0.01");
    is_labelled(s, "0c93a60d.client4267001", "wait_seconds_total", "op=\"copy\"", "1.5");
    folder_text(s->folder, NEW "metrics/latency",
                "read 5 5\nitem\nitem total\nread 6\n" LATENCY "read x y\nwrite 5\n");
    folder_text(s->folder, NEW "metrics/caps", HITS "caps");
    is_int(sampled_at(s, 2), 2, "two clients have rows with broken latencies");
    is_labelled(s, "0c93a60d.client4267001", "operations_total", "op=\"read\"", "absent");
    is_labelled(s, "0c93a60d.client4267001", "operations_total", "op=\"write\"", "5");
    is_labelled(s, "0c93a60d.client4267001", "wait_seconds_total", "op=\"write\"", "absent");
    is_value(s, "0c93a60d.client4267001", "cap_hits_total", "absent");
    folder_text(s->folder, OLD "metrics", "");
    is_int(sampled_at(s, 3), 2, "two clients have rows though a file is empty");
    is_labelled(s, "9a972bfc.client52904", "operations_total", "op=\"write\"", "absent");
}

int main(void)
{
    struct sampled s;

    sampled_make(&s, &sampler_lustre);
    is_int(sampled_open(&s), -ENOENT, "the sampler does not open without Lustre");
    test_lustre(&s);
    test_lustre_operations(&s);
    test_lustre_hostile(&s);
    sampled_oom(&s);
    sampled_remove(&s);
    test_lustre_places();
    sampled_make(&s, &sampler_ceph);
    is_int(sampled_open(&s), -ENOENT, "the sampler does not open without Ceph");
    test_ceph(&s);
    test_ceph_changes(&s);
    sampled_oom(&s);
    sampled_remove(&s);
    return done();
}
