package wasm_test

import (
	"context"
	"fmt"

	"github.com/podfate/podfate/wasm"
)

// The module answers as package ops does, byte for byte.
func ExampleHost_Call() {
	ctx := context.Background()
	host, err := wasm.New(ctx, wasm.Options{Interpreter: true}) // without it the module is compiled first
	if err != nil {
		fmt.Println(err)
		return
	}
	defer host.Close(ctx)
	const describe = 1
	answer, err := host.Call(ctx, describe, []byte(`{}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(answer.Failed, answer.JSON[0] == '{')
	// Output:
	// false true
}
