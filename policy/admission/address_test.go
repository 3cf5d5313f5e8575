package admission

import (
	"net"
	"net/netip"
	"testing"
)

// FuzzAddress holds the reader of addresses to the two of Go: what is right in the strict sense
// netip says, and of what it refuses only zeros in front are excused otherwise.
func FuzzAddress(f *testing.F) {
	for _, s := range []string{
		"", ".", ":", "::", "127.0.0.1", "1.2.3", "1.2.3.4.5", "256.1.1.1", "010.2.3.4", "1.2.3.00", "::1", "1::", ":1", "1:", "1::2::3", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8:9",
		"1:2:3:4:5:6:7::", "::1:2:3:4:5:6:7:8", "::ffff:1.2.3.4", "::ffff:01.2.3.4", "0:0:0:0:0:ffff:102:304", "1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:7:1.2.3.4", "::1.2.3", "00001::", "::12345",
		"FE80::ABC", "fe80::1%eth0", "1.2.3.4/8", " 1.2.3.4", "::ffff:1:2", "1.2.3.4:", "::1.2.3.4:5", "1:2::3:4:5:6:7.8.9.10",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		addr, err := netip.ParseAddr(s)
		want := err == nil && addr.Zone() == "" && !addr.Is4In6()
		if faults := addressFaults(s, true); (len(faults) == 0) != want {
			t.Fatalf("%q, strictly: %q, netip says %v", s, faults, err)
		}
		faults := addressFaults(s, false)
		if net.ParseIP(s) != nil && len(faults) > 0 {
			t.Fatalf("%q: %q", s, faults)
		}
		if a := (address{rest: s}); len(faults) == 0 && net.ParseIP(s) == nil && !(a.read() && a.zeros) {
			t.Fatalf("%q is taken, but by no one else", s)
		}
	})
}
