# bash completion for safeshell; from 3.2 on, with or without bash-completion.
_safeshell() {
  local out line kind='' at=0
  COMPREPLY=()
  { out=$(command safeshell __complete bash "${COMP_LINE:0:COMP_POINT}" "${COMP_TYPE-}" "${COLUMNS-}" "$COMP_WORDBREAKS" </dev/null) || out=; } 2>/dev/null
  while IFS= read -r line; do
    if [[ -n $kind ]]; then COMPREPLY+=("$line"); else kind=$line; fi
  done <<<"$out"
  case $kind in
    words | dirs) type compopt >/dev/null 2>&1 && compopt +o default ;;
  esac
  case $kind in
    dirs) type compopt >/dev/null 2>&1 && compopt -o dirnames ;;
    command\ *)
      _safeshell_word "${kind#command }"
      if declare -F _comp_command_offset >/dev/null; then
        _comp_command_offset "$at"
      elif declare -F _command_offset >/dev/null; then
        _command_offset "$at"
      elif [[ $at -eq $COMP_CWORD ]]; then
        while IFS= read -r line; do COMPREPLY+=("$line"); done <<<"$(compgen -c -- "${COMP_WORDS[COMP_CWORD]}")"
      fi
      ;;
  esac
  return 0
}
# _safeshell_word finds the word that ends behind a byte of the line.
_safeshell_word() {
  local LC_ALL=C rest=$COMP_LINE
  for ((at = 0; at < COMP_CWORD; at++)); do
    rest=${rest#*"${COMP_WORDS[at]}"}
    [[ $((${#COMP_LINE} - ${#rest})) -le $1 ]] || break
  done
}
complete -o default -F _safeshell safeshell
