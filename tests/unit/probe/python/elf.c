/* Python's runtime in files: a small one that is made here, and that one with every byte wrong. */
#include "probe/python/elf.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "../../oom.h"
#include "tap.h"

/* Sections of the file: none, names of sections, symbols, names of symbols, and Python's own. */
enum { NONE, SECTION_NAMES, SYMBOLS, NAMES, PYTHON, SECTIONS };

static const char section_names[] = "\0.shstrtab\0.dynsym\0.dynstr\0.PyRuntime";
static const char names[] = "\0not_PyRuntime\0Py_Version\0_PyRuntime_more\0_PyRuntime";

struct elf {
    Elf64_Ehdr header;
    Elf64_Phdr segments[2];
    Elf64_Shdr sections[SECTIONS];
    Elf64_Sym symbols[5];
    char section_names[sizeof(section_names)];
    char names[sizeof(names)];
};

/* What is read of it, and how much there is. */
struct file {
    const uint8_t *bytes;
    size_t len;
};

static int read_file(const void *state, const struct python_piece *pieces, size_t n)
{
    const struct file *f = state;

    for (size_t i = 0; i < n; i++) {
        if (pieces[i].at > f->len || pieces[i].len > f->len - pieces[i].at)
            return -EFAULT;
        memcpy(pieces[i].to, f->bytes + pieces[i].at, pieces[i].len);
    }
    return 0;
}

static Elf64_Sym symbol(const char *name, uint64_t value, int section)
{
    const char *at = memmem(names, sizeof(names), name, strlen(name) + 1);

    return (Elf64_Sym){ .st_name = (Elf64_Word)(at - names),
                        .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT),
                        .st_shndx = (Elf64_Section)section,
                        .st_value = value };
}

static Elf64_Shdr section(size_t name, uint32_t type, size_t offset, size_t size)
{
    return (Elf64_Shdr){ .sh_name = (Elf64_Word)name,
                         .sh_type = type,
                         .sh_offset = offset,
                         .sh_size = size,
                         .sh_link = NAMES };
}

static void make(struct elf *f)
{
    *f = (struct elf){
        .header = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB },
                    .e_phoff = offsetof(struct elf, segments),
                    .e_shoff = offsetof(struct elf, sections),
                    .e_phentsize = sizeof(Elf64_Phdr),
                    .e_phnum = 2,
                    .e_shentsize = sizeof(Elf64_Shdr),
                    .e_shnum = SECTIONS,
                    .e_shstrndx = SECTION_NAMES },
        .segments = { { .p_type = PT_NOTE, .p_vaddr = 1 },
                      { .p_type = PT_LOAD, .p_vaddr = 0x400000 } },
    };
    memcpy(f->names, names, sizeof(names));
    memcpy(f->section_names, section_names, sizeof(section_names));
    f->sections[SECTION_NAMES] = section(1, SHT_STRTAB, offsetof(struct elf, section_names),
                                         sizeof(section_names));
    f->sections[SYMBOLS] = section(11, SHT_DYNSYM, offsetof(struct elf, symbols),
                                   sizeof(f->symbols));
    f->sections[NAMES] = section(19, SHT_STRTAB, offsetof(struct elf, names), sizeof(names));
    f->sections[PYTHON] = section(27, SHT_PROGBITS, 0, 0);
    f->sections[PYTHON].sh_addr = 0x500000;
    f->symbols[1] = symbol("not_PyRuntime", 1, PYTHON);
    f->symbols[2] = symbol("_PyRuntime", 0x600000, PYTHON);
    f->symbols[3] = symbol("_PyRuntime", 2, SHN_UNDEF);
    f->symbols[4] = symbol("Py_Version", 0x700000, PYTHON);
}

static int look(const void *bytes, size_t len, struct python_elf *ret)
{
    struct file f = { bytes, len };
    struct python_memory m = { read_file, &f };

    *ret = (struct python_elf){ 0, 0, 0 };
    return python_elf_find(&m, ret);
}

static void test_found(void)
{
    struct python_elf found;
    struct elf f;

    make(&f);
    is_int(look(&f, sizeof(f), &found), 0, "a file with Python is looked through");
    is_int((long long)found.base, 0x400000, "the first loaded segment says where the file begins");
    is_int((long long)found.runtime, 0x600000, "the symbol _PyRuntime is found among others");
    is_int((long long)found.version, 0x700000, "the symbol Py_Version is found");
    f.sections[SYMBOLS].sh_type = SHT_SYMTAB;
    f.sections[PYTHON].sh_name = 0;
    is_int(look(&f, sizeof(f), &found), 0, "a file with symbols for debuggers is looked through");
    is_int((long long)found.runtime, 0x600000, "the symbol of a static program is found");
    f.sections[PYTHON].sh_name = 27;
    f.sections[SYMBOLS].sh_type = SHT_NULL;
    is_int(look(&f, sizeof(f), &found), 0, "a file without symbols is looked through");
    is_int((long long)found.runtime, 0x500000, "the section .PyRuntime is where the runtime is");
    is_int((long long)found.version, 0, "a file without symbols tells no version");
    f.sections[PYTHON].sh_name = 0;
    is_int(look(&f, sizeof(f), &found), 0, "a file without Python is looked through");
    is_int((long long)found.runtime, 0, "a file without Python has no runtime");
}

/* Symbols of Python's name that are not where the runtime is. */
static void test_others(void)
{
    struct python_elf found;
    struct elf f;

    make(&f);
    f.symbols[2].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
    is_int(look(&f, sizeof(f), &found), 0, "a file with a function _PyRuntime is looked through");
    is_int((long long)found.runtime, 0x500000, "a function is no runtime");
    make(&f);
    f.symbols[2].st_shndx = SHN_UNDEF;
    is_int(look(&f, sizeof(f), &found), 0, "a file that needs a _PyRuntime is looked through");
    is_int((long long)found.runtime, 0x500000, "a symbol of another file is no runtime");
    make(&f);
    f.symbols[1].st_name = 0;
    is_int(look(&f, sizeof(f), &found), 0, "a symbol without a name is looked at");
    is_int((long long)found.runtime, 0x600000, "a symbol without a name is no runtime");
    f.symbols[1] = f.symbols[4];
    f.symbols[4] = (Elf64_Sym){ .st_info = f.symbols[1].st_info, .st_shndx = 1, .st_value = 3 };
    is_int(look(&f, sizeof(f), &found), 0, "a symbol without a name may come last");
    is_int((long long)found.runtime, 0x600000, "the last symbol, without a name, is no runtime");
    is_int((long long)found.version, 0x700000, "a symbol without a name is no version");
    make(&f);
    f.sections[SYMBOLS].sh_size--;
    is_int(look(&f, sizeof(f), &found), 0, "symbols of which the last is cut are looked through");
    is_int((long long)found.version, 0, "a symbol that is cut is not read");
    make(&f);
    f.sections[SYMBOLS].sh_type = SHT_NULL;
    f.sections[SECTION_NAMES].sh_size--;
    is_int(look(&f, sizeof(f), &found), 0, "names of sections of which one is cut are read");
    is_int((long long)found.runtime, 0, "a section whose name is cut is not Python's");
    f.header.e_shnum = PYTHON;
    f.sections[SECTION_NAMES].sh_size++;
    is_int(look(&f, sizeof(f), &found), 0, "a file with a section too many is looked through");
    is_int((long long)found.runtime, 0, "a section behind the last one is not Python's");
}

static void test_refused(void)
{
    struct python_elf found;
    struct elf f;

    make(&f);
    is_int(look("#!/bin/sh", 9, &found), -EINVAL, "a script is no ELF file");
    f.header.e_ident[EI_CLASS] = ELFCLASS32;
    is_int(look(&f, sizeof(f), &found), -EINVAL, "a file for 32 bits is refused");
    make(&f);
    f.header.e_ident[EI_DATA] = ELFDATA2MSB;
    is_int(look(&f, sizeof(f), &found), -EINVAL, "a file of the other byte order is refused");
    make(&f);
    f.header.e_ident[EI_MAG0] = 0;
    is_int(look(&f, sizeof(f), &found), -EINVAL, "a file without ELF's first bytes is refused");
    make(&f);
    f.header.e_shentsize++;
    is_int(look(&f, sizeof(f), &found), -EINVAL, "sections of another size are refused");
    make(&f);
    f.header.e_phentsize++;
    is_int(look(&f, sizeof(f), &found), -EINVAL, "segments of another size are refused");
    make(&f);
    f.header.e_phnum = 1;
    is_int(look(&f, sizeof(f), &found), -EINVAL, "a segment behind the last one is none");
    make(&f);
    f.header.e_shnum = NAMES;
    is_int(look(&f, sizeof(f), &found), -EINVAL, "names in a section behind the last are none");
    make(&f);
    f.segments[1].p_type = PT_NOTE;
    is_int(look(&f, sizeof(f), &found), -EINVAL, "a file of which nothing is loaded is refused");
    make(&f);
    f.sections[NAMES].sh_size = 1ull << 40;
    is_int(look(&f, sizeof(f), &found), -EINVAL, "a table of names of a tebibyte is refused");
    f.sections[NAMES].sh_size = (512 << 20) + 1;
    is_int(look(&f, sizeof(f), &found), -EINVAL, "names of more than 512 MiB are refused");
    f.sections[NAMES].sh_size = 512 << 20;
    is_int(look(&f, sizeof(f), &found), -EFAULT, "names of 512 MiB are looked for in the file");
    f.sections[SYMBOLS].sh_size = (512 << 20) + 1;
    is_int(look(&f, sizeof(f), &found), -EINVAL, "symbols of more than 512 MiB are refused");
    f.sections[SYMBOLS].sh_size = 512 << 20;
    is_int(look(&f, sizeof(f), &found), -EFAULT, "symbols of 512 MiB are looked for in the file");
}

/* Each byte in turn has other values, and the file ends at each byte. */
static void test_any(void)
{
    static const uint8_t values[] = { 0, 1, 0x7f, 0xff };
    struct python_elf found;
    struct elf f;
    long good = 0;

    for (size_t i = 0; i < sizeof(f); i++) {
        make(&f);
        for (size_t v = 0; v < ARRAY_SIZE(values); v++) {
            ((uint8_t *)&f)[i] = values[v];
            good += look(&f, sizeof(f), &found) == 0;
        }
    }
    ok(good > 1000, "most wrong bytes change nothing: %ld files are looked through", good);
    make(&f);
    good = 0;
    for (size_t len = 0; len < offsetof(struct elf, names) + sizeof(names); len++)
        good += look(&f, len, &found) == (len < sizeof(f.header) ? -EINVAL : -EFAULT);
    is_int(good, offsetof(struct elf, names) + sizeof(names), "a file that is cut is refused");
    f.sections[SYMBOLS].sh_offset = sizeof(f);
    is_int(look(&f, sizeof(f), &found), -EFAULT, "symbols behind the file's end are refused");
}

static void test_memory(void)
{
    struct python_elf found;
    struct elf f;
    int rc;

    make(&f);
    oom_next();
    rc = look(&f, sizeof(f), &found);
    oom_end();
    is_int(rc, -ENOMEM, "without memory no file is looked through");
}

int main(void)
{
    test_found();
    test_others();
    test_refused();
    test_any();
    test_memory();
    return done();
}
