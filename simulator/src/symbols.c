/*
 * A library that lacks symbols. Loaders look names up in .dynsym and pass over undefined ones, that is, those whose
 * value is 0: so the simulator rewrites its own table. It works with glibc and musl on ELF systems.
 */

#define _GNU_SOURCE

#include "symbols.h"

#include "complain.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

extern ElfW(Dyn) _DYNAMIC[] __attribute__((visibility("hidden")));

struct table {
    ElfW(Sym) * symbols;
    const char *strings;
    const uint32_t *hash; /* SysV hash table; its second word counts the symbols */
    int protection;
};

/* glibc adds the load address to these pointers in place; other loaders leave them as they are in the file. */
static const void *at_runtime(ElfW(Addr) address, ElfW(Addr) base)
{
    return (const void *)(address < base ? base + address : address);
}

/* The table may share its pages with code. */
static int usual_protection(const struct table *table, ElfW(Addr) base)
{
    const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)base;
    const ElfW(Phdr) *segments = (const ElfW(Phdr) *)(base + header->e_phoff);
    ElfW(Addr) offset = (ElfW(Addr))table->symbols - base;

    for (unsigned int i = 0; i < header->e_phnum; i++)
        if (segments[i].p_type == PT_LOAD && offset >= segments[i].p_vaddr &&
            offset < segments[i].p_vaddr + segments[i].p_memsz)
            return PROT_READ | (segments[i].p_flags & PF_W ? PROT_WRITE : 0) |
                   (segments[i].p_flags & PF_X ? PROT_EXEC : 0);
    return PROT_READ;
}

static bool find_table(struct table *table)
{
    Dl_info info;
    ElfW(Addr) base;

    memset(table, 0, sizeof *table);
    if (!dladdr(functions, &info))
        return false;
    base = (ElfW(Addr))info.dli_fbase;
    for (const ElfW(Dyn) *entry = _DYNAMIC; entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_SYMTAB)
            table->symbols = (ElfW(Sym) *)(uintptr_t)at_runtime(entry->d_un.d_ptr, base);
        else if (entry->d_tag == DT_STRTAB)
            table->strings = at_runtime(entry->d_un.d_ptr, base);
        else if (entry->d_tag == DT_HASH)
            table->hash = at_runtime(entry->d_un.d_ptr, base);
    }
    if (!table->symbols || !table->strings || !table->hash)
        return false;
    table->protection = usual_protection(table, base);
    return true;
}

static bool protect(const struct table *table, uint32_t count, int protection)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t start = (uintptr_t)table->symbols & ~(page - 1);
    uintptr_t end = ((uintptr_t)(table->symbols + count) + page - 1) & ~(page - 1);

    return mprotect((void *)start, end - start, protection) == 0;
}

void symbols_hide(const struct function_set *missing)
{
    static ElfW(Addr) values[FUNCTION_COUNT];
    static struct function_set hidden;
    struct table table;
    uint32_t count;

    if (memcmp(&hidden, missing, sizeof hidden) == 0)
        return;
    if (!find_table(&table) || !protect(&table, table.hash[1], table.protection | PROT_WRITE)) {
        complain("cannot hide symbols on this system");
        return;
    }
    count = table.hash[1];
    for (uint32_t i = 0; i < count; i++) {
        const char *name = table.strings + table.symbols[i].st_name;
        enum function function = function_find(name, strlen(name));

        if (function == FUNCTION_COUNT)
            continue;
        if (!values[function])
            values[function] = table.symbols[i].st_value;
        table.symbols[i].st_value = missing->member[function] ? 0 : values[function];
    }
    protect(&table, count, table.protection);
    hidden = *missing;
}
