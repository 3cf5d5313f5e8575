// Command v1.37 writes the types of Kubernetes 1.37 as JSON; see the generator next to it.
package main

import (
	"log"
	"os"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	kubeletv1beta1 "k8s.io/kubelet/config/v1beta1"

	"github.com/podfate/podfate/policy/upstream/fields/dump"
)

const minor = 37

// roots are the types of whole objects that package manifest checks.
var roots = []any{
	corev1.Pod{}, corev1.PodTemplate{}, corev1.ReplicationController{}, batchv1.Job{}, batchv1.CronJob{},
	appsv1.Deployment{}, appsv1.ReplicaSet{}, appsv1.StatefulSet{}, appsv1.DaemonSet{},
	kubeletv1beta1.KubeletConfiguration{},
}

func main() {
	if err := dump.Write(os.Stdout, minor, roots...); err != nil {
		log.Fatal(err)
	}
}
