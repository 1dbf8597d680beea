#include "slurm/layout.h"

#include <string.h>

uint64_t slurm_number(const struct slurm_layout *l, const void *record, enum slurm_field_id id)
{
    const struct slurm_field *f = &l->fields[id];
    const char *at = (const char *)record + f->offset;
    uint8_t one;
    uint16_t two;
    uint32_t four;
    uint64_t eight;

    switch (f->size) {
    case 1:
        return memcpy(&one, at, 1), one;
    case 2:
        return memcpy(&two, at, 2), two;
    case 4:
        return memcpy(&four, at, 4), four;
    case 8:
        return memcpy(&eight, at, 8), eight;
    default:
        return 0;
    }
}

void *slurm_pointer(const struct slurm_layout *l, const void *record, enum slurm_field_id id)
{
    const struct slurm_field *f = &l->fields[id];
    void *value = NULL;

    if (f->size == sizeof(value))
        memcpy(&value, (const char *)record + f->offset, sizeof(value));
    return value;
}

void slurm_set_number(const struct slurm_layout *l, void *record, enum slurm_field_id id,
                      uint64_t value)
{
    const struct slurm_field *f = &l->fields[id];
    char *at = (char *)record + f->offset;
    uint16_t two = (uint16_t)value;
    uint32_t four = (uint32_t)value;

    if (f->size == 2)
        memcpy(at, &two, 2);
    else if (f->size == 4)
        memcpy(at, &four, 4);
    else if (f->size == 8)
        memcpy(at, &value, 8);
}

void slurm_set_text(const struct slurm_layout *l, void *record, enum slurm_field_id id,
                    const char *text)
{
    const struct slurm_field *f = &l->fields[id];

    if (f->size == sizeof(text))
        memcpy((char *)record + f->offset, &text, sizeof(text));
}
