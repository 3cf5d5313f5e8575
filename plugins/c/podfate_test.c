/* The library as its users have it. Prints what differs; status 1 if anything does, or if nothing was checked. With
 * -DTRAPS, over the test build of the module, whose further operations trap. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "podfate.h"

static int checks, failures;

#define CHECK(what)                                           \
    do {                                                      \
        checks++;                                             \
        if (!(what)) {                                        \
            failures++;                                       \
            fprintf(stderr, "line %d: %s\n", __LINE__, #what); \
        }                                                     \
    } while (0)

static const char pod[] = "{\"manifest\":{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\"},\"spec\":{\"restartPolicy\":\"Never\","
                          "\"containers\":[{\"name\":\"main\",\"image\":\"i\",\"restartPolicy\":\"Never\",\"restartPolicyRules\":"
                          "[{\"action\":\"Restart\",\"exitCodes\":{\"operator\":\"In\",\"values\":[42]}}]},{\"name\":\"side\",\"image\":\"i\"}]}}}";

static const char job[] = "{\"manifest\":{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"metadata\":{\"name\":\"j\"},\"spec\":{\"podFailurePolicy\":{\"rules\":["
                          "{\"action\":\"Ignore\",\"onPodConditions\":[{\"type\":\"DisruptionTarget\"}]},"
                          "{\"action\":\"FailJob\",\"onExitCodes\":{\"operator\":\"In\",\"values\":[3]}}]},"
                          "\"template\":{\"spec\":{\"restartPolicy\":\"Never\",\"containers\":[{\"name\":\"main\",\"image\":\"i\"}]}}}}}";

static podfate_engine *engine;
static podfate_policy *policy;

static int ask(uint32_t operation, const char *request, podfate_answer *answer) {
    return podfate_call(engine, operation, request, strlen(request), answer);
}

static void calls(void) {
    podfate_answer answer;
    CHECK(ask(PODFATE_DESCRIBE, "{}", &answer) == PODFATE_OK && strstr(answer.json, "\"product\":\"podfate\"") != NULL);
    CHECK(strlen(answer.json) == answer.length);
    podfate_answer_free(&answer);
    CHECK(answer.json == NULL);
    podfate_answer_free(&answer);
    CHECK(ask(PODFATE_DECIDE, "{", &answer) == PODFATE_BAD_JSON && strstr(answer.json, "BAD_JSON") != NULL);
    podfate_answer_free(&answer);
    CHECK(ask(PODFATE_DECIDE, "", &answer) != PODFATE_OK);
    podfate_answer_free(&answer);
    CHECK(ask(PODFATE_DECIDE, "\"\xff\"", &answer) == PODFATE_BAD_UTF8);
    podfate_answer_free(&answer);
    CHECK(ask(4711, "{}", &answer) == PODFATE_UNSUPPORTED_OP);
    podfate_answer_free(&answer);
    for (size_t size = 1 << 20; size <= 32u << 20; size *= 2) { /* at the limit, past it, past any buffer */
        char *blank = malloc(size + 1);
        memset(blank, ' ', size + 1);
        CHECK(podfate_call(engine, PODFATE_DECIDE, blank, size, &answer) == (size == 1 << 20 ? PODFATE_BAD_JSON : PODFATE_LIMIT_EXCEEDED));
        podfate_answer_free(&answer);
        free(blank);
    }
}

/* Recursion bombs are error 6 through every door, and bad bytes of an event its fault. */
static void bombs(void) {
    enum { N = 500000 };
    char *deep = malloc(N);
    podfate_answer answer;
    podfate_policy *other;
    for (int kind = 0; kind < 2; kind++) {
        for (int n = 0; n < N; n++) deep[n] = kind == 0 ? '[' : "{\"a\":"[n % 5];
        for (uint32_t operation = PODFATE_VALIDATE; operation <= PODFATE_FLEET; operation++) {
            if (operation == 10) continue; /* no operation has this number yet */
            CHECK(podfate_call(engine, operation, deep, N, &answer) == PODFATE_LIMIT_EXCEEDED);
            podfate_answer_free(&answer);
        }
        CHECK(podfate_compile(engine, deep, N, &other, NULL) == PODFATE_LIMIT_EXCEEDED && other == NULL);
        CHECK(podfate_eval(policy, deep, N, &answer) == PODFATE_LIMIT_EXCEEDED);
        podfate_answer_free(&answer);
    }
    free(deep);
    static const struct {
        const char *event;
        int error;
    } bad[] = {{"[", PODFATE_BAD_JSON}, {"", PODFATE_BAD_JSON}, {"{\"container\":\"\xff\"}", PODFATE_BAD_UTF8}, {"[]", PODFATE_EVENT_INVALID}, {"null", PODFATE_EVENT_INVALID}};
    for (size_t n = 0; n < sizeof bad / sizeof *bad; n++) {
        CHECK(podfate_eval(policy, bad[n].event, strlen(bad[n].event), &answer) == bad[n].error);
        podfate_answer_free(&answer);
    }
    podfate_event hostile[] = {{.flags = 0x8000}, {.container = 0xFFFE}, {.conditions = UINT64_MAX}, {.ran_for_millis = INT64_MIN}, {.exit_code = 42}};
    podfate_verdict verdicts[5];
    size_t faults = 0;
    CHECK(podfate_eval_batch(policy, PODFATE_ASK_EXITS, hostile, 5, verdicts, &faults) == PODFATE_OK && faults == 4);
    CHECK(verdicts[3].status == PODFATE_EVENT_INVALID && verdicts[4].action == PODFATE_ACTION_RESTART);
    CHECK(podfate_eval_batch(policy, PODFATE_ASK_EXITS, hostile, SIZE_MAX, verdicts, NULL) == PODFATE_LIMIT_EXCEEDED);
}

/* What a program passes on that did not look whether it got an engine, or how long its text is. */
static void nothings(void) {
    podfate_answer answer = {"left over", 9};
    podfate_policy *other = policy;
    podfate_event event = {.exit_code = 42};
    podfate_verdict verdict;
    CHECK(podfate_call(NULL, PODFATE_DESCRIBE, "{}", 2, &answer) == PODFATE_CLOSED && answer.json == NULL && answer.length == 0);
    CHECK(podfate_call(engine, PODFATE_DESCRIBE, NULL, 2, &answer) == PODFATE_BAD_BUFFER && answer.json == NULL);
    CHECK(podfate_call(engine, PODFATE_DESCRIBE, "{}", 2, NULL) == PODFATE_BAD_BUFFER);
    CHECK(podfate_call(engine, PODFATE_DESCRIBE, "{}", SIZE_MAX, &answer) == PODFATE_LIMIT_EXCEEDED);
    CHECK(podfate_call(engine, PODFATE_DESCRIBE, NULL, 0, &answer) == PODFATE_BAD_JSON);
    podfate_answer_free(&answer);
    podfate_answer_free(NULL);
    CHECK(podfate_compile(NULL, pod, strlen(pod), &other, NULL) == PODFATE_CLOSED && other == NULL);
    CHECK(podfate_compile(engine, NULL, 2, &other, &answer) == PODFATE_BAD_BUFFER && answer.json == NULL);
    CHECK(podfate_compile(engine, pod, SIZE_MAX, &other, NULL) == PODFATE_LIMIT_EXCEEDED && other == NULL);
    CHECK(podfate_compile(engine, pod, strlen(pod), NULL, NULL) == PODFATE_BAD_BUFFER);
    CHECK(podfate_eval(NULL, "{}", 2, &answer) == PODFATE_CLOSED && podfate_eval(policy, "{}", 2, NULL) == PODFATE_BAD_BUFFER);
    CHECK(podfate_eval_batch(NULL, PODFATE_ASK_EXITS, &event, 1, &verdict, NULL) == PODFATE_CLOSED);
    CHECK(podfate_eval_batch(policy, PODFATE_ASK_EXITS, NULL, 1, &verdict, NULL) == PODFATE_BAD_BUFFER);
    CHECK(podfate_eval_batch(policy, PODFATE_ASK_EXITS, &event, 1, NULL, NULL) == PODFATE_BAD_BUFFER);
    CHECK(podfate_eval_batch(policy, PODFATE_ASK_EXITS, NULL, 0, NULL, NULL) == PODFATE_OK);
    CHECK(podfate_container(NULL, "main") == -1 && podfate_container(policy, NULL) == -1);
    CHECK(podfate_condition(NULL, "a", "b") == -1 && podfate_condition(policy, NULL, "b") == -1 && podfate_condition(policy, "a", NULL) == -1);
    podfate_engine_free(NULL);
}

static int eval(const char *event, const char *want) {
    podfate_answer answer;
    int error = podfate_eval(policy, event, strlen(event), &answer);
    CHECK(answer.json != NULL && strstr(answer.json, want) != NULL);
    podfate_answer_free(&answer);
    return error;
}

static void policies(void) {
    podfate_answer answer;
    podfate_policy *other;
    CHECK(podfate_container(policy, "main") == 0 && podfate_container(policy, "side") == 1 && podfate_container(policy, "nobody") == -1);
    CHECK(eval("{\"container\":\"main\",\"exitCode\":42}", "\"action\":\"Restart\"") == PODFATE_OK);
    CHECK(eval("{\"container\":\"side\",\"exitCode\":42}", "\"action\":\"Stop\"") == PODFATE_OK);
    CHECK(eval("{\"container\":\"nobody\",\"exitCode\":42}", "EVENT_INVALID") == PODFATE_EVENT_INVALID);
    CHECK(podfate_compile(engine, "{}", 2, &other, &answer) != PODFATE_OK && other == NULL && answer.json != NULL);
    podfate_answer_free(&answer);
    podfate_policy_free(NULL);
    for (int n = 0; n < 5000; n++) { /* more than the module has handles */
        int error = podfate_compile(engine, pod, strlen(pod), &other, NULL);
        if (error != PODFATE_OK) CHECK(error == PODFATE_OK);
        podfate_policy_free(other);
    }
    CHECK(eval("{\"container\":\"main\",\"exitCode\":42}", "\"action\":\"Restart\"") == PODFATE_OK);
}

/* large_batches holds that batches of more events than one call takes are answered as if it took them (R-J3). */
static void large_batches(podfate_policy *jobs) {
    const size_t large = 2 * (size_t)PODFATE_MAX_BATCH_RECORDS + 5;
    podfate_event *events = calloc(large, sizeof *events);
    podfate_verdict *verdicts = calloc(large, sizeof *verdicts);
    size_t faults = 77, wrong = 0;
    CHECK(events != NULL && verdicts != NULL);
    for (size_t n = 0; n < large; n++) events[n] = (podfate_event){.exit_code = n % 3 == 0 ? 42 : 1, .container = n % 10 == 0 ? 9 : 0, .tag = (uint32_t)n};
    CHECK(podfate_eval_batch(policy, PODFATE_ASK_EXITS, events, large, verdicts, &faults) == PODFATE_OK);
    for (size_t n = 0; n < large; n++) {
        wrong += n % 10 == 0;
        CHECK(verdicts[n].tag == (uint32_t)n && (verdicts[n].status != 0) == (n % 10 == 0));
        if (n % 10 != 0) CHECK(verdicts[n].action == (n % 3 == 0 ? PODFATE_ACTION_RESTART : PODFATE_ACTION_STOP));
    }
    CHECK(faults == wrong);
    /* Pods of three containers, of which the last alone has the code: one straddles the end of the first call. */
    for (size_t n = 0; n < large; n++) events[n] = (podfate_event){.exit_code = n % 3 == 2 ? 3 : 0, .flags = n % 3 != 2 && n + 1 < large ? PODFATE_EVENT_MORE : 0};
    CHECK(podfate_eval_batch(jobs, PODFATE_ASK_PODS, events, large, verdicts, &faults) == PODFATE_OK && faults == 0);
    for (size_t n = 2; n < large; n += 3) CHECK(verdicts[n].action == PODFATE_ACTION_FAIL_JOB && verdicts[n - 1].action == PODFATE_ACTION_NONE);
    for (size_t n = 0; n < large; n++) events[n].flags = PODFATE_EVENT_MORE;
    CHECK(podfate_eval_batch(jobs, PODFATE_ASK_PODS, events, large, verdicts, NULL) == PODFATE_LIMIT_EXCEEDED);
    free(events);
    free(verdicts);
}

static void batches(void) {
    enum { N = 1000 };
    podfate_event events[N] = {{0}};
    podfate_verdict verdicts[N];
    size_t faults = 77;
    for (int n = 0; n < N; n++) events[n] = (podfate_event){.exit_code = n - 100, .container = n % 3, .tag = (uint32_t)n};
    CHECK(podfate_eval_batch(policy, PODFATE_ASK_EXITS, events, N, verdicts, &faults) == PODFATE_OK && faults == N / 3);
    for (int n = 0; n < N; n++) {
        int restart = n % 3 == 0 && n - 100 == 42;
        if (n % 3 == 2) CHECK(verdicts[n].status == PODFATE_EVENT_INVALID && verdicts[n].action == PODFATE_ACTION_NONE);
        else CHECK(verdicts[n].status == 0 && verdicts[n].action == (restart ? PODFATE_ACTION_RESTART : PODFATE_ACTION_STOP));
        CHECK(verdicts[n].tag == (uint32_t)n);
    }
    CHECK(podfate_eval_batch(policy, PODFATE_ASK_EXITS, events, 0, verdicts, &faults) == PODFATE_OK && faults == 0);
    CHECK(podfate_eval_batch(policy, 7, events, 1, verdicts, NULL) == PODFATE_EVENT_INVALID);
    podfate_policy *jobs;
    CHECK(podfate_compile(engine, job, strlen(job), &jobs, NULL) == PODFATE_OK);
    int disrupted = podfate_condition(jobs, "DisruptionTarget", "True");
    CHECK(disrupted == 0 && podfate_condition(jobs, "DisruptionTarget", "False") == -1);
    podfate_event pods[2] = {{.exit_code = 3}, {.exit_code = 3, .conditions = 1u << disrupted}};
    CHECK(podfate_eval_batch(jobs, PODFATE_ASK_PODS, pods, 2, verdicts, NULL) == PODFATE_OK);
    CHECK(verdicts[0].action == PODFATE_ACTION_FAIL_JOB && verdicts[1].action == PODFATE_ACTION_IGNORE);
    large_batches(jobs);
    podfate_policy_free(jobs);
}

static void *worker(void *argument) {
    int code = *(int *)argument;
    long wrong = 0;
    for (int n = 0; n < 500; n++) {
        podfate_event event = {.exit_code = code, .tag = (uint32_t)n};
        podfate_verdict verdict;
        int error = podfate_eval_batch(policy, PODFATE_ASK_EXITS, &event, 1, &verdict, NULL);
        if (error != PODFATE_OK || verdict.tag != (uint32_t)n || verdict.action != (code == 42 ? PODFATE_ACTION_RESTART : PODFATE_ACTION_STOP)) wrong++;
        podfate_policy *own;
        if (n % 50 == 0) {
            if (podfate_compile(engine, pod, strlen(pod), &own, NULL) != PODFATE_OK) wrong++;
            podfate_policy_free(own);
        }
    }
    return (void *)wrong;
}

static void threads(void) {
    pthread_t running[8];
    int codes[8] = {41, 42, 43, 42, 0, 1, 137, 42};
    for (int n = 0; n < 8; n++) pthread_create(&running[n], NULL, worker, &codes[n]);
    for (int n = 0; n < 8; n++) {
        void *wrong;
        pthread_join(running[n], &wrong);
        CHECK(wrong == NULL);
    }
}

#ifdef TRAPS
static void traps(void) {
    for (uint32_t operation = 0xF001; operation <= 0xF004; operation++) {
        podfate_answer answer;
        CHECK(ask(operation, "{}", &answer) == PODFATE_TRAP && answer.json == NULL);
        CHECK(eval("{\"container\":\"main\",\"exitCode\":42}", "\"action\":\"Restart\"") == PODFATE_OK);
    }
    podfate_answer answer;
    CHECK(ask(0xF008, "{}", &answer) == PODFATE_INTERNAL);
    podfate_answer_free(&answer);
    CHECK(ask(0xF00A, "{}", &answer) == PODFATE_MALFORMED);
    CHECK(eval("{\"container\":\"main\",\"exitCode\":42}", "\"action\":\"Restart\"") == PODFATE_OK);
}
#endif

int main(void) {
    int error;
    CHECK(podfate_engine_new(65, &error) == NULL && error == PODFATE_LIMIT_EXCEEDED);
    engine = podfate_engine_new(3, &error);
    CHECK(engine != NULL && error == PODFATE_OK);
    CHECK(strlen(podfate_module_sha256()) == 64);
    CHECK(podfate_compile(engine, pod, strlen(pod), &policy, NULL) == PODFATE_OK);
    CHECK(strcmp(podfate_error_name(PODFATE_TRAP), "TRAP") == 0 && strcmp(podfate_error_name(-1), "UNKNOWN") == 0);
    if (failures == 0) {
        calls();
        policies();
        bombs();
        nothings();
        batches();
        threads();
#ifdef TRAPS
        traps();
#endif
    }
    podfate_policy_free(policy);
    podfate_engine_free(engine);
    printf("%d checks, %d failures\n", checks, failures);
    return failures > 0 || checks == 0;
}
