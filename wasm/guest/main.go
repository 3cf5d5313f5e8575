package main

// main is empty: a reactor is initialised once and then only answers its exports.
func main() {}
