/* What the C code that wasm2c writes needs at run time, without signal handlers and without state shared by threads.
 *
 * The runtime that comes with wabt keeps the place to jump to after a trap and the depth of the call stack in plain
 * globals and catches SIGSEGV: neither is fit for a library inside a threaded program. This header takes its place; the
 * names are those that the code of wabt 1.0.32 to 1.0.36 uses. Addresses are checked before every access. */
#ifndef WASM_RT_H_
#define WASM_RT_H_

#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#define LIKELY(x) __builtin_expect(!!(x), 1)
#define wasm_rt_memcpy __builtin_memcpy
#define wasm_rt_unreachable __builtin_unreachable

#define WASM_RT_MEMCHECK_SIGNAL_HANDLER 0
#define WASM_RT_USE_STACK_DEPTH_COUNT 1
/* Calls inside each other. No request within the limits needs more than some hundred; a thread needs about 1 MiB of stack
 * for so many. */
#define WASM_RT_MAX_CALL_STACK_DEPTH 2000

extern _Thread_local uint32_t wasm_rt_call_stack_depth;

typedef enum {
    WASM_RT_TRAP_NONE,
    WASM_RT_TRAP_OOB,
    WASM_RT_TRAP_INT_OVERFLOW,
    WASM_RT_TRAP_DIV_BY_ZERO,
    WASM_RT_TRAP_INVALID_CONVERSION,
    WASM_RT_TRAP_UNREACHABLE,
    WASM_RT_TRAP_CALL_INDIRECT,
    WASM_RT_TRAP_UNCAUGHT_EXCEPTION,
    WASM_RT_TRAP_EXHAUSTION
} wasm_rt_trap_t;

typedef enum { WASM_RT_I32, WASM_RT_I64, WASM_RT_F32, WASM_RT_F64, WASM_RT_FUNCREF, WASM_RT_EXTERNREF } wasm_rt_type_t;

typedef void (*wasm_rt_function_ptr_t)(void);

typedef struct {
    uint32_t func_type;
    wasm_rt_function_ptr_t func;
    void *module_instance;
} wasm_rt_funcref_t;

typedef void *wasm_rt_externref_t;

static const wasm_rt_funcref_t wasm_rt_funcref_null_value = {0, NULL, NULL};
static const wasm_rt_externref_t wasm_rt_externref_null_value = NULL;

typedef struct {
    uint8_t *data;
    uint32_t pages, max_pages; /* of 64 KiB */
    uint32_t size;             /* in bytes; the module has at most 1024 pages */
} wasm_rt_memory_t;

typedef struct {
    wasm_rt_funcref_t *data;
    uint32_t max_size, size;
} wasm_rt_funcref_table_t;

typedef struct {
    wasm_rt_externref_t *data;
    uint32_t max_size, size;
} wasm_rt_externref_table_t;

bool wasm_rt_is_initialized(void);
__attribute__((noreturn)) void wasm_rt_trap(wasm_rt_trap_t);
uint32_t wasm_rt_register_func_type(uint32_t params, uint32_t results, ...);
void wasm_rt_allocate_memory(wasm_rt_memory_t *, uint32_t initial_pages, uint32_t max_pages);
uint32_t wasm_rt_grow_memory(wasm_rt_memory_t *, uint32_t pages);
void wasm_rt_free_memory(wasm_rt_memory_t *);
void wasm_rt_allocate_funcref_table(wasm_rt_funcref_table_t *, uint32_t elements, uint32_t max_elements);
void wasm_rt_free_funcref_table(wasm_rt_funcref_table_t *);

/* Not of wasm2c: runs f(argument) and returns the trap that ended it, WASM_RT_TRAP_NONE if none did. Calls of one thread may
 * not be inside each other. */
wasm_rt_trap_t wasm_rt_guard(void (*f)(void *), void *argument);
const char *wasm_rt_trap_name(wasm_rt_trap_t);

#endif
