package policy

// Limits of what the core reads and writes. All are checked before memory is asked for; describe
// lists them.
const (
	// MaxRequestBytes bounds one request. Four manifests of the largest size fit, with room for
	// events.
	MaxRequestBytes = 1 << 20
	// MaxManifestBytes bounds the manifest in a request. Kubernetes itself stops at 3 MiB; a real
	// Job is under 10 KiB.
	MaxManifestBytes = 256 << 10
	// MaxDepth bounds the nesting of JSON. A Deployment needs less than 20 levels.
	MaxDepth = 64
	// MaxMembers bounds the names in one JSON object. A Pod's largest type has about 40 fields, and
	// labels of more than a few dozen do not occur; finding a repeated name costs more than reading
	// it.
	MaxMembers = 1000
	// MaxRules bounds the rules of one container. Kubernetes allows 20; more are read so that 21
	// can be reported.
	MaxRules = 1024
	// MaxValues bounds the exit codes of one rule. Kubernetes allows 255; more are read so that 256
	// can be reported.
	MaxValues = 1024
	// MaxPatterns bounds the conditions of one rule of a Job. Kubernetes allows 20; more are read
	// so that 21 can be reported.
	MaxPatterns = 1024
	// MaxTemplates bounds the Pod templates in one object of another kind: a RayCluster with dozens
	// of worker groups has fewer, and each is answered by itself.
	MaxTemplates = 64
	// MaxContainers bounds the containers of a Pod, all kinds together.
	MaxContainers = 1024
	// MaxExits bounds the exits of one decide request.
	MaxExits = 10000
	// MaxCallbacks bounds the entries of decide, which are before the rules of each container.
	MaxCallbacks = 100
	// MaxWishes bounds what one suggest request names: each code once, and as many ranges.
	MaxWishes = 512
	// MaxPods bounds the Pods of one decide request. One that kubectl prints takes 5 KiB, one
	// without its spec 1 KiB.
	MaxPods = 10000
	// MaxBatchRecords bounds the events of one packed batch: 2 MiB of them, and 1.5 MiB of
	// verdicts.
	MaxBatchRecords = 1 << 16
	// MaxConditions bounds the different patterns of Pod conditions in one compiled Job: a bit each
	// of a 64-bit number.
	MaxConditions = 64
	// MaxHandles bounds the policies that an instance of the module keeps compiled.
	MaxHandles = 4096
	// MaxHandleBytes bounds the memory of those policies together, an eighth of what the module may
	// have. A Pod with one container and the 20 rules that Kubernetes allows takes 2 KiB, so that
	// 4096 of them fit.
	MaxHandleBytes = 8 << 20
	// MaxBuffers bounds the buffers that a host of the module may hold at once. A wrapper needs one
	// or two.
	MaxBuffers = 64
	// MaxBufferBytes bounds the bytes in those buffers together: a quarter of the memory that the
	// module may have. A larger number would let a host starve the operations by holding buffers
	// alone.
	MaxBufferBytes = 16 << 20
	// MinVariants and MaxVariants bound the variants of one comparison: a screen shows eight
	// columns, and each is asked three questions.
	MinVariants, MaxVariants = 2, 8
	// MaxDifferences bounds the differences that a comparison lists; of more only the number is
	// given.
	MaxDifferences = 1000
	// MaxOutputBytes bounds one answer.
	MaxOutputBytes = 4 << 20
	// MaxDocumentBytes bounds the document of explain, which comes after the answer it is about: a
	// dozen blocks of at most 500 items of some 200 bytes.
	MaxDocumentBytes = 1 << 20
	// MaxFaults bounds the faults of one answer; one more entry then says how many were left out.
	MaxFaults = 100
	// MaxKeptFaults bounds the faults of a manifest that are kept until their places are known: 4
	// MiB of them with their texts. Of more only the number is kept.
	MaxKeptFaults = 4096
	// MaxListedPaths bounds each list of paths that says how far validate looked; a Pod with
	// everything in it has about 300 fields. Of more only the number is given.
	MaxListedPaths = 500
	// MaxQuotedBytes bounds how much of the user's text one fault repeats.
	MaxQuotedBytes = 256
)

// MaxSteps bounds the comparisons of exit codes with values that one call makes to explain
// decisions: about 10 ms natively, a second on an interpreter of WebAssembly.
const MaxSteps = 10_000_000

// MaxRestartRules is how many restartPolicyRules the API server lets a container have; more are a
// fault of the manifest, not of the request.
const MaxRestartRules = 20
