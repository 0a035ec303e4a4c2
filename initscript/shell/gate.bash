# Written by safeshell; "safeshell refresh" writes it again.
# The alias of source and . comes here with the builtin's name, the file and
# its arguments; the file is then read in the caller's own scope.
# No if, function or subshell: after one, bash has closed the pipe of
# `source <(command)`. Not by way of builtin: that would heed set -e in
# `source file || command`.
[[ $# -gt 1 ]] || \builtin source || \return
[[ ! -x @BINARY@ ]] || @BINARY@ exec --builtin -- @NAME@ "${@:2}" </dev/null || case $? in 127) ;; *) \return $? ;; esac
safeshell_file=$2
shift 2
\source "$safeshell_file" "$@"
\eval "\\unset safeshell_file; \\return $?"
