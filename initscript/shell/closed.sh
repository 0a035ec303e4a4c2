# A shell passes over shims that it cannot reach: no command is found then.
if [ -d @HOME@ ] && ! [ -x @HOME@ ] || [ -d @SHIMS@ ] && ! [ -x @SHIMS@ ]; then
  if [ "${PATH-}" != @SHIMS@ ]; then
    safeshell_path="${PATH-}" PATH=@SHIMS@
    \builtin echo @CLOSED@ >&2
  fi
elif [ -n "${safeshell_path-}" ]; then
  PATH="$safeshell_path"
  \unset safeshell_path
fi
