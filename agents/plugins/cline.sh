#!/bin/sh
# safeshell hook for @NAME@, format 1
# Written by: safeshell agents install @NAME@
# Installing again replaces this file; remove it with: safeshell agents uninstall @NAME@
#
# Cline runs the command when a hook fails in any way, so whatever is not an
# answer of safeshell cancels here.
binary=@BINARY@
if answer=$("$binary" @ARGS@) && [ -n "$answer" ]; then
  printf '%s\n' "$answer"
else
  printf '%s\n' '{"cancel":true,"errorMessage":"[SafeShell] BLOCKED: safeshell could not be run. Tell the user to run: safeshell agents doctor @NAME@"}'
fi
