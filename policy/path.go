package policy

import "strconv"

// index returns "[i]", the last part of the field path of an element.
func index(i int) string { return "[" + strconv.Itoa(i) + "]" }
