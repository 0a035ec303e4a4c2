#compdef safeshell
# zsh completion for safeshell: from a directory of $fpath as _safeshell, or by eval.
_safeshell() {
  local line word
  local -a lines list
  lines=("${(@f)$(command safeshell __complete zsh "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null </dev/null)}")
  case $lines[1] in
    words)
      for line in "${(@)lines[2,-1]}"; do
        word=${line%%$'\t'*}
        word=${word//\\/\\\\}
        [[ -z $word ]] || list+=("${word//:/\\:}:${line#*$'\t'}")
      done
      _describe -t safeshell 'safeshell' list
      ;;
    files | dirs)
      [[ $PREFIX != --*=* ]] || compset -P '*='
      if [[ $lines[1] == dirs ]]; then _files -/; else _files; fi
      ;;
    'command '*)
      local -i at=$(( ${lines[1]#command } + 2 ))
      words=("${(@)words[at,-1]}")
      (( CURRENT -= at - 1 ))
      _normal
      ;;
  esac
}
if [[ ${funcstack[1]-} == _safeshell ]]; then
  _safeshell "$@"
elif (( $+functions[compdef] )); then
  compdef _safeshell safeshell
fi
