// Package trash is a FreeDesktop.org trash (specification 1.0) with a front
// that takes rm's command line and answers as GNU rm does.
package trash
