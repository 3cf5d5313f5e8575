// Package plugins holds the tests of the packages in its folders, and nothing else: go test
// ./plugins runs what each language brings (its own tests, its example, its conformance runner) and
// compares the runners' lines with the native core's.
//
// One file of tests per language. A language whose runtime is not installed is left out by name,
// and fails with PODFATE_REQUIRE=all.
package plugins
