/* The sections [service], [spot] and [power] of a policy: numbers alone. What they mean is in
 * feature/tiers.h and feature/power.h. */
#ifndef BRIM_SCHED_POLICY_POLICY_TIERS_H
#define BRIM_SCHED_POLICY_POLICY_TIERS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TIER_NAME = 48, TIER_CLASSES = 16 };

/* Classes of a trace, by their names. */
struct policy_classes {
    char names[TIER_CLASSES][TIER_NAME];
    size_t n;
};

/* Devices, or per cent of all (of_all). */
struct policy_devices {
    double amount;
    bool of_all;
};

/* Section [service]. */
struct policy_service {
    bool said;
    struct policy_classes classes; /* n 0: there is no such section */
    struct policy_devices reserve[TIER_CLASSES];
    size_t owner[TIER_CLASSES]; /* of each reserve: a class; TIER_CLASSES: all of them */
    size_t n_reserves;
    bool preempt;      /* beyond the reserve, batch jobs stop for replicas */
    int64_t within_ms; /* a replica that starts within this is in time */
};

/* Section [spot]. */
struct policy_spot {
    bool said;
    struct policy_classes classes; /* n 0: there is no such section */
    struct policy_devices ceiling; /* of all spot jobs together; amount 0: none */
    int64_t notice_ms;             /* from being told to being gone */
    int64_t save_ms;               /* what saving takes; -1: they do not save when they are told */
};

enum policy_power_action {
    POWER_WAIT,  /* what would lift the cluster above its cap waits */
    POWER_LIMIT, /* devices of what starts get a lower limit of power, and are slower */
};

/* Section [power]. */
struct policy_power {
    bool said;
    int64_t cap_mw;  /* of all nodes; 0: there is no such section */
    int64_t node_mw; /* what a node draws beside its devices */
    enum policy_power_action action;
    char curve[TIER_NAME]; /* the device whose measured curve is taken for all; "": each its own */
    double least;          /* of the full limit, no lower; 0: as far as it saves energy */
};

#endif
