/* Prints what an event costs in a batch, and one exit in JSON: nanoseconds, the best of many rounds. As JSON with -json. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "podfate.h"

static const char pod[] = "{\"manifest\":{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\"},\"spec\":{\"restartPolicy\":\"Never\","
                          "\"containers\":[{\"name\":\"main\",\"image\":\"i\",\"restartPolicy\":\"Never\",\"restartPolicyRules\":"
                          "[{\"action\":\"Restart\",\"exitCodes\":{\"operator\":\"In\",\"values\":[42]}}]}]}}}";

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int argc, char **argv) {
    enum { N = 65536, EVALS = 1000 };
    static podfate_event events[N];
    static podfate_verdict verdicts[N];
    static const char exit42[] = "{\"container\":\"main\",\"exitCode\":42}";
    double started = now();
    podfate_engine *engine = podfate_engine_new(1, NULL);
    double start = now() - started, batch = 1e18, eval = 1e18;
    podfate_policy *policy;
    if (engine == NULL || podfate_compile(engine, pod, strlen(pod), &policy, NULL) != PODFATE_OK) return 1;
    for (int n = 0; n < N; n++) events[n].exit_code = n % 256;
    for (int round = 0; round < 50; round++) {
        double from = now();
        if (podfate_eval_batch(policy, PODFATE_ASK_EXITS, events, N, verdicts, NULL) != PODFATE_OK) return 1;
        double took = (now() - from) / N;
        if (took < batch) batch = took;
    }
    for (int round = 0; round < 50; round++) {
        double from = now();
        for (int n = 0; n < EVALS; n++) {
            podfate_answer answer;
            if (podfate_eval(policy, exit42, sizeof exit42 - 1, &answer) != PODFATE_OK) return 1;
            podfate_answer_free(&answer);
        }
        double took = (now() - from) / EVALS;
        if (took < eval) eval = took;
    }
    int json = argc > 1 && strcmp(argv[1], "-json") == 0;
    printf(json ? "{\"engine\":\"wasm2c\",\"batchNanos\":%.1f,\"evalNanos\":%.0f,\"startMillis\":%.2f}\n"
                : "batch: %.1f ns an event\neval: %.0f ns\nstart: %.2f ms\n",
           batch, eval, start / 1e6);
    podfate_policy_free(policy);
    podfate_engine_free(engine);
    return 0;
}
