package schema_test

import (
	"fmt"

	"github.com/podfate/podfate/policy/ops"
	"github.com/podfate/podfate/schema"
)

// A manifest in YAML becomes a request, and a place in the answer becomes a line of the YAML.
func ExampleRead() {
	request, err := schema.Read([]byte(`apiVersion: v1
kind: Pod
metadata:
  name: trainer
spec:
  restartPolicy: Sometimes
  containers:
  - name: main
    image: trainer
`), schema.Overrides{Version: "1.36"})
	if err != nil {
		fmt.Println(err)
		return
	}
	validate, _ := ops.Lookup("validate")
	answer, _ := ops.Call(validate.Number, request.JSON())
	fmt.Printf("%.70s…\n", request.Relocate(answer))
	_, line, column := request.Position(schema.InManifest("spec.restartPolicy"))
	fmt.Println(line, column)
	// Output:
	// {"valid":false,"faults":[{"path":"spec.restartPolicy","type":"Unsuppor…
	// 6 18
}
