/* What the files of the live view share. Private to src/diagnose. */
#ifndef BRIM_DIAGNOSE_NODE_LIVE_PRIVATE_H
#define BRIM_DIAGNOSE_NODE_LIVE_PRIVATE_H
#include <stddef.h>

#include "base/compiler.h"
#include "diagnose/node/live.h"

/* One update under way. */
struct live_view {
    struct live *l;
    const struct tick *before, *now;
    double seconds; /* between them; NaN */
    /* Of all processes, not only of those in the table, the one with the most of each; pid is NULL
     * where there is none. */
    struct live_process most[LIVE_SORTS];
};

/* A stage as measured now; then it is smoothed and put in words. Figures and cause are the stage's
 * own. */
struct live_measure {
    int cause;   /* 0: nothing known makes a load */
    double load; /* how near the limit: LIVE_LOAD_LIMIT and more is at it */
    double figures[LIVE_FIGURES];
    const char *thing;
    bool idle; /* nothing flows, whatever the load says */
    bool weak; /* see struct live_stage */
};

struct live_stage_ops {
    const char *limits; /* "storage limits this node" */
    void (*measure)(const struct live_view *v, struct live_measure *ret);
    /* Fill value and detail of a stage. */
    void (*describe)(const struct live_view *v, struct live_stage *s);
    /* What to do about it, LIVE_TEXT bytes. */
    void (*advise)(const struct live_view *v, const struct live_stage *s, char *action);
};

extern const struct live_stage_ops live_storage, live_cpu, live_pcie, live_gpu, live_network;

/* Of the stage "gpu", which the verdict looks at: its causes, and its figures. */
enum { LIVE_GPU_WORKS = 1, LIVE_GPU_UNEVEN, LIVE_GPU_THROTTLED, LIVE_GPU_LOST };
enum {
    LIVE_GPU_MEAN,
    LIVE_GPU_IDLE,
    LIVE_GPU_KNOWN,
    LIVE_GPU_SM_ACTIVE,
    LIVE_GPU_SHARE, /* of the time that it is slowed down; of LIVE_GPU_UNEVEN: that it is idle */
    LIVE_GPU_REST   /* that the others are idle */
};

/* ---- limits (limits.c has the sources) ---- */

struct live_limits {
    double load_limit;        /* a load from here on is at its limit */
    double load_weak;         /* the load of a weak cause, which has no measure */
    double load_leave;        /* and below this it no longer is */
    double load_unwaited;     /* the load of a busy disk that nobody waits for */
    double load_busy;         /* and from here on busy */
    double load_idle;         /* below: idle */
    double load_nothing;      /* below, of all stages: nothing is running */
    double gpu_busy;          /* GPUs that are busy for this share are not waiting */
    double gpu_idle;          /* and below this do nothing */
    double gpu_uneven;        /* one GPU is idle for so much longer than any other */
    double sm_active;         /* below, GPUs that are busy do little at a time */
    double wait_warning;      /* share of GPU time lost: a warning */
    double wait_critical;     /* critical */
    double disk_await_s;      /* a disk whose requests take longer makes others wait */
    double disk_queue;        /* or that has so many in progress */
    double io_pressure;       /* share of time in which work waits for input and output */
    double io_pressure_alone; /* the same, where no disk or mount shows why */
    double nfs_queue_share;   /* of an operation's time before it is sent */
    double cpu_busy;          /* share of all CPUs */
    double core_busy;         /* of one CPU */
    double cpu_pressure;
    double cpu_pressure_busy; /* pressure of CPUs that are less busy is a limit of a cgroup's */
    double throttled;         /* seconds a second that a cgroup is held for */
    double steal;             /* share of CPU time that the hypervisor gives to others */
    double memory_pressure;
    double link_share;    /* of what a PCIe or network link can carry */
    double gpu_throttled; /* share of time */
    double drops;         /* share of packets that are dropped or broken */
    double named;         /* share of what is used, below which nobody is named */
};

extern const struct live_limits live_limits;

/* How near a value is to its limit, as a load: at the limit it is load_limit, and 1 at most. NaN
 * stays. */
double live_near(double value, double limit);

/* ---- tables of ticks ---- */

enum live_how { LIVE_GAUGE, LIVE_RATE };

/* A signal, and the double that it goes to in a struct. Of several that go to the same one those
 * that are present are added. A table of them ends with a name of NULL. */
struct live_field {
    const char *name, *label;
    enum live_how how;
    size_t to;
};

/* Where a signal goes to in a struct; 'of' its label, where it has one. A list ends with
 * LIVE_FIELD_END. */
#define LIVE_FIELD_OF(type, name, label, how, to) \
    { \
        name, label, how, offsetof(struct type, to) \
    }
#define LIVE_FIELD(type, name, how, to) LIVE_FIELD_OF(type, name, NULL, how, to)
#define LIVE_FIELD_END \
    { \
        NULL, NULL, LIVE_GAUGE, 0 \
    }

enum { LIVE_FIELDS_MAX = 40 };

/* The rows of one set now. */
struct live_rows {
    const struct live_view *v;
    const struct live_field *fields;
    const struct signal_row *rows;
    size_t n, n_fields;
    size_t at[LIVE_FIELDS_MAX]; /* where each field's signal stands in the set; n_defs: nowhere */
};

/* Look up a set; without rows n is 0. */
void live_rows_of(const struct live_view *v, const char *set, const struct live_field *fields,
                  struct live_rows *ret);

/* Set the doubles of the fields in *to from row i. */
void live_fill(const struct live_rows *r, size_t i, void *to);

/* Fill the tables: of devices, and of the host and its processes. */
void live_fill_gpus(struct live_view *v);
void live_fill_devices(struct live_view *v);
void live_fill_host(struct live_view *v);
void live_fill_processes(struct live_view *v);

/* The rows of processes, and one of them. */
void live_process_rows(const struct live_view *v, struct live_rows *ret);
struct live_process live_process_at(const struct live_rows *rows, size_t i);

/* What processes are sorted by, as a number. */
double live_process_key(const struct live_process *p, enum live_sort sort);

/* Who uses something: processes of one command, of one control group, or children of a process that
 * ended before they were seen. */
struct live_user {
    const char *name; /* of the command or the control group */
    const char *pid;  /* of the first of them, or of the parent */
    size_t n;
    double amount;        /* that all of them use */
    double reads, writes; /* bytes a second */
    bool is_cgroup, of_children;
};

/* Whoever uses most of it, where that is live_limits.named of all at least: a command, else a
 * parent of such children, else a control group. used: what is known to be used in all, NaN for
 * what the processes use. False: nobody stands out. */
bool live_find_user(const struct live_view *v, enum live_sort by, double used,
                    struct live_user *ret);

/* "look at process 4711 (dd): it writes 400 MB/s": verb is "write". action: LIVE_TEXT bytes. */
void live_advise_user(char *action, const struct live_user *u, const char *verb,
                      const char *amount);

/* The client of a parallel file system that lost most targets or, where none did, waits most. */
struct live_remote {
    const char *kind; /* "Lustre", "Ceph"; NULL: there is none that does anything */
    const char *thing;
    double waiting; /* requests under way, in the mean */
    double each;    /* seconds that one takes */
    double missing; /* targets that are not connected */
    double targets;
};

struct live_remote live_worst_remote(const struct live_view *v);

/* ---- words ---- */

/* snprintf() that may cut. */
void live_say(char *to, size_t size, const char *fmt, ...) PRINTF(3, 4);

/* Append to a text of LIVE_TEXT bytes. */
void live_add(char to[LIVE_TEXT], const char *fmt, ...) PRINTF(2, 3);

/* "process 4711 (dd)"; p->pid is not NULL. */
struct live_name {
    char text[128];
};
struct live_name live_process_name(const struct live_process *p);

/* Decide and say what limits the node, after the stages were updated. */
void live_judge(struct live_view *v, const struct live_stage_ops *const ops[LIVE_STAGES]);

#endif
