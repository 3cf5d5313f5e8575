package manifest

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/podfate/podfate/policy"
)

var timeSeeds = []string{
	"", "Z", "2024", "2024-", "2024-02-29T00:00:00Z", "2023-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2000-02-29T00:00:00Z",
	"2024-01-02T03:04:05Z", "2024-01-02T3:04:05Z", "2024-01-02T03:4:05Z", "2024-1-02T03:04:05Z", "2024-01-2T03:04:05Z", "2024-13-01T00:00:00Z", "2024-00-01T00:00:00Z",
	"2024-01-00T00:00:00Z", "2024-01-32T00:00:00Z", "2024-04-31T00:00:00Z", "2024-01-02T24:00:00Z", "2024-01-02T23:60:00Z", "2024-01-02T23:59:60Z", "2024-01-02T03:04:05.123Z",
	"2024-01-02T03:04:05,123456789123Z", "2024-01-02T03:04:05.Z", "2024-01-02T03:04:05", "2024-01-02T03:04:05z", "2024-01-02T03:04:05+01:00", "2024-01-02T03:04:05-24:60", "2024-01-02T03:04:05+25:00",
	"2024-01-02T03:04:05+00:61", "2024-01-02T03:04:05+25:61", "2024-01-02T03:04:05+25:x1", "2024-01-02T03:04:05?25:00", "2024-01-02T03:04:05?01:00", "2024-01-02T03:04:05+0100", "2024-01-02T03:04:05+01:0",
	"2024-01-02T03:04:05Z ", " 2024-01-02T03:04:05Z", "2024-01-02 03:04:05Z", "2024-01-02t03:04:05Z", "20a4-01-02T03:04:05Z", "+024-01-02T03:04:05Z", "2024-01-02T03:04:05Zé\"\\\n", "\x00", "\xff", "\ufffd",
	"2024-01-02T03:04:05+xx:00", "2024-01-02T03:04:05+01-00", "2024-99-99T99:99:99+99:99", "2024-01-02T1",
}

func TestTimeFault(t *testing.T) {
	for _, s := range timeSeeds {
		checkTime(t, s)
	}
	for day := -719528; day < 2932897; day += 27 { // of all years that four digits write
		checkTime(t, time.Unix(int64(day)*86400, 123e6).UTC().Format(time.RFC3339Nano))
	}
	for _, s := range []string{"0000-01-01T00:00:00Z", "0000-02-29T00:00:00.1239Z", "0000-03-01T00:00:00,5+23:59", "9999-12-31T23:59:59-24:60"} {
		checkTime(t, s)
	}
}

func checkTime(t *testing.T, s string) {
	t.Helper()
	want, at := "", int64(0)
	if parsed, err := time.Parse(time.RFC3339, s); err != nil {
		want = err.Error()
	} else {
		at = parsed.UnixMilli()
	}
	if millis, got := ParseTime(s); got != want || millis != at {
		t.Errorf("%q:\ngot  %d %s\nwant %d %s", s, millis, got, at, want)
	}
}

func TestOverflowsFloat64(t *testing.T) {
	lexemes := []string{
		"0", "-0", "1", "1e308", "1e309", "-1e309", "1.7976931348623157e308", "1.7976931348623158e308", "1.7976931348623159e308", "-1.7976931348623159e308",
		"17976931348623157e292", "0.17976931348623159e309", "0.000000001e317", "0.000000001e318", "0.0e400", "0e400", "1e-400", "2e308", "1.8e308", "1.79e308", "1.797693134862315807e308", "1.797693134862315808e308",
		"1.79769313486231580793728971405303415079934132710037826936173e308", "1.79769313486231580793728971405303415079934132710037826936174e308", "9e400", "0.1e309", "0.2e309", "00001", "179.76931348623157e306", "10e307", "10E+308", "1.7976931348623158079e308",
	}
	for _, s := range lexemes {
		checkFloat(t, s)
	}
	for i := range 400 {
		checkFloat(t, strings.Repeat("9", 1+i%60)+"e"+strconv.Itoa(i))
		checkFloat(t, "1797693134862315"+strconv.Itoa(i)+"e"+strconv.Itoa(290))
	}
}

func checkFloat(t *testing.T, s string) {
	t.Helper()
	_, err := strconv.ParseFloat(s, 64)
	if got := overflowsFloat64(s); got != (err != nil) {
		t.Errorf("%s: got %t, want %t", s, got, err != nil)
	}
}

func TestTrimSpace(t *testing.T) {
	for r := range rune(0x3100) {
		for _, s := range []string{string(r), string(r) + "a" + string(r), "a" + string(r) + "b"} {
			if got, want := trimSpace(s), strings.TrimSpace(s); got != want {
				t.Errorf("%q: got %q, want %q", s, got, want)
			}
		}
	}
}

func FuzzTime(f *testing.F) {
	for _, s := range timeSeeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > policy.MaxQuotedBytes { // cut in the error
			return
		}
		checkTime(t, s)
	})
}
