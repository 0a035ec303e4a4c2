#!/bin/sh
# safeshell hook for @NAME@, format 1
# Written by: safeshell agents install @NAME@
# Installing again replaces this file; remove it with: safeshell agents uninstall @NAME@
#
# Cline runs the command when a hook fails in any way, so whatever is not an
# answer of safeshell blocks here: in a form that the model reads where there is
# one, else by cancelling, which ends the run. A shim may be what fails.
binary=@BINARY@
event=$(/bin/cat)
if answer=$(printf '%s\n' "$event" | "$binary" @ARGS@) && [ -n "$answer" ]; then
  printf '%s\n' "$answer"
  exit
fi
case $event in
  *'"tool_call":{'*'"name":"run_commands"'*) printf '%s\n' @RUN@ ;;
  *'"tool_call":{'*'"name":"read_files"'*) printf '%s\n' @READ@ ;;
  *'"tool_call":{'*'"name":"editor"'*) printf '%s\n' @EDIT@ ;;
  *) printf '%s\n' @CANCEL@ ;;
esac
