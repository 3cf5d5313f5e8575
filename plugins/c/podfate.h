/* Podfate: what will Kubernetes do when this container exits?
 *
 * First part: the ABI of policy.wasm, version 1.1, in C. It is also the layout of the packed batch: what a caller fills in and reads are the structs
 * below, so that a million events are one block of memory. The contract is the documentation of package wasm (wasm/doc.go).
 *
 * Second part: a thread-safe engine over the module. Everything here is C99 and C++. A little-endian machine is assumed;
 * podfate.c refuses to compile elsewhere.
 */
#ifndef PODFATE_H
#define PODFATE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- The ABI ---------------------------------------------------------------------------------------------------- */

#define PODFATE_ABI_MAJOR 1
#define PODFATE_ABI_MINOR 1

/* Operations of podfate_call; podfate_describe lists those of a module. */
enum {
    PODFATE_DESCRIBE = 1,
    PODFATE_VALIDATE = 2,
    PODFATE_DECIDE = 3,
    PODFATE_SIMULATE = 4,
    PODFATE_CURVE = 5,
    PODFATE_EXPLAIN = 6,
    PODFATE_TABLE = 7,
    PODFATE_COMPARE = 8,
    PODFATE_SUGGEST = 9,
    PODFATE_TRANSLATE = 10,
    PODFATE_FLEET = 11
};

/* Error numbers, as in {"error":{"num":…}}. A function that returns int returns 0 or one of them, negated where it counts. */
enum {
    PODFATE_OK = 0,
    PODFATE_BAD_JSON = 1,
    PODFATE_BAD_UTF8 = 2,
    PODFATE_MANIFEST_INVALID = 3,
    PODFATE_EVENT_INVALID = 4,
    PODFATE_UNKNOWN_HANDLE = 5,
    PODFATE_LIMIT_EXCEEDED = 6,
    PODFATE_UNSUPPORTED_OP = 7,
    PODFATE_UNSUPPORTED_VERSION = 8,
    PODFATE_INTERNAL = 9,
    PODFATE_BAD_BUFFER = 10,
    PODFATE_OUTPUT_TOO_SMALL = 11,
    PODFATE_BUDGET_EXCEEDED = 12,
    /* Not of the module: what only a host can say. */
    PODFATE_TRAP = 100,      /* the module trapped; the instance was replaced, the request must not be tried again */
    PODFATE_MALFORMED = 101, /* the module returned what no right module returns; as after a trap */
    PODFATE_ABI = 102,       /* a module of another ABI */
    PODFATE_NO_MEMORY = 103, /* the host has no memory left */
    PODFATE_CLOSED = 104     /* the engine or the policy is NULL */
};

/* Limits of one request, answer and batch; describe lists the others. */
#define PODFATE_MAX_REQUEST_BYTES 1048576u
#define PODFATE_MAX_ANSWER_BYTES 4194304u
#define PODFATE_MAX_BATCH_RECORDS 65536u

#define PODFATE_BATCH_MAGIC 0x31424650u  /* "PFB1" */
#define PODFATE_ANSWER_MAGIC 0x31524650u /* "PFR1" */
#define PODFATE_BATCH_VERSION 1u

/* Absent container, rule or condition. */
#define PODFATE_NONE 0xFFFFu

/* Questions of a batch. */
enum {
    PODFATE_ASK_EXITS = 0, /* a container exits now, while the others of its Pod run */
    PODFATE_ASK_PODS = 1   /* a Pod of the Job has failed: one event for each terminated container */
};

/* podfate_event.flags; all others must be 0. */
enum {
    PODFATE_EVENT_OOM_KILLED = 1, /* the runtime's reason for the end */
    PODFATE_EVENT_HISTORY = 2,    /* history and ran_for_millis are given; without it wait_millis is -1 */
    PODFATE_EVENT_MORE = 4,       /* the next event is about the same Pod (PODFATE_ASK_PODS) */
    PODFATE_EVENT_RESTARTS = 8    /* conditions holds restart counts, which rules of proposals ask for (PODFATE_ASK_EXITS) */
};

/* podfate_verdict.flags */
enum {
    PODFATE_VERDICT_POD_FAILS = 1, /* an init container failed for good */
    PODFATE_VERDICT_UNDECIDED = 2, /* no action: rule and reason say why */
    PODFATE_VERDICT_COUNTED = 4,   /* the failure counts towards the limits of the Job */
    PODFATE_VERDICT_MORE = 8       /* no action: the verdict is that of a later event of the Pod */
};

/* podfate_verdict.action */
enum {
    PODFATE_ACTION_NONE = 0,
    PODFATE_ACTION_RESTART = 1,
    PODFATE_ACTION_RESTART_ALL_CONTAINERS = 2,
    PODFATE_ACTION_STOP = 3,
    PODFATE_ACTION_FAIL_JOB = 4,
    PODFATE_ACTION_FAIL_INDEX = 5,
    PODFATE_ACTION_IGNORE = 6,
    PODFATE_ACTION_COUNT = 7,
    /* of proposals only */
    PODFATE_ACTION_COMPLETE = 8,
    PODFATE_ACTION_TERMINATE = 9,
    PODFATE_ACTION_TERMINATE_POD = 10,
    PODFATE_ACTION_RESTART_POD = 11
};

/* podfate_verdict.level: the part of the manifest that decided */
enum {
    PODFATE_LEVEL_NONE = 0,
    PODFATE_LEVEL_RULE = 1,
    PODFATE_LEVEL_CONTAINER = 2,
    PODFATE_LEVEL_POD = 3,
    PODFATE_LEVEL_DEFAULT = 4,
    PODFATE_LEVEL_LIMIT = 5 /* of proposals only: a limit of restarts */
};

/* podfate_verdict.reason */
enum {
    PODFATE_REASON_NONE = 0,
    PODFATE_REASON_RULE_MATCHED = 1,
    PODFATE_REASON_POLICY_ALWAYS = 2,
    PODFATE_REASON_POLICY_ON_FAILURE_FAILED = 3,
    PODFATE_REASON_POLICY_ON_FAILURE_SUCCEEDED = 4,
    PODFATE_REASON_POLICY_NEVER = 5,
    PODFATE_REASON_UNKNOWN_POD_POLICY = 6,
    PODFATE_REASON_SIDECAR_ALWAYS_RESTARTS = 7,
    PODFATE_REASON_INIT_COMPLETED = 8,
    PODFATE_REASON_INIT_RETRIED = 9,
    PODFATE_REASON_EPHEMERAL_NEVER_RESTARTS = 10,
    PODFATE_REASON_UNKNOWN_ACTION = 11,   /* undecided */
    PODFATE_REASON_UNKNOWN_OPERATOR = 12, /* undecided */
    PODFATE_REASON_NO_RULE_MATCHED = 13,
    PODFATE_REASON_MANAGED_BY = 14, /* undecided: the Job has another controller */
    /* of proposals only */
    PODFATE_REASON_POLICY_ALWAYS_POD = 15,
    PODFATE_REASON_RESTART_LIMIT_REACHED = 16
};

/* podfate_verdict.ignored: why the rule that matched first did not decide */
enum {
    PODFATE_IGNORED_NONE = 0,
    PODFATE_IGNORED_UNKNOWN_ACTION = 1,
    PODFATE_IGNORED_GATE_OFF = 2,
    PODFATE_IGNORED_SIDECAR = 3,
    PODFATE_IGNORED_INIT_COMPLETED = 4,
    PODFATE_IGNORED_NO_POLICY = 5,
    PODFATE_IGNORED_RESTART_LIMIT = 6 /* of proposals only */
};

/* In front of the events. */
typedef struct podfate_batch_header {
    uint32_t magic;       /* PODFATE_BATCH_MAGIC */
    uint16_t version;     /* PODFATE_BATCH_VERSION */
    uint16_t record_size; /* sizeof(podfate_event) */
    uint32_t count;       /* at most PODFATE_MAX_BATCH_RECORDS */
    uint32_t question;    /* PODFATE_ASK_EXITS or PODFATE_ASK_PODS */
    uint64_t reserved;    /* 0 */
} podfate_batch_header;

/* One event. Zeroed, it is exit code 0 of container 0 with nothing known of its past. */
typedef struct podfate_event {
    int32_t exit_code;
    uint16_t container;     /* its number, or PODFATE_NONE: the only main container; of a Pod, one that the Job does not name */
    uint16_t flags;         /* PODFATE_EVENT_… */
    uint32_t history;       /* restarts since the back-off began anew; of a Pod, failures in a row before this one */
    uint32_t tag;           /* the caller's; repeated in the verdict */
    int64_t ran_for_millis; /* how long the container ran, from 0 on; 0 for Pods */
    uint64_t conditions;    /* of the Pod, a bit for each number; 0 for exits */
} podfate_event;

/* In front of the verdicts. */
typedef struct podfate_answer_header {
    uint32_t magic; /* PODFATE_ANSWER_MAGIC */
    uint16_t version;
    uint16_t record_size; /* sizeof(podfate_verdict) */
    uint32_t count;
    uint32_t faults; /* verdicts whose status is not 0 */
} podfate_answer_header;

/* The answer to one event. */
typedef struct podfate_verdict {
    uint8_t action; /* PODFATE_ACTION_… */
    uint8_t status; /* 0, or PODFATE_EVENT_INVALID: the event makes no sense */
    uint16_t rule;  /* index of the rule that decided, or matched and was ignored; PODFATE_NONE */
    uint8_t reason; /* PODFATE_REASON_… */
    uint8_t level;  /* PODFATE_LEVEL_… */
    uint8_t ignored;
    uint8_t flags;       /* PODFATE_VERDICT_… */
    int64_t wait_millis; /* back-off before the container, or the next Pod, is started; -1: it is not, or history is not known */
    uint16_t container;  /* that was judged; of a Pod, the first that the rule matched, or PODFATE_NONE */
    uint16_t condition;  /* of a Pod, the least one that the rule matched, or PODFATE_NONE */
    uint32_t tag;
} podfate_verdict;

/* The sizes are part of the ABI. An array of negative length stops a compiler that lays structs out otherwise. */
typedef char podfate_sizes_are_right[sizeof(podfate_batch_header) == 24 && sizeof(podfate_event) == 32 && sizeof(podfate_answer_header) == 16 &&
                                             sizeof(podfate_verdict) == 24
                                         ? 1
                                         : -1];

/* ---- The engine ---------------------------------------------------------------------------------------------------
 * A NULL where an engine or a policy is wanted is PODFATE_CLOSED; where bytes, events or a place for the result are,
 * PODFATE_BAD_BUFFER, unless there are none of them. */

/* An engine is a bounded pool of instances of the module. Any number of threads may use one. */
typedef struct podfate_engine podfate_engine;

/* A policy is a compiled manifest. It keeps its source, so that it survives an instance that trapped. Any number of threads
 * may use one. */
typedef struct podfate_policy podfate_policy;

/* What a call answers: bytes that belong to the caller, freed with podfate_answer_free. A zeroed answer is empty. */
typedef struct podfate_answer {
    char *json;    /* UTF-8 with a zero byte after it; NULL after PODFATE_TRAP and further errors of the host */
    size_t length; /* without the zero byte */
} podfate_answer;

/* podfate_engine_new makes an engine of 1 to 64 instances, 0 for one per processor and at most 4. It returns NULL and, where error is not
 * NULL, an error number. */
podfate_engine *podfate_engine_new(unsigned instances, int *error);

/* podfate_engine_free waits for calls under way. Policies are freed first. NULL is fine. */
void podfate_engine_free(podfate_engine *engine);

/* podfate_module_sha256 is the digest of the module that was translated, 64 lower-case hexadecimal digits. */
const char *podfate_module_sha256(void);

/* podfate_call runs an operation on a JSON request. It returns 0 and the answer; or the number of the error, and the error payload in answer
 * if it came from the module. */
int podfate_call(podfate_engine *engine, uint32_t operation, const char *request, size_t length, podfate_answer *answer);

/* podfate_compile makes a policy of a request of decide without exits. answer (may be NULL) gets what pf_compile says: the names of containers and
 * conditions by number, warnings, what the API server would drop; or the error payload. The handle in it is of no use to a caller. */
int podfate_compile(podfate_engine *engine, const char *request, size_t length, podfate_policy **policy, podfate_answer *answer);

/* podfate_policy_free releases a policy that no thread uses any more. NULL is fine. */
void podfate_policy_free(podfate_policy *policy);

/* podfate_container and podfate_condition return the number of a name, -1 if the policy has none. */
int podfate_container(const podfate_policy *policy, const char *name);
int podfate_condition(const podfate_policy *policy, const char *type, const char *status);

/* podfate_eval answers about one exit in JSON, as podfate_call does. */
int podfate_eval(podfate_policy *policy, const char *event, size_t length, podfate_answer *answer);

/* podfate_eval_batch answers any number of events into verdicts, an array of the same length; what one call of the module does not take
 * (PODFATE_MAX_BATCH_RECORDS) is answered in several. It returns 0 or the number of an error, after which verdicts mean nothing; faults (may
 * be NULL) gets the number of verdicts with a status. A failed Pod of more than PODFATE_MAX_BATCH_RECORDS events is PODFATE_LIMIT_EXCEEDED. */
int podfate_eval_batch(podfate_policy *policy, uint32_t question, const podfate_event *events, size_t count, podfate_verdict *verdicts, size_t *faults);

/* podfate_error_name returns the code of an error number, such as "MANIFEST_INVALID"; never NULL. */
const char *podfate_error_name(int error);

/* podfate_answer_free frees the bytes of an answer and empties it. */
void podfate_answer_free(podfate_answer *answer);

#ifdef __cplusplus
}
#endif

#endif
