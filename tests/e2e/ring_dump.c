/* What a ring says, a JSON object a line: the ring, its notes and values, its steps, its
 * switches, what is lost. For the tests of those who write rings. --ended: the writer is gone. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model/job/step.h"

static void print_number(const char *name, double value)
{
    if (isnan(value))
        printf(", \"%s\": null", name);
    else
        printf(", \"%s\": %.17g", name, value);
}

static void print_text(const char *text)
{
    putchar('"');
    for (; *text; text++)
        printf(*text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
    putchar('"');
}

static void print_step(const struct step *s)
{
    printf("{\"step\": %llu, \"begin_ns\": %lld, \"end_ns\": %lld", (unsigned long long)s->number,
           (long long)s->begin_ns, (long long)s->end_ns);
    for (unsigned i = 0; i < BRIM_STAGES; i++)
        print_number(step_stage_name(i), s->host_s[i]);
    print_number("samples", s->samples);
    print_number("loss", s->loss);
    printf(", \"backwards\": %g, \"collectives\": %u, \"bytes\": %.0f}\n", s->backwards,
           s->collectives, s->collective_b);
}

/* step: the number of the one that runs. */
static void print_mark(const struct step_mark *m, unsigned long long step)
{
    if (m->kind == BRIM_RING_NOTE) {
        printf("{\"note\": ");
        print_text(m->text);
        printf("}\n");
    } else if (m->kind == BRIM_RING_VALUE) {
        printf("{\"name\": ");
        print_text(m->text);
        print_number("value", m->number);
        printf("}\n");
    } else if (m->kind == BRIM_RING_SWITCH) {
        printf("{\"switch\": %llu, \"outcome\": %u, \"before_step\": %llu}\n",
               (unsigned long long)m->count, m->outcome, step);
    }
}

static int dump(struct step_ring *r)
{
    struct step_track track;
    struct step_mark mark;
    struct step step;
    int rc;

    printf("{\"framework\": \"%s\", \"pid\": %d, \"rank\": %d, \"local_rank\": %d, \"world\": %d, ",
           r->framework, r->pid, step_ring_rank(r), step_ring_local_rank(r), step_ring_world(r));
    printf("\"closed\": %s}\n", step_ring_closed(r) ? "true" : "false");
    step_track_init(&track);
    while ((rc = step_ring_next(r, &mark)) != 0) {
        if (rc < 0)
            step_track_lost(&track);
        else if (step_track_mark(&track, &mark, &step))
            print_step(&step);
        else
            print_mark(&mark, track.now.number);
    }
    printf("{\"marks\": %llu, \"lost\": %llu}\n", (unsigned long long)r->next,
           (unsigned long long)r->lost);
    return 0;
}

int main(int argc, char **argv)
{
    struct step_ring ring;
    struct err e = { "" };
    struct stat st;
    void *map;
    int fd = argc > 1 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;

    if (fd < 0 || fstat(fd, &st) < 0)
        return 2;
    map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED)
        return 2;
    if (step_ring_attach(&ring, map, (size_t)st.st_size, &e) < 0) {
        fprintf(stderr, "%s: %s\n", argv[1], e.text);
        return 1;
    }
    ring.ended = argc > 2 && !strcmp(argv[2], "--ended");
    return dump(&ring);
}
