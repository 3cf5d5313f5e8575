package manifest

import (
	"strconv"
	"strings"

	"github.com/podfate/podfate/policy"
)

// Looked says how far the checks look into a manifest, in document order.
type Looked struct {
	// Checked are the fields of which everything is checked that Kubernetes checks of their values,
	// with all that is in them; where that holds for a whole object or list, its path alone.
	Checked Paths
	// NotChecked are the fields that are judged by name and type only: Kubernetes may find more.
	NotChecked Paths
}

// Paths is a list of paths, at most policy.MaxListedPaths of them.
type Paths struct {
	List []string
	More int // how many are not in List
}

func (p *Paths) add(path []byte) {
	if len(p.List) < policy.MaxListedPaths {
		p.List = append(p.List, string(path))
	} else {
		p.More++
	}
}

func (p *Paths) len() int { return len(p.List) + p.More }

// cut drops all but the first n.
func (p *Paths) cut(n int) {
	if n <= len(p.List) {
		p.List, p.More = p.List[:n], 0
	} else {
		p.More = n - len(p.List)
	}
}

// judgedOnCreate lists, by the Go name of its type, the fields of an object that are checked when
// it is created as Kubernetes checks them: whatever the API server can have against such a field,
// it is said. A field of which it checks nothing but the type is among them. A star stands for a
// field with all that is in it; without one, the fields of what is in it are looked up under the
// name of its own type. A field that is not listed is judged by name and type only.
//
// Whoever adds a check adds its field here; the comparison in policy/upstream holds each line to
// the API server: it puts strange values into these fields and excuses only faults of fields that
// are not listed.
const judgedOnCreate = `
CronJob apiVersion kind metadata spec status*
CronJobSpec concurrencyPolicy failedJobsHistoryLimit jobTemplate schedule startingDeadlineSeconds successfulJobsHistoryLimit suspend
DaemonSet apiVersion kind metadata spec status*
DaemonSetSpec minReadySeconds revisionHistoryLimit selector* template updateStrategy*
Deployment apiVersion kind metadata spec status*
DeploymentSpec minReadySeconds paused progressDeadlineSeconds replicas revisionHistoryLimit selector* strategy* template
Job apiVersion kind metadata spec status*
JobSpec activeDeadlineSeconds backoffLimit backoffLimitPerIndex completionMode completions managedBy manualSelector maxFailedIndexes parallelism podFailurePolicy* podReplacementPolicy selector* successPolicy* suspend template ttlSecondsAfterFinished
JobTemplateSpec metadata* spec
ObjectMeta annotations creationTimestamp deletionGracePeriodSeconds deletionTimestamp finalizers generateName generation labels name namespace ownerReferences* selfLink uid
Pod apiVersion kind metadata spec status*
PodTemplate apiVersion kind metadata template
PodTemplateSpec metadata spec
ReplicaSet apiVersion kind metadata spec status*
ReplicaSetSpec minReadySeconds replicas selector* template
ReplicationController apiVersion kind metadata spec status*
ReplicationControllerSpec minReadySeconds replicas selector template
StatefulSet apiVersion kind metadata spec status*
StatefulSetSpec minReadySeconds ordinals* persistentVolumeClaimRetentionPolicy* podManagementPolicy replicas revisionHistoryLimit selector* serviceName template updateStrategy*

AWSElasticBlockStoreVolumeSource fsType partition readOnly volumeID
Affinity nodeAffinity* podAffinity* podAntiAffinity*
AppArmorProfile localhostProfile type
AzureFileVolumeSource readOnly secretName shareName
CSIVolumeSource driver fsType nodePublishSecretRef* readOnly volumeAttributes
CephFSVolumeSource monitors path readOnly secretFile secretRef* user
CinderVolumeSource fsType readOnly secretRef* volumeID
ConfigMapEnvSource name optional
ConfigMapKeySelector key name optional
ConfigMapProjection items name optional
ConfigMapVolumeSource defaultMode items name optional
Container args command env envFrom image imagePullPolicy lifecycle livenessProbe name ports readinessProbe resizePolicy* resources restartPolicy restartPolicyRules* securityContext startupProbe stdin stdinOnce terminationMessagePath terminationMessagePolicy tty volumeDevices volumeMounts workingDir
ContainerPort containerPort hostIP hostPort name protocol
DownwardAPIProjection items
DownwardAPIVolumeFile fieldRef* mode path resourceFieldRef*
DownwardAPIVolumeSource defaultMode items
EmptyDirVolumeSource medium sizeLimit
EnvFromSource configMapRef prefix secretRef
EnvVar name value valueFrom
EnvVarSource configMapKeyRef fieldRef* fileKeyRef resourceFieldRef* secretKeyRef
EphemeralContainer args command env envFrom image imagePullPolicy lifecycle livenessProbe name ports readinessProbe resizePolicy* resources restartPolicy restartPolicyRules* securityContext startupProbe stdin stdinOnce targetContainerName terminationMessagePath terminationMessagePolicy tty volumeDevices volumeMounts workingDir
ExecAction command
FileKeySelector key optional path volumeName
FlexVolumeSource driver fsType options readOnly secretRef*
GCEPersistentDiskVolumeSource fsType partition pdName readOnly
GRPCAction port service
GitRepoVolumeSource directory repository revision
GlusterfsVolumeSource endpoints path readOnly
HTTPGetAction host httpHeaders* path port scheme
HostPathVolumeSource path type
ImageVolumeSource pullPolicy reference
KeyToPath key mode path
Lifecycle postStart preStop
LifecycleHandler exec httpGet sleep* tcpSocket
NFSVolumeSource path readOnly server
PersistentVolumeClaimVolumeSource claimName readOnly
PhotonPersistentDiskVolumeSource fsType pdID
PodSecurityContext appArmorProfile fsGroup fsGroupChangePolicy runAsGroup runAsNonRoot runAsUser seccompProfile supplementalGroups supplementalGroupsPolicy
PodSpec activeDeadlineSeconds affinity automountServiceAccountToken containers dnsConfig* dnsPolicy enableServiceLinks ephemeralContainers hostAliases* hostIPC hostNetwork hostPID hostUsers hostname hostnameOverride imagePullSecrets* initContainers nodeName nodeSelector preemptionPolicy priorityClassName readinessGates* restartPolicy runtimeClassName schedulerName schedulingGates* securityContext serviceAccount serviceAccountName setHostnameAsFQDN shareProcessNamespace subdomain terminationGracePeriodSeconds tolerations* topologySpreadConstraints* volumes
PortworxVolumeSource fsType readOnly volumeID
Probe exec failureThreshold grpc httpGet initialDelaySeconds periodSeconds successThreshold tcpSocket terminationGracePeriodSeconds timeoutSeconds
ProjectedVolumeSource defaultMode sources
RBDVolumeSource fsType image keyring monitors pool readOnly secretRef* user
ResourceRequirements limits requests
ScaleIOVolumeSource fsType gateway protectionDomain readOnly secretRef* sslEnabled storageMode storagePool system volumeName
SeccompProfile localhostProfile type
SecretEnvSource name optional
SecretKeySelector key name optional
SecretProjection items name optional
SecretVolumeSource defaultMode items optional secretName
SecurityContext allowPrivilegeEscalation appArmorProfile capabilities* procMount readOnlyRootFilesystem runAsGroup runAsNonRoot runAsUser seLinuxOptions* seccompProfile
ServiceAccountTokenProjection audience expirationSeconds path
StorageOSVolumeSource fsType readOnly secretRef* volumeName volumeNamespace
TCPSocketAction host port
Volume awsElasticBlockStore azureFile cephfs cinder configMap csi downwardAPI emptyDir flexVolume gcePersistentDisk gitRepo glusterfs hostPath image name nfs persistentVolumeClaim photonPersistentDisk portworxVolume projected rbd scaleIO secret storageos vsphereVolume
VolumeDevice devicePath name
VolumeMount mountPath mountPropagation name readOnly recursiveReadOnly subPath subPathExpr
VolumeProjection configMap downwardAPI secret serviceAccountToken
VsphereVirtualDiskVolumeSource fsType storagePolicyID storagePolicyName volumePath
`

// judgedInTemplates is the same of a template in an object of another kind, whose owner may still
// add to it what is missing before Kubernetes checks it.
const judgedInTemplates = `
JobSpec activeDeadlineSeconds backoffLimit backoffLimitPerIndex completionMode completions managedBy maxFailedIndexes parallelism podFailurePolicy* podReplacementPolicy successPolicy* suspend template ttlSecondsAfterFinished
JobTemplateSpec spec
PodTemplateSpec spec

Container args command name resizePolicy* restartPolicy restartPolicyRules*
EphemeralContainer args command name resizePolicy* restartPolicy restartPolicyRules* targetContainerName
PodSpec activeDeadlineSeconds containers ephemeralContainers initContainers restartPolicy terminationGracePeriodSeconds
`

// judgedOnUpdate is the same of an object that replaces another one.
const judgedOnUpdate = `
CronJob apiVersion kind spec
CronJobSpec jobTemplate
DaemonSet apiVersion kind spec
DaemonSetSpec template
Deployment apiVersion kind spec
DeploymentSpec template
Job apiVersion kind spec
JobSpec activeDeadlineSeconds backoffLimit backoffLimitPerIndex completionMode completions managedBy maxFailedIndexes parallelism podFailurePolicy* podReplacementPolicy successPolicy* suspend template ttlSecondsAfterFinished
JobTemplateSpec spec
Pod apiVersion kind spec
PodTemplate apiVersion kind template
PodTemplateSpec spec
ReplicaSet apiVersion kind spec
ReplicaSetSpec template
ReplicationController apiVersion kind spec
ReplicationControllerSpec template
StatefulSet apiVersion kind spec
StatefulSetSpec template

Container name resizePolicy* restartPolicy restartPolicyRules*
EphemeralContainer name resizePolicy* restartPolicy restartPolicyRules* targetContainerName
PodSpec activeDeadlineSeconds containers ephemeralContainers initContainers restartPolicy terminationGracePeriodSeconds
`

// HowFar returns how far the checks look into v, a manifest of kind without faults of type, in
// Kubernetes 1.minor. update reports that it replaces another one. Fields that are null or unknown
// are in neither list.
func HowFar(v Value, kind string, minor int, update bool) Looked {
	root, known := rootType(kind)
	if !known {
		return Looked{}
	}
	l := looker{table: judgedOnCreate, bit: minorBit(minor)}
	if update {
		l.table = judgedOnUpdate
	}
	l.object(v, root)
	return l.found
}

// tolerations is an annotation that no scheduler reads any more, and that the API server still
// reads as JSON and checks.
//
// Source: ValidateTolerationsInPodAnnotations in pkg/apis/core/validation/validation.go, Kubernetes
// v1.33 to v1.37.
const tolerations = "scheduler.alpha.kubernetes.io/tolerations"

type looker struct {
	table string
	bit   uint8
	path  []byte // of the value that is looked at
	found Looked
}

// judged is how far the value of a field is looked at.
type judged uint8

const (
	byNameAndType judged = iota
	withItsFields
	entirely
)

// row returns the fields of a type that the table lists, with blanks around them; "" if the type is
// not listed.
func (l *looker) row(t typeIndex) string {
	begin := "\n" + t.bareName() + " "
	i := strings.Index(l.table, begin)
	if i < 0 {
		return ""
	}
	row := l.table[i+len(begin)-1:]
	return row[:strings.IndexByte(row, '\n')] + " "
}

func inRow(row, field string) judged {
	i := strings.Index(row, " "+field)
	for i >= 0 {
		switch row = row[i+1+len(field):]; row[0] {
		case ' ':
			return withItsFields
		case '*':
			return entirely
		}
		i = strings.Index(row, " "+field)
	}
	return byNameAndType
}

// value looks at v, of type t, at l.path, and reports whether it is checked with all that is in it.
// Then it has added nothing to the list of what is checked.
func (l *looker) value(v Value, t typeIndex) bool {
	switch row := &typeRows[t]; {
	case row.kind == structType && v.Kind() == Object:
		return l.object(v, t)
	case row.kind == sliceType && v.Kind() == Array && typeRows[row.elem].kind == structType:
		return l.list(v, typeIndex(row.elem))
	}
	return true
}

func (l *looker) object(v Value, t typeIndex) bool {
	row := l.row(t)
	before, parts, whole := l.found.Checked.len(), len(l.path), true
	for m := v.First(); m.Exists(); m = m.Next() {
		field, _ := t.field(m.doc, m.node(), l.bit)
		if field == nil || m.Kind() == Null {
			continue
		}
		l.path = appendName(l.path[:parts], field.text())
		switch how := inRow(row, field.text()); {
		case field.text() == "annotations" && text(m, tolerations) != "":
			l.path = append(append(append(l.path, '['), tolerations...), ']')
			fallthrough
		case how == byNameAndType:
			l.found.NotChecked.add(l.path)
			whole = false
		case how == entirely || l.value(m, field.typ):
			l.found.Checked.add(l.path)
		default:
			whole = false
		}
	}
	l.path = l.path[:parts]
	if whole && parts > 0 {
		l.found.Checked.cut(before) // the object stands for them
	}
	return whole
}

func (l *looker) list(v Value, elem typeIndex) bool {
	before, parts, whole, i := l.found.Checked.len(), len(l.path), true, 0
	for m := v.First(); m.Exists(); m = m.Next() {
		l.path = append(strconv.AppendInt(append(l.path[:parts], '['), int64(i), 10), ']')
		if l.value(m, elem) {
			l.found.Checked.add(l.path)
		} else {
			whole = false
		}
		i++
	}
	l.path = l.path[:parts]
	if whole {
		l.found.Checked.cut(before)
	}
	return whole
}

// Judges reports whether what the API server says about path of an object of kind is said here too:
// each field on the way is checked in Kubernetes 1.minor. A part of path that is no field counts as
// checked: it is a word of the API server, such as the labels that it sees next to the metadata of
// a template.
func Judges(kind, path string, minor int, update bool) bool {
	t, known := rootType(kind)
	if !known {
		return false
	}
	l := looker{table: judgedOnCreate, bit: minorBit(minor)}
	if update {
		l.table = judgedOnUpdate
	}
	for path != "" {
		s, rest, ok := cutStep(path)
		if !ok {
			return true
		}
		path = rest
		if s.index >= 0 {
			if typeRows[t].kind != sliceType {
				return true
			}
			t = typeIndex(typeRows[t].elem)
			continue
		}
		if typeRows[t].kind != structType {
			return true
		}
		field, ok := t.named(s.name, l.bit)
		if !ok {
			return true
		}
		switch inRow(l.row(t), s.name) {
		case byNameAndType:
			return false
		case entirely:
			return true
		}
		t = field
	}
	return true
}

// named returns the type of a field of struct type t.
func (t typeIndex) named(name string, bit uint8) (typeIndex, bool) {
	for _, row := range t.rows() {
		if row.minors&bit != 0 && row.text() == name {
			return row.typ, true
		}
	}
	return 0, false
}
