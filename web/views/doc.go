// Package views renders the playground's page with templ. A view gets a [Page] and asks nobody
// else: it knows no policy, no engine and no request.
//
// Whoever serves the page fills it in this order:
//
//	form := views.ReadForm(r.PostForm)          // or web.FindExample(id) for GET /?example=ID
//	…build the request JSON with form.Question(), let explain answer it, read the document, give it its places…
//	page := views.Page{Form: form, Answer: &views.Outcome{Document: d}, Module: module, Examples: web.Examples(), Assets: web.Assets()}
//	views.Playground(page).Render(ctx, buffer)
//
// # Why does the document have two painters?
//
// The page is right without JavaScript, so the server renders it; and it answers while the reader
// types, without sending the manifest anywhere, so the browser renders it. Both paint the same
// document, whose words are made in the module, and a test holds their markup together byte for
// byte. Refused: sending fragments from the server (every key stroke would upload the manifest),
// and a template engine that runs in both (more code than the two painters together).
package views
