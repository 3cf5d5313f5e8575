package views

import (
	_ "embed"
	"encoding/json"
	"strconv"
	"strings"
	"sync"
)

//go:embed text.json
var textJSON []byte

// texts is the table of sentences, which the browser's bundle contains as well.
var texts = sync.OnceValue(func() map[string]string {
	var m map[string]string
	if err := json.Unmarshal(textJSON, &m); err != nil {
		panic("views: text.json: " + err.Error())
	}
	return m
})

// say returns the sentence key with each {name} replaced by the value that follows name in pairs. A
// key that is not in the table is shown as its last part, so that a code of a newer core is seen
// and not hidden.
func say(key string, pairs ...string) string {
	s, ok := texts()[key]
	if !ok {
		return key[strings.LastIndexByte(key, '.')+1:]
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		pairs[i] = "{" + pairs[i] + "}"
	}
	return strings.NewReplacer(pairs...).Replace(s)
}

func number(n int) string { return strconv.Itoa(n) }
