// Package web is the face of Tower in a browser and the one API behind every face: it serves a single
// HTML document assembled at start from ui/*, answers the routes of routes.go, and guards the doors
// through which they are reached.
//
// It shows what an [Engine] publishes and sends Commands back; it decides nothing about a session and
// keeps no picture of its own beyond an index of what it has already told. Only tray imports it: app.go
// builds it, and the command line takes the page of a ticket from it.
//
// # Doors
//
//	tower.sock  programs of the same user    proven by the kernel (peer uid and pid)
//	TCP page    a signed-in browser          HttpOnly Strict cookie AND page key in a header
//	TCP script  a bearer token               off until it is turned on through the socket
//
// A browser signs in with a ticket (once, within 30 s, minted through the socket) or with the password,
// if one is set. TCP means loopback, without exception; Host and Origin are checked on every request, so
// that neither a foreign page nor a rebound name reaches anything.
//
// # Never
//
// It never listens beyond loopback, never answers a foreign origin, never stores a secret in the clear,
// never loads anything from outside its own document, and never turns a field of a request into a path,
// a flag or a word of a shell: the one folder a request may name goes to the engine as it is, which looks
// at it. The environment it passes to a launcher it neither keeps nor logs.
package web
