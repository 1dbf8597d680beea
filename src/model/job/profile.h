/* A profile: the settings of a job that won their trials, with the proof. Written and read as INI:
 *
 *     [profile]
 *     name = resnet
 *     key = 5f1c...            hash of the job: command, code, data
 *     machine = 8 x H100-SXM
 *     versions = torch 2.4.0
 *
 *     [loader.workers]
 *     value = 13
 *     before = 0
 *     gain = 11.6              the job does this much more steps in a second: 12.6 times as many
 *     low = 9.1                bounds
 *     high = 14.2
 *     steps = 104              that the trial took
 *     date = 2026-11-21
 *
 * Beside those it remembers what nobody may run with yet: "[candidate loader.workers]" was
 * promising when the job ended, "[refused loader.workers]" has cost the job its memory; why says
 * what was seen. */
#ifndef BRIM_MODEL_JOB_PROFILE_H
#define BRIM_MODEL_JOB_PROFILE_H
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "model/job/knob.h"

enum profile_kind { PROFILE_KEPT, PROFILE_CANDIDATE, PROFILE_REFUSED };

struct profile_setting {
    const char *knob;
    const char *value, *before; /* before NULL: not known */
    double gain, low, high;     /* NaN: not known */
    uint64_t steps;
    const char *date; /* NULL: not known */
    int line;         /* 0: not read */
    enum profile_kind kind;
    const char *why; /* of what was not kept; NULL: not known */
};

/* Settings; letters of a text, which quoted still fits the line of an INI file. */
enum { PROFILE_MAX = 64, PROFILE_TEXT_MAX = 1000 };

struct profile {
    struct arena arena; /* owns all below */
    const char *name;   /* never NULL, these four; "" when not known */
    const char *key;
    const char *machine;
    const char *versions;
    struct profile_setting *settings;
    size_t count;
    struct profile_setting *memos; /* candidates, and what is refused: one of a knob of each */
    size_t n_memos;
};

void profile_done(struct profile *p);

/* An empty profile: 0 or -ENOMEM. Texts are cut to PROFILE_TEXT_MAX letters. */
int profile_init(struct profile *ret, const char *name, const char *key, const char *machine,
                 const char *versions) CHECK_RESULT;

/* Add a setting, or replace the one of the same knob; its texts are copied. 0, -ENOMEM, or -EINVAL
 * for texts with anything but printable ASCII, and for one setting too many. */
int profile_set(struct profile *p, const struct profile_setting *s, struct err *e) CHECK_RESULT;

/* The same of what was not kept, by s->kind: it replaces the one of that kind and knob. */
int profile_remember(struct profile *p, const struct profile_setting *s, struct err *e)
    CHECK_RESULT;

/* What is remembered of a knob; NULL. */
const struct profile_setting *profile_memo(const struct profile *p, enum profile_kind kind,
                                           const char *knob);

/* 0, -ENOMEM, or -EINVAL with a sentence that begins with "file:line: ". *ret on success only. */
int profile_read(struct profile *ret, const char *file, const char *text, size_t len, struct err *e)
    CHECK_RESULT;

/* The text that profile_read() takes. */
void profile_write(const struct profile *p, struct str *out);

/* Whether every setting is of a knob that there is, with a value that it takes: 0, or -EINVAL with
 * a sentence that names file and line where the profile was read. */
int profile_check(const struct profile *p, const struct knobs *knobs, const char *file,
                  struct err *e) CHECK_RESULT;

/* What a shell runs to apply it: a line "export NAME='value'" for each setting by environment, one
 * BRIM_KNOBS for all that the shim sets ("loader.workers=13;..."), and comments that name the rest.
 * Settings of knobs that are not there are left out: profile_check() tells them. */
void profile_env(const struct profile *p, const struct knobs *knobs, struct str *out);

#endif
