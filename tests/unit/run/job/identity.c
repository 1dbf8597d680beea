/* Which run an observer belongs to: what launchers say, and what observers tell each other. */
#include "run/job/identity.h"

#include "folder.h"
#include "tap.h"

enum { ENV_MAX = 12 };

/* "A=1 B=2" as an environment. */
static void env_of(const char *text, char copy[512], char *env[ENV_MAX])
{
    char *rest = NULL;
    size_t n = 0;

    snprintf(copy, 512, "%s", text);
    for (char *at = strtok_r(copy, " ", &rest); at && n + 1 < ENV_MAX;
         at = strtok_r(NULL, " ", &rest))
        env[n++] = at;
    env[n] = NULL;
}

static void test_launchers(void)
{
    static const struct {
        const char *env, *key;
        int rank, local_rank, world;
        bool unique;
    } cases[] = {
        { "", "", -1, -1, -1, false },
        { "RANK=3 LOCAL_RANK=1 WORLD_SIZE=8 MASTER_PORT=29500", "master-29500-77", 3, 1, 8, false },
        { "RANK=0 WORLD_SIZE=2 MASTER_PORT=1 TORCHELASTIC_RUN_ID=a/b", "torch-a_b-1-77", 0, -1, 2,
          false },
        { "RANK=0 WORLD_SIZE=2 TORCHELASTIC_RUN_ID=a", "", 0, -1, 2, false },
        { "OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_LOCAL_RANK=0 OMPI_COMM_WORLD_SIZE=4 "
          "PMIX_NAMESPACE=x OMPI_MCA_ess_base_jobid=y",
          "mpi-x", 1, 0, 4, true },
        { "PMI_RANK=1 MPI_LOCALRANKID=2 PMI_SIZE=4 OMPI_MCA_ess_base_jobid=y", "mpi-y", 1, 2, 4,
          true },
        { "PMIX_RANK=5 PMI_SIZE=6 PMIX_NAMESPACE=x", "mpi-x", 5, -1, 6, true },
        { "SLURM_PROCID=2 SLURM_LOCALID=0 SLURM_NTASKS=3 SLURM_JOB_ID=9 SLURM_STEP_ID=0",
          "slurm-9.0", 2, 0, 3, true },
        { "SLURM_PROCID=2 SLURM_NTASKS=3 SLURM_JOB_ID=9 SLURM_STEP_ID=0 SLURM_CLUSTER_NAME=a/b",
          "slurm-a_b-9.0", 2, -1, 3, true },
        { "SLURM_PROCID=2 SLURM_NTASKS=3 SLURM_JOB_ID=9 SLURM_STEP_ID=0 SLURM_RESTART_COUNT=1",
          "slurm-9.0-1", 2, -1, 3, true },
        { "RANK=2 WORLD_SIZE=3 SLURM_JOB_ID=9 SLURM_STEP_ID=0 MASTER_PORT=5", "master-5-77", 2, -1,
          3, false },
        { "RANK=0 WORLD_SIZE=1 MASTER_PORT=29500", "", 0, -1, 1, false },
        { "WORLD_SIZE=4 MASTER_PORT=29500", "", -1, -1, 4, false },
        { "RANK=0 WORLD_SIZE=4", "", 0, -1, 4, false },
        { "RANK=4 SLURM_PROCID=2 WORLD_SIZE=8 SLURM_NTASKS=3", "", 4, -1, 8, false },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char copy[512], *env[ENV_MAX];
        struct identity id;

        env_of(cases[i].env, copy, env);
        identity_read(&id, env, 77);
        is_str(id.key, cases[i].key, "'%s' has the key '%s'", cases[i].env, cases[i].key);
        ok(id.rank == cases[i].rank && id.local_rank == cases[i].local_rank &&
               id.world == cases[i].world && id.unique == cases[i].unique,
           "'%s' has the ranks %d, %d of %d", cases[i].env, id.rank, id.local_rank, id.world);
    }
}

static void test_names(void)
{
    struct identity id = { .id = "" };

    identity_make(&id, INT64_C(1764000000123456789), 0x1a2b3c);
    is_str(id.id, "20251124-160000-2b3c", "an id has the time and 16 bits of chance");
    identity_make(&id, INT64_MAX / 4 * 4, 1);
    is_int((long long)strlen(id.id), 20, "the last time there is has an id of that form");
}

static struct identity observer(const char *id, bool unique)
{
    struct identity i = { .key = "slurm-9.0", .unique = unique };

    snprintf(i.id, sizeof(i.id), "%s", id);
    return i;
}

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    folder_need(f && fputs(text, f) >= 0 && fclose(f) == 0 ? 0 : -1, path);
}

static int count_files(const char *folder)
{
    char command[PATH_MAX + 32];
    int n = -1;
    FILE *f;

    snprintf(command, sizeof(command), "ls -A %s | wc -l", folder);
    f = popen(command, "r");
    folder_need(f && fscanf(f, "%d", &n) == 1 ? 0 : -1, "ls");
    pclose(f);
    return n;
}

static void test_shared(const char *folder)
{
    struct identity one = observer("20260101-000000-aaaa", true),
                    two = observer("20260101-000001-bbbb", true), alone = { .id = "x" };
    struct err e = { "" };
    char path[PATH_MAX + 32];
    struct stat st;
    int64_t now;

    is_int(identity_share(&alone, folder, 0, &e), 0, "without a key nothing is shared");
    is_int(count_files(folder), 0, "without a key nothing is written");
    is_int(identity_share(&one, folder, 0, &e), 0, "the first observer writes its id: %s", e.text);
    is_int(identity_share(&two, folder, 0, &e), 0, "the second one finds it: %s", e.text);
    is_str(two.id, "20260101-000000-aaaa", "the second one has the id of the first");
    is_int(count_files(folder), 1, "there is one file, and no draft beside it");
    snprintf(path, sizeof(path), "%s/.job-slurm-9.0", folder);
    folder_need(stat(path, &st), path);
    is_int(st.st_mode & 0777, 0600, "others cannot read the file");

    now = (int64_t)st.st_mtim.tv_sec * 1000000000;
    two = observer("20260101-000001-bbbb", false);
    is_int(identity_share(&two, folder, now + INT64_C(60000000000), &e), 0,
           "a key that may be used again is looked at for a minute");
    is_str(two.id, "20260101-000000-aaaa", "within the minute the id is that of the first");
    two = observer("20260101-000001-bbbb", false);
    is_int(identity_share(&two, folder, now + INT64_C(61000000000), &e), 0,
           "after a minute the key is that of another job");
    is_str(two.id, "20260101-000001-bbbb", "the other job has an id of its own");
    one = observer("20260101-000002-cccc", true);
    is_int(identity_share(&one, folder, INT64_MAX, &e), 0, "a key of one job alone stays");
    is_str(one.id, "20260101-000001-bbbb", "a key of one job alone is never too old");
}

/* A file in which another program wrote, and folders that are not there. */
static void test_what_is_no_id(const char *folder)
{
    static const char *const texts[] = { "", "20260101-000000-aaa", "20260101-000000-aaaaa",
                                         "-0260101-000000-aaaa", "20260101-000000-aaA/" };
    char path[PATH_MAX + 32];
    struct err e = { "" };
    struct identity one;

    snprintf(path, sizeof(path), "%s/.job-slurm-9.0", folder);
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        write_file(path, texts[i]);
        one = observer("20260101-000003-dddd", true);
        is_int(identity_share(&one, folder, 0, &e), -EEXIST, "'%s' is no id", texts[i]);
        is_str(one.id, "20260101-000003-dddd", "'%s' does not take the place of one", texts[i]);
    }
    folder_need(unlink(path), path);
    is_int(identity_share(&one, "/nonexistent", 0, &e), -ENOENT, "a folder that is not there");
    is_str(e.text, "/nonexistent/.job-slurm-9.0: No such file or directory",
           "the sentence names the file");
    memset(path, 'x', sizeof(path) - 1);
    path[sizeof(path) - 1] = 0;
    is_int(identity_share(&one, path, 0, &e), -ENAMETOOLONG, "a name that is too long is refused");
}

/* Two runs that begin in the same second with the same chance. */
static void test_claims(const char *runs)
{
    const int64_t wall_ns = INT64_C(1764000000123456789);
    struct identity one = { .key = "" }, two = { .key = "" };
    struct err e = { "" };
    char path[PATH_MAX + 128];
    int before = count_files(runs);

    is_int(identity_claim(&one, runs, wall_ns, 0xffff, &e), 0, "a first run has an id: %s", e.text);
    is_int(identity_claim(&two, runs, wall_ns, 0xffff, &e), 0, "a second run has an id: %s",
           e.text);
    is_str(one.id, "20251124-160000-ffff", "the first run has the id of its chance");
    is_str(two.id, "20251124-160000-0000", "the second run has an id of its own");
    is_int(count_files(runs), before + 2, "each run has a folder");
    identity_release(&one, runs);
    is_int(count_files(runs), before + 1, "a run that is given back leaves no folder");
    snprintf(path, sizeof(path), "%s/%s/part-a-1.ini", runs, two.id);
    write_file(path, "[run]\n");
    identity_release(&two, runs);
    is_int(count_files(runs), before + 1, "a folder that has something stays");
    unlink(path);
    identity_release(&two, runs);
    is_int(identity_claim(&one, "/nonexistent", wall_ns, 1, &e), -ENOENT,
           "without a folder of runs nothing is claimed");
    is_str(one.id, "20251124-160000-0001", "an id is there all the same");
    is_str(e.text, "/nonexistent/20251124-160000-0001: No such file or directory",
           "the sentence names the run's folder");
    memset(path, 'x', sizeof(path) - 1);
    path[sizeof(path) - 1] = 0;
    is_int(identity_claim(&one, path, wall_ns, 1, &e), -ENAMETOOLONG,
           "a folder of runs whose name is too long is refused");
}

/* An observer that finds another one's id gives its own back. */
static void test_shared_claims(const char *runs)
{
    struct identity one = { .key = "slurm-7.0", .unique = true }, two = one;
    char path[PATH_MAX + 128];
    int before = count_files(runs);
    struct err e = { "" };

    is_int(identity_claim(&one, runs, 0, 1, &e), 0, "a first rank has an id: %s", e.text);
    is_int(identity_share(&one, runs, 0, &e), 0, "a first rank shares its id: %s", e.text);
    is_int(identity_claim(&two, runs, 0, 2, &e), 0, "a second rank has an id: %s", e.text);
    is_int(identity_share(&two, runs, 0, &e), 0, "a second rank finds the first: %s", e.text);
    is_str(two.id, one.id, "two ranks have one id");
    is_int(count_files(runs), before + 2, "two ranks leave a folder and the file that they share");
    identity_release(&one, runs);
    snprintf(path, sizeof(path), "%s/.job-slurm-7.0", runs);
    unlink(path);
}

/* What a process of our number in another container writes beside the same name. */
static void test_draft_of_another(const char *runs)
{
    struct identity one = observer("20260101-000000-aaaa", true);
    char draft[PATH_MAX + 64], path[PATH_MAX + 32];
    struct err e = { "" };
    struct stat st;

    snprintf(path, sizeof(path), "%s/.job-slurm-9.0", runs);
    snprintf(draft, sizeof(draft), "%s.%d", path, (int)getpid());
    write_file(draft, "half of an i");
    is_int(identity_share(&one, runs, 0, &e), 0, "an id is shared beside another's draft: %s",
           e.text);
    ok(stat(draft, &st) == 0 && st.st_size == 12, "another's draft is left as it is");
    unlink(draft);
    unlink(path);
}

int main(void)
{
    char folder[PATH_MAX];

    test_launchers();
    test_names();
    folder_make(folder);
    test_shared(folder);
    test_what_is_no_id(folder);
    test_claims(folder);
    test_shared_claims(folder);
    test_draft_of_another(folder);
    folder_remove(folder);
    return done();
}
