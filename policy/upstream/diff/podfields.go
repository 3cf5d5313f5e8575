package diff

import (
	"fmt"
	"strings"
	"testing"

	"github.com/podfate/podfate/policy"
)

// shape is what a struct of a Pod may have, one field to a line: its name, then what it holds. That
// is the name of a shape or, in small letters, of a pool of values; brackets in front make a list
// of it, and a star makes the field one that a good object has.
type shape string

// shapes are the structs of a Pod whose fields Podfate checks beyond name and type. Values are good
// and bad.
var shapes = map[string]shape{
	"PodSpec": `
		volumes []Volume
		initContainers []Container
		ephemeralContainers []EphemeralContainer
		hostNetwork bool
		serviceAccountName subdomain
		serviceAccount subdomain
		dnsPolicy dnsPolicy
		dnsConfig DNSConfig
		nodeSelector NodeSelector
		securityContext PodSecurityContext
		shareProcessNamespace bool
		hostPID bool
		hostIPC bool
		hostUsers bool
		affinity Affinity
		readinessGates []ReadinessGate
		schedulingGates []SchedulingGate
		nodeName subdomain
		hostname label
		subdomain label
		hostnameOverride subdomain
		setHostnameAsFQDN bool
		tolerations []Toleration
		topologySpreadConstraints []Spread
		hostAliases []HostAlias
		priorityClassName subdomain
		runtimeClassName subdomain
		preemptionPolicy preemption`,
	"DNSConfig": `
		nameservers []address
		searches []search
		options []DNSOption`,
	"DNSOption": `
		*name text
		value text`,
	"HostAlias": `
		*ip address
		hostnames []subdomain`,
	"Spread": `
		*maxSkew weight
		*topologyKey labelKey
		*whenUnsatisfiable unsatisfiable
		*labelSelector Selector
		minDomains weight
		nodeAffinityPolicy honors
		nodeTaintsPolicy honors
		matchLabelKeys []ownKey`,
	"Selector": `
		matchLabels SelectorLabels
		matchExpressions []NodeRule`,
	"SelectorLabels": `
		a labelValue
		app labelValue
		_a labelValue`,
	"PodAffinity": `
		requiredDuringSchedulingIgnoredDuringExecution []PodTerm
		preferredDuringSchedulingIgnoredDuringExecution []PreferredPods`,
	"PreferredPods": `
		*weight weight
		*podAffinityTerm PodTerm`,
	"PodTerm": `
		*labelSelector Selector
		*topologyKey labelKey
		namespaces []label
		namespaceSelector Selector
		matchLabelKeys []ownKey
		mismatchLabelKeys []ownKey`,
	"NodeSelector": `
		a labelValue
		a.b/c labelValue
		_a labelValue
		A/b/c labelValue`,
	"PodSecurityContext": `
		fsGroup id
		runAsUser id
		runAsGroup id
		supplementalGroups []id
		fsGroupChangePolicy changePolicy
		seccompProfile Profile
		appArmorProfile Profile
		supplementalGroupsPolicy groupsPolicy`,
	"Profile": `
		*type profileType
		localhostProfile profilePath`,
	"Affinity": `
		nodeAffinity NodeAffinity
		podAffinity PodAffinity
		podAntiAffinity PodAffinity`,
	"NodeAffinity": `
		requiredDuringSchedulingIgnoredDuringExecution NodeTerms
		preferredDuringSchedulingIgnoredDuringExecution []Preferred`,
	"NodeTerms": `
		*nodeSelectorTerms []NodeTerm`,
	"Preferred": `
		*weight weight
		*preference NodeTerm`,
	"NodeTerm": `
		*matchExpressions []NodeRule
		matchFields []FieldRule`,
	"NodeRule": `
		*key labelKey
		*operator operator
		*values []labelValue`,
	"FieldRule": `
		*key fieldKey
		*operator operator
		*values []subdomain`,
	"ReadinessGate": `
		*conditionType labelKey`,
	"SchedulingGate": `
		*name labelKey`,
	"Toleration": `
		*key labelKey
		operator tolerates
		value labelValue
		effect effect
		tolerationSeconds count`,
	"Container": `
		*image image
		imagePullPolicy pullPolicy
		terminationMessagePolicy messagePolicy
		ports []ContainerPort
		env []EnvVar
		envFrom []EnvFromSource
		volumeMounts []VolumeMount
		volumeDevices []VolumeDevice
		resources ResourceRequirements
		livenessProbe Probe
		readinessProbe Probe
		startupProbe Probe
		lifecycle Lifecycle
		securityContext SecurityContext`,
	"EphemeralContainer": `
		*image image
		imagePullPolicy pullPolicy
		env []EnvVar
		volumeMounts []VolumeMount
		volumeDevices []VolumeDevice
		ports []ContainerPort
		resources ResourceRequirements`,
	"ContainerPort": `
		*containerPort port
		name portName
		hostPort port
		hostIP ip
		protocol protocol`,
	"EnvVar": `
		*name envName
		value text
		valueFrom EnvVarSource`,
	"EnvVarSource": `
		fieldRef ObjectFieldSelector
		resourceFieldRef ResourceFieldSelector
		configMapKeyRef KeySelector
		secretKeyRef KeySelector
		fileKeyRef FileKeySelector`,
	"ObjectFieldSelector": `
		apiVersion fieldVersion
		*fieldPath fieldPath`,
	"ResourceFieldSelector": `
		containerName label
		*resource resourcePath
		divisor divisor`,
	"KeySelector": `
		*name subdomain
		*key configKey
		optional bool`,
	"FileKeySelector": `
		*key envName
		*volumeName label
		*path localPath
		optional bool`,
	"EnvFromSource": `
		prefix envName
		configMapRef NameRef
		secretRef NameRef`,
	"NameRef": `
		*name subdomain
		optional bool`,
	"VolumeMount": `
		*name volumeName
		*mountPath mountPath
		subPath localPath
		subPathExpr localPath
		readOnly bool
		mountPropagation propagation
		recursiveReadOnly recursive`,
	"VolumeDevice": `
		*name volumeName
		*devicePath mountPath`,
	"ResourceRequirements": `
		limits ResourceList
		requests ResourceList`,
	"ResourceList": `
		cpu quantity
		memory quantity
		ephemeral-storage quantity
		hugepages-2Mi quantity
		hugepages-1Gi quantity
		hugepages-x quantity
		hugepages-0 quantity
		nvidia.com/gpu quantity
		kubernetes.io/batch-cpu quantity
		requests.nvidia.com/gpu quantity
		pods quantity
		storage quantity
		gpu quantity
		_bad quantity
		a/b/c quantity`,
	"Probe": `
		exec ExecAction
		httpGet HTTPGetAction
		tcpSocket PortAction
		grpc GRPCAction
		initialDelaySeconds count
		timeoutSeconds count
		periodSeconds count
		successThreshold count
		failureThreshold count
		terminationGracePeriodSeconds count`,
	"Lifecycle": `
		postStart LifecycleHandler
		preStop LifecycleHandler`,
	"LifecycleHandler": `
		exec ExecAction
		httpGet HTTPGetAction
		tcpSocket PortAction
		sleep SleepAction`,
	"ExecAction": `
		*command []text`,
	"HTTPGetAction": `
		path text
		*port portOrName
		scheme scheme
		host text
		httpHeaders []HTTPHeader`,
	"HTTPHeader": `
		*name headerName
		value text`,
	"PortAction": `
		*port portOrName
		host text`,
	"GRPCAction": `
		*port port
		service text`,
	"SleepAction": `
		*seconds count`,
	"SecurityContext": `
		privileged bool
		runAsUser id
		runAsGroup id
		procMount procMount
		seccompProfile Profile
		appArmorProfile Profile
		allowPrivilegeEscalation bool
		capabilities Capabilities`,
	"Capabilities": `
		*add []capability`,

	"Volume": `
		*name volumeName
		emptyDir EmptyDir
		hostPath HostPath
		gitRepo GitRepo
		gcePersistentDisk GCE
		awsElasticBlockStore AWS
		secret SecretVolume
		nfs NFS
		glusterfs Glusterfs
		persistentVolumeClaim Claim
		rbd RBD
		cinder Cinder
		cephfs CephFS
		downwardAPI DownwardAPI
		flexVolume Flex
		configMap ConfigMapVolume
		azureFile AzureFile
		vsphereVolume Vsphere
		photonPersistentDisk Photon
		portworxVolume Portworx
		storageos StorageOS
		projected Projected
		scaleIO ScaleIO
		csi CSI
		image Image`,
	"EmptyDir": `
		medium text
		sizeLimit quantity`,
	"HostPath": `
		*path localPath
		type hostPathType`,
	"GitRepo": `
		*repository text
		directory localPath`,
	"GCE": `
		*pdName text
		partition port`,
	"AWS": `
		*volumeID text
		partition port`,
	"SecretVolume": `
		*secretName text
		defaultMode mode
		items []KeyToPath`,
	"ConfigMapVolume": `
		*name text
		defaultMode mode
		items []KeyToPath`,
	"KeyToPath": `
		*key text
		*path localPath
		mode mode`,
	"NFS": `
		*server text
		*path mountPath`,
	"Glusterfs": `
		*endpoints text
		*path text`,
	"Claim": `
		*claimName claimName`,
	"RBD": `
		*monitors []text
		*image text`,
	"Cinder": `
		*volumeID text
		secretRef NameOnly`,
	"NameOnly": `
		*name subdomain`,
	"CephFS": `
		*monitors []text`,
	"DownwardAPI": `
		defaultMode mode
		items []DownwardAPIFile`,
	"DownwardAPIFile": `
		*path localPath
		*fieldRef ObjectFieldSelector
		resourceFieldRef ResourceFieldSelector
		mode mode`,
	"Flex": `
		*driver text
		options FlexOptions`,
	"FlexOptions": `
		fine text
		x.kubernetes.io/a text
		K8s.io text`,
	"AzureFile": `
		*secretName text
		*shareName text`,
	"Vsphere": `
		*volumePath text`,
	"Photon": `
		*pdID text`,
	"Portworx": `
		*volumeID text`,
	"StorageOS": `
		*volumeName label
		volumeNamespace label
		secretRef NameOnly`,
	"Projected": `
		defaultMode mode
		sources []Projection`,
	"Projection": `
		secret ProjectedKeys
		configMap ProjectedKeys
		downwardAPI ProjectedFiles
		serviceAccountToken Token
		clusterTrustBundle Bundle
		podCertificate Certificate`,
	"Bundle": `
		*name label
		*path localPath`,
	"Certificate": `
		*signerName signer
		*keyType keyType
		credentialBundlePath localPath
		keyPath localPath
		certificateChainPath localPath`,
	"ProjectedKeys": `
		*name text
		items []KeyToPath`,
	"ProjectedFiles": `
		items []DownwardAPIFile`,
	"Token": `
		*path localPath
		audience text
		expirationSeconds expiration`,
	"ScaleIO": `
		*gateway text
		*system text
		*volumeName text
		*secretRef NameOnly`,
	"CSI": `
		*driver driver
		nodePublishSecretRef NameOnly`,
	"Image": `
		*reference image
		pullPolicy pullPolicy`,
}

// pool is a list of values, those that are good before those that are not.
type pool struct{ good, bad []string }

var (
	longLabel = `"` + strings.Repeat("a", 64) + `"`
	longName  = `"` + strings.Repeat("a", 254) + `"`
)

var pools = map[string]pool{
	"dnsPolicy":     {[]string{`"ClusterFirst"`, `"Default"`, `"ClusterFirstWithHostNet"`}, []string{`"None"`, `""`, `"none"`, `null`}},
	"labelValue":    {[]string{`"a"`, `""`, `"A.b_c"`}, []string{`"-"`, `"a b"`, longLabel, `null`, `"a."`}},
	"labelKey":      {[]string{`"a"`, `"x.y/Z"`, `"k"`}, []string{`""`, `"_"`, `"a/b/c"`, `"/a"`, `"A/b"`, longLabel, `null`, `"a"`}},
	"id":            {[]string{`0`, `1000`, `2147483647`}, []string{`-1`, `2147483648`, `null`}},
	"changePolicy":  {[]string{`"Always"`, `"OnRootMismatch"`}, []string{`""`, `"Never"`, `null`}},
	"groupsPolicy":  {[]string{`"Merge"`, `"Strict"`}, []string{`""`, `"merge"`, `null`}},
	"profileType":   {[]string{`"RuntimeDefault"`, `"Unconfined"`, `"Localhost"`}, []string{`""`, `"runtime/default"`, `null`}},
	"profilePath":   {[]string{`"a/b"`, `"p"`}, []string{`""`, `"/a"`, `"../a"`, `" a"`, `null`}},
	"weight":        {[]string{`1`, `100`}, []string{`0`, `101`, `-1`, `null`}},
	"operator":      {[]string{`"In"`, `"NotIn"`, `"Exists"`, `"DoesNotExist"`, `"Gt"`}, []string{`""`, `"Lt"`, `"in"`, `null`}},
	"fieldKey":      {[]string{`"metadata.name"`}, []string{`""`, `"metadata.namespace"`, `null`}},
	"tolerates":     {[]string{`"Equal"`, `"Exists"`, `""`}, []string{`"Lt"`, `"Gt"`, `"equal"`, `null`}},
	"ownKey":        {[]string{`"app"`, `"a"`, `"app.kubernetes.io/name"`}, []string{`""`, `"_"`, `"bad/"`, `null`}},
	"unsatisfiable": {[]string{`"DoNotSchedule"`, `"ScheduleAnyway"`}, []string{`""`, `"Never"`, `null`}},
	"honors":        {[]string{`"Honor"`, `"Ignore"`}, []string{`""`, `"honor"`, `null`}},
	"signer":        {[]string{`"example.com/a"`}, []string{`"a"`}},
	"keyType":       {[]string{`"ED25519"`}, []string{`"RSA"`}},
	"search":        {[]string{`"a.b"`, `"a."`, `"."`, `"a_b.c"`}, []string{`""`, `".."`, `"A"`, `"_"`, `"-a"`, longName, `null`, `"` + strings.Repeat(strings.Repeat("a", 50)+".", 44) + `"`}},
	"address": {[]string{`"127.0.0.1"`, `"::1"`, `"2001:db8::ffff"`, `"1:2:3:4:5:6:7:8"`, `"::"`}, []string{
		`""`, `"x"`, `"1.2.3"`, `"1.2.3.4.5"`, `"256.1.1.1"`, `"010.2.3.4"`, `"1.2.3.00"`, `"::ffff:1.2.3.4"`, `"0:0:0:0:0:ffff:102:304"`, `"::ffff:01.2.3.4"`, `"1::2::3"`, `":1"`, `"1:"`, `"00001::"`,
		`"1:2:3:4:5:6:7::"`, `"1:2:3:4:5:6:7:8::"`, `"::1:2:3:4:5:6:7:8"`, `"1:2:3:4:5:6:1.2.3.4"`, `"1:2:3:4:5:6:7:1.2.3.4"`, `"::12345"`, `"::g"`, `"fe80::1%eth0"`, `"1.2.3.4/8"`, `" 1.2.3.4"`, `"1..2.3"`, `"::1.2.3"`, `"FE80::ABC"`, `null`,
	}},
	"effect":        {[]string{`"NoSchedule"`, `"NoExecute"`, `"PreferNoSchedule"`, `""`}, []string{`"NoRun"`, `null`}},
	"preemption":    {[]string{`"Never"`, `"PreemptLowerPriority"`}, []string{`""`, `"never"`, `null`}},
	"procMount":     {[]string{`"Default"`}, []string{`""`, `"Unmasked"`, `"x"`, `null`}},
	"capability":    {[]string{`"NET_ADMIN"`}, []string{`"CAP_SYS_ADMIN"`, `"SYS_ADMIN"`}},
	"bool":          {[]string{`true`, `false`}, []string{`null`}},
	"image":         {[]string{`"i"`, `"i:latest"`, `"r.io/a/b@sha256:x"`}, []string{`""`, `" i"`, `"i\n"`, `" "`, `null`, `"\u00a0i"`}},
	"pullPolicy":    {[]string{`"Always"`, `"IfNotPresent"`, `"Never"`}, []string{`""`, `null`, `"always"`, `"Sometimes"`}},
	"messagePolicy": {[]string{`"File"`, `"FallbackToLogsOnError"`}, []string{`""`, `null`, `"file"`}},
	"port":          {[]string{`80`, `1`, `65535`, `8080`, `255`}, []string{`0`, `-1`, `65536`, `2147483647`, `256`, `null`}},
	"portName":      {[]string{`"http"`, `"a-1"`, `"0a"`, `"web"`}, []string{`""`, `"HTTP"`, `"8080"`, `"a--b"`, `"-a"`, `"a-"`, `"abcdefghijklmnop"`, `"a_b"`, `"\u00e9"`, `"http"`, `"--"`}},
	"portOrName":    {[]string{`80`, `"http"`, `65535`}, []string{`0`, `-1`, `70000`, `"80"`, `""`, `"a--b"`, `null`, `"A"`}},
	"ip":            {[]string{`"127.0.0.1"`, `""`}, []string{`null`, `"x"`}},
	"protocol":      {[]string{`"TCP"`, `"UDP"`, `"SCTP"`}, []string{`""`, `"tcp"`, `"HTTP"`, `null`}},
	"envName":       {[]string{`"A"`, `"a.b-c"`, `"_x"`, `"A"`}, []string{`""`, `"1A"`, `"a=b"`, `"a b"`, `"\u00e9"`, `"a\u007f"`, `".."`, `"..a"`, `"."`, `null`}},
	"text":          {[]string{`"x"`, `"a/b"`}, []string{`""`, `null`}},
	"fieldVersion":  {[]string{`"v1"`, `""`}, []string{`"v2"`, `null`}},
	"fieldPath": {[]string{`"metadata.name"`, `"metadata.namespace"`, `"metadata.uid"`, `"metadata.labels['a']"`, `"metadata.annotations['A/b']"`}, []string{
		`""`, `"metadata.labels"`, `"metadata.annotations"`, `"spec.host"`, `"spec.nodeName"`, `"status.podIP"`, `"status.hostIPs"`, `"status.phase"`, `"spec.restartPolicy"`,
		`"metadata.labels['']"`, `"metadata.labels['a b']"`, `"metadata.annotations['A B']"`, `"metadata.name['a']"`, `"x"`, `"['a']"`, `"a']"`, `"metadata.labels['a/b/c']"`,
		`"metadata.labels['A.b/` + strings.Repeat("a", 64) + `']"`, `"metadata.labels['['']"`, `null`,
	}},
	"resourcePath": {[]string{`"limits.cpu"`, `"requests.memory"`, `"limits.ephemeral-storage"`, `"requests.hugepages-2Mi"`, `"limits.hugepages-x"`}, []string{`""`, `"cpu"`, `"limits.gpu"`, `"requests.hugepages"`, `null`}},
	"divisor":      {[]string{`"1"`, `1`, `"0"`, `"1Mi"`, `"1k"`}, []string{`"1m"`, `"2"`, `"1024Ki"`, `"1e3"`, `"1000"`, `"0.001"`, `"1n"`, `"-1"`, `"+1"`, `"001"`, `null`, `"1e30"`}},
	"quantity": {[]string{`"1"`, `1`, `"2Mi"`, `"500m"`, `"1Gi"`, `"100Mi"`, `"4Mi"`, `"2"`}, []string{
		`"0"`, `"-1"`, `"0.5"`, `1.5`, `"1.5Gi"`, `"1500m"`, `"1e3"`, `"1E"`, `"1e-3"`, `"1u"`, `"0.0001"`, `"1024Mi"`, `"1025"`, `"3Mi"`, `"1.5Mi"`, `"1000"`, `"1k"`, `"-0.5Gi"`,
		`"+5"`, `"005"`, `"1.500"`, `"0.1Ki"`, `"9223372036854775807"`, `"123456789012345678"`, `"12E"`, `"1.1Ti"`, `"00"`, `null`, `"2048Ki"`, `"10n"`, `"1Ei"`, `1e2`, `"12345Pi"`, `"1e10"`, `" 1 "`, `".5"`, `"5."`,
	}},
	"label":        {[]string{`"a"`, `"a-b"`}, []string{`""`, `"A"`, `"a.b"`, longLabel, `null`}},
	"subdomain":    {[]string{`"a"`, `"a.b-c"`}, []string{`""`, `"A"`, `"a."`, `"a-"`, `"a_b"`, `"-"`, `"A-"`, longName, `null`}},
	"configKey":    {[]string{`"a"`, `"A.b_c-d"`}, []string{`""`, `"a/b"`, `"."`, `".."`, `"..a"`, longName, `null`}},
	"localPath":    {[]string{`"a"`, `"a/b"`, `"b"`, `"c"`, `"d/e"`}, []string{`""`, `"/a"`, `".."`, `"../a"`, `"a/../b"`, `"..a"`, `"/../a"`, `null`, `"a"`}},
	"mountPath":    {[]string{`"/a"`, `"/b"`, `"/c"`, `"d"`, `"/e"`}, []string{`""`, `"/a"`, `"/../x"`, `null`}},
	"volumeName":   {[]string{`"v0"`, `"v1"`, `"v2"`, `"v3"`}, []string{`""`, `"v0"`, `"A"`, `"a.b"`, longLabel, `null`, `"nobody"`}},
	"claimName":    {[]string{`"c"`, `"A_"`}, []string{`""`, `"a-v0"`, `null`}},
	"propagation":  {[]string{`"None"`, `"HostToContainer"`}, []string{`""`, `"Bidirectional"`, `"none"`, `null`}},
	"recursive":    {[]string{`"Disabled"`}, []string{`""`, `"Enabled"`, `"IfPossible"`, `"Maybe"`, `null`}},
	"count":        {[]string{`1`, `0`, `30`}, []string{`-1`, `31`, `2`, `2147483647`, `-2147483648`, `null`}},
	"scheme":       {[]string{`"HTTP"`, `"HTTPS"`}, []string{`""`, `"http"`, `"FTP"`, `null`}},
	"headerName":   {[]string{`"X-A"`, `"a1"`}, []string{`""`, `"a b"`, `"a_b"`, `":authority"`, `null`}},
	"hostPathType": {[]string{`""`, `"Directory"`, `"Socket"`, `"CharDevice"`}, []string{`"directory"`, `"Dir"`, `null`}},
	"mode":         {[]string{`0`, `420`, `511`}, []string{`512`, `-1`, `777`, `null`}},
	"expiration":   {[]string{`600`, `3600`}, []string{`599`, `0`, `4294967296`, `4294967297`, `-1`, `null`}},
	"driver":       {[]string{`"a.csi.io"`, `"A.b"`}, []string{`""`, `"a_b"`, `"` + strings.Repeat("a", 64) + `"`, `null`}},
}

// podFields compares what is refused of n manifests whose Pods have fields of all kinds, on the
// roads of the API server and of a kubelet.
func (c *comparison) podFields(t *testing.T, n int) {
	sets := len(gateSets(c.release.Minor()))
	shown := 0
	done := 0
	c.eachGateSet(t, func(set gateSet, _ policy.Features) {
		for i, end := 0, done+n/sets+1; done < end; i++ {
			g := generate(c.seed+11, i)
			text := g.fields()
			done++
			c.validated++
			c.compareAdmission(t, &shown, fmt.Sprintf("fields of Pods, case %d, %v: %s", i, set, text), text, set)
			if strings.Contains(string(text), `"kind":"Pod"`) && i%4 == 0 {
				c.static++
				what := fmt.Sprintf("fields of static Pods, case %d, %v: %s", i, set, text)
				c.compareAnswer(t, &shown, what, c.release.Static(text), set, text, map[string]any{"static": true})
			}
		}
	})
}

// fields returns a manifest with fields of many kinds in its Pod.
func (g *generator) fields() []byte {
	spec := g.object("PodSpec", 2)
	containers := g.listOf("Container", 1+g.r.IntN(2), 3)
	policy := ""
	kind, labels := `"apiVersion":"v1","kind":"Pod","spec":SPEC`, pick(g, ``, `,"labels":{"app":"a"}`, `,"labels":{"app":"a b","_":"x","a":"1"}`)
	if g.oneIn(2) {
		kind = strings.Replace(pick(g, kinds[0], kinds[1], kinds[3], kinds[4], kinds[6], kinds[7], kinds[8], statefulSet, statefulSet),
			"TEMPLATE", `{"metadata":{"labels":{"app":"a"}},"spec":SPEC}`, 1)
		if strings.Contains(kind, "JOB") {
			kind, policy = strings.Replace(kind, "JOB", "", 1), `"restartPolicy":"Never",`
		}
	}
	claims := pick(g, ``, `"volumeClaimTemplates":[{"metadata":{"name":"v1"},"spec":`+claimSpec+`}],`, `"volumeClaimTemplates":[{"metadata":{"name":"V"},"spec":`+claimSpec+`}],`)
	kind = strings.Replace(kind, "CLAIMS", claims, 1)
	text := strings.Replace(spec, "{", `{`+policy+`"containers":`+containers+`,`, 1)
	text = strings.Replace(text, ",}", "}", 1)
	return []byte(`{"metadata":{"name":"a","namespace":"default"` + labels + `},` + strings.Replace(kind, "SPEC", text, 1) + `}`)
}

const (
	claimSpec   = `{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}`
	statefulSet = `"apiVersion":"apps/v1","kind":"StatefulSet","spec":{"serviceName":"a",CLAIMS"selector":{"matchLabels":{"app":"a"}},"template":TEMPLATE}`
)

// object returns an object of a shape, with few of the fields that it need not have.
func (g *generator) object(name string, depth int) string {
	var b strings.Builder
	b.WriteString("{")
	if name == "Container" || name == "EphemeralContainer" {
		fmt.Fprintf(&b, `"name":"c%d",`, g.names)
		g.names++
	}
	lines := strings.Split(strings.TrimSpace(string(shapes[name])), "\n")
	chosen := map[int]bool{}
	for range pick(g, 1, 1, 1, 2, 3) + len(lines)/20 {
		chosen[g.r.IntN(len(lines))] = true
	}
	for i, line := range lines {
		field, what, _ := strings.Cut(strings.TrimSpace(line), " ")
		field, needed := strings.CutPrefix(field, "*")
		if !chosen[i] && (!needed || !g.careful && g.oneIn(12)) {
			continue
		}
		fmt.Fprintf(&b, `"%s":%s,`, field, g.value(what, depth-1))
	}
	return strings.TrimSuffix(b.String(), ",") + "}"
}

func (g *generator) value(what string, depth int) string {
	if elem, list := strings.CutPrefix(what, "[]"); list {
		return g.listOf(elem, pick(g, 0, 1, 1, 2, 3), depth)
	}
	if p, ok := pools[what]; ok {
		if len(p.bad) > 0 && !g.careful && g.oneIn(4) || g.oneIn(25) {
			return pick(g, p.bad...)
		}
		return pick(g, p.good...)
	}
	if !g.careful && g.oneIn(30) {
		return pick(g, "null", "{}")
	}
	return g.object(what, depth)
}

func (g *generator) listOf(what string, n, depth int) string {
	var parts []string
	for range n {
		if !g.careful && g.oneIn(60) {
			parts = append(parts, "null")
		} else {
			parts = append(parts, g.value(what, depth))
		}
	}
	return "[" + strings.Join(parts, ",") + "]"
}
