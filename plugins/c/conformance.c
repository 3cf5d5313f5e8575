/* conformance VECTORS [-evaluations N]
 *
 * Plays conformance vectors on the exports of the translated module and prints one line: engine, version, the module's
 * SHA-256, the number of vectors and mismatches, and a digest over all answers. The format is in plugins/README.md.
 * Status 1 if an answer differs, or if there is no vector. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "podfate.h"
#include "policy.h"

static _Noreturn void die(const char *why) {
    fprintf(stderr, "conformance: %s\n", why);
    exit(2);
}

/* ---- SHA-256 (FIPS 180-4) ---------------------------------------------------------------------------------------- */

typedef struct {
    uint32_t h[8];
    uint64_t length;
    uint8_t block[64];
} sha256;

static const uint32_t K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
    0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
    0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
    0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
    0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t x, int n) { return x >> n | x << (32 - n); }

static void sha256_block(sha256 *s) {
    uint32_t w[64], v[8];
    for (int i = 0; i < 16; i++) w[i] = (uint32_t)s->block[4 * i] << 24 | (uint32_t)s->block[4 * i + 1] << 16 | (uint32_t)s->block[4 * i + 2] << 8 | s->block[4 * i + 3];
    for (int i = 16; i < 64; i++) {
        uint32_t a = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3, b = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + a + w[i - 7] + b;
    }
    memcpy(v, s->h, sizeof v);
    for (int i = 0; i < 64; i++) {
        uint32_t t = v[7] + (rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25)) + ((v[4] & v[5]) ^ (~v[4] & v[6])) + K[i] + w[i];
        uint32_t u = (rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22)) + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += t;
        v[0] = t + u;
    }
    for (int i = 0; i < 8; i++) s->h[i] += v[i];
}

static void sha256_begin(sha256 *s) {
    static const uint32_t h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(s->h, h, sizeof h);
    s->length = 0;
}

static void sha256_add(sha256 *s, const void *data, size_t n) {
    const uint8_t *from = data;
    while (n > 0) {
        size_t at = s->length % 64, part = n < 64 - at ? n : 64 - at;
        memcpy(s->block + at, from, part);
        s->length += part, from += part, n -= part;
        if (s->length % 64 == 0) sha256_block(s);
    }
}

static void sha256_end(sha256 *s, char hex[65]) {
    uint64_t bits = s->length * 8;
    uint8_t tail[8];
    sha256_add(s, "\x80", 1);
    while (s->length % 64 != 56) sha256_add(s, "", 1);
    for (int i = 0; i < 8; i++) tail[i] = (uint8_t)(bits >> (56 - 8 * i));
    sha256_add(s, tail, 8);
    for (int i = 0; i < 8; i++) sprintf(hex + 8 * i, "%08" PRIx32, s->h[i]);
}

/* ---- One line of JSON: an object of strings, integers and flat lists of these -------------------------------------- */

typedef struct {
    char *text; /* NULL: an integer */
    size_t length;
    int64_t number;
} value;

enum { MAX_MEMBERS = 16 };

typedef struct {
    char *name;
    value *values; /* kept for the next line */
    int count, room;
} member;

typedef struct {
    member members[MAX_MEMBERS];
    int count;
} line;

static unsigned hex4(const char *s) {
    unsigned n = 0;
    if (sscanf(s, "%4x", &n) != 1) die("a vector has a bad escape");
    return n;
}

/* text_at decodes the string at *at in place and moves *at past it. */
static char *text_at(char **at, size_t *length) {
    char *from = *at + 1, *start = from, *to = from;
    for (; *from != '"'; from++) {
        if (*from == 0) die("a vector has a string without end");
        if (*from != '\\') {
            *to++ = *from;
            continue;
        }
        const char *letters = "bfnrt", *letter = strchr(letters, *++from);
        if (*from != 'u') {
            *to++ = letter != NULL ? "\b\f\n\r\t"[letter - letters] : *from;
            continue;
        }
        uint32_t c = hex4(from + 1);
        from += 4;
        if (c >= 0xD800 && c < 0xDC00) c = 0x10000 + ((c - 0xD800) << 10) + (hex4(from + 3) - 0xDC00), from += 6;
        if (c < 0x80) *to++ = (char)c;
        else if (c < 0x800) *to++ = (char)(0xC0 | c >> 6), *to++ = (char)(0x80 | (c & 63));
        else if (c < 0x10000) *to++ = (char)(0xE0 | c >> 12), *to++ = (char)(0x80 | (c >> 6 & 63)), *to++ = (char)(0x80 | (c & 63));
        else *to++ = (char)(0xF0 | c >> 18), *to++ = (char)(0x80 | (c >> 12 & 63)), *to++ = (char)(0x80 | (c >> 6 & 63)), *to++ = (char)(0x80 | (c & 63));
    }
    *length = (size_t)(to - start);
    *at = from + 1;
    return start;
}

static void value_at(char **at, member *m) {
    if (m->count == m->room) {
        m->room = 2 * m->room + 8;
        if ((m->values = realloc(m->values, (size_t)m->room * sizeof *m->values)) == NULL) die("no memory");
    }
    value *v = &m->values[m->count++];
    v->text = NULL;
    if (**at == '"') v->text = text_at(at, &v->length);
    else v->number = strtoll(*at, at, 10);
}

static void parse(char *at, line *l) {
    l->count = 0;
    for (at++; *at != '}'; at += *at == ',') {
        if (l->count == MAX_MEMBERS || *at != '"') die("a vector is not an object");
        member *m = &l->members[l->count++];
        size_t length;
        m->name = text_at(&at, &length);
        char *end = m->name + length;
        if (*at++ != ':') die("a vector has a name without a value");
        *end = 0;
        m->count = 0;
        if (*at != '[') {
            value_at(&at, m);
            continue;
        }
        for (at++; *at != ']'; at += *at == ',') value_at(&at, m);
        at++;
    }
    for (int i = 0; i < l->count; i++) /* the bytes after texts are read by now */
        for (int k = 0; k < l->members[i].count; k++)
            if (l->members[i].values[k].text != NULL) l->members[i].values[k].text[l->members[i].values[k].length] = 0;
}

static const member *get(const line *l, const char *name) {
    for (int i = 0; i < l->count; i++)
        if (strcmp(l->members[i].name, name) == 0) return &l->members[i];
    return NULL;
}

/* ---- Requests ------------------------------------------------------------------------------------------------------- */

typedef struct {
    uint8_t *data;
    size_t length, room;
} bytes;

static void add(bytes *b, const void *data, size_t n) {
    if (b->length + n > b->room) {
        b->room = 2 * b->room + n;
        if ((b->data = realloc(b->data, b->room)) == NULL) die("no memory");
    }
    if (n > 0) memcpy(b->data + b->length, data, n);
    b->length += n;
}

static void add_base64(bytes *b, const value *v) {
    uint32_t bits = 0;
    int have = 0;
    for (size_t i = 0; i < v->length && v->text[i] != '='; i++) {
        static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        const char *digit = strchr(alphabet, v->text[i]);
        if (digit == NULL) die("a vector has bad base64");
        bits = bits << 6 | (uint32_t)(digit - alphabet);
        if ((have += 6) >= 8) {
            uint8_t byte = (uint8_t)(bits >> (have -= 8));
            add(b, &byte, 1);
        }
    }
}

/* request makes the bytes that a line brings; 0 if it brings none. */
static int request(const line *l, bytes *b) {
    const member *m;
    b->length = 0;
    if ((m = get(l, "s")) != NULL) return add(b, m->values[0].text, m->values[0].length), 1;
    if ((m = get(l, "b")) != NULL) return add_base64(b, &m->values[0]), 1;
    int encoded = 0;
    if ((m = get(l, "r")) == NULL) m = get(l, "rb"), encoded = 1;
    if (m == NULL) return 0;
    for (int i = 0; i + 1 < m->count; i += 2)
        for (int64_t n = 0; n < m->values[i + 1].number; n++) {
            if (encoded) add_base64(b, &m->values[i]);
            else add(b, m->values[i].text, m->values[i].length);
        }
    return 1;
}

/* ---- Calls ------------------------------------------------------------------------------------------------------------ */

static Z_policy_instance_t module;
static int live;
static uint32_t *buffers;
static size_t buffer_count;

typedef struct {
    const char *export;
    uint32_t x[8];
    int count;
    uint64_t result;
} call;

static void run(void *argument) {
    call *c = argument;
    const char *e = c->export;
    uint32_t *x = c->x;
    if (strcmp(e, "new") == 0) {
        Z_policy_instantiate(&module);
        live = 1;
        Z_policyZ__initialize(&module);
        c->result = Z_policyZ_pf_abi_version(&module);
    } else if (strcmp(e, "pf_abi_version") == 0) c->result = Z_policyZ_pf_abi_version(&module);
    else if (strcmp(e, "pf_alloc") == 0) c->result = Z_policyZ_pf_alloc(&module, x[0]);
    else if (strcmp(e, "pf_free") == 0) c->result = Z_policyZ_pf_free(&module, x[0]);
    else if (strcmp(e, "pf_call") == 0) c->result = Z_policyZ_pf_call(&module, x[0], x[1], x[2]);
    else if (strcmp(e, "pf_compile") == 0) c->result = Z_policyZ_pf_compile(&module, x[0], x[1]);
    else if (strcmp(e, "pf_release") == 0) c->result = Z_policyZ_pf_release(&module, x[0]);
    else if (strcmp(e, "pf_eval") == 0) c->result = Z_policyZ_pf_eval(&module, x[0], x[1], x[2]);
    else if (strcmp(e, "pf_eval_batch") == 0) c->result = Z_policyZ_pf_eval_batch(&module, x[0], x[1], x[2], x[3], x[4]);
    else if (strcmp(e, "pf_reset") == 0) c->result = Z_policyZ_pf_reset(&module);
    else die("a vector calls an export that does not exist");
}

static int trapped(call *c) { return wasm_rt_guard(run, c) != WASM_RT_TRAP_NONE; }

static void fresh(void) {
    if (live) Z_policy_free(&module);
    memset(&module, 0, sizeof module);
    buffer_count = 0;
    call c = {.export = "new"};
    if (trapped(&c)) die("the module does not start");
}

static uint32_t alloc(uint32_t size) {
    call c = {.export = "pf_alloc", .x = {size}};
    if (trapped(&c)) die("pf_alloc trapped");
    return (uint32_t)c.result;
}

static int inside(uint32_t address, uint64_t length) { return address + length <= module.w2c_memory.size; }

static void put(uint32_t address, const bytes *b) {
    if (!inside(address, b->length)) die("a vector writes outside the memory");
    if (b->length > 0) memcpy(module.w2c_memory.data + address, b->data, b->length);
}

static void say(bytes *answer, const char *text) { add(answer, text, strlen(text)); }

static void say_number(bytes *answer, int64_t n) {
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, n);
    say(answer, text);
}

/* play makes the call of a line once. It returns 0 after a trap. */
static int play(const line *l, const bytes *data, int brings, bytes *answer) {
    call c = {.export = get(l, "do")->values[0].text};
    const member *x = get(l, "x"), *out = get(l, "out");
    uint32_t own[2] = {0, 0};
    answer->length = 0;
    for (int i = 0; x != NULL && i < x->count; i++) {
        const value *v = &x->values[i];
        if (v->text == NULL) {
            c.x[c.count++] = (uint32_t)v->number;
            continue;
        }
        char *plus;
        unsigned long buffer = strtoul(v->text, &plus, 10);
        if (buffer >= buffer_count) die("a vector names a buffer that it has not");
        c.x[c.count++] = buffers[buffer] + (uint32_t)strtoll(*plus == '+' ? plus + 1 : plus, NULL, 10);
    }
    if (strcmp(c.export, "write") == 0) {
        put(c.x[0], data);
        return 1;
    }
    uint32_t room = out != NULL ? (uint32_t)out->values[0].number : 0;
    if (brings) {
        own[0] = alloc(data->length > 0 ? (uint32_t)data->length : 1);
        put(own[0], data);
        c.x[c.count++] = own[0];
        c.x[c.count++] = (uint32_t)data->length;
        if (strcmp(c.export, "pf_eval_batch") == 0) {
            own[1] = alloc(room > 0 ? room : 1);
            c.x[c.count++] = own[1];
            c.x[c.count++] = room;
        }
    }
    if (trapped(&c)) return 0;
    if (strcmp(c.export, "pf_call") == 0 || strcmp(c.export, "pf_compile") == 0 || strcmp(c.export, "pf_eval") == 0) {
        uint32_t address = (uint32_t)(c.result >> 32), length = (uint32_t)c.result & 0x7FFFFFFFu;
        if (!inside(address, length)) say(answer, "an answer outside the memory");
        else {
            const char *payload = (const char *)module.w2c_memory.data + address;
            int error = length >= 9 && memcmp(payload, "{\"error\":", 9) == 0;
            if (error != (int)(c.result >> 31 & 1)) say(answer, "flag ");
            add(answer, payload, length);
        }
    } else if (strcmp(c.export, "pf_alloc") == 0) {
        uint32_t address = (uint32_t)c.result;
        buffers = realloc(buffers, (buffer_count + 1) * sizeof *buffers);
        if (buffers == NULL) die("no memory");
        if (address != 0) buffers[buffer_count++] = address;
        int sound = address % 8 == 0 && inside(address, c.x[0]);
        for (uint32_t i = 0; address != 0 && sound && i < c.x[0]; i++) sound = module.w2c_memory.data[address + i] == 0;
        say(answer, address == 0 ? "0" : sound ? "ok" : "not 8-aligned, or not zeroed");
    } else {
        int32_t result = (int32_t)(uint32_t)c.result;
        say_number(answer, result);
        if (strcmp(c.export, "pf_eval_batch") == 0 && brings && result >= 0) {
            say(answer, " ");
            for (uint32_t i = 0; i < room; i++) {
                char hex[3];
                sprintf(hex, "%02x", module.w2c_memory.data[own[1] + i]);
                add(answer, hex, 2);
            }
        }
    }
    for (int i = 0; i < 2; i++) {
        call f = {.export = "pf_free", .x = {own[i]}};
        if (own[i] != 0 && trapped(&f)) return 0;
    }
    return 1;
}

static void evaluate(long times) {
    static char manifest[] = "{\"manifest\":{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":[{\"name\":\"main\",\"image\":\"i\"}]}}}";
    static char exit42[] = "{\"container\":\"main\",\"exitCode\":42,\"reason\":\"\\u0045rror\"}";
    bytes source = {(uint8_t *)manifest, sizeof manifest - 1, 0}, event = {(uint8_t *)exit42, sizeof exit42 - 1, 0};
    fresh();
    uint32_t at = alloc((uint32_t)source.length);
    put(at, &source);
    call c = {.export = "pf_compile", .x = {at, (uint32_t)source.length}};
    if (trapped(&c) || c.result >> 31 & 1) die("the policy does not compile");
    uint32_t handle = (uint32_t)strtoul((char *)module.w2c_memory.data + (c.result >> 32) + strlen("{\"handle\":"), NULL, 10);
    at = alloc((uint32_t)event.length);
    put(at, &event);
    for (long n = 0; n < times; n++) {
        call e = {.export = "pf_eval", .x = {handle, at, (uint32_t)event.length}};
        if (trapped(&e) || e.result >> 31 & 1) die("an evaluation failed");
    }
    printf("evaluations=%ld memory=%" PRIu32 "\n", times, module.w2c_memory.size);
}

int main(int argc, char **argv) {
    if (argc != 2 && !(argc == 4 && strcmp(argv[2], "-evaluations") == 0)) die("usage: conformance VECTORS [-evaluations N]");
    FILE *file = fopen(argv[1], "rb");
    if (file == NULL) die("the vectors cannot be read");
    Z_policy_init_module();
    sha256 fold, one;
    char hex[65];
    static char *text;
    size_t room = 0;
    long count = 0, mismatches = 0;
    bytes data = {0}, answer = {0};
    static line l;
    sha256_begin(&fold);
    while (getline(&text, &room, file) > 0) {
        parse(text, &l);
        const member *id = get(&l, "id"), *want = get(&l, "a"), *digest = get(&l, "d"), *times = get(&l, "times");
        if (id == NULL || get(&l, "do") == NULL) die("a vector lacks id or do");
        count++;
        int sound = 1;
        if (strcmp(get(&l, "do")->values[0].text, "new") == 0) {
            fresh();
            answer.length = 0;
            say_number(&answer, Z_policyZ_pf_abi_version(&module));
        } else {
            int brings = request(&l, &data);
            for (int64_t n = times != NULL ? times->values[0].number : 1; n > 0 && sound; n--) sound = play(&l, &data, brings, &answer);
        }
        if (!sound) {
            fresh();
            answer.length = 0;
            say(&answer, "trap");
        }
        int equal;
        if (digest != NULL) {
            sha256_begin(&one);
            sha256_add(&one, answer.data, answer.length);
            sha256_end(&one, hex);
            equal = strcmp(hex, digest->values[0].text) == 0;
        } else {
            size_t length = want != NULL ? want->values[0].length : 0; /* absent: an empty answer */
            equal = length == answer.length && (length == 0 || memcmp(want->values[0].text, answer.data, length) == 0);
        }
        if (!equal) {
            mismatches++;
            fprintf(stderr, "%s: got %.*s\n", id->values[0].text, (int)(answer.length < 500 ? answer.length : 500), (char *)answer.data);
        }
        sha256_add(&fold, id->values[0].text, id->values[0].length);
        sha256_add(&fold, "\n", 1);
        sha256_add(&fold, answer.data, answer.length);
        sha256_add(&fold, "\n", 1);
    }
    fclose(file);
    sha256_end(&fold, hex);
    printf("engine=wasm2c version=%.*s module=%s count=%ld mismatches=%ld digest=%s\n", (int)strcspn(__VERSION__, " "), __VERSION__, podfate_module_sha256(), count,
           mismatches, hex);
    if (argc == 4) evaluate(atol(argv[3]));
    return mismatches > 0 || count == 0;
}
