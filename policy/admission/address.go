package admission

import "github.com/podfate/podfate/policy"

// addressFaults checks an IP address; strict reports that forms which programs read differently are
// refused: zeros in front of numbers, and IPv4 in the clothes of IPv6.
//
// Source: parseIP in k8s.io/apimachinery v0.33 to v0.37, pkg/util/validation/ip.go; ParseIPSloppy
// in k8s.io/utils, internal/third_party/forked/golang/net/ip.go.
func addressFaults(s string, strict bool) []string {
	a := address{rest: s}
	switch {
	case !a.read():
		return []string{"must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"}
	case strict && a.zeros:
		return []string{"must not have leading 0s"}
	case strict && a.mapped:
		return []string{"must not be an IPv4-mapped IPv6 address"}
	}
	return nil
}

// address reads an IP address from the front of rest.
type address struct {
	rest   string
	zeros  bool // a number is longer than it need be
	mapped bool // ::ffff:0:0/96
}

func (a *address) read() bool {
	for i := range len(a.rest) {
		switch a.rest[i] {
		case '.':
			return a.four() && a.rest == ""
		case ':':
			return a.six()
		}
	}
	return false
}

// skip reads c and reports whether it was there.
func (a *address) skip(c byte) bool {
	if a.rest == "" || a.rest[0] != c {
		return false
	}
	a.rest = a.rest[1:]
	return true
}

// number reads a number of at most max, with any zeros in front.
func (a *address) number(base, max int) (n int, ok bool) {
	i := 0
	for ; i < len(a.rest); i++ {
		digit := 16
		switch c := policy.Lower(a.rest[i]); {
		case c >= '0' && c <= '9':
			digit = int(c - '0')
		case c >= 'a' && c <= 'f':
			digit = int(c-'a') + 10
		}
		if digit >= base {
			break
		}
		if n = n*base + digit; n > max {
			return n, false
		}
	}
	if base == 10 && i > 1 && a.rest[0] == '0' || i > 4 {
		a.zeros = true
	}
	a.rest = a.rest[i:]
	return n, i > 0
}

// four reads the four numbers of an IPv4 address.
func (a *address) four() bool {
	for i := range 4 {
		if i > 0 && !a.skip('.') {
			return false
		}
		if _, ok := a.number(10, 255); !ok {
			return false
		}
	}
	return true
}

// six reads an IPv6 address, whose last 32 bits may be written as IPv4.
func (a *address) six() bool {
	const words = 8
	var groups [words]int
	gap, n := -1, 0
	if len(a.rest) > 1 && a.rest[:2] == "::" {
		gap, a.rest = 0, a.rest[2:]
	}
	for a.rest != "" && n < words {
		before := *a
		group, ok := a.number(16, 0xFFFF)
		if i := len(before.rest) - len(a.rest); ok && a.rest != "" && before.rest[i] == '.' {
			*a = before
			if gap < 0 && n != words-2 || n > words-2 || !a.four() {
				return false
			}
			n += 2
			break
		}
		if !ok {
			return false
		}
		groups[n] = group
		if n++; a.rest == "" {
			break
		}
		if !a.skip(':') || a.rest == "" {
			return false
		}
		if a.rest[0] == ':' {
			if gap >= 0 {
				return false
			}
			gap, a.rest = n, a.rest[1:]
		}
	}
	if a.rest != "" || (n == words) == (gap >= 0) {
		return false
	}
	if gap >= 0 {
		copy(groups[words-n+gap:], groups[gap:n])
		clear(groups[gap : words-n+gap])
	}
	a.mapped = groups == [words]int{5: 0xFFFF, 6: groups[6], 7: groups[7]}
	return true
}
