#include "sampled.h"

#include <sys/statvfs.h>

extern const struct sampler_ops sampler_filesystem;

#define MOUNTS "proc/self/mounts"

static const char *number(double value, char buf[32])
{
    snprintf(buf, 32, "%.15g", value);
    return buf;
}

static void test_values(struct sampled *s)
{
    char path[PATH_MAX], want[32];
    const struct signal_row *row;
    struct statvfs fs;

    folder_folder(s->folder, "mnt/my data");
    folder_folder(s->folder, "dev/shm");
    folder_text(s->folder, "etc/hosts", "");
    folder_text(s->folder, MOUNTS,
                "sysfs /sys sysfs rw,nosuid 0 0\n"
                "proc /proc proc rw 0 0\n"
                "/dev/nvme0n1p2 / ext4 rw,relatime 0 0\n"
                "/dev/sda1 /mnt/my\\040data xfs rw 0 0\n"
                "tmpfs /run tmpfs rw 0 0\n"
                "tmpfs /dev/shm tmpfs rw 0 0\n"
                "overlay /var/lib/docker/overlay2/x/merged overlay rw 0 0\n"
                "/dev/sda1 /etc/hosts ext4 rw 0 0\n"
                "/dev/sda1 /gone ext4 rw 0 0\n"
                "fs1:/home /home nfs4 rw 0 0\n"
                "10.0.0.1@o2ib:/lfs /lfs lustre rw 0 0\n"
                "sshfs /ssh fuse.sshfs rw 0 0\n"
                "gvfs /gvfs fuse.gvfsd-fuse rw 0 0\n");
    folder_folder(s->folder, "home");
    is_int(sampled_open(s), 0, "the sampler opens with thirteen mounts");
    is_int(sampled_at(s, 0), 8, "real file systems alone have rows");
    folder_path(s->folder, "mnt/my data", path);
    folder_need(statvfs(path, &fs), path);
    is_value(s, "/mnt/my data", "size_bytes",
             number((double)fs.f_blocks * (double)fs.f_frsize, want));
    ok(strcmp(sampled_value(s, "/", "free_bytes", NULL, want), "absent") != 0,
       "the file system of / has its free bytes");
    ok(strcmp(sampled_value(s, "/dev/shm", "size_bytes", NULL, want), "absent") != 0,
       "the file system of /dev/shm has its size");
    is_value(s, "/mnt/my data", "files", fs.f_files ? number((double)fs.f_files, want) : "absent");
    ok(!fs.f_files == !strcmp(sampled_value(s, "/mnt/my data", "files_free", NULL, want), "absent"),
       "a file system has its free files where it counts files");
    row = tick_find(&s->tick, s->ops->set, "/gvfs");
    is_str(row ? signal_fact(row, "device") : NULL, "gvfs", "a mount has its device");
    is_str(row ? signal_fact(row, "fstype") : NULL, "fuse.gvfsd-fuse", "a mount has its type");
    is_value(s, "/etc/hosts", "size_bytes", "no row");
    is_value(s, "/run", "size_bytes", "no row");
    is_value(s, "/gone", "size_bytes", "absent");
    is_value(s, "/home", "size_bytes", "absent");
    is_value(s, "/home", "files_free", "absent");
    is_value(s, "/lfs", "free_bytes", "absent");
    is_value(s, "/ssh", "free_bytes", "absent");
    is_value(s, "/gvfs", "free_bytes", "absent");
}

/* Each type: how full it is, that it is mounted, or nothing. */
static void test_types(struct sampled *s)
{
    static const char *const local[] = { "ext4", "xfs", "btrfs", "zfs", "f2fs" };
    static const char *const remote[] = { "nfs",    "nfs4", "cifs", "smb3",    "lustre",    "ceph",
                                          "beegfs", "gpfs", "fuse", "fuseblk", "fuse.sshfs" };
    static const char *const none[] = { "proc",     "sysfs",   "tmpfs", "overlay", "ext4x",
                                        "squashfs", "fusectl", "nfsd",  "devtmpfs" };
    static const struct {
        const char *const *types;
        size_t n;
        const char *want;
    } kinds[] = { { local, ARRAY_SIZE(local), NULL },
                  { remote, ARRAY_SIZE(remote), "absent" },
                  { none, ARRAY_SIZE(none), "no row" } };

    folder_folder(s->folder, "mnt/one");
    for (size_t k = 0; k < ARRAY_SIZE(kinds); k++)
        for (size_t i = 0; i < kinds[k].n; i++) {
            char text[128], buf[32];
            const char *got;

            snprintf(text, sizeof(text), "/dev/x /mnt/one %s rw 0 0\n", kinds[k].types[i]);
            folder_text(s->folder, MOUNTS, text);
            is_int(sampled_at(s, 1000 + 100 * (int)(20 * k + i)), k < 2,
                   "a mount of %s has a row or none", kinds[k].types[i]);
            got = sampled_value(s, "/mnt/one", "size_bytes", NULL, buf);
            if (kinds[k].want)
                is_str(got, kinds[k].want, "a mount of %s has a size of %s", kinds[k].types[i],
                       kinds[k].want);
            else
                ok(strtod(got, NULL) > 0, "a mount of %s has its size: %s", kinds[k].types[i], got);
        }
}

/* A later mount covers an earlier one on the same point; nothing is asked below a remote one. */
static void test_covers(struct sampled *s)
{
    char buf[32];

    folder_folder(s->folder, "home/scratch");
    folder_folder(s->folder, "homes");
    folder_text(s->folder, MOUNTS,
                "/dev/root / ext4 rw 0 0\n"
                "overlay / overlay rw 0 0\n"
                "fs1:/home /home nfs4 rw 0 0\n"
                "/dev/sdb1 /home/scratch xfs rw 0 0\n"
                "/dev/sdc1 /homes xfs rw 0 0\n"
                "/dev/sdd1 /mnt ext4 rw 0 0\n"
                "tmpfs /mnt tmpfs rw 0 0\n"
                "fs1:/a /dev/shm nfs rw 0 0\n"
                "tmpfs /dev/shm tmpfs rw 0 0\n");
    is_int(sampled_at(s, 1), 5, "each mount point has one row");
    ok(strcmp(sampled_value(s, "/", "size_bytes", NULL, buf), "absent") != 0,
       "the file system that covers / has its size");
    is_value(s, "/home/scratch", "size_bytes", "absent");
    ok(strcmp(sampled_value(s, "/homes", "size_bytes", NULL, buf), "absent") != 0,
       "/homes is not below /home");
    is_value(s, "/mnt", "size_bytes", "no row");
    ok(strcmp(sampled_value(s, "/dev/shm", "size_bytes", NULL, buf), "absent") != 0,
       "the file system that covers NFS on /dev/shm has its size");
    folder_text(s->folder, MOUNTS, "fs1:/root / nfs rw 0 0\n/dev/sdc1 /homes xfs rw 0 0\n");
    is_int(sampled_at(s, 2), 2, "two file systems have rows with a root of NFS");
    is_value(s, "/homes", "size_bytes", "absent");
    folder_text(s->folder, MOUNTS, "");
    is_int(sampled_at(s, 3), 0, "an empty table of mounts has no rows");
}

static void test_hostile(struct sampled *s)
{
    static const char head[] = "/dev/a /", tail[] = " ext4 rw 0 0\n/dev/b /b ext4 rw 0 0\n";
    char text[8192];
    size_t n = sizeof(head) - 1;

    folder_text(s->folder, MOUNTS,
                "\n\n/dev/a\n/dev/a \n/dev/a /x\n/dev/a relative ext4 rw\n"
                "none /x ext45 rw\nnone /x ext rw\nnone /x fus rw\n"
                "/dev/a /new\\012line ext4 rw\n"
                "/dev/a /nul\\000 ext4 rw\n"
                "/dev/a /cut ext4 rw");
    is_int(sampled_at(s, 4), 2, "bad lines are passed over, and one that was cut");
    is_value(s, "/new\nline", "size_bytes", "absent");
    is_value(s, "/nul\\000", "size_bytes", "absent");

    memset(text, 'x', sizeof(text));
    memcpy(text, head, n);
    memcpy(text + 6000, tail, sizeof(tail));
    folder_text(s->folder, MOUNTS, text);
    is_int(sampled_at(s, 5), 1, "a path that is too long is passed over");
    is_value(s, "/b", "size_bytes", "absent");
}

static void test_many(struct sampled *s)
{
    char path[PATH_MAX];
    FILE *f;

    folder_path(s->folder, MOUNTS, path);
    f = fopen(path, "we");
    folder_need(f ? 0 : -1, path);
    for (int i = 0; i < 300; i++)
        fprintf(f, "proc /proc%d proc rw 0 0\n", i);
    for (int i = 0; i < 130; i++)
        fprintf(f, "fs:/%d /n%d nfs4 rw 0 0\n", i, i);
    fclose(f);
    is_int(sampled_at(s, 6), 128, "the sampler has 128 rows at most");
    is_value(s, "/n127", "size_bytes", "absent");
    is_value(s, "/n128", "size_bytes", "no row");
}

int main(void)
{
    struct sampled s;

    sampled_make(&s, &sampler_filesystem);
    is_int(sampled_open(&s), -ENOENT, "the sampler does not open without mounts");
    test_values(&s);
    test_covers(&s);
    test_types(&s);
    test_hostile(&s);
    test_many(&s);
    folder_text(s.folder, MOUNTS, "/dev/a / ext4 rw 0 0\nfs1:/home /home nfs4 rw 0 0\n");
    sampled_oom(&s);
    sampled_remove(&s);
    return done();
}
