# Written by safeshell; "safeshell refresh" writes it again.
# Puts safeshell's shims first in PATH and, in an interactive bash, sees to it
# at each prompt that they still are. No output; a process only
# where PATH has changed.
@PATH@
if [[ $- == *i* ]]; then
  function safeshell_prompt {
    \builtin local safeshell_status=$? safeshell_dir safeshell_in safeshell_out safeshell_e
    # PATH is read-only in a restricted shell.
    if [[ $- != *r* ]]; then
      @CLOSING@
      case ${PATH-} in
      @SHIMS@ | @SHIMS@:*) ;;
      *)
        @PATH@
        ;;
      esac
      @FOLLOW@
    fi
    @ALIASES@
    # For what follows in PROMPT_COMMAND; with set -e it would end the shell.
    [[ $- == *e* ]] || \return "$safeshell_status"
  }
  case "${PROMPT_COMMAND[*]-}" in
  *safeshell_prompt*) ;;
  *)
    if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] < 501)); then
      PROMPT_COMMAND="${PROMPT_COMMAND:+$PROMPT_COMMAND
}safeshell_prompt"
    # Corporate profiles make it read-only; assigning would then end the file.
    elif [[ -z ${PROMPT_COMMAND+x} || ${PROMPT_COMMAND@a} != *r* ]]; then
      # An element of its own: bash keeps $? and PIPESTATUS around each, and a
      # later PROMPT_COMMAND=text replaces the first one only.
      PROMPT_COMMAND=("${PROMPT_COMMAND[@]-}" safeshell_prompt)
    fi
    ;;
  esac
else
  :
  @ALIASES@
fi
@FUNCTIONS@
:
