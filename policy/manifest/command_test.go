package manifest_test

import (
	"encoding/json"
	"testing"

	. "github.com/podfate/podfate/policy/manifest"
)

func TestReadCommand(t *testing.T) {
	for _, test := range []struct {
		script     string
		for_       int64 // milliseconds; -1 forever, -2 not understood
		code       int32
		retriesToo bool
	}{
		{script: "sleep 60 && exit 0", for_: 60_000},
		{script: `echo "Failing initialization" && sleep 10 && exit 1`, for_: 10_000, code: 1},
		{script: "sleep 1800 && exit 0", for_: 1_800_000},
		{script: "sleep 5; exit 42; sleep 7", for_: 5_000, code: 42},
		{script: "false && sleep 10; sleep 1", for_: 1_000},
		{script: "false && sleep 10 && sleep 20", code: 1},
		{script: "true && false && exit 3", code: 1},
		{script: "false; exit", code: 1},
		{script: "sleep 2\nsleep 3 # and no more; exit 1\n\n", for_: 5_000},
		{script: "while true; do sleep 5; done", for_: -1},
		{script: "while true; do sleep 5; exit 7; done; exit 1", for_: 5_000, code: 7},
		{script: "while false; do sleep 5; done; exit 2", code: 2},
		{script: "until true; do sleep 5; done", for_: 0},
		{script: "until sleep 3; do sleep 5; done; sleep 1", for_: 4_000},
		{script: "until false; do echo again; done && exit 1", for_: -1},
		{script: "while true; do while true; do sleep 1; exit 4; done; done", for_: 1_000, code: 4},
		{script: "sleep infinity; exit 1", for_: -1},
		{script: "sleep 0.5; sleep 1m; sleep 1d", for_: 60_500 + 86_400_000},
		{script: "echo 'a; exit 3' \"b && c\"", for_: 0},
		{script: "", for_: 0},
		{script: "until ./worker; do sleep 2; done", for_: -2, retriesToo: true},
		{script: `while ! curl -sf "$URL"; do sleep 2; done`, for_: -2, retriesToo: true},
		{script: "while true; do ./worker || true; sleep 1; done", for_: -2, retriesToo: true},
		{script: "exit 3 ;", code: 3},
		{script: "exit 3\n;", for_: -2}, // a shell that reads line by line gets as far as exit
		{script: ";exit 3", for_: -2},
		{script: "exit 3;;", for_: -2},
		{script: "; ;", for_: -2},
		{script: "true;;false", for_: -2},
		{script: "while true; do done", for_: -2},
		{script: "while true; do # nothing\ndone", for_: -2},
		{script: "while do true; done", for_: -2},
		{script: "while true\ndo\n\nexit 4\ndone", code: 4},
		{script: "while true; do exit 3; 'done'", for_: -2, retriesToo: true},
		{script: `"while" true; do exit 3; done`, for_: -2},
		{script: "';' ; exit 3", for_: -2},
		{script: "'exit' 3", code: 3},
		{script: "until false; do exit; done", code: 1},
		{script: "until false; do true; exit; done", code: 0},
		{script: "false; while exit; do true; done", code: 1},
		{script: "false; until true; do false; done; exit", code: 0},
		{script: "./worker; while true; do sleep 1; done", for_: -2},
		{script: "sleep 5 && ./worker", for_: -2},
		{script: "echo $HOME", for_: -2},
		{script: "echo hello > file", for_: -2},
		{script: "sleep 5 & exit 1", for_: -2},
		{script: "sleep", for_: -2},
		{script: "sleep 5x", for_: -2},
		{script: "sleep 1h30m", for_: -2},
		{script: "sleep -1", for_: -2},
		{script: "exit 256", for_: -2},
		{script: "exit -1", for_: -2},
		{script: "exit 1 2", for_: -2},
		{script: "while true; do sleep 1", for_: -2},
		{script: "done", for_: -2},
		{script: "sleep 1 &&", for_: -2},
		{script: "echo 'open", for_: -2},
		{script: "if true; then exit 1; fi", for_: -2},
	} {
		command, _ := json.Marshal([]string{"/bin/sh", "-c", test.script})
		checkCommand(t, string(command), "null", test.for_, test.code, test.retriesToo)
	}
	checkCommand(t, `["sleep"]`, `["3600"]`, 3_600_000, 0, false)
	checkCommand(t, `["/bin/false"]`, `null`, 0, 1, false)
	checkCommand(t, `["sleep","1;","exit"]`, `null`, -2, 0, false)
	checkCommand(t, `null`, `["sleep","1"]`, -2, 0, false)
	checkCommand(t, `[]`, `[]`, -2, 0, false)
	checkCommand(t, `["sh"]`, `["-c","exit 3"]`, 0, 3, false)
	checkCommand(t, `["sh","-ec","exit 3"]`, `null`, -2, 0, false)
	checkCommand(t, `["/bin/until"]`, `null`, -2, 0, false)
}

func checkCommand(t *testing.T, command, args string, want int64, code int32, retries bool) {
	t.Helper()
	v, err := Parse([]byte(`{"command":` + command + `,"args":` + args + `}`))
	if err != nil {
		t.Fatal(err)
	}
	run, ok, again := ReadCommand(v.Get("command"), v.Get("args"))
	got := int64(run.For)
	switch {
	case !ok:
		got, run.Code = -2, 0
	case run.For == Endless:
		got, run.Code = -1, 0
	}
	if got != want || run.Code != code || again != retries {
		t.Errorf("%s %s: %d %d %t, want %d %d %t", command, args, got, run.Code, again, want, code, retries)
	}
}

func FuzzReadCommand(f *testing.F) {
	f.Add("until ./worker; do sleep 2; done && while true; do exit 3")
	f.Fuzz(func(t *testing.T, script string) {
		command, _ := json.Marshal([]string{"sh", "-c", script})
		v, err := Parse([]byte(`{"command":` + string(command) + `}`))
		if err != nil {
			return
		}
		run, ok, _ := ReadCommand(v.Get("command"), Value{})
		if ok && (run.For < 0 || run.For > Endless || run.Code < 0 || run.Code > 255) {
			t.Errorf("%q: %+v", script, run)
		}
	})
}
