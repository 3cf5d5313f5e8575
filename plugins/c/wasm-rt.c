/* The runtime of wasm-rt.h: memory, the table of functions, types of functions, and traps. */
#include "wasm-rt.h"

#include <stdarg.h>
#include <stdlib.h>

#define PAGE_BYTES 65536u

_Thread_local uint32_t wasm_rt_call_stack_depth;
static _Thread_local jmp_buf *unwind;

bool wasm_rt_is_initialized(void) { return true; }

void wasm_rt_trap(wasm_rt_trap_t trap) { longjmp(*unwind, (int)trap); }

wasm_rt_trap_t wasm_rt_guard(void (*f)(void *), void *argument) {
    jmp_buf here;
    int trap = setjmp(here);
    if (trap == 0) {
        unwind = &here;
        wasm_rt_call_stack_depth = 0;
        f(argument);
    }
    unwind = NULL;
    return (wasm_rt_trap_t)trap;
}

const char *wasm_rt_trap_name(wasm_rt_trap_t trap) {
    static const char *const names[] = {"none",        "out of bounds", "integer overflow",   "division by zero", "invalid conversion",
                                        "unreachable", "indirect call", "uncaught exception", "call stack exhausted"};
    return (unsigned)trap < sizeof names / sizeof *names ? names[trap] : "unknown";
}

/* Types of functions, numbered from 1 in the order of registration. Registered once, under the lock of podfate.c. */
enum { MAX_TYPES = 64, MAX_VALUES = 31 };
static struct {
    uint32_t params, results;
    uint8_t values[MAX_VALUES];
} types[MAX_TYPES];
static uint32_t type_count;

uint32_t wasm_rt_register_func_type(uint32_t params, uint32_t results, ...) {
    uint8_t values[MAX_VALUES] = {0};
    if (params + results > MAX_VALUES || type_count == MAX_TYPES) abort(); /* another module than the one this was written for */
    va_list list;
    va_start(list, results);
    for (uint32_t i = 0; i < params + results; i++) values[i] = (uint8_t)va_arg(list, int);
    va_end(list);
    for (uint32_t i = 0; i < type_count; i++)
        if (types[i].params == params && types[i].results == results && memcmp(types[i].values, values, MAX_VALUES) == 0) return i + 1;
    types[type_count].params = params;
    types[type_count].results = results;
    memcpy(types[type_count].values, values, MAX_VALUES);
    return ++type_count;
}

void wasm_rt_allocate_memory(wasm_rt_memory_t *memory, uint32_t initial_pages, uint32_t max_pages) {
    memory->data = calloc(initial_pages, PAGE_BYTES);
    if (memory->data == NULL) wasm_rt_trap(WASM_RT_TRAP_OOB);
    memory->pages = initial_pages;
    memory->max_pages = max_pages;
    memory->size = initial_pages * PAGE_BYTES;
}

uint32_t wasm_rt_grow_memory(wasm_rt_memory_t *memory, uint32_t delta) {
    uint32_t old = memory->pages;
    if (delta > memory->max_pages - old) return UINT32_MAX;
    if (delta == 0) return old;
    uint8_t *data = realloc(memory->data, (size_t)(old + delta) * PAGE_BYTES);
    if (data == NULL) return UINT32_MAX; /* the module says that it has no memory left, as it does at its maximum */
    memset(data + (size_t)old * PAGE_BYTES, 0, (size_t)delta * PAGE_BYTES);
    memory->data = data;
    memory->pages = old + delta;
    memory->size = memory->pages * PAGE_BYTES;
    return old;
}

void wasm_rt_free_memory(wasm_rt_memory_t *memory) {
    free(memory->data);
    memory->data = NULL;
    memory->size = memory->pages = 0;
}

void wasm_rt_allocate_funcref_table(wasm_rt_funcref_table_t *table, uint32_t elements, uint32_t max_elements) {
    table->data = calloc(elements, sizeof *table->data);
    if (table->data == NULL) wasm_rt_trap(WASM_RT_TRAP_OOB);
    table->size = elements;
    table->max_size = max_elements;
}

void wasm_rt_free_funcref_table(wasm_rt_funcref_table_t *table) {
    free(table->data);
    table->data = NULL;
    table->size = 0;
}
