# Written by safeshell; "safeshell refresh" writes it again.
# The alias of source and . comes here with the builtin's name, the file and
# its arguments; the file is then read in the caller's own scope.
if [[ $# -lt 2 ]]; then
  \builtin source
  \return
fi
[[ ! -x @BINARY@ ]] || @BINARY@ exec --builtin -- @NAME@ "${@:2}" </dev/null || case $? in 127) ;; *) \return $? ;; esac
safeshell_name=$1 safeshell_file=$2
shift 2
case $safeshell_name in
.) \builtin . "$safeshell_file" "$@" ;;
*) \builtin source "$safeshell_file" "$@" ;;
esac
\eval "\\unset safeshell_name safeshell_file; \\return $?"
