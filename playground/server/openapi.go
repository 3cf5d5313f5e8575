package server

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/podfate/podfate/policy/ops"
	"github.com/podfate/podfate/schema"
)

// schemaFiles returns the schemas as files below /schema/v1/.
func schemaFiles() (map[string]*file, error) {
	files, err := filesOf(schema.FS())
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		f.contentType = "application/schema+json"
	}
	return files, nil
}

// object is a JSON object that is written with its names in order.
type object = map[string]any

// openAPIDocument builds the description of the API, OpenAPI 3.1, from the table of operations and
// the schemas: nothing in it is written down a second time.
func openAPIDocument() ([]byte, error) {
	components, err := componentSchemas()
	if err != nil {
		return nil, err
	}
	paths := object{}
	for _, op := range ops.Table() {
		for _, part := range []string{"-request", "-answer"} {
			if components[op.Name+part] == nil { // a test of package schema holds the two together
				components[op.Name+part] = object{"type": "object"}
			}
		}
		item := object{"post": operationObject(op, "", object{"requestBody": requestBody(op)})}
		if op.Number == opDescribe {
			item["get"] = operationObject(op, "get-", nil)
		}
		paths[operationPath(op)] = item
	}
	return json.MarshalIndent(object{
		"openapi":           "3.1.0",
		"jsonSchemaDialect": "https://json-schema.org/draft/2020-12/schema",
		"info": object{
			"title":       "Podfate",
			"summary":     "What will Kubernetes do when this container exits?",
			"description": "The same operations as the command line and the WebAssembly module, with the same bytes as answers. A body in YAML may be a stream of documents: manifests, a KubeletConfiguration, a Scenario; the places in its answer are those in the YAML text.",
			"version":     ops.SchemaVersion,
			"license":     object{"name": "Apache-2.0", "identifier": "Apache-2.0"},
		},
		"servers":    []object{{"url": "/"}},
		"paths":      paths,
		"components": object{"schemas": components, "responses": problemResponses()},
	}, "", " ")
}

// operationObject describes one method of an operation's path.
func operationObject(op ops.Operation, prefix string, extra object) object {
	responses := object{"200": object{
		"description": "The answer.",
		"content":     object{"application/json": object{"schema": reference("schemas", op.Name+"-answer")}},
	}}
	for status := range problemResponses() {
		responses[status] = reference("responses", status)
	}
	o := object{"operationId": prefix + op.Name, "summary": op.Summary, "responses": responses}
	for name, value := range extra {
		o[name] = value
	}
	return o
}

func requestBody(op ops.Operation) object {
	content := object{}
	for mediaType := range documents.types {
		content[mediaType] = object{"schema": reference("schemas", op.Name+"-request")}
	}
	for mediaType, kind := range documents.types {
		if kind == mediaYAML { // a stream of documents is more than the request's schema can say
			content[mediaType] = object{"schema": object{"description": "One request, or a stream of documents that make up one."}}
		}
	}
	return object{"required": op.Number != opDescribe, "content": content}
}

// problemResponses describes the problem documents, one for each status.
func problemResponses() object {
	titles := map[int][]string{}
	for code, p := range problems {
		titles[p.status] = append(titles[p.status], code+": "+p.title+".")
	}
	responses := object{}
	for status, list := range titles {
		slices.Sort(list)
		response := object{
			"description": strings.Join(list, "\n"),
			"content":     object{"application/problem+json": object{"schema": reference("schemas", "problem")}},
		}
		if status == 503 {
			response["headers"] = object{"Retry-After": object{"description": "Seconds.", "schema": object{"type": "integer"}}}
		}
		responses[strconv.Itoa(status)] = response
	}
	return responses
}

func reference(section, name string) object {
	return object{"$ref": "#/components/" + section + "/" + name}
}

// componentSchemas returns the schemas with their references turned into ones of this document:
// many tools follow nothing else.
func componentSchemas() (object, error) {
	components := object{}
	for _, name := range schema.Names() {
		text, err := fs.ReadFile(schema.FS(), name+schema.Suffix)
		if err != nil {
			return nil, err
		}
		var s object
		if err := json.Unmarshal(text, &s); err != nil {
			return nil, fmt.Errorf("schema %s: %w", name, err)
		}
		delete(s, "$schema")
		delete(s, "$id")
		rebase(s, name)
		components[name] = s
	}
	return components, nil
}

// rebase turns the references in a part of schema name.
func rebase(part any, name string) {
	switch part := part.(type) {
	case object:
		if ref, ok := part["$ref"].(string); ok {
			file, pointer, _ := strings.Cut(ref, "#")
			if file == "" {
				file = name + schema.Suffix
			}
			part["$ref"] = "#/components/schemas/" + strings.TrimSuffix(file, schema.Suffix) + pointer
		}
		for _, child := range part {
			rebase(child, name)
		}
	case []any:
		for _, child := range part {
			rebase(child, name)
		}
	}
}
