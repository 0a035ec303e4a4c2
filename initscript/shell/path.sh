# All is quoted: zsh with GLOB_SUBST expands an unquoted "~" or "=x".
if [ -n "${PATH-}" ] && [ -x @BINARY@ ]; then
  safeshell_dir=@SHIMS@
  case $PATH in
  "$safeshell_dir" | "$safeshell_dir":*)
    # Assigned all the same: it makes the shell forget where programs were.
    PATH="$PATH"
    ;;
  *)
    safeshell_in="$PATH:" safeshell_out=
    while [ -n "$safeshell_in" ]; do
      safeshell_e="${safeshell_in%%:*}" safeshell_in="${safeshell_in#*:}"
      [ "$safeshell_e" = "$safeshell_dir" ] || safeshell_out="$safeshell_out:$safeshell_e"
    done
    PATH="$safeshell_dir$safeshell_out"
    \unset safeshell_in safeshell_out safeshell_e
    ;;
  esac
  \export PATH
  \unset safeshell_dir
fi
