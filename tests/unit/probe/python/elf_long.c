/* Python's runtime in long tables of a file: they are read in blocks, and not without end. */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "probe/python/elf.h"
#include "tap.h"

/* What python_elf_find() reads at once, and how many of each there may be. */
enum { BLOCK = 2048 * sizeof(Elf64_Sym), SEGMENTS_MOST = 64, SECTIONS_MOST = 4096 };

/* The last two sections of a file. */
enum { SYMBOLS, NAMES, SECTIONS };

enum {
    NAMES_MAX = 2 * BLOCK,
    SYMBOLS_MAX = 5000,
    SEGMENTS_MAX = SEGMENTS_MOST + 1,
    SECTIONS_MAX = SECTIONS_MOST + SECTIONS
};

struct elf {
    Elf64_Ehdr header;
    Elf64_Phdr segments[SEGMENTS_MAX];
    Elf64_Shdr sections[SECTIONS_MAX];
    Elf64_Sym symbols[SYMBOLS_MAX];
    char names[NAMES_MAX];
};

static int read_file(const void *state, const struct python_piece *pieces, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (pieces[i].at > sizeof(struct elf) || pieces[i].len > sizeof(struct elf) - pieces[i].at)
            return -EFAULT;
        memcpy(pieces[i].to, (const char *)state + pieces[i].at, pieces[i].len);
    }
    return 0;
}

static int look(const struct elf *f, struct python_elf *ret)
{
    struct python_memory m = { read_file, f };

    *ret = (struct python_elf){ 0, 0, 0 };
    return python_elf_find(&m, ret);
}

/* A file whose tables of symbols and names are the last two of n sections. */
static void make(struct elf *f, size_t n)
{
    memset(f, 0, sizeof(*f));
    f->header = (Elf64_Ehdr){
        .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB },
        .e_phoff = offsetof(struct elf, segments),
        .e_shoff = offsetof(struct elf, sections),
        .e_phentsize = sizeof(Elf64_Phdr),
        .e_phnum = SEGMENTS_MAX,
        .e_shentsize = sizeof(Elf64_Shdr),
        .e_shnum = (Elf64_Half)n,
    };
    f->segments[0] = (Elf64_Phdr){ .p_type = PT_LOAD, .p_vaddr = 0x400000 };
    f->sections[n - SECTIONS + SYMBOLS] = (Elf64_Shdr){ .sh_type = SHT_DYNSYM,
                                                        .sh_offset = offsetof(struct elf, symbols),
                                                        .sh_size = sizeof(f->symbols),
                                                        .sh_link = (Elf64_Word)(n - 1) };
    f->sections[n - SECTIONS + NAMES] = (Elf64_Shdr){ .sh_offset = offsetof(struct elf, names),
                                                      .sh_size = sizeof(f->names) };
}

static void put_name(struct elf *f, size_t at, const char *name)
{
    memcpy(f->names + at, name, strlen(name) + 1);
}

static void put_symbol(struct elf *f, size_t i, size_t name, uint64_t value)
{
    f->symbols[i] = (Elf64_Sym){ .st_name = (Elf64_Word)name,
                                 .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT),
                                 .st_shndx = 1,
                                 .st_value = value };
}

/* A name that lies in two blocks, and a symbol in each of three blocks. */
static void test_blocks(struct elf *f)
{
    static const size_t places[] = { 0, 2047, 2048, 4095, 4096, SYMBOLS_MAX - 1 };
    struct python_elf found;
    int wrong = 0;

    for (size_t at = BLOCK - 64; at <= BLOCK + 16; at++) {
        make(f, SECTIONS);
        put_name(f, at, "_PyRuntime");
        put_symbol(f, 1, at, 0x600000);
        wrong += look(f, &found) != 0 || found.runtime != 0x600000;
    }
    is_int(wrong, 0, "a name is found wherever a block of names ends");
    make(f, SECTIONS);
    put_name(f, NAMES_MAX - 11, "_PyRuntime");
    put_symbol(f, 1, NAMES_MAX - 11, 0x600000);
    is_int(look(f, &found), 0, "a name at the end of its table is looked for");
    is_int((long long)found.runtime, 0x600000, "a name at the end of its table is found");
    for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
        make(f, SECTIONS);
        put_name(f, 1, "_PyRuntime");
        put_symbol(f, places[i], 1, 0x600000 + i);
        is_int(look(f, &found), 0, "symbol %zu is looked for", places[i]);
        is_int((long long)found.runtime, (long long)(0x600000 + i), "symbol %zu is found",
               places[i]);
    }
}

/* A name that other names end with: eight places of it are kept, each once. */
static void test_places(struct elf *f)
{
    struct python_elf found;

    for (size_t n = 0; n < 10; n++) {
        make(f, SECTIONS);
        for (size_t k = 0; k <= n; k++)
            put_name(f, 1 + 20 * k, "_PyRuntime");
        put_symbol(f, 1, 1 + 20 * n, 0x600000);
        is_int(look(f, &found), 0, "a name that stands %zu times is looked for", n + 1);
        is_int((long long)found.runtime, n < 8 ? 0x600000 : 0,
               "a name is known at %zu places, of 8 at most", n + 1);
    }
    make(f, SECTIONS);
    for (size_t k = 0; k < 6; k++)
        put_name(f, 1 + 20 * k, "_PyRuntime");
    put_name(f, BLOCK - 20, "_PyRuntime");
    put_name(f, BLOCK + 100, "_PyRuntime");
    put_symbol(f, 1, BLOCK + 100, 0x600000);
    is_int(look(f, &found), 0, "a name that is in two blocks is looked for");
    is_int((long long)found.runtime, 0x600000, "a name that is in two blocks is one place");
}

/* Two tables of symbols: places of the first one's names are none of the second one's. */
static void test_tables(struct elf *f)
{
    struct python_elf found;

    make(f, 2 * SECTIONS);
    f->sections[0] = f->sections[2];
    f->sections[1] = f->sections[3];
    f->sections[0].sh_size = sizeof(Elf64_Sym);
    f->sections[0].sh_link = 1;
    f->sections[1].sh_size = 100;
    f->sections[2].sh_type = SHT_SYMTAB;
    f->sections[3].sh_offset += 100;
    f->sections[3].sh_size -= 100;
    put_name(f, 1, "_PyRuntime");
    put_name(f, 50, "Py_Version");
    put_name(f, 102, "_PyRuntime");
    put_symbol(f, 1, 2, 0x600000);
    put_symbol(f, 2, 1, 1);
    put_symbol(f, 3, 50, 1);
    is_int(look(f, &found), 0, "a file with two tables of symbols is looked through");
    is_int((long long)found.runtime, 0x600000, "a name's place is one of its own table");
    is_int((long long)found.version, 0, "a version's name in another table is none");
}

static void test_limits(struct elf *f)
{
    struct python_elf found;

    make(f, SECTIONS_MOST);
    put_name(f, 1, "_PyRuntime");
    put_symbol(f, 1, 1, 0x600000);
    is_int(look(f, &found), 0, "a file with 4096 sections is looked through");
    is_int((long long)found.runtime, 0x600000, "the last one of 4096 sections is found");
    make(f, SECTIONS_MOST + 1);
    put_name(f, 1, "_PyRuntime");
    put_symbol(f, 1, 1, 0x600000);
    is_int(look(f, &found), -EINVAL, "names in a section behind 4096 are refused");
    make(f, SECTIONS_MOST + 2);
    put_name(f, 1, "_PyRuntime");
    put_symbol(f, 1, 1, 0x600000);
    is_int(look(f, &found), 0, "symbols in a section behind 4096 are not looked for");
    is_int((long long)found.runtime, 0, "symbols in a section behind 4096 are not found");

    make(f, SECTIONS);
    f->segments[0].p_type = PT_NOTE;
    f->segments[SEGMENTS_MOST - 1] = (Elf64_Phdr){ .p_type = PT_LOAD,
                                                   .p_vaddr = 0x500000,
                                                   .p_offset = 0x1000 };
    is_int(look(f, &found), 0, "the last one of 64 segments is looked at");
    is_int((long long)found.base, 0x4ff000, "a segment's address is that of its part of the file");
    f->segments[SEGMENTS_MOST] = f->segments[SEGMENTS_MOST - 1];
    f->segments[SEGMENTS_MOST - 1].p_type = PT_NOTE;
    is_int(look(f, &found), -EINVAL, "a segment behind 64 is not looked at");
}

int main(void)
{
    struct elf *f = malloc(sizeof(*f));

    if (!f)
        return 1;
    test_blocks(f);
    test_places(f);
    test_tables(f);
    test_limits(f);
    free(f);
    return done();
}
