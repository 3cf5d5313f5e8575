/* The engine of podfate.h over the module as wasm2c translates it: a bounded pool of instances, policies that outlive an
 * instance that trapped, and nothing believed that an instance says about its memory. */
#include "podfate.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "policy.h"

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the structs of podfate.h are the bytes of the ABI on little-endian machines only"
#endif
#ifndef PODFATE_SHA256
#error "the Makefile defines PODFATE_SHA256, the digest of the module that it translated"
#endif

enum { MAX_INSTANCES = 64, MIN_BUFFER = 4096 };

/* Linear memory never shrinks: an instance beyond this is replaced after its call. */
#define MAX_IDLE_BYTES (16u << 20)

/* What an instance lends. A longer request does not come as far as the module, whose limit is lower. */
#define MAX_BUFFER_BYTES (16u << 20)

typedef struct {
    uint64_t policy;
    int32_t handle;
} known;

typedef struct {
    uint32_t address, capacity;
} buffer;

typedef struct instance {
    Z_policy_instance_t module;
    buffer request, answers; /* kept from call to call; answers only for batches */
    known *handles;          /* of the policies that were used here */
    size_t handle_count, handle_room;
    struct instance *next; /* in the list of idle ones */
} instance;

struct podfate_engine {
    pthread_mutex_t lock;
    pthread_cond_t change;
    unsigned room; /* calls that may still begin */
    unsigned instances;
    instance *idle;
    uint64_t last_policy;
    uint64_t *dead; /* policies that were freed; idle instances drop their handles at their next call */
    size_t dead_count, dead_room;
};

typedef struct {
    char *text; /* a type and a status, or a name and "" */
    char *status;
} name;

struct podfate_policy {
    podfate_engine *engine;
    uint64_t id;
    char *source;
    size_t length;
    name *containers, *conditions;
    size_t container_count, condition_count;
};

/* ---- One instance ------------------------------------------------------------------------------------------------ */

/* A call of an export, so that wasm_rt_guard can run it. */
typedef struct {
    instance *on;
    enum { START, ALLOC, FREE, CALL, COMPILE, RELEASE, EVAL, BATCH } what;
    uint32_t x[5];
    uint64_t result;
} call;

static void run(void *argument) {
    call *c = argument;
    Z_policy_instance_t *m = &c->on->module;
    switch (c->what) {
    case START:
        Z_policy_instantiate(m);
        Z_policyZ__initialize(m);
        c->result = Z_policyZ_pf_abi_version(m);
        break;
    case ALLOC: c->result = Z_policyZ_pf_alloc(m, c->x[0]); break;
    case FREE: c->result = Z_policyZ_pf_free(m, c->x[0]); break;
    case CALL: c->result = Z_policyZ_pf_call(m, c->x[0], c->x[1], c->x[2]); break;
    case COMPILE: c->result = Z_policyZ_pf_compile(m, c->x[0], c->x[1]); break;
    case RELEASE: c->result = Z_policyZ_pf_release(m, c->x[0]); break;
    case EVAL: c->result = Z_policyZ_pf_eval(m, c->x[0], c->x[1], c->x[2]); break;
    case BATCH: c->result = Z_policyZ_pf_eval_batch(m, c->x[0], c->x[1], c->x[2], c->x[3], c->x[4]); break;
    }
}

static int guarded(call *c) { return wasm_rt_guard(run, c) == WASM_RT_TRAP_NONE ? PODFATE_OK : PODFATE_TRAP; }

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void drop(instance *i) {
    if (i == NULL) return;
    Z_policy_free(&i->module);
    free(i->handles);
    free(i);
}

static int start(instance **made) {
    instance *i = calloc(1, sizeof *i);
    if (i == NULL) return PODFATE_NO_MEMORY;
    call c = {.on = i, .what = START};
    int error = guarded(&c);
    if (error == PODFATE_OK && (uint32_t)c.result >> 16 != PODFATE_ABI_MAJOR) error = PODFATE_ABI;
    if (error != PODFATE_OK) {
        drop(i);
        return error;
    }
    *made = i;
    return PODFATE_OK;
}

/* inside reports whether length bytes at address lie in the memory, which a call may have grown. */
static int inside(const instance *i, uint32_t address, uint64_t length) { return address + length <= i->module.w2c_memory.size; }

/* reserve makes a kept buffer at least size bytes large. */
static int reserve(instance *i, buffer *b, size_t size) {
    if (b->address != 0 && size <= b->capacity) return PODFATE_OK;
    if (size > MAX_BUFFER_BYTES) return PODFATE_LIMIT_EXCEEDED;
    if (b->address != 0) {
        call c = {.on = i, .what = FREE, .x = {b->address}};
        b->address = 0;
        int error = guarded(&c);
        if (error != PODFATE_OK) return error;
    }
    uint32_t wanted = size > MIN_BUFFER ? (uint32_t)size : MIN_BUFFER;
    call c = {.on = i, .what = ALLOC, .x = {wanted}};
    int error = guarded(&c);
    if (error != PODFATE_OK) return error;
    if ((uint32_t)c.result == 0) return PODFATE_LIMIT_EXCEEDED;
    if (!inside(i, (uint32_t)c.result, wanted)) return PODFATE_MALFORMED;
    b->address = (uint32_t)c.result;
    b->capacity = wanted;
    return PODFATE_OK;
}

static int put(instance *i, const char *bytes, size_t length) {
    if (length > MAX_BUFFER_BYTES) return PODFATE_LIMIT_EXCEEDED;
    int error = reserve(i, &i->request, length);
    if (error == PODFATE_OK && length > 0) memcpy(i->module.w2c_memory.data + i->request.address, bytes, length);
    return error;
}

static const char error_payload[] = "{\"error\":{\"code\":\"";

/* take copies the payload that a result word points at, and returns the number of the error in it. */
static int take(const instance *i, uint64_t word, podfate_answer *answer) {
    uint32_t address = (uint32_t)(word >> 32), length = (uint32_t)word & 0x7FFFFFFFu;
    int failed = (int)(word >> 31 & 1);
    const size_t prefix = sizeof error_payload - 1;
    if (length < 2 || length > PODFATE_MAX_ANSWER_BYTES || !inside(i, address, length)) return PODFATE_MALFORMED;
    const char *text = (const char *)i->module.w2c_memory.data + address;
    if (text[0] != '{' || text[length - 1] != '}') return PODFATE_MALFORMED;
    if (failed != (length > prefix && memcmp(text, error_payload, prefix) == 0)) return PODFATE_MALFORMED;
    char *copy = malloc((size_t)length + 1);
    if (copy == NULL) return PODFATE_NO_MEMORY;
    memcpy(copy, text, length);
    copy[length] = 0;
    answer->json = copy;
    answer->length = length;
    if (!failed) return PODFATE_OK;
    const char *num = strstr(copy, "\",\"num\":"); /* the code before it has no quote */
    int number = num != NULL ? atoi(num + 8) : 0;
    return number > 0 ? number : PODFATE_MALFORMED;
}

/* ---- The pool ----------------------------------------------------------------------------------------------------- */

podfate_engine *podfate_engine_new(unsigned instances, int *error) {
    int ignored;
    if (error == NULL) error = &ignored;
    *error = PODFATE_LIMIT_EXCEEDED;
    if (instances > MAX_INSTANCES) return NULL;
    if (instances == 0) {
        long processors = sysconf(_SC_NPROCESSORS_ONLN);
        instances = processors < 1 ? 1 : processors > 4 ? 4 : (unsigned)processors;
    }
    pthread_once(&once, Z_policy_init_module);
    *error = PODFATE_NO_MEMORY;
    podfate_engine *engine = calloc(1, sizeof *engine);
    if (engine == NULL) return NULL;
    pthread_mutex_init(&engine->lock, NULL);
    pthread_cond_init(&engine->change, NULL);
    engine->room = engine->instances = instances;
    *error = start(&engine->idle); /* what cannot start at all is said now, not at the first call */
    if (*error != PODFATE_OK) {
        podfate_engine_free(engine);
        return NULL;
    }
    return engine;
}

void podfate_engine_free(podfate_engine *engine) {
    if (engine == NULL) return;
    pthread_mutex_lock(&engine->lock);
    while (engine->room < engine->instances) pthread_cond_wait(&engine->change, &engine->lock);
    pthread_mutex_unlock(&engine->lock);
    for (instance *i = engine->idle, *next; i != NULL; i = next) {
        next = i->next;
        drop(i);
    }
    pthread_cond_destroy(&engine->change);
    pthread_mutex_destroy(&engine->lock);
    free(engine->dead);
    free(engine);
}

/* is_dead: the caller holds the lock. */
static int is_dead(const podfate_engine *engine, uint64_t policy) {
    for (size_t n = 0; n < engine->dead_count; n++)
        if (engine->dead[n] == policy) return 1;
    return 0;
}

/* lend takes an idle instance, or makes one, when there is room. */
static int lend(podfate_engine *engine, instance **lent) {
    pthread_mutex_lock(&engine->lock);
    while (engine->room == 0) pthread_cond_wait(&engine->change, &engine->lock);
    engine->room--;
    instance *i = engine->idle;
    if (i != NULL) engine->idle = i->next;
    int error = PODFATE_OK;
    pthread_mutex_unlock(&engine->lock);
    if (i == NULL) error = start(&i);
    if (error != PODFATE_OK) {
        pthread_mutex_lock(&engine->lock);
        engine->room++;
        pthread_cond_signal(&engine->change);
        pthread_mutex_unlock(&engine->lock);
        return error;
    }
    *lent = i;
    return PODFATE_OK;
}

/* give_back ends a call that ended with error. After a trap and its like the instance is not used again. */
static void give_back(podfate_engine *engine, instance *i, int error) {
    int sound = error != PODFATE_TRAP && error != PODFATE_MALFORMED && error != PODFATE_INTERNAL && i->module.w2c_memory.size <= MAX_IDLE_BYTES;
    pthread_mutex_lock(&engine->lock);
    known *keep = i->handles;
    for (size_t n = 0; sound && engine->dead_count > 0 && n < i->handle_count; n++) {
        known k = i->handles[n];
        if (!is_dead(engine, k.policy)) {
            *keep++ = k;
            continue;
        }
        call c = {.on = i, .what = RELEASE, .x = {(uint32_t)k.handle}};
        sound = guarded(&c) == PODFATE_OK;
    }
    if (sound && engine->dead_count > 0) i->handle_count = (size_t)(keep - i->handles);
    if (sound) {
        i->next = engine->idle;
        engine->idle = i;
    }
    if (++engine->room == engine->instances) engine->dead_count = 0; /* all have come back since, and dropped theirs */
    pthread_cond_broadcast(&engine->change);
    pthread_mutex_unlock(&engine->lock);
    if (!sound) drop(i);
}

/* ---- Calls -------------------------------------------------------------------------------------------------------- */

const char *podfate_module_sha256(void) { return PODFATE_SHA256; }

void podfate_answer_free(podfate_answer *answer) {
    if (answer == NULL) return;
    free(answer->json);
    answer->json = NULL;
    answer->length = 0;
}

/* argued says what is wrong with the pointers of a call that has a text and wants an answer. */
static int argued(const void *on, const char *text, size_t length, podfate_answer *answer) {
    if (answer == NULL) return PODFATE_BAD_BUFFER;
    *answer = (podfate_answer){0};
    if (on == NULL) return PODFATE_CLOSED;
    return text == NULL && length > 0 ? PODFATE_BAD_BUFFER : PODFATE_OK;
}

int podfate_call(podfate_engine *engine, uint32_t operation, const char *request, size_t length, podfate_answer *answer) {
    instance *i;
    int wrong = argued(engine, request, length, answer);
    if (wrong != PODFATE_OK) return wrong;
    int error = lend(engine, &i);
    if (error != PODFATE_OK) return error;
    error = put(i, request, length);
    if (error == PODFATE_OK) {
        call c = {.on = i, .what = CALL, .x = {operation, i->request.address, (uint32_t)length}};
        error = guarded(&c);
        if (error == PODFATE_OK) error = take(i, c.result, answer);
    }
    give_back(engine, i, error);
    return error;
}

static int compile_here(instance *i, const podfate_policy *p, podfate_answer *answer) {
    int error = put(i, p->source, p->length);
    if (error != PODFATE_OK) return error;
    call c = {.on = i, .what = COMPILE, .x = {i->request.address, (uint32_t)p->length}};
    error = guarded(&c);
    return error == PODFATE_OK ? take(i, c.result, answer) : error;
}

/* handle_of finds the handle of a policy on an instance, or compiles it there. answer, if not NULL, gets what pf_compile said. */
static int handle_of(instance *i, const podfate_policy *p, int32_t *handle, podfate_answer *answer) {
    for (size_t n = 0; n < i->handle_count; n++) {
        if (i->handles[n].policy == p->id) {
            *handle = i->handles[n].handle;
            return PODFATE_OK;
        }
    }
    podfate_answer said = {0};
    int error = compile_here(i, p, &said);
    if (error == PODFATE_LIMIT_EXCEEDED && i->handle_count > 0 && said.json != NULL && strstr(said.json, "\"limit\":\"handle") != NULL) {
        for (; i->handle_count > 0; i->handle_count--) { /* the others compile again when they are used */
            call c = {.on = i, .what = RELEASE, .x = {(uint32_t)i->handles[i->handle_count - 1].handle}};
            if ((error = guarded(&c)) != PODFATE_OK) break;
        }
        podfate_answer_free(&said);
        if (i->handle_count == 0) error = compile_here(i, p, &said);
    }
    if (error == PODFATE_OK && i->handle_count == i->handle_room) {
        size_t room = i->handle_room == 0 ? 16 : 2 * i->handle_room;
        known *grown = realloc(i->handles, room * sizeof *grown);
        if (grown == NULL) error = PODFATE_NO_MEMORY;
        else i->handles = grown, i->handle_room = room;
    }
    if (error == PODFATE_OK) {
        static const char first[] = "{\"handle\":"; /* the order of members is part of the ABI */
        if (strncmp(said.json, first, sizeof first - 1) == 0) {
            *handle = (int32_t)atol(said.json + sizeof first - 1);
            i->handles[i->handle_count++] = (known){p->id, *handle};
        } else {
            error = PODFATE_MALFORMED;
        }
    }
    if (answer != NULL) *answer = said;
    else podfate_answer_free(&said);
    return error;
}

int podfate_eval(podfate_policy *policy, const char *event, size_t length, podfate_answer *answer) {
    instance *i;
    int32_t handle;
    int wrong = argued(policy, event, length, answer);
    if (wrong != PODFATE_OK) return wrong;
    int error = lend(policy->engine, &i);
    if (error != PODFATE_OK) return error;
    error = handle_of(i, policy, &handle, NULL);
    if (error == PODFATE_OK) error = put(i, event, length);
    if (error == PODFATE_OK) {
        call c = {.on = i, .what = EVAL, .x = {(uint32_t)handle, i->request.address, (uint32_t)length}};
        error = guarded(&c);
        if (error == PODFATE_OK) error = take(i, c.result, answer);
    }
    give_back(policy->engine, i, error);
    return error;
}

/* eval_part answers what one call of the module takes, and adds the verdicts with a status to *faults. */
static int eval_part(podfate_policy *policy, uint32_t question, const podfate_event *events, size_t count, podfate_verdict *verdicts, size_t *faults) {
    instance *i;
    int32_t handle;
    const size_t in = sizeof(podfate_batch_header) + count * sizeof *events, out = sizeof(podfate_answer_header) + count * sizeof *verdicts;
    int error = lend(policy->engine, &i);
    if (error != PODFATE_OK) return error;
    error = handle_of(i, policy, &handle, NULL);
    if (error == PODFATE_OK) error = reserve(i, &i->request, in);
    if (error == PODFATE_OK) error = reserve(i, &i->answers, out);
    if (error == PODFATE_OK) {
        podfate_batch_header header = {PODFATE_BATCH_MAGIC, PODFATE_BATCH_VERSION, sizeof *events, (uint32_t)count, question, 0};
        uint8_t *target = i->module.w2c_memory.data + i->request.address;
        memcpy(target, &header, sizeof header);
        if (count > 0) memcpy(target + sizeof header, events, count * sizeof *events);
        call c = {.on = i, .what = BATCH, .x = {(uint32_t)handle, i->request.address, (uint32_t)in, i->answers.address, (uint32_t)out}};
        error = guarded(&c);
        if (error == PODFATE_OK) {
            int32_t answered = (int32_t)(uint32_t)c.result;
            podfate_answer_header head;
            memcpy(&head, i->module.w2c_memory.data + i->answers.address, sizeof head);
            if (answered < 0) {
                error = -answered;
            } else if ((size_t)answered != count || head.magic != PODFATE_ANSWER_MAGIC || head.record_size != sizeof *verdicts || head.count != count) {
                error = PODFATE_MALFORMED;
            } else {
                if (count > 0) memcpy(verdicts, i->module.w2c_memory.data + i->answers.address + sizeof head, count * sizeof *verdicts);
                *faults += head.faults;
            }
        }
    }
    give_back(policy->engine, i, error);
    return error;
}

/* part_of returns how many of count events one call takes, those of one failed Pod together; 0 if one Pod has more than that. */
static size_t part_of(uint32_t question, const podfate_event *events, size_t count) {
    if (count <= PODFATE_MAX_BATCH_RECORDS) return count;
    size_t n = PODFATE_MAX_BATCH_RECORDS;
    if (question == PODFATE_ASK_PODS)
        while (n > 0 && events[n - 1].flags & PODFATE_EVENT_MORE) n--;
    return n;
}

int podfate_eval_batch(podfate_policy *policy, uint32_t question, const podfate_event *events, size_t count, podfate_verdict *verdicts, size_t *faults) {
    if (policy == NULL) return PODFATE_CLOSED;
    if (count > PTRDIFF_MAX / sizeof *events) return PODFATE_LIMIT_EXCEEDED; /* no array is as long */
    if (count > 0 && (events == NULL || verdicts == NULL)) return PODFATE_BAD_BUFFER;
    for (size_t done = 0, n; done < count; done += n) /* before anything is written */
        if ((n = part_of(question, events + done, count - done)) == 0) return PODFATE_LIMIT_EXCEEDED;
    size_t wrong = 0, done = 0;
    do { /* at least once: the module judges the question of an empty batch too */
        size_t n = count > 0 ? part_of(question, events + done, count - done) : 0;
        int error = eval_part(policy, question, count > 0 ? events + done : NULL, n, count > 0 ? verdicts + done : NULL, &wrong);
        if (error != PODFATE_OK) return error;
        done += n;
    } while (done < count);
    if (faults != NULL) *faults = wrong;
    return PODFATE_OK;
}

/* ---- Policies ----------------------------------------------------------------------------------------------------- */

/* hex4 reads four hexadecimal digits, which the module wrote. */
static unsigned hex4(const char *s) {
    unsigned n = 0;
    for (int k = 0; k < 4; k++) n = n << 4 | (unsigned)(s[k] <= '9' ? s[k] - '0' : (s[k] | 32) - 'a' + 10);
    return n;
}

/* string_at decodes the JSON string at *s, which the module wrote, and moves *s past it. NULL without memory. */
static char *string_at(const char **s) {
    const char *from = *s + 1;
    char *text = malloc(strlen(from) + 1), *to = text;
    if (text == NULL) return NULL;
    for (; *from != '"' && *from != 0; from++) {
        if (*from != '\\') {
            *to++ = *from;
            continue;
        }
        static const char letters[] = "bfnrt", meanings[] = "\b\f\n\r\t";
        const char *letter = strchr(letters, *++from);
        if (*from == 'u') {
            unsigned c = hex4(from + 1); /* the module escapes below U+0080 and U+2028, U+2029, never in pairs */
            from += 4;
            if (c < 0x80) *to++ = (char)c;
            else if (c < 0x800) *to++ = (char)(0xC0 | c >> 6), *to++ = (char)(0x80 | (c & 63));
            else *to++ = (char)(0xE0 | c >> 12), *to++ = (char)(0x80 | (c >> 6 & 63)), *to++ = (char)(0x80 | (c & 63));
        } else {
            *to++ = letter != NULL ? meanings[letter - letters] : *from;
        }
    }
    *to = 0;
    *s = *from == '"' ? from + 1 : from;
    return text;
}

/* names_of reads ["a","b"] or [{"type":"a","status":"b"}] at s. */
static int names_of(const char *s, name **names, size_t *count) {
    for (s++; *s != ']' && *s != 0; s += *s == ',') {
        name *grown = realloc(*names, (*count + 1) * sizeof *grown);
        if (grown == NULL) return PODFATE_NO_MEMORY;
        *names = grown;
        name *n = &grown[(*count)++];
        n->text = n->status = NULL;
        int pair = *s == '{';
        if (pair) s += strlen("{\"type\":");
        if (*s != '"') return PODFATE_MALFORMED;
        if ((n->text = string_at(&s)) == NULL) return PODFATE_NO_MEMORY;
        if (pair) {
            s += strlen(",\"status\":");
            if (*s != '"') return PODFATE_MALFORMED;
            if ((n->status = string_at(&s)) == NULL) return PODFATE_NO_MEMORY;
            if (*s++ != '}') return PODFATE_MALFORMED;
        }
    }
    return PODFATE_OK;
}

static void free_names(name *names, size_t count) {
    for (size_t n = 0; n < count; n++) {
        free(names[n].text);
        free(names[n].status);
    }
    free(names);
}

int podfate_compile(podfate_engine *engine, const char *request, size_t length, podfate_policy **policy, podfate_answer *answer) {
    podfate_answer said = {0};
    int32_t handle;
    instance *i;
    if (policy == NULL) return PODFATE_BAD_BUFFER;
    *policy = NULL;
    int wrong = argued(engine, request, length, answer != NULL ? answer : &said);
    if (wrong != PODFATE_OK) return wrong;
    if (length > MAX_BUFFER_BYTES) return PODFATE_LIMIT_EXCEEDED;
    podfate_policy *p = calloc(1, sizeof *p);
    if (p == NULL) return PODFATE_NO_MEMORY;
    p->engine = engine;
    p->length = length;
    p->source = malloc(length + 1);
    int error = p->source == NULL ? PODFATE_NO_MEMORY : PODFATE_OK;
    if (error == PODFATE_OK) {
        if (length > 0) memcpy(p->source, request, length);
        pthread_mutex_lock(&engine->lock);
        p->id = ++engine->last_policy;
        pthread_mutex_unlock(&engine->lock);
        error = lend(engine, &i);
    }
    if (error == PODFATE_OK) {
        error = handle_of(i, p, &handle, &said);
        if (error == PODFATE_OK) {
            const char *containers = strstr(said.json, ",\"containers\":["), *conditions = strstr(said.json, "],\"conditions\":[");
            error = containers == NULL || conditions == NULL ? PODFATE_MALFORMED : PODFATE_OK;
            if (error == PODFATE_OK) error = names_of(containers + strlen(",\"containers\":"), &p->containers, &p->container_count);
            if (error == PODFATE_OK) error = names_of(conditions + strlen("],\"conditions\":"), &p->conditions, &p->condition_count);
        }
        give_back(engine, i, error);
    }
    if (answer != NULL) *answer = said;
    else podfate_answer_free(&said);
    if (error != PODFATE_OK) podfate_policy_free(p);
    else *policy = p;
    return error;
}

/* forget frees the handles of a policy on one instance. */
static int forget(instance *i, uint64_t policy) {
    for (size_t n = 0; n < i->handle_count; n++) {
        if (i->handles[n].policy != policy) continue;
        call c = {.on = i, .what = RELEASE, .x = {(uint32_t)i->handles[n].handle}};
        i->handles[n] = i->handles[--i->handle_count];
        return guarded(&c);
    }
    return PODFATE_OK;
}

void podfate_policy_free(podfate_policy *policy) {
    if (policy == NULL) return;
    podfate_engine *engine = policy->engine;
    pthread_mutex_lock(&engine->lock);
    for (instance **at = &engine->idle; *at != NULL;) {
        instance *i = *at;
        if (forget(i, policy->id) == PODFATE_OK) {
            at = &i->next;
        } else {
            *at = i->next;
            drop(i);
        }
    }
    /* Instances at work may have a handle: they are asked to drop it when they come back. */
    if (engine->room == engine->instances) {
        engine->dead_count = 0;
    } else {
        if (engine->dead_count == engine->dead_room) {
            size_t room = engine->dead_room == 0 ? 16 : 2 * engine->dead_room;
            uint64_t *grown = realloc(engine->dead, room * sizeof *grown);
            if (grown != NULL) engine->dead = grown, engine->dead_room = room;
        }
        /* Without memory the handle stays until its instance is replaced or runs out of handles. */
        if (engine->dead_count < engine->dead_room) engine->dead[engine->dead_count++] = policy->id;
    }
    pthread_mutex_unlock(&engine->lock);
    free_names(policy->containers, policy->container_count);
    free_names(policy->conditions, policy->condition_count);
    free(policy->source);
    free(policy);
}

static int find(const name *names, size_t count, const char *text, const char *status) {
    for (size_t n = 0; n < count; n++)
        if (strcmp(names[n].text, text) == 0 && (status == NULL || strcmp(names[n].status, status) == 0)) return (int)n;
    return -1;
}

int podfate_container(const podfate_policy *policy, const char *text) {
    return policy == NULL || text == NULL ? -1 : find(policy->containers, policy->container_count, text, NULL);
}

int podfate_condition(const podfate_policy *policy, const char *type, const char *status) {
    return policy == NULL || type == NULL || status == NULL ? -1 : find(policy->conditions, policy->condition_count, type, status);
}

const char *podfate_error_name(int error) {
    static const char *const names[] = {"OK",
                                        "BAD_JSON",
                                        "BAD_UTF8",
                                        "MANIFEST_INVALID",
                                        "EVENT_INVALID",
                                        "UNKNOWN_HANDLE",
                                        "LIMIT_EXCEEDED",
                                        "UNSUPPORTED_OP",
                                        "UNSUPPORTED_VERSION",
                                        "INTERNAL",
                                        "BAD_BUFFER",
                                        "OUTPUT_TOO_SMALL",
                                        "BUDGET_EXCEEDED"};
    static const char *const own[] = {"TRAP", "MALFORMED", "ABI", "NO_MEMORY", "CLOSED"};
    if (error >= 0 && error <= PODFATE_BUDGET_EXCEEDED) return names[error];
    if (error >= PODFATE_TRAP && error <= PODFATE_CLOSED) return own[error - PODFATE_TRAP];
    return "UNKNOWN";
}
