#include "daemon/memory.h"

#include <link.h>
#include <malloc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/compiler.h"

/* Whether the loader has written into the code: then its pages are not those of the file. */
static bool is_relocated(const struct dl_phdr_info *object, const ElfW(Phdr) * dynamic)
{
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): the loader tells addresses as numbers */
    /* the loader tells addresses as numbers: NOLINTNEXTLINE(performance-no-int-to-ptr) */
    const ElfW(Dyn) *at = (const void *)(object->dlpi_addr + dynamic->p_vaddr);

    for (; at->d_tag != DT_NULL; at++)
        if (at->d_tag == DT_TEXTREL || (at->d_tag == DT_FLAGS && (at->d_un.d_val & DF_TEXTREL)))
            return true;
    return false;
}

static int drop_object(struct dl_phdr_info *object, size_t size, void *arg)
{
    uintptr_t page = *(const uintptr_t *)arg;

    (void)size;
    for (int i = 0; i < object->dlpi_phnum; i++)
        if (object->dlpi_phdr[i].p_type == PT_DYNAMIC &&
            is_relocated(object, &object->dlpi_phdr[i]))
            return 0;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        uintptr_t begin = (object->dlpi_addr + part->p_vaddr) / page * page;
        uintptr_t end = object->dlpi_addr + part->p_vaddr + part->p_filesz;

        /* what can be written, or could before it was relocated, is not of the file any more */
        if (part->p_type == PT_LOAD && !(part->p_flags & PF_W) && part->p_filesz)
            /* NOLINTNEXTLINE(performance-no-int-to-ptr) */
            /* NOLINTNEXTLINE(performance-no-int-to-ptr) */
            (void)madvise((void *)begin, end - begin, MADV_DONTNEED);
    }
    return 0;
}

void memory_begin(void)
{
    (void)mallopt(M_ARENA_MAX, 1);
}

void memory_settle(void)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

    malloc_trim(0);
    dl_iterate_phdr(drop_object, &page);
}
