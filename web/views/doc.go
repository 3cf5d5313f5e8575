// Package views renders the playground's page with templ. A view gets a [Page] and asks nobody else: it knows no
// policy, no engine and no request.
//
// Whoever serves the page fills it in this order:
//
//	form := views.ReadForm(r.PostForm)          // or web.FindExample(id) for GET /?example=ID
//	exits, fault := form.ParseExits()           // simulate: ParseRuns; fault: show views.Refuse(form.Operation(), fault) as the answer
//	…build the request JSON, call operation form.Operation()…
//	answer, err := views.ReadAnswer(form.Operation(), request, reply, locate)
//	page := views.Page{Form: form, Answer: answer, Module: module, Examples: web.Examples(), Assets: web.Assets()}
//	views.Playground(page).Render(ctx, buffer)
//
// # Why does the answer have two renderers?
//
// The page is right without JavaScript, so the server renders it; and it answers while one types, without sending the
// manifest anywhere, so the browser renders it too. Both take their words from text.json, and a test renders the same
// answers with both and compares the HTML. The drawing of a timeline is made of integers, so that it is the same to the
// byte. Refused: sending fragments from the server (every key stroke would upload the manifest), a template engine that
// runs in both (more code than the two renderers together).
package views
