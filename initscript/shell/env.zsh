# Written by safeshell; "safeshell refresh" writes it again.
# Puts safeshell's shims first in PATH and, in an interactive zsh, sees to it
# at each prompt that they still are. No output; a process only
# where PATH has changed.
function {
  \builtin emulate -L zsh
  \builtin local safeshell_dir safeshell_in safeshell_out safeshell_e
  @PATH@
}
if [[ -o interactive ]]; then
  # zsh itself keeps the status and pipestatus around its hooks.
  function safeshell_prompt {
    \builtin emulate -L zsh
    \builtin local safeshell_dir safeshell_in safeshell_out safeshell_e
    @CLOSING@
    case ${PATH-} in
    @SHIMS@ | @SHIMS@:*) ;;
    *)
      @PATH@
      ;;
    esac
    @FOLLOW@
  }
  \builtin typeset -ga precmd_functions
  function {
    \builtin emulate -L zsh
    precmd_functions=(${precmd_functions:#safeshell_prompt} safeshell_prompt)
  }
  @ALIASES@
fi
@FUNCTIONS@
:
