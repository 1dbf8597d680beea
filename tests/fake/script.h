/* What the fake libraries have in common: the section [fake] of their scripts, which says how a
 * function misbehaves.
 *
 *     [fake]
 *     nvmlInit_v2 = 18                            every call answers 18
 *     nvmlDeviceGetUUID.3 = hang                  the call about device 3 never returns
 *     nvmlDeviceGetName = 200ms                   comes late, and then answers
 *
 * A fake holds state between calls in globals, as the library does that it stands in for. */
#ifndef BRIM_TESTS_FAKE_SCRIPT_H
#define BRIM_TESTS_FAKE_SCRIPT_H
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/ini.h"
#include "base/parse.h"

enum { SCRIPT_MAX = 256 << 10, RULES = 64 };

struct script_word {
    const char *word;
    int code;
};

struct script {
    const struct script_word *words; /* names for the library's error numbers, ended by NULL */
    struct {
        char call[80]; /* with ".3" for device 3 */
        bool hangs;
        int64_t delay_ns;
        int code;
    } rules[RULES];
    size_t n_rules;
    pthread_mutex_t lock; /* a thread that hangs meets those of later tests */
};

#define SCRIPT_INIT(words_) \
    { \
        .words = (words_), .lock = PTHREAD_MUTEX_INITIALIZER \
    }

static inline int script_rule(void *ctx, const struct ini_entry *at, struct err *e)
{
    struct script *s = ctx;
    const struct script_word *w = s->words;
    int64_t number;

    if (!at->key || strcmp(at->section, "fake") != 0)
        return 0;
    if (s->n_rules == RULES)
        return err_set(e, -E2BIG, "%s:%d: more than %d rules", at->file, at->line, RULES);
    snprintf(s->rules[s->n_rules].call, sizeof(s->rules[0].call), "%s", at->key);
    while (w->word && strcmp(at->value, w->word) != 0)
        w++;
    if (strcmp(at->value, "hang") == 0)
        s->rules[s->n_rules].hangs = true;
    else if (w->word)
        s->rules[s->n_rules].code = w->code;
    else if (parse_i64(at->value, &number) == 0)
        s->rules[s->n_rules].code = (int)number;
    else if (parse_duration_ns(at->value, &number) == 0)
        s->rules[s->n_rules].delay_ns = number;
    else
        return err_set(e, -EINVAL, "%s:%d: '%s'?", at->file, at->line, at->value);
    s->n_rules++;
    return 0;
}

/* Read the script at path into text, which has SCRIPT_MAX bytes. Returns its length; exits when it
 * is broken, since a driver has no way to say so. */
static inline size_t script_load(struct script *s, const char *path, char *text)
{
    struct err e = { "" };
    FILE *f = fopen(path, "re");
    size_t len;

    if (!f) {
        fprintf(stderr, "fake: %s: cannot open\n", path);
        exit(99);
    }
    pthread_mutex_lock(&s->lock);
    len = fread(text, 1, SCRIPT_MAX, f);
    fclose(f);
    s->n_rules = 0;
    memset(s->rules, 0, sizeof(s->rules));
    if (ini_parse(path, text, len, script_rule, s, &e) < 0) {
        fprintf(stderr, "fake: %s\n", e.text);
        exit(99);
    }
    pthread_mutex_unlock(&s->lock);
    return len;
}

/* What a call answers by the rules, after doing what they say. */
static inline int script_answer(struct script *s, const char *call, int device)
{
    struct timespec late = { 0 };
    bool hangs = false;
    char exact[96];
    int code = 0;

    pthread_mutex_lock(&s->lock);
    if (s->n_rules)
        snprintf(exact, sizeof(exact), "%s.%d", call, device);
    for (size_t i = 0; i < s->n_rules; i++) {
        if (strcmp(s->rules[i].call, call) != 0 && strcmp(s->rules[i].call, exact) != 0)
            continue;
        late.tv_sec = s->rules[i].delay_ns / 1000000000;
        late.tv_nsec = s->rules[i].delay_ns % 1000000000;
        hangs = s->rules[i].hangs;
        code = s->rules[i].code;
        break;
    }
    pthread_mutex_unlock(&s->lock);
    while (hangs)
        pause();
    if (late.tv_sec || late.tv_nsec)
        nanosleep(&late, NULL);
    return code;
}

#endif
