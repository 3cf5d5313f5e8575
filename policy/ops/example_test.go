package ops_test

import (
	"fmt"

	"github.com/podfate/podfate/policy/ops"
)

// Every front asks like this: the number of an operation and one JSON object.
func ExampleCall() {
	curve, _ := ops.Lookup("curve")
	answer, failed := ops.Call(curve.Number, []byte(`{"run": {"for": "soon"}}`))
	fmt.Println(failed)
	fmt.Printf("%.60s…\n", answer)
	// Output:
	// true
	// {"error":{"code":"EVENT_INVALID","num":4,"message":"run.for:…
}
