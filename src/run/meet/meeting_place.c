#include "run/meet/meeting_place.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"
#include "run/meet/sha256.h"
#include "run/job/environ.h"

/* Ports of jobs that name none: below those that the kernel gives away, and that services use. */
enum { PORT_FIRST = 23040, PORTS = 4096, PORT_MOST = 65535, VALUE = 256 };

/* What torchrun was told, or its variables tell; "" where nothing does. */
struct torchrun {
    char nodes[VALUE], endpoint[VALUE], id[VALUE], address[VALUE], port[VALUE], node[VALUE];
};

static void set_text(char *to, size_t size, const char *text)
{
    snprintf(to, size, "%s", text ? text : "");
}

/* "--rdzv_endpoint" is "--rdzv-endpoint" as well. */
static bool is_option(const char *word, size_t len, const char *name)
{
    if (strlen(name) != len)
        return false;
    for (size_t i = 0; i < len; i++)
        if (word[i] != name[i] && !(word[i] == '_' && name[i] == '-'))
            return false;
    return true;
}

static char *place_of_option(struct torchrun *t, const char *word, size_t len)
{
    const struct {
        const char *name;
        char *to;
    } known[] = {
        { "nnodes", t->nodes },        { "rdzv-endpoint", t->endpoint }, { "rdzv-id", t->id },
        { "master-addr", t->address }, { "master-port", t->port },       { "node-rank", t->node },
    };

    for (size_t i = 0; i < ARRAY_SIZE(known); i++)
        if (is_option(word, len, known[i].name))
            return known[i].to;
    return NULL;
}

static bool is_torchrun(char *const *argv, size_t *first)
{
    for (size_t i = 0; argv[i]; i++) {
        const char *slash = strrchr(argv[i], '/'), *name = slash ? slash + 1 : argv[i];

        *first = i + 1;
        if (!strcmp(name, "torchrun") || !strcmp(argv[i], "torch.distributed.run") ||
            !strcmp(argv[i], "torch.distributed.launch"))
            return true;
    }
    return false;
}

/* Options up to the first word that is none: that is the script, or the value of an option that is
 * not known here, which changes nothing. */
static bool read_command(struct torchrun *t, char *const *argv)
{
    size_t at;

    if (!is_torchrun(argv, &at))
        return false;
    for (; argv[at]; at++) {
        const char *word = argv[at] + strspn(argv[at], "-");
        size_t len = strcspn(word, "=");
        char *to = word - argv[at] > 0 ? place_of_option(t, word, len) : NULL;

        if (strlen(argv[at]) > 3 && !strcmp(argv[at] + strlen(argv[at]) - 3, ".py"))
            break;
        if (to && word[len])
            set_text(to, VALUE, word + len + 1);
        else if (to && argv[at + 1])
            set_text(to, VALUE, argv[++at]);
    }
    return true;
}

static void add_variables(struct torchrun *t, char *const *env)
{
    const struct {
        const char *name;
        char *to;
    } known[] = {
        { "PET_NNODES", t->nodes },     { "PET_RDZV_ENDPOINT", t->endpoint },
        { "PET_RDZV_ID", t->id },       { "PET_MASTER_ADDR", t->address },
        { "PET_MASTER_PORT", t->port }, { "PET_NODE_RANK", t->node },
    };

    for (size_t i = 0; i < ARRAY_SIZE(known); i++)
        if (!known[i].to[0])
            set_text(known[i].to, VALUE, environ_get(env, known[i].name));
}

/* "host", "host:port", "[::1]:port", "::1". port stays where none is told. */
static bool split(const char *text, char host[MEETING_PLACE_HOST], int *port)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "._-:%"; /* of names and addresses */
    const char *colon = strrchr(text, ':'), *end = text + strlen(text);
    const char *begin = text;
    uint64_t number;

    if (*text == '[') {
        begin = text + 1;
        end = strchr(text, ']');
        if (!end || (end[1] && end[1] != ':'))
            return false;
        colon = end[1] ? end + 1 : NULL;
    } else if (colon && strchr(text, ':') == colon) {
        end = colon;
    } else {
        colon = NULL; /* an address of IPv6 */
    }
    if (colon) {
        if (parse_u64(colon + 1, &number) < 0 || number < 1 || number > PORT_MOST)
            return false;
        *port = (int)number;
    }
    if (end == begin || end - begin >= MEETING_PLACE_HOST)
        return false;
    if (strspn(begin, letters) < (size_t)(end - begin))
        return false;
    memcpy(host, begin, (size_t)(end - begin));
    host[end - begin] = '\0';
    return true;
}

void meeting_place_first_host(const char *list, char ret[MEETING_PLACE_HOST])
{
    size_t name = strcspn(list, "[,"), number = 0;

    if (list[name] == '[')
        number = strcspn(list + name + 1, "-,]");
    if (name + number >= MEETING_PLACE_HOST)
        name = number = 0;
    memcpy(ret, list, name);
    if (number)
        memcpy(ret + name, list + name + 1, number);
    ret[name + number] = '\0';
}

/* ---- launchers ---- */

static enum meeting_role role_of(int rank)
{
    if (rank < 0)
        return MEETING_ASKS;
    return rank == 0 ? MEETING_LEADS : MEETING_FOLLOWS;
}

static int number_of(const char *text)
{
    uint64_t number;

    return parse_u64(text, &number) == 0 && number < INT32_MAX ? (int)number : -1;
}

/* torchrun below us: its own port is its own, and not ours. */
static bool take_torchrun(struct meeting_place *p, const struct torchrun *t)
{
    int port = 0;

    if (!t->nodes[0] || !strcmp(t->nodes, "1") || !strcmp(t->nodes, "1:1"))
        return false;
    p->several = p->multi = true;
    p->role = role_of(number_of(t->node));
    if (!t->endpoint[0] || !split(t->endpoint, p->host, &port))
        set_text(p->host, sizeof(p->host), t->address);
    snprintf(p->job, sizeof(p->job), "torchrun %.60s %.120s", t->id,
             t->endpoint[0] ? t->endpoint : t->port);
    return true;
}

/* The ranks of torchrun, or of a script that starts them: each below an observer of its own. */
static bool take_ranks(struct meeting_place *p, char *const *env)
{
    int rank = environ_number(env, "RANK"), world = environ_number(env, "WORLD_SIZE");
    int local = environ_number(env, "LOCAL_WORLD_SIZE");
    const char *address = environ_get(env, "MASTER_ADDR"), *port = environ_get(env, "MASTER_PORT");
    const char *id = environ_get(env, "TORCHELASTIC_RUN_ID");

    if (rank < 0 || world <= 1 || !address)
        return false;
    p->several = true;
    p->multi = local > 0 && local < world;
    p->role = role_of(rank);
    set_text(p->host, sizeof(p->host), address);
    snprintf(p->job, sizeof(p->job), "ranks %.60s %.100s %.20s", id ? id : "", address,
             port ? port : "");
    return true;
}

static bool take_slurm(struct meeting_place *p, char *const *env)
{
    const char *id = environ_get(env, "SLURM_JOB_ID"), *step = environ_get(env, "SLURM_STEP_ID");
    const char *list = environ_get(env, "SLURM_STEP_NODELIST");
    int rank = environ_number(env, "SLURM_PROCID"), tasks = environ_number(env, "SLURM_NTASKS");
    int nodes = environ_number(env, "SLURM_STEP_NUM_NODES");
    const char *restart = environ_get(env, "SLURM_RESTART_COUNT");

    if (!id || !step || rank < 0 || tasks <= 1)
        return false;
    p->several = true;
    p->multi = (nodes < 0 ? environ_number(env, "SLURM_JOB_NUM_NODES") : nodes) > 1;
    p->role = role_of(rank);
    list = list ? list : environ_get(env, "SLURM_JOB_NODELIST");
    meeting_place_first_host(list ? list : "", p->host);
    snprintf(p->job, sizeof(p->job), "slurm %.100s.%.100s%s%.20s", id, step, restart ? "-" : "",
             restart ? restart : "");
    return true;
}

/* No variable of Open MPI's or PMIx's tells where rank 0 is. */
static bool take_mpi(struct meeting_place *p, char *const *env)
{
    int rank = environ_number(env, "OMPI_COMM_WORLD_RANK");
    int world = environ_number(env, "OMPI_COMM_WORLD_SIZE");
    int local = environ_number(env, "OMPI_COMM_WORLD_LOCAL_SIZE");
    const char *job = environ_get(env, "PMIX_NAMESPACE");

    if (rank < 0 || world <= 1)
        return false;
    p->several = true;
    p->multi = local > 0 && local < world;
    p->role = role_of(rank);
    job = job ? job : environ_get(env, "OMPI_MCA_ess_base_jobid");
    snprintf(p->job, sizeof(p->job), "mpi %.200s", job ? job : "");
    return true;
}

/* Two jobs that meet on one host have different ports, mostly; that they are two is told by the
 * job's name, which is part of the key. */
static int port_of(const char *job)
{
    unsigned char hash[SHA256_SIZE];
    struct sha256 s;

    sha256_begin(&s);
    sha256_add(&s, job, strlen(job));
    sha256_end(&s, hash);
    return PORT_FIRST + (hash[0] << 8 | hash[1]) % PORTS;
}

int meeting_place_find(struct meeting_place *ret, const char *option, char *const *env,
                       char *const *argv, struct err *e)
{
    struct torchrun t = { .nodes = "" };
    const char *named = option ? option : environ_get(env, "BRIM_MEET");

    *ret = (struct meeting_place){ .role = MEETING_ASKS };
    if (read_command(&t, argv)) {
        add_variables(&t, env);
        (void)take_torchrun(ret, &t);
    } else if (!take_ranks(ret, env) && !take_slurm(ret, env)) {
        (void)take_mpi(ret, env);
    }
    if (named && *named) {
        if (!split(named, ret->host, &ret->port))
            return err_usage(e, "--meet is HOST or HOST:PORT, not '%.60s'", named);
        ret->several = ret->told = true;
    }
    if (!ret->port)
        ret->port = port_of(ret->job);
    return 0;
}
