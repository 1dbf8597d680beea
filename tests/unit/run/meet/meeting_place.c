/* Who leads and where, by launchers' variables and command lines. */
#include "run/meet/meeting_place.h"

#include <string.h>

#include "tap.h"

enum { WORDS = 16, LETTERS = 512 };

/* A text's words as an array that ends with NULL. */
struct words {
    char text[LETTERS], *list[WORDS + 1];
};

static void split(struct words *w, const char *text)
{
    size_t n = 0;
    char *at = w->text;

    snprintf(w->text, sizeof(w->text), "%s", text);
    while (*at && n < WORDS) {
        w->list[n++] = at;
        at += strcspn(at, " ");
        if (*at)
            *at++ = '\0';
    }
    w->list[n] = NULL;
}

static struct meeting_place find(const char *option, const char *env, const char *command)
{
    struct meeting_place p;
    struct words variables, words;
    struct err e = { "" };

    split(&variables, env);
    split(&words, command);
    if (meeting_place_find(&p, option, variables.list, words.list, &e) < 0)
        p = (struct meeting_place){ .port = -1 };
    return p;
}

static bool is(const struct meeting_place *p, const char *host, enum meeting_role role)
{
    return p->several && !strcmp(p->host, host) && p->role == role;
}

static void test_torchrun(void)
{
    struct meeting_place p, q;

    p = find(NULL, "",
             "torchrun --nnodes 4 --nproc-per-node=2 --rdzv-endpoint 10.0.0.1:29500 train.py");
    ok(is(&p, "10.0.0.1", MEETING_ASKS) && p.multi, "torchrun's endpoint is the place");
    q = find(NULL, "",
             "python -m torch.distributed.run --nnodes=4 --rdzv_endpoint=10.0.0.1:29500 "
             "--node_rank=1 train.py");
    ok(is(&q, "10.0.0.1", MEETING_FOLLOWS), "a node rank tells who leads");
    is_int(p.port, q.port, "all nodes of a job take the same port");
    is_str(p.job, q.job, "all nodes of a job call it the same");
    ok(p.port >= 23040 && p.port < 27136, "the port is of brim's range: %d", p.port);
    p = find(NULL, "", "torchrun --nnodes 2 --node-rank 0 --master-addr head train.py --nnodes 9");
    ok(is(&p, "head", MEETING_LEADS), "a master's address is the place, and node 0 leads");
    p = find(NULL, "", "torchrun --standalone --nproc-per-node 8 x.py");
    ok(!p.several, "torchrun on one node meets nobody");
    p = find(NULL, "", "sh /opt/bin/torchrun --nnodes 2 --master-addr head train.py");
    ok(is(&p, "head", MEETING_ASKS), "a launcher with a path is one behind another program");
    p = find(NULL, "", "torchrun --nn=2 --master-addr head train.py");
    ok(!p.several, "the beginning of an option is none");
    p = find(NULL, "", "torchrun --nnodesx=2 --master-addr head train.py");
    ok(!p.several, "an option that goes on is another one");
    p = find(NULL, "PET_NNODES=2 PET_MASTER_ADDR=a PET_NODE_RANK=1", "torchrun train.py");
    ok(is(&p, "a", MEETING_FOLLOWS), "torchrun's variables count as its options");
}

static void test_variables(void)
{
    struct meeting_place p;

    p = find(NULL, "RANK=3 WORLD_SIZE=4 MASTER_ADDR=n0 LOCAL_WORLD_SIZE=2", "train.py");
    ok(is(&p, "n0", MEETING_FOLLOWS) && p.multi, "ranks meet at MASTER_ADDR");
    p = find(NULL, "RANK=0 WORLD_SIZE=4 MASTER_ADDR=n0", "train.py");
    ok(is(&p, "n0", MEETING_LEADS) && !p.multi, "rank 0 leads");
    p = find(NULL, "RANK=0 WORLD_SIZE=1 MASTER_ADDR=n0", "train.py");
    ok(!p.several, "one rank alone meets nobody");
    p = find(NULL,
             "SLURM_JOB_ID=17 SLURM_STEP_ID=0 SLURM_PROCID=1 SLURM_NTASKS=2 SLURM_STEP_NUM_NODES=2 "
             "SLURM_STEP_NODELIST=gpu[07-08]",
             "train.py");
    ok(is(&p, "gpu07", MEETING_FOLLOWS) && p.multi, "Slurm's first node is the place");
    is_str(p.job, "slurm 17.0", "a step of Slurm is the job");
    p = find(NULL,
             "SLURM_JOB_ID=17 SLURM_STEP_ID=0 SLURM_PROCID=1 SLURM_NTASKS=2 SLURM_RESTART_COUNT=2",
             "train.py");
    is_str(p.job, "slurm 17.0-2", "a job that was requeued is another one");
    p = find(NULL, "SLURM_JOB_ID=17 SLURM_STEP_ID=0 SLURM_PROCID=0 SLURM_NTASKS=1", "train.py");
    ok(!p.several, "one task alone meets nobody");
    p = find(NULL,
             "OMPI_COMM_WORLD_RANK=2 OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_LOCAL_SIZE=2 "
             "PMIX_NAMESPACE=prterun-1",
             "train.py");
    ok(is(&p, "", MEETING_FOLLOWS) && p.multi, "Open MPI does not tell where rank 0 is");
    p = find(NULL, "", "train.py");
    ok(!p.several && p.port > 0, "without a launcher nobody is met");
    is_int(p.port, 23984, "the port is of the hash of the job's name, which brims agree on");
}

/* Several processes may all be on one node. */
static void test_nodes(void)
{
#define RANKS "RANK=0 WORLD_SIZE=2 MASTER_ADDR=n0 LOCAL_WORLD_SIZE="
#define MPI "OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_LOCAL_SIZE="
#define SLURM "SLURM_JOB_ID=17 SLURM_STEP_ID=0 SLURM_PROCID=0 SLURM_NTASKS=4 "
    static const struct {
        const char *env;
        bool multi;
    } cases[] = {
        { RANKS "1", true },
        { RANKS "2", false },
        { RANKS "0", false },
        { MPI "1", true },
        { MPI "2", false },
        { MPI "0", false },
        { SLURM "SLURM_STEP_NUM_NODES=2", true },
        { SLURM "SLURM_STEP_NUM_NODES=1 SLURM_JOB_NUM_NODES=2", false },
        { SLURM "SLURM_STEP_NUM_NODES=0 SLURM_JOB_NUM_NODES=2", false },
        { SLURM "SLURM_JOB_NUM_NODES=2", true },
        { SLURM, false },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct meeting_place p = find(NULL, cases[i].env, "train.py");

        ok(p.several && p.multi == cases[i].multi, "the ranks of '%s' are on %s", cases[i].env,
           cases[i].multi ? "several nodes" : "one node, or nobody knows");
    }
}

static void test_option(void)
{
    const char *mpi = "OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=4";
    struct meeting_place p = find("head:7000", mpi, "train.py");

    ok(is(&p, "head", MEETING_LEADS) && p.port == 7000 && p.told, "the user's word is the place");
    p = find("head", "", "train.py");
    ok(is(&p, "head", MEETING_ASKS) && p.port > 0, "without a rank the address tells who leads");
    p = find(NULL, "BRIM_MEET=head:7000", "train.py");
    ok(is(&p, "head", MEETING_ASKS) && p.port == 7000, "BRIM_MEET is the user's word");
    p = find("other", "BRIM_MEET=head:7000", "train.py");
    ok(is(&p, "other", MEETING_ASKS) && p.port != 7000, "the option counts before BRIM_MEET");
    p = find("[fe80::1]:7000", "", "train.py");
    ok(is(&p, "fe80::1", MEETING_ASKS) && p.port == 7000, "brackets hold an address of IPv6");
    p = find("fe80::1", "", "train.py");
    ok(is(&p, "fe80::1", MEETING_ASKS), "an address of IPv6 needs no brackets without a port");
    p = find("[fe80::1]", "", "train.py");
    ok(is(&p, "fe80::1", MEETING_ASKS) && p.port == 23984, "brackets need no port");
    is_int(find("[fe80::1]:", "", "train.py").port, -1, "a colon without a port is refused");
    is_int(find("head:", "", "train.py").port, -1, "a host with a colon alone is refused");
    is_int(find("[]", "", "train.py").port, -1, "brackets without a host are refused");
    is_int(find("head:65535", "", "train.py").port, 65535, "the last port is a port");
    is_int(find("head:1", "", "train.py").port, 1, "the first port is a port");
    is_int(find("head:0", "", "train.py").port, -1, "port 0 is refused");
    is_int(find("head:65536", "", "train.py").port, -1, "a port beyond all is refused");
    is_int(find(":7000", "", "train.py").port, -1, "a port without a host is refused");
    is_int(find("a/b", "", "train.py").port, -1, "a path is refused");
    is_int(find("zz~garbage", "", "train.py").port, -1, "letters that no host has are refused");
    is_int(find("[fe80::1", "", "train.py").port, -1, "a bracket that stays open is refused");
    is_int(find("[a]b", "", "train.py").port, -1, "letters behind a bracket are refused");
}

/* As many letters as a host may have, and one more. */
static void test_lengths(void)
{
    char name[MEETING_PLACE_HOST + 1] = "", host[MEETING_PLACE_HOST];
    struct meeting_place p;

    memset(name, 'a', MEETING_PLACE_HOST - 1);
    p = find(name, "", "train.py");
    is_str(p.host, name, "a host of 255 letters is taken");
    meeting_place_first_host(name, host);
    is_str(host, name, "the first host may have 255 letters");
    name[MEETING_PLACE_HOST - 1] = 'b';
    is_int(find(name, "", "train.py").port, -1, "a host of 256 letters is refused");
    meeting_place_first_host(name, host);
    is_str(host, "", "a first host of 256 letters is none");
}

static void is_first(const char *list, const char *want)
{
    char host[MEETING_PLACE_HOST];

    meeting_place_first_host(list, host);
    is_str(host, want, "the first host of \"%s\" is the one that Slurm names first", list);
}

int main(void)
{
    test_torchrun();
    test_variables();
    test_nodes();
    test_option();
    test_lengths();
    is_first("node1", "node1");
    is_first("node1,node2", "node1");
    is_first("node[03-07,9],x1", "node03");
    is_first("node[4]", "node4");
    is_first("rack1node[4,6]", "rack1node4");
    is_first("", "");
    return done();
}
