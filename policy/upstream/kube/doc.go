// Package kube answers the questions of policy/upstream/diff with the code of Kubernetes.
//
// It is one module for all releases and holds what they have in common; an [Adapter] brings the few
// functions that differ. It cannot be built on its own: the modules v1.33, v1.34 … say which
// release it is linked with.
package kube
