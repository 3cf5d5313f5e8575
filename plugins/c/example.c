#include <stdio.h>
#include <string.h>

#include "podfate.h"

int main(void) {
    const char *request = "{\"manifest\":{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"train\"},\"spec\":{\"restartPolicy\":\"Never\","
                          "\"containers\":[{\"name\":\"main\",\"image\":\"trainer\",\"restartPolicy\":\"Never\",\"restartPolicyRules\":"
                          "[{\"action\":\"Restart\",\"exitCodes\":{\"operator\":\"In\",\"values\":[42]}}]}]}}}";
    podfate_engine *engine = podfate_engine_new(0, NULL);
    podfate_policy *policy;
    if (engine == NULL || podfate_compile(engine, request, strlen(request), &policy, NULL) != PODFATE_OK) return 1;
    podfate_event events[2] = {{.exit_code = 42}, {.exit_code = 1}};
    podfate_verdict verdicts[2];
    if (podfate_eval_batch(policy, PODFATE_ASK_EXITS, events, 2, verdicts, NULL) != PODFATE_OK) return 1;
    for (int n = 0; n < 2; n++)
        printf("exit %d: %s\n", events[n].exit_code, verdicts[n].action == PODFATE_ACTION_RESTART ? "Restart" : "Stop");
    podfate_policy_free(policy);
    podfate_engine_free(engine);
    return 0;
}
