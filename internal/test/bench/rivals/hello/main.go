// Command hello is the smallest Go program: what starting any Go process costs.
package main

func main() {}
