package dev.podfate;

import java.util.List;
import java.util.Map;

/**
 * The answer of decide.
 *
 * @param decisions one for each exit, in the order of the request
 * @param podDecisions one for each Pod, in the order of the request
 * @param json the whole answer, with warnings, what disabled gates drop, and the cluster that was assumed
 */
public record Decisions(List<Decision> decisions, List<PodDecision> podDecisions, Map<String, Object> json) {
    static Decisions of(Map<String, Object> value) {
        return new Decisions(Values.list(value.get("decisions")).stream().map(Values::map).map(Decision::of).toList(),
                Values.list(value.get("podDecisions")).stream().map(Values::map).map(PodDecision::of).toList(), value);
    }

    /** The actions of {@link #decisions}.
     *
     * @return one for each exit
     */
    public List<Action> actions() {
        return decisions.stream().map(Decision::action).toList();
    }
}
