// Command bundle writes web/static: it bundles the page's scripts from bundle/src, with the npm
// package yaml, copies that package's licence, and collects the sentences and the examples. With
// -check it writes nothing and fails if a file would change.
//
//	go run ./web/bundle       from the root of the project; runs npm ci in this folder the first time
//
// The same sources give the same bytes: versions are pinned in package-lock.json and go.mod.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

func main() {
	check := flag.Bool("check", false, "write nothing; fail if a file would change")
	flag.Parse()
	if err := run(*check); err != nil {
		fmt.Fprintln(os.Stderr, "bundle:", err)
		os.Exit(1)
	}
}

func run(check bool) error {
	folder, err := sourceFolder()
	if err != nil {
		return err
	}
	if err := installPackages(folder); err != nil {
		return err
	}
	files, err := build(folder)
	if err != nil {
		return err
	}
	static := filepath.Join(folder, "..", "static")
	for _, f := range files {
		path := filepath.Join(static, f.name)
		if !check {
			if err := os.WriteFile(path, f.content, 0o644); err != nil {
				return err
			}
			continue
		}
		committed, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if !bytes.Equal(committed, f.content) {
			return fmt.Errorf("static/%s is not what its sources give; run go generate ./web", f.name)
		}
	}
	return nil
}

// sourceFolder returns the folder of this file, wherever the program is started.
func sourceFolder() (string, error) {
	for _, folder := range []string{"web/bundle", "bundle", "."} {
		if _, err := os.Stat(filepath.Join(folder, "src", "app.js")); err == nil {
			return filepath.Abs(folder)
		}
	}
	if _, file, _, ok := runtime.Caller(0); ok {
		return filepath.Dir(file), nil
	}
	return "", errors.New("start it from the root of the project")
}

// installPackages runs npm ci if there are no packages, so that generating works in a fresh clone.
func installPackages(folder string) error {
	if _, err := os.Stat(filepath.Join(folder, "node_modules", "yaml", "package.json")); err == nil {
		return nil
	}
	npm := exec.Command("npm", "ci")
	npm.Dir, npm.Stdout, npm.Stderr = folder, os.Stderr, os.Stderr
	return npm.Run()
}

// output is a file of web/static.
type output struct {
	name    string
	content []byte
}

// build makes the files that are derived from folder.
func build(folder string) ([]output, error) {
	licence, err := os.ReadFile(filepath.Join(folder, "node_modules", "yaml", "LICENSE"))
	if err != nil {
		return nil, fmt.Errorf("%w (run npm ci in web/bundle)", err)
	}
	files, err := bundle(folder, "app.js", "early.js", "worker.js", "embed.js", "embed-run.js", "frame.js", "link.js", "sw.js", "yaml-entry.js")
	if err != nil {
		return nil, err
	}
	data, err := pageData(filepath.Join(folder, ".."))
	if err != nil {
		return nil, err
	}
	notice := "worker.js and yaml.js contain the npm package yaml (https://eemeli.org/yaml):\n\n" + string(licence)
	return append(files, output{"page.json", data}, output{"licences.txt", []byte(notice)}), nil
}

// bundle bundles entries of folder/src.
func bundle(folder string, entries ...string) ([]output, error) {
	var points []string
	for _, entry := range entries {
		points = append(points, filepath.Join(folder, "src", entry))
	}
	result := api.Build(api.BuildOptions{
		AbsWorkingDir:     folder,
		EntryPoints:       points,
		Outdir:            filepath.Join(folder, "..", "static"),
		Bundle:            true,
		Format:            api.FormatESModule,
		Platform:          api.PlatformBrowser,
		Target:            api.ES2022,
		Charset:           api.CharsetASCII, // a copy served without a charset is read all the same
		MinifyWhitespace:  true,
		MinifyIdentifiers: true,
		MinifySyntax:      true,
		MangleProps:       private,
		LegalComments:     api.LegalCommentsNone, // the licence is in a file of its own
		Banner:            map[string]string{"js": "/* Podfate, Apache-2.0. Packages in it: /static/licences.txt */"},
		External:          []string{"node:*", "./embed-run.js"}, // read under Node.js only; loaded when an embed is asked
		Plugins:           []api.Plugin{leavesOut(folder), embedSheet(folder)},
	})
	var messages []string
	for _, m := range append(result.Errors, result.Warnings...) {
		messages = append(messages, m.Text)
	}
	if len(messages) > 0 {
		return nil, errors.New(strings.Join(messages, "; "))
	}
	var files []output
	for _, f := range result.OutputFiles {
		name := filepath.Base(f.Path)
		if name == "yaml-entry.js" {
			name = "yaml.js" // src/yaml.js is the reader alone
		}
		files = append(files, output{name, f.Contents})
	}
	return files, nil
}

var shared = regexp.MustCompile(`(?s)/\* embed: begin \*/(.*?)/\* embed: end \*/`)

// embedSheet gives embed.css: the parts of the page's sheet that answers need, for the shadow root
// of an embed, and rules of its own.
func embedSheet(folder string) api.Plugin {
	return api.Plugin{Name: "embed-sheet", Setup: func(b api.PluginBuild) {
		b.OnResolve(api.OnResolveOptions{Filter: `^embed\.css$`}, func(api.OnResolveArgs) (api.OnResolveResult, error) {
			return api.OnResolveResult{Path: filepath.Join(folder, "src", "embed.css"), Namespace: "sheet"}, nil
		})
		b.OnLoad(api.OnLoadOptions{Filter: `.*`, Namespace: "sheet"}, func(a api.OnLoadArgs) (api.OnLoadResult, error) {
			own, err := os.ReadFile(a.Path)
			if err != nil {
				return api.OnLoadResult{}, err
			}
			page, err := os.ReadFile(filepath.Join(folder, "..", "static", "style.css"))
			if err != nil {
				return api.OnLoadResult{}, err
			}
			var text strings.Builder
			for _, match := range shared.FindAllSubmatch(page, -1) {
				text.WriteString(strings.ReplaceAll(string(match[1]), ":root", ":host"))
			}
			text.Write(own)
			small := api.Transform(text.String(), api.TransformOptions{Loader: api.LoaderCSS, MinifyWhitespace: true, MinifySyntax: true})
			if len(small.Errors) > 0 {
				return api.OnLoadResult{}, errors.New(small.Errors[0].Text)
			}
			contents := string(small.Code)
			return api.OnLoadResult{Contents: &contents, Loader: api.LoaderText}, nil
		})
	}}
}

// pageData is what the scripts of the page load besides the module: the sentences that the server
// uses too, and the examples, so that the menu works when the server is gone. They are no code,
// change with every word, and are the same for the browser and the server; outside the scripts they
// are loaded at the same time as the module.
func pageData(web string) ([]byte, error) {
	sentences, err := os.ReadFile(filepath.Join(web, "views", "text.json"))
	if err != nil {
		return nil, err
	}
	index, err := os.ReadFile(filepath.Join(web, "examples", "index.json"))
	if err != nil {
		return nil, err
	}
	var entries []map[string]any
	if err := json.Unmarshal(index, &entries); err != nil {
		return nil, err
	}
	for _, e := range entries {
		for _, ofGallery := range []string{"group", "answer", "source"} {
			delete(e, ofGallery)
		}
		names := map[string]string{"manifest": ".yaml"}
		if e["pods"] != nil {
			names["pods"] = ".pods.yaml"
		}
		for member, suffix := range names {
			text, err := os.ReadFile(filepath.Join(web, "examples", fmt.Sprint(e["id"])+suffix))
			if err != nil {
				return nil, err
			}
			e[member] = string(text)
		}
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err = encoder.Encode(map[string]any{"texts": json.RawMessage(sentences), "examples": entries})
	return b.Bytes(), err
}

// private are properties that the package yaml uses only on its own objects, by name and never as
// text. Shorter names make the bundle one kilobyte smaller.
const private = `^(?:at(?:Directives|IndentedComment|NewLine|Scalar)|block(?:ScalarIndent|ScalarKeep)|comment(?:Before|Sep)|continueScalar|decorate|explicitKey|flow(?:Key|Level)|getLine|has(?:Chars|Newline)|keepSourceTokens|` +
	`indent(?:Next|Value)|lineEndPos|newlineAfterProp|on(?:KeyLine|NewLine)|parentIndent|parse(?:Block(?:Scalar|ScalarHeader|Start)|Document|FlowCollection|LineStart|Next|PlainScalar|QuotedScalar|Stream)|prelude|push(?:Count|Indicators|Newline|Spaces|Tag|ToIndex|Until)|setNext|` +
	`sourceToken|spaceBefore|srcToken|start(?:BlockValue|OnNewline))$`

// unused are the parts of the package yaml that write YAML, build nodes from values, and resolve
// scalars in ways that are not Kubernetes'. Reading needs none of them.
var unused = regexp.MustCompile(`[/\\]yaml[/\\]browser[/\\]dist[/\\](?:stringify[/\\].*|schema[/\\].*|doc[/\\](?:applyReviver|createNode|anchors)|` +
	`nodes[/\\](?:addPairToJSMap|toJS|Collection)|parse[/\\]cst-(?:visit|stringify)|visit|log|public-api)\.js$`)

// replaced are the files of yaml whose classes src/yaml-nodes.js has without their methods;
// src/yaml-composer.js stands in for another.
const replaced = `/(?:directives|Document|Alias|Node|Pair|Scalar|YAMLMap|YAMLSeq)\.js$`

var exported = regexp.MustCompile(`(?m)^export \{([^}]*)\};$`)

// leavesOut replaces the unused files of yaml by ones that export the same names without content,
// and its classes by lean ones: together two thirds of the package. A call of what is not there
// would fail loudly, and the tests run what is bundled.
func leavesOut(folder string) api.Plugin {
	return api.Plugin{Name: "leaves-out", Setup: func(b api.PluginBuild) {
		b.OnResolve(api.OnResolveOptions{Filter: replaced}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
			if !strings.Contains(filepath.ToSlash(a.Importer), "/yaml/browser/") {
				return api.OnResolveResult{}, nil
			}
			return api.OnResolveResult{Path: filepath.Join(folder, "src", "yaml-nodes.js")}, nil
		})
		b.OnResolve(api.OnResolveOptions{Filter: `/composer\.js$`}, func(api.OnResolveArgs) (api.OnResolveResult, error) {
			return api.OnResolveResult{Path: filepath.Join(folder, "src", "yaml-composer.js")}, nil
		})
		b.OnLoad(api.OnLoadOptions{Filter: unused.String()}, func(a api.OnLoadArgs) (api.OnLoadResult, error) {
			source, err := os.ReadFile(a.Path)
			if err != nil {
				return api.OnLoadResult{}, err
			}
			var names []string
			for _, match := range exported.FindAllStringSubmatch(string(source), -1) {
				for _, name := range strings.Split(match[1], ",") {
					name = strings.TrimSpace(name)
					if _, as, renamed := strings.Cut(name, " as "); renamed {
						name = as
					}
					names = append(names, name)
				}
			}
			slices.Sort(names)
			var text strings.Builder
			for _, name := range names {
				fmt.Fprintf(&text, "export const %s = undefined;\n", name)
			}
			contents := text.String()
			return api.OnLoadResult{Contents: &contents, Loader: api.LoaderJS}, nil
		})
	}}
}
