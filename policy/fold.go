package policy

// EqualFold reports whether two texts differ at most in the case of ASCII letters, which is all
// that field names and gates have. The function of that name in package strings brings the tables
// of Unicode into the module.
func EqualFold(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		if Lower(a[i]) != Lower(b[i]) {
			return false
		}
	}
	return true
}

// Lower returns an ASCII letter in lower case and every other byte as it is.
func Lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c | 0x20
	}
	return c
}
