#include <sched.h>
#include <sys/mount.h>

#include "sampled.h"

extern const struct sampler_ops sampler_nfs;

#define STATS "proc/self/mountstats"

static const char real[] =
    "no device mounted on /early with fstype rootfs\n"
    "device proc mounted on /proc with fstype proc\n"
    "device fs1:/export/data mounted on /mnt/my\\040data with fstype nfs4 statvers=1.1\n"
    "\topts:\trw,vers=4.2,rsize=1048576,wsize=1048576,proto=tcp,nconnect=2,local_lock=none\n"
    "\tage:\t86400\n"
    "\timpl_id:\tname='',domain='',date='0,0'\n"
    "\tcaps:\tcaps=0xfffbc0bf,wtmult=512,dtsize=1048576,bsize=0,namlen=255\n"
    "\tnfsv4:\tbm0=0xfdffafff,bm1=0xf9be3e,bm2=0x68800,acl=0x3,sessions,pnfs=not configured\n"
    "\tsec:\tflavor=1,pseudoflavor=1\n"
    "\tevents:\t12 34 0 0 1 2 3 4 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
    "\tbytes:\t1000 2000 0 0 3000 4000 0 0\n"
    "\tRPC iostats version: 1.1  p/v: 100003/4 (nfs)\n"
    "\txprt:\ttcp 0 0 2 0 11 500 500 0 500 0 2 0 0\n"
    "\tper-op statistics\n"
    "\t        NULL: 1 1 0 44 24 0 0 0 0\n"
    "\t        READ: 6000000000 6000000003 1 1200000000000 9000000000000 1500 250000 260000 2\n"
    "\t       WRITE: 10 11 0 10485760 1600 5 700 706 0\n"
    "\t      COMMIT: 999 999 9 999 999 999 999 999 9\n"
    "\t        OPEN: 3 3 0 900 1200 1 6 8 1\n"
    "\t       CLOSE: 3 3 0 600 500 0 3 4 0\n"
    "\tOPEN_NOATTR: 2 2 0 500 700 0 2 2 0\n"
    "\t     GETATTR: 100 100 0 20000 24000 10 50 70 0\n"
    "\n"
    "device fs2:/home mounted on /home with fstype nfs statvers=1.0\n"
    "\topts:\trw,vers=3\n"
    "\tper-op statistics\n"
    "\t        READ: 7 7 0 100 200 1 2 3\n"
    "\t READDIRPLUS: 4 4 0 10 20 1 2 3\n"
    "\n"
    "device tmpfs mounted on /run with fstype tmpfs\n"
    "device fs3:/x mounted on /x with fstype nfsd statvers=1.1\n"
    "\tper-op statistics\n"
    "\tREAD: 1 1 1 1 1 1 1 1 1\n";

static void test_values(struct sampled *s)
{
    folder_text(s->folder, STATS, real);
    is_int(sampled_open(s), 0, "the sampler opens with two mounts of NFS");
    is_int(sampled_at(s, 0), 2, "two mounts of NFS have rows");
    is_labelled(s, "/mnt/my data", "operations_total", "op=\"read\"", "6000000000");
    is_labelled(s, "/mnt/my data", "transmissions_total", "op=\"read\"", "6000000003");
    is_labelled(s, "/mnt/my data", "timeouts_total", "op=\"read\"", "1");
    is_labelled(s, "/mnt/my data", "bytes_total", "op=\"read\"", "10200000000000");
    is_labelled(s, "/mnt/my data", "queue_seconds_total", "op=\"read\"", "1.5");
    is_labelled(s, "/mnt/my data", "rpc_seconds_total", "op=\"read\"", "250");
    is_labelled(s, "/mnt/my data", "execute_seconds_total", "op=\"read\"", "260");
    is_labelled(s, "/mnt/my data", "errors_total", "op=\"read\"", "2");
    is_labelled(s, "/mnt/my data", "operations_total", "op=\"write\"", "10");
    is_labelled(s, "/mnt/my data", "bytes_total", "op=\"write\"", "10487360");
    is_labelled(s, "/mnt/my data", "operations_total", "op=\"metadata\"", "108");
    is_labelled(s, "/mnt/my data", "bytes_total", "op=\"metadata\"", "48400");
    is_labelled(s, "/mnt/my data", "execute_seconds_total", "op=\"metadata\"", "0.084");
    is_labelled(s, "/mnt/my data", "errors_total", "op=\"metadata\"", "1");
    is_labelled(s, "/home", "operations_total", "op=\"read\"", "7");
    is_labelled(s, "/home", "errors_total", "op=\"read\"", "absent");
    is_labelled(s, "/home", "operations_total", "op=\"write\"", "absent");
    is_labelled(s, "/home", "operations_total", "op=\"metadata\"", "4");
    ok(s->ops->set->n_defs <= 32, "a row has room for the set");
}

/* Each operation that counts, and some that do not. */
static void test_operations(struct sampled *s)
{
    static const struct {
        const char *name, *class;
    } operations[] = {
        { "READ", "op=\"read\"" },
        { "READ_PLUS", "op=\"read\"" },
        { "WRITE", "op=\"write\"" },
        { "GETATTR", "op=\"metadata\"" },
        { "LOOKUP", "op=\"metadata\"" },
        { "ACCESS", "op=\"metadata\"" },
        { "OPEN", "op=\"metadata\"" },
        { "OPEN_NOATTR", "op=\"metadata\"" },
        { "CLOSE", "op=\"metadata\"" },
        { "READDIR", "op=\"metadata\"" },
        { "READDIRPLUS", "op=\"metadata\"" },
        { "COMMIT", NULL },
        { "NULL", NULL },
    };
    static const char *const classes[] = { "op=\"read\"", "op=\"write\"", "op=\"metadata\"" };
    char text[256];

    for (size_t i = 0; i < ARRAY_SIZE(operations); i++) {
        snprintf(text, sizeof(text),
                 "device a:/b mounted on /b with fstype nfs4 statvers=1.1\n"
                 "\tper-op statistics\n\t%s: 5 1 0 0 0 0 0 0 0\n",
                 operations[i].name);
        folder_text(s->folder, STATS, text);
        is_int(sampled_at(s, 0), 1, "a mount with %s has a row", operations[i].name);
        for (size_t k = 0; k < ARRAY_SIZE(classes); k++)
            is_labelled(s, "/b", "operations_total", classes[k],
                        operations[i].class && !strcmp(operations[i].class, classes[k]) ? "5"
                                                                                        : "absent");
    }
}

static void test_changes(struct sampled *s)
{
    folder_text(s->folder, STATS, "device proc mounted on /proc with fstype proc\n");
    is_int(sampled_at(s, 1), 0, "a table without NFS has no rows");
    folder_text(s->folder, STATS,
                "device a:/b mounted on /b with fstype nfs4 statvers=1.1\n"
                "\tper-op statistics\n\tREAD: 1 1 0 0 0 0 0 0 0\n\tWRITE: 5 5 0 0 0 0 0 0 0\n"
                "device c:/d mounted on /b with fstype nfs4 statvers=1.1\n"
                "\tper-op statistics\n\tREAD: 2 2 0 0 0 0 0 0 0\n");
    is_int(sampled_at(s, 2), 1, "two mounts on one point have one row");
    is_labelled(s, "/b", "operations_total", "op=\"read\"", "2");
    is_labelled(s, "/b", "operations_total", "op=\"write\"", "absent");
    folder_text(s->folder, STATS, "");
    is_int(sampled_at(s, 3), 0, "an empty table of mounts has no rows");
}

#define LONG "/var/lib/kubelet/pods/6e1e40fd-8a1b-4b5e-9d33-0123456789ab/volumes/kubernetes.io~nfs/"

static void test_hostile(struct sampled *s)
{
    folder_text(s->folder, STATS,
                "device\ndevice x\ndevice x mounted\ndevice x mounted on\n"
                "device x mounted on /y\ndevice x mounted on /y with fstype\n"
                "\tper-op statistics\n\tREAD: 1 1 1 1 1 1 1 1 1\n"
                "device x mounted on /nothing with fstype nfs4\n"
                "device x mounted on /\\999\\04 with fstype nfs\n"
                "\tREAD: 1 1 1 1 1 1 1 1 1\n"
                "\tper-op statistics\n"
                "\tREAD 1 1 1 1 1 1 1 1 1\n\tREADX: 1 1 1 1\n\tREA: 1 1 1\n\t: 1 1\n\tWRITE:\n"
                "\tGETATTR: 5 x 7\n\tREAD_PLUS: 6 99999999999999999999999 7\n"
                "device x mounted on " LONG "a with fstype nfs4 statvers=1.1\n"
                "device x mounted on " LONG "b with fstype nfs4 statvers=1.1\n"
                "\tper-op statistics\n\tREAD: 3 3 0 0 0 0 0 0 0\n\tWRITE: 55 5");
    is_int(sampled_at(s, 4), 4, "bad lines are passed over");
    is_labelled(s, "/nothing", "operations_total", "op=\"read\"", "absent");
    is_labelled(s, "/\\999\\04", "operations_total", "op=\"read\"", "6");
    is_labelled(s, "/\\999\\04", "timeouts_total", "op=\"read\"", "absent");
    is_labelled(s, "/\\999\\04", "operations_total", "op=\"metadata\"", "5");
    is_labelled(s, "/\\999\\04", "timeouts_total", "op=\"metadata\"", "absent");
    is_labelled(s, "...d33-0123456789ab/volumes/kubernetes.io~nfs/a", "operations_total",
                "op=\"read\"", "absent");
    is_labelled(s, "...d33-0123456789ab/volumes/kubernetes.io~nfs/b", "operations_total",
                "op=\"read\"", "3");
    is_labelled(s, "...d33-0123456789ab/volumes/kubernetes.io~nfs/b", "operations_total",
                "op=\"write\"", "absent");
}

static void test_many(struct sampled *s)
{
    char path[PATH_MAX];
    FILE *f;

    folder_path(s->folder, STATS, path);
    f = fopen(path, "we");
    folder_need(f ? 0 : -1, path);
    for (int i = 0; i < 300; i++)
        fprintf(f, "device x mounted on /run/%d with fstype tmpfs\n", i);
    for (int i = 0; i < 260; i++)
        fprintf(f,
                "device x mounted on /n%d with fstype nfs4 statvers=1.1\n"
                "\tper-op statistics\n\tREAD: %d 1 0 0 0 0 0 0 0\n",
                i, i);
    fclose(f);
    is_int(sampled_at(s, 4), 256, "the sampler has 256 rows at most");
    is_labelled(s, "/n255", "operations_total", "op=\"read\"", "255");
    is_labelled(s, "/n256", "operations_total", "op=\"read\"", "no row");
}

/* The statistics are the test's, the table that tells of changes is the kernel's own. */
static void test_mounts(struct sampled *s)
{
    char path[PATH_MAX];

    if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) < 0) {
        ok(true, "mounting is not permitted: %s", strerror(errno)); /* skipped */
        return;
    }
    folder_link(s->folder, "proc/self/mounts", "/proc/self/mounts");
    sampled_close(s);
    folder_text(s->folder, STATS, "device proc mounted on /proc with fstype proc\n");
    is_int(sampled_open(s), 0, "the sampler opens with the kernel's table of mounts");
    is_int(sampled_at(s, 5), 0, "a table without NFS has no rows yet");
    folder_text(s->folder, STATS, real);
    is_int(sampled_at(s, 6), 0, "no mount is looked for until something is mounted");
    folder_path(s->folder, "mnt/", path);
    folder_need(mount("none", path, "tmpfs", 0, NULL), path);
    is_int(sampled_at(s, 7), 2, "mounts of NFS are found once something is mounted");
    is_int(sampled_at(s, 8), 2, "mounts of NFS are read while there are some");
    folder_need(umount(path), path);
}

int main(void)
{
    struct sampled s;

    sampled_make(&s, &sampler_nfs);
    is_int(sampled_open(&s), -ENOENT, "the sampler does not open without mounts");
    test_values(&s);
    test_operations(&s);
    test_changes(&s);
    test_hostile(&s);
    test_many(&s);
    test_mounts(&s);
    folder_text(s.folder, STATS, real);
    sampled_oom(&s);
    sampled_remove(&s);
    return done();
}
