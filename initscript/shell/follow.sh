# What was installed since the shims were made gets its own.
safeshell_in="${PATH-}:"
while [ -n "$safeshell_in" ]; do
  safeshell_e="${safeshell_in%%:*}" safeshell_in="${safeshell_in#*:}"
  case $safeshell_e in
  @SHIMS@) ;;
  /*)
    if [ "$safeshell_e" -nt @SEEN@ ] && [ -x @BINARY@ ]; then
      @BINARY@ refresh --added --quiet </dev/null >/dev/null 2>&1 || :
      PATH="$PATH"
      break
    fi
    ;;
  esac
done
# Where there are other shims than before, the shell forgets where programs were.
safeshell_e=
if [ -r @SEEN@ ]; then
  IFS= \builtin read -r safeshell_e < @SEEN@ || :
fi
if [ "$safeshell_e" != "${safeshell_made-}" ]; then
  safeshell_made="$safeshell_e"
  PATH="$PATH"
fi
