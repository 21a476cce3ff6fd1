// Package main is the program tower: the command line, the tower itself and its icon in the menu bar.
//
// main.go only calls run. app.go is the one place of the house that knows every part and wires them:
// it takes the lock of the home, builds engine, page, popups and icon, in that order, lets them run in
// one group, and takes them down together. systray.go is the icon; menu (pure) and icon (drawing) are
// what it shows. Nothing imports this package.
package main
