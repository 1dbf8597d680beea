#include "probe/python/elf.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* More than that is not looked at: a file may say anything. */
enum { SECTIONS = 4096, SEGMENTS = 64, BLOCK = 2048 * sizeof(Elf64_Sym), PLACES = 8 };
static const uint64_t table_max = 512 << 20;

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
enum { OUR_ORDER = ELFDATA2LSB };
#else
enum { OUR_ORDER = ELFDATA2MSB };
#endif

/* A name that is looked for, and where it stands in a table of names. */
struct name {
    const char *text;
    size_t len; /* with the 0 behind it */
    uint64_t places[PLACES];
    size_t n;
    uint64_t value; /* what a symbol of that name has; 0 */
};

/* A file, and room for a part of it. */
struct file {
    const struct python_memory *memory;
    Elf64_Ehdr header;
    uint8_t block[BLOCK];
};

static int read_header(struct file *f)
{
    const Elf64_Ehdr *h = &f->header;
    int rc = python_memory_read(f->memory, 0, &f->header, sizeof(f->header));

    if (rc == -EFAULT)
        return -EINVAL;
    if (rc < 0)
        return rc;
    if (memcmp(h->e_ident, ELFMAG, SELFMAG) != 0 || h->e_ident[EI_CLASS] != ELFCLASS64 ||
        h->e_ident[EI_DATA] != OUR_ORDER || h->e_shentsize != sizeof(Elf64_Shdr) ||
        h->e_phentsize != sizeof(Elf64_Phdr))
        return -EINVAL;
    return 0;
}

static int read_section(const struct file *f, size_t i, Elf64_Shdr *ret)
{
    if (i >= f->header.e_shnum || i >= SECTIONS)
        return -EINVAL;
    return python_memory_read(f->memory, f->header.e_shoff + i * sizeof(*ret), ret, sizeof(*ret));
}

/* The address of the first byte of the file, by the first part that is loaded of it. */
static int find_base(const struct file *f, uint64_t *ret)
{
    for (size_t i = 0; i < f->header.e_phnum && i < SEGMENTS; i++) {
        Elf64_Phdr segment;
        int rc = python_memory_read(f->memory, f->header.e_phoff + i * sizeof(segment), &segment,
                                    sizeof(segment));

        if (rc < 0)
            return rc;
        if (segment.p_type == PT_LOAD) {
            *ret = segment.p_vaddr - segment.p_offset;
            return 0;
        }
    }
    return -EINVAL;
}

/* Note where the names stand in n bytes of a table whose first one is at a place of it. */
static void find_places(const uint8_t *bytes, size_t n, uint64_t place, struct name names[2])
{
    for (struct name *name = names; name < names + 2; name++) {
        const uint8_t *at = bytes;

        while ((at = memmem(at, n - (size_t)(at - bytes), name->text, name->len))) {
            uint64_t found = place + (uint64_t)(at++ - bytes);

            if (name->n < PLACES && (!name->n || name->places[name->n - 1] < found))
                name->places[name->n++] = found;
        }
    }
}

/* A block begins with what the last one ended with, so that no name is cut. */
static int scan_names(struct file *f, const Elf64_Shdr *table, struct name names[2])
{
    enum { OVERLAP = 32 };

    names[0].n = names[1].n = 0;
    for (uint64_t place = 0; place < table->sh_size; place += BLOCK - OVERLAP) {
        size_t n = (size_t)MIN(table->sh_size - place, (uint64_t)BLOCK);
        int rc = python_memory_read(f->memory, table->sh_offset + place, f->block, n);

        if (rc < 0)
            return rc;
        find_places(f->block, n, place, names);
    }
    return 0;
}

static void take_symbol(const Elf64_Sym *symbol, struct name names[2])
{
    if (symbol->st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT)
        return;
    for (struct name *name = names; name < names + 2; name++)
        for (size_t i = 0; i < name->n; i++)
            if (symbol->st_name == name->places[i])
                name->value = symbol->st_value;
}

static int scan_symbols(struct file *f, const Elf64_Shdr *table, struct name names[2])
{
    const uint64_t whole = table->sh_size - table->sh_size % sizeof(Elf64_Sym);

    for (uint64_t place = 0; place < whole; place += BLOCK) {
        size_t n = (size_t)MIN(whole - place, (uint64_t)BLOCK);
        int rc = python_memory_read(f->memory, table->sh_offset + place, f->block, n);

        if (rc < 0)
            return rc;
        for (size_t i = 0; i < n; i += sizeof(Elf64_Sym)) {
            Elf64_Sym symbol;

            memcpy(&symbol, f->block + i, sizeof(symbol));
            take_symbol(&symbol, names);
        }
    }
    return 0;
}

/* The symbols of a kind: SHT_DYNSYM, which every loader needs; SHT_SYMTAB, which strip takes. */
static int find_symbols(struct file *f, uint32_t kind, struct name names[2])
{
    for (size_t i = 0; i < f->header.e_shnum && i < SECTIONS; i++) {
        Elf64_Shdr symbols, texts;
        int rc = read_section(f, i, &symbols);

        if (rc == 0 && symbols.sh_type != kind)
            continue;
        if (rc == 0)
            rc = read_section(f, symbols.sh_link, &texts);
        if (rc == 0 && (symbols.sh_size > table_max || texts.sh_size > table_max))
            rc = -EINVAL;
        if (rc == 0)
            rc = scan_names(f, &texts, names);
        if (rc == 0 && names[0].n)
            rc = scan_symbols(f, &symbols, names);
        return rc;
    }
    return 0;
}

/* The address of Python's section; *ret stays as it is where there is none. */
static int find_section(const struct file *f, uint64_t *ret)
{
    static const char name[] = ".PyRuntime";
    Elf64_Shdr names, section;
    int rc = read_section(f, f->header.e_shstrndx, &names);

    for (size_t i = 0; rc == 0 && i < f->header.e_shnum && i < SECTIONS; i++) {
        char text[sizeof(name)];

        rc = read_section(f, i, &section);
        if (rc == 0 && section.sh_name < names.sh_size &&
            names.sh_size - section.sh_name >= sizeof(text) &&
            python_memory_read(f->memory, names.sh_offset + section.sh_name, text, sizeof(text)) ==
                0 &&
            !memcmp(text, name, sizeof(text))) {
            *ret = section.sh_addr;
            return 0;
        }
    }
    return rc;
}

int python_elf_find(const struct python_memory *file, struct python_elf *ret)
{
    struct name names[] = { { .text = "_PyRuntime", .len = sizeof("_PyRuntime") },
                            { .text = "Py_Version", .len = sizeof("Py_Version") } };
    CLEANUP(freep) struct file *f = calloc(1, sizeof(*f));
    uint64_t section = 0, base = 0;
    int rc;

    if (!f)
        return -ENOMEM;
    f->memory = file;
    rc = read_header(f);
    if (rc == 0)
        rc = find_base(f, &base);
    if (rc == 0)
        rc = find_symbols(f, SHT_DYNSYM, names);
    if (rc == 0 && !names[0].value)
        rc = find_section(f, &section);
    if (rc == 0 && !names[0].value && !section)
        rc = find_symbols(f, SHT_SYMTAB, names);
    if (rc < 0)
        return rc;
    *ret = (struct python_elf){ base, names[0].value ? names[0].value : section, names[1].value };
    return 0;
}
