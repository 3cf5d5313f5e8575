package differ

import "strings"

// written are manifests for what a generator seldom finds.
var written = []struct{ kind, text string }{
	// The rows of the specification about decoding.
	{"Pod", rule(`"exitCodes":{"operator":"In","values":["42"]}`)},
	{"Pod", rule(`"exitCodes":{"operator":"In","values":[42.5]}`)},
	{"Pod", rule(`"exitCodes":{"operator":"In","values":[42.0]}`)},
	{"Pod", rule(`"exitCodes":{"operator":"In","values":[4.2e1]}`)},
	{"Pod", rule(`"exitCodes":{"operator":"In","values":[3000000000]}`)},
	{"Pod", rule(`"exitCodes":{"operator":"In","values":[2147483647,-2147483648,2147483648]}`)},
	{"Pod", rule(`"exitCodes":{"operator":"In","values":42}`)},
	{"Pod", rule(`"exitCodes":{"operator":"In","values":[null,-0]}`)},
	{"Pod", rule(`"exitCodes":{"operator":true,"values":[]}`)},
	{"Pod", rule(`"when":{"exitCodes":{"operator":"In"}}`)},
	{"Pod", rule(`"onExit":{"operator":"In"},"onExitCodes":[],"when":1`)},
	{"Pod", rule(`"Action":"Restart"`)},
	{"Pod", rule(`"action":"Restart","action":"Restart"`)},
	{"Pod", rule(`"action":"Restart","\u0061ction":"Restart","action":5`)},
	{"Pod", rule(`"exitCodes":null`)},
	{"Pod", pod(`"containers":[{"restartPolicyRules":[null,{},5,[]]}]`)},
	{"Pod", pod(`"containers":[null],"containers":{"a":1}`)},

	// The whole text.
	{"Pod", `[]`}, {"Pod", `"Pod"`}, {"Pod", `5`}, {"Pod", `true`},
	{"Pod", `{"apiVersion":"v1","kind":"Pod","spec":null,"status":{},"metadata":[]}`},
	{"Pod", `{"apiVersion":"v1","kind":"Pod","spec":{"x":1},"spec":{"x":1,"y":2},"spec":{}}`},
	{"Pod", `{"apiVersion":"v1","kind":5,"spec":{"hostname":5}}`},
	{"Pod", `{"apiVersion":{},"kind":"Pod"}`},
	{"Pod", `{"spec":{"hostname":5},"apiVersion":"v1","kind":["Pod"]}`},
	{"Pod", `{"apiVersion":"v1","kind":"Pod","kind":"Pod","status":{"startTime":"x","podIP":5}}`},

	// Names in paths.
	{"Pod", `{"apiVersion":"v1","kind":"Pod","metadata":{"labels":{"a.b/c":"1","a.b/c":"2","":"x","":"y"}}}`},
	{"Pod", `{"apiVersion":"v1","kind":"Pod","metadata":{"annotations":{"é\n\"":{},"é\n\"":"x"},"\u2028<b>":1,"":2,"a b":3}}`},
	{"Pod", `{"apiVersion":"v1","kind":"Pod","metadata":{"annotations":null,"labels":{"a":null,"b":[]},"managedFields":[{"fieldsV1":{"f:x":{},"f:x":[5,{"a":1,"a":1}]},"time":5}]}}`},

	// Embedded structs, which type errors name since 1.35.
	{"Pod", pod(`"volumes":[{"name":"a","hostPath":5}]`)},
	{"Pod", pod(`"volumes":[{"name":"a","secret":{"items":[{"mode":"0644"}]}}]`)},
	{"Pod", pod(`"ephemeralContainers":[{"image":[]}]`)},
	{"Pod", pod(`"containers":[{"livenessProbe":{"httpGet":{"port":true}}}]`)},
	{"Pod", pod(`"containers":[{"env":[{"valueFrom":{"secretKeyRef":{"name":5}}}]}]`)},
	{"KubeletConfiguration", kubelet(`"logging":{"options":{"text":{"splitStream":5,"infoBufferSize":"x"},"json":{"infoBufferSize":7}}}`)},

	// Types that read JSON themselves.
	{"Pod", pod(`"hostname":5,"containers":[{"resources":{"limits":{"cpu":{}}}}],"nodeName":7`)},
	{"Pod", pod(`"hostname":5,"containers":[{"livenessProbe":{"httpGet":{"port":3000000000}}},{"livenessProbe":{"httpGet":{"port":[]}}}]`)},
	{"Job", `{"apiVersion":"batch/v1","kind":"Job","status":{"startTime":"2024-02-30T00:00:00Z","completionTime":[]}}`},
	{"KubeletConfiguration", kubelet(`"syncFrequency":null`)},
	{"KubeletConfiguration", kubelet(`"crashLoopBackOff":{"maxContainerRestartPeriod":null}`)},
	{"KubeletConfiguration", kubelet(`"crashLoopBackOff":{"maxContainerRestartPeriod":"5"}`)},
	{"KubeletConfiguration", kubelet(`"crashLoopBackOff":{"maxContainerRestartPeriod":5}`)},
	{"KubeletConfiguration", kubelet(`"logging":{"flushFrequency":5}`)},
	{"KubeletConfiguration", kubelet(`"logging":{"flushFrequency":5.5}`)},
	{"KubeletConfiguration", kubelet(`"logging":{"flushFrequency":"5"}`)},
	{"KubeletConfiguration", kubelet(`"logging":{"flushFrequency":null,"verbosity":-1}`)},
	{"KubeletConfiguration", kubelet(`"logging":{"flushFrequency":{"a":[1, 2]}}`)},
	{"KubeletConfiguration", kubelet(`"logging":{"verbosity":4294967296,"vmodule":{}}`)},
	{"KubeletConfiguration", kubelet(`"memoryThrottlingFactor":1e400,"featureGates":{"A":"true"}`)},
	{"KubeletConfiguration", kubelet(`"memoryThrottlingFactor":"1","evictionHard":{"a":1}`)},

	// Kubernetes prints at most a hundred errors of strict decoding.
	{"Pod", pod(`"volumes":[` + strings.TrimSuffix(strings.Repeat(`{"x":1},`, 130), ",") + `]`)},
}

func rule(members string) string {
	return pod(`"containers":[{"name":"main","restartPolicy":"Never","restartPolicyRules":[{` + members + `}]}]`)
}

func pod(members string) string {
	return `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{` + members + `}}`
}

func kubelet(members string) string {
	return `{"apiVersion":"kubelet.config.k8s.io/v1beta1","kind":"KubeletConfiguration",` + members + `}`
}
