module github.com/podfate/podfate/policy/upstream/fields

go 1.26.0

require github.com/podfate/podfate v0.0.0

replace github.com/podfate/podfate => ../../..
