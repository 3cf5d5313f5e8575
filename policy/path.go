package policy

import "strconv"

// Index returns "[i]", the last part of the field path of an element.
func Index(i int) string { return "[" + strconv.Itoa(i) + "]" }
