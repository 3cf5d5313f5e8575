package main

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	kubeletv1beta1 "k8s.io/kubelet/config/v1beta1"

	"github.com/podfate/podfate/policy/upstream/fields/differ"
)

func TestCheckFieldsIsTheDecoder(t *testing.T) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		corev1.AddToScheme, batchv1.AddToScheme, appsv1.AddToScheme, kubeletv1beta1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	decode := func(text []byte, strict bool) error {
		options := json.SerializerOptions{Strict: strict}
		_, _, err := json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme, scheme, options).Decode(text, nil, nil)
		return err
	}
	differ.Run(t, minor, decode, roots...)
}
