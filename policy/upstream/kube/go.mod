// Built only as a part of the modules beside it, each of which chooses a release of Kubernetes. A requirement here
// would be a lower bound for all of them, so there is none.
module github.com/podfate/podfate/policy/upstream/kube

go 1.26.0
