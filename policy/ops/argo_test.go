package ops

import (
	"strconv"
	"strings"
	"testing"
)

// expressions are what github.com/expr-lang/expr v1.16.9, which argo-workflows v3.6.2 asks, makes
// of them for the exit codes -1 to 255, the status Failed and 12 seconds: t for true, f for false,
// e for an error, each with how many codes follow one another. unknown are those that are not
// judged here; a duration that nobody knows leaves some of the others open.
var expressions = []struct {
	text, real string
	unknown    bool
}{
	{"asInt(lastRetry.exitCode) > 1", "f3 t254", false},
	{`asInt(lastRetry.exitCode) >= 2 && lastRetry.status == "Failed"`, "f3 t254", false},
	{`lastRetry.exitCode == "1"`, "f2 t1 f254", false},
	{"lastRetry.exitCode != '2'", "t3 f1 t253", false},
	{`lastRetry.status == "Error" || lastRetry.exitCode in ["137", "143"]`, "f138 t1 f5 t1 f112", false},
	{`lastRetry.status == "Error" or lastRetry.status == "Failed" and asInt(lastRetry.exitCode) not in [1, 2]`, "t2 f2 t253", false},
	{"!(asInt(lastRetry.exitCode) == 3)", "t4 f1 t252", false},
	{"not (asInt(lastRetry.exitCode) == 3) || false", "t4 f1 t252", false},
	{"asInt(lastRetry.exitCode) == -1", "t1 f256", false},
	{"int(lastRetry.exitCode) < 128", "t129 f128", false},
	{"asFloat(lastRetry.exitCode) <= 64", "t66 f191", false},
	{"true", "t257", false},
	{"false || asInt(lastRetry.exitCode) == 7 && asInt(lastRetry.duration) < 20", "f8 t1 f248", false},
	{"asInt(lastRetry.duration) < 20", "t257", false},
	{`asInt(lastRetry.duration) < 5 && lastRetry.exitCode == "1"`, "f257", false},
	{`lastRetry.duration == "12"`, "t257", false},
	{`"1" == lastRetry.exitCode`, "f2 t1 f254", false},
	{"2 < asInt(lastRetry.exitCode)", "f4 t253", false},
	{"asFloat(lastRetry.exitCode) in [1, 2]", "f2 t2 f253", false},
	{"float(lastRetry.exitCode) == 3", "f4 t1 f252", false},
	{"lastRetry.exitCode == 1", "f257", true},
	{"lastRetry.exitCode > 1", "e257", true},
	{`lastRetry.exitCode < "2"`, "t3 f8 t10 f80 t100 f56", true},
	{"!asInt(lastRetry.exitCode) == 1", "e257", true},
	{"not true == false", "t257", true},
	{"!true or true", "t257", false},
	{"asInt(retries) < 2", "t257", true},
	{`lastRetry.message == "x"`, "f257", true},
	{"asInt(lastRetry.exitCode) + 1 == 2", "f2 t1 f254", true},
	{`lastRetry.exitCode matches "1.*"`, "t1 f1 t1 f8 t10 f1 t1 f9 t1 f9 t1 f9 t1 f9 t1 f9 t1 f9 t1 f9 t1 f8 t100 f1 t1 f8 t10 f1 t1 f9 t1 f9 t1 f9 t1 f4", true},
	{"lastRetry.exitCode in []", "f257", false},
	{"(true", "e257", true},
	{"1 == 1", "t257", false},
	{`"a" == "a"`, "t257", false},
	{"asInt(lastRetry.exitCode) in [1, 2, ]", "f2 t2 f253", false},
	{`asInt("7") == asInt(lastRetry.exitCode)`, "f8 t1 f248", false},
	{"asInt(lastRetry.exitCode) == 1 ? true : false", "f2 t1 f254", true},
	{"not not true", "t257", false},
	{`!!(lastRetry.exitCode == "1")`, "f2 t1 f254", false},
	{"true && false || true", "t257", false},
	{"true || false && false", "t257", false},
	{`lastRetry.exitCode == "a\"b"`, "f257", true},
	{"asInt(lastRetry.exitCode) == 01", "f2 t1 f254", true},
	{"asInt(lastRetry.exitCode)==1||asInt(lastRetry.exitCode)==2", "f2 t2 f253", false},
	{`lastRetry.exitCode not in ["1"]`, "t2 f1 t254", false},
	{"asInt( lastRetry.exitCode ) == - 1", "t1 f256", false},
	{"asInt(lastRetry.exitCode) == --1", "f2 t1 f254", true},
	{`asInt(lastRetry.exitCode) in [1, "2"]`, "f2 t1 f254", true},
	{`int(lastRetry.exitCode) in [int("1"), 5]`, "f2 t1 f3 t1 f250", false},
	{"lastRetry.status == 'Failed' && (asInt(lastRetry.exitCode) == 1 || (lastRetry.exitCode == '2'))", "f2 t2 f253", false},
	{"asInt(lastRetry.duration) < 20 || true", "t257", false},
	{"true &&", "e257", true},
	{"not true", "f257", false},
	{"nottrue", "e257", true},
	{"lastRetry.exitCode == lastRetry.exitCode", "t257", false},
	{"lastRetry.exitCode == lastRetry.duration", "f13 t1 f243", false},
	{"lastRetry.status != lastRetry.exitCode", "t257", false},
	{"1.0 == 1", "t257", true},
	{`lastRetry['exitCode'] == "1"`, "f2 t1 f254", true},
	{"lastRetry.exitCode == `1`", "f2 t1 f254", true},
	{"// c", "e257", true},
	{"true // comment", "t257", true},
	{"asInt(1) == 1", "t257", true},
	{"int(1) == 1", "t257", true},
	{"asInt(lastRetry.status) == 1", "e257", true},
	{`true and not (lastRetry.exitCode == "5")`, "t6 f1 t250", false},
	{"not (true) == false", "t257", true},
	{"!(true) == false", "t257", true},
	{`not(lastRetry.exitCode == "5")`, "t6 f1 t250", false},
}

// TestExpressionsOfRetries holds what is judged of a retryStrategy's expression to the interpreter
// of Argo's controller.
func TestExpressionsOfRetries(t *testing.T) {
	for _, test := range expressions {
		var real string
		for _, run := range strings.Fields(test.real) {
			n, err := strconv.Atoi(run[1:])
			if err != nil {
				t.Fatal(err)
			}
			real += strings.Repeat(run[:1], n)
		}
		for _, seconds := range []int64{12, -1} {
			for code := int64(-1); code < codes; code++ {
				x := condition{text: test.text, code: code, seconds: seconds}
				got := x.judge()
				if got == isUnknown {
					if !test.unknown && (seconds >= 0 || x.why != unknownDuration) {
						t.Errorf("%s with %d after %d s: not judged, %s", test.text, code, seconds, x.why)
					}
					continue
				}
				if want := real[code+1]; test.unknown || (got == isTrue) != (want == 't') || want == 'e' {
					t.Errorf("%s with %d after %d s: %d, the controller says %c", test.text, code, seconds, got, want)
				}
			}
		}
	}
	x := condition{text: strings.Repeat("(", maxParentheses+1) + "true" + strings.Repeat(")", maxParentheses+1)}
	if got := x.judge(); got != isUnknown || x.why != unknownCondition {
		t.Errorf("parentheses too deep are judged: %d", got)
	}
	x = condition{text: "true" + strings.Repeat(" ", maxExpression)}
	if got := x.judge(); got != isUnknown || x.why != unknownCondition {
		t.Errorf("an expression too long is judged: %d", got)
	}
}
