package cli

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/podfate/podfate/schema"
)

// maxPodsBytes bounds a file of Pods: ten thousand as kubectl prints them.
const maxPodsBytes = 64 << 20

// readPods reads Pods from a file for the member pods of a request.
func readPods(name string, in io.Reader) (json.RawMessage, error) {
	texts, err := openBounded([]string{name}, in, maxPodsBytes)
	if err != nil {
		return nil, err
	}
	pods := []json.RawMessage{}
	for _, t := range texts {
		if len(t.content) > maxPodsBytes {
			return nil, fmt.Errorf("%s: more than %d MiB", t.name, maxPodsBytes>>20)
		}
		array, err := schema.ReadPods(t.name, t.content)
		if err != nil {
			return nil, err
		}
		var list []json.RawMessage
		if err := json.Unmarshal(array, &list); err != nil {
			return nil, err
		}
		pods = append(pods, list...)
	}
	return encode(pods), nil
}
