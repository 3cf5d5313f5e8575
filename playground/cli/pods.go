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
	from, err := openSources([]string{name}, in)
	if err != nil {
		return nil, err
	}
	defer from.close()
	pods := []json.RawMessage{}
	err = from.walk(walker{file: func(name string, in io.ReadSeeker) error {
		content, err := io.ReadAll(io.LimitReader(in, maxPodsBytes+1))
		if err != nil {
			return fileError(err)
		}
		if len(content) > maxPodsBytes {
			return fmt.Errorf("%s: more than %d MiB", name, maxPodsBytes>>20)
		}
		array, err := schema.ReadPods(name, content)
		if err != nil {
			return err
		}
		var list []json.RawMessage
		if err := json.Unmarshal(array, &list); err != nil {
			return err
		}
		pods = append(pods, list...)
		return nil
	}})
	if err != nil {
		return nil, err
	}
	return encode(pods), nil
}
