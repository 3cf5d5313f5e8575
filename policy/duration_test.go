package policy_test

import (
	"strings"
	"testing"
	"time"

	. "github.com/podfate/podfate/policy"
)

var durations = []string{
	"0", "+0", "-0", "0s", "10s", "+10s", "-10s", "1m30.5s", "1h2m3s4ms5us6µs7μs8ns", ".5s", "5.s", "1.000000001s", "100",
	"", "-", "s", ".", ".s", "1", "1d", "1 s", " 1s", "1s ", "10seconds", "1S", "1.5.5s", "1m-2s", "2562047h47m16.854775807s",
	"2562047h47m16.854775808s", "-2562047h47m16.854775808s", "-2562047h47m16.854775809s", "9223372036854775808ns",
	"-9223372036854775808ns", "9223372036854775809ns", "99999999999999999999s", "1e3s", "0x10s", "1\"s", "1\\", "1é", "1\x00",
	"0.3333333333333333333h", "0.9223372036854775807s", "0.99999999999999999999s", "300.0009s", "5m0s", "8766000h", "1�", "١s",
	"9223372036854775808", "9223372036854775809x", "1.9223372036854775809x", "0.1000000000000000000000000000000000ms",
}

// ParseDuration is time.ParseDuration, errors included.
func TestParseDuration(t *testing.T) {
	for _, s := range durations {
		checkDuration(t, s)
	}
}

func FuzzParseDuration(f *testing.F) {
	for _, s := range durations {
		f.Add(s)
	}
	f.Fuzz(checkDuration)
}

func checkDuration(t *testing.T, s string) {
	if len(s) > MaxQuotedBytes || strings.ToValidUTF8(s, "") != s {
		return // requests are valid UTF-8; long texts are cut in messages
	}
	want, err := time.ParseDuration(s)
	message := ""
	if err != nil {
		message = err.Error()
	}
	got, gotMessage := ParseDuration(s)
	if int64(got) != int64(want) || gotMessage != message {
		t.Errorf("%q: got %d %q, want %d %q", s, got, gotMessage, want, message)
	}
	ms, _, detail := ParseMillis(s)
	// ParseMillis is exact; package time may lose a nanosecond with each fraction.
	if off := want - time.Duration(ms)*time.Millisecond; detail == "" && err == nil && off.Abs() > time.Duration(len(s)) {
		t.Errorf("%q: %d ms, %v", s, ms, want)
	}
	if detail == "" && (ms < 0 || ms > MaxHorizon) {
		t.Errorf("%q: %d ms", s, ms)
	}
}

func TestParseMillis(t *testing.T) {
	for _, test := range []struct {
		text string
		want Millis
		ok   bool
	}{
		{"10s", 10_000, true}, {"0", 0, true}, {"-0s", 0, true}, {"250ms", 250, true}, {"0.25s", 250, true}, {"1h30m", 5_400_000, true},
		{"1us", 0, false}, {"1000us", 1, true}, {"0.0005s", 0, false}, {"0.5ms0.5ms", 1, true}, {"8766000h", MaxHorizon, true},
		{"8766000h1ms", 0, false}, {"-1s", 0, false}, {"-0.1ms", 0, false}, {"10", 0, false}, {"", 0, false}, {"1d", 0, false},
		{"9999999999999999999999h", 0, false}, {"9223372036854775808h", 0, false}, {"0.0000000000001h", 0, false},
		{"9223372036854775808h9223372036854775808h9223372036854775808h", 0, false}, {"0.1000000000000000000000000s", 100, true},
	} {
		if got, _, detail := ParseMillis(test.text); got != test.want || (detail == "") != test.ok {
			t.Errorf("%q: got %d %q", test.text, got, detail)
		}
	}
}

// The texts were printed by ValidateKubeletConfiguration of v1.36.3.
func TestKubeletConfiguration(t *testing.T) {
	const outside = "invalid configuration: CrashLoopBackOff.MaxContainerRestartPeriod (got: "
	for _, test := range []struct {
		gate   bool
		period string
		want   string
	}{
		{true, "", ""},
		{false, "", ""},
		{true, "1s", ""},
		{true, "300s", ""},
		{true, "300.0009s", ""},
		{true, "301s", outside + "301 seconds) must be set between 1s and 300s"},
		{true, "300.9s", outside + "300.9 seconds) must be set between 1s and 300s"},
		{true, "0.999s", outside + "0.999 seconds) must be set between 1s and 300s"},
		{true, "0s", outside + "0 seconds) must be set between 1s and 300s"},
		{true, "-1s", outside + "-1 seconds) must be set between 1s and 300s"},
		{true, "300h", outside + "1.08e+06 seconds) must be set between 1s and 300s"},
		{false, "10s", "invalid configuration: FeatureGate KubeletCrashLoopBackOffMax not enabled, CrashLoopBackOff.MaxContainerRestartPeriod must not be set"},
	} {
		k := KubeletConfiguration{}
		if test.period != "" {
			d, message := ParseDuration(test.period)
			if message != "" {
				t.Fatal(message)
			}
			k.MaxContainerRestartPeriod = &d
		}
		got := ""
		for _, fault := range k.Validate(Features{KubeletCrashLoopBackOffMax: test.gate}, "x.") {
			got += fault.Message
		}
		if got != test.want {
			t.Errorf("%v %q: %q", test.gate, test.period, got)
		}
	}
}
