# Written by safeshell; "safeshell refresh" writes it again.
# Puts safeshell's shims first in PATH and, in an interactive fish, sees to it
# at each prompt that they still are. No output, no process.
function safeshell_prompt --on-event fish_prompt
    if set -q PATH[1]; and test "$PATH[1]" != @SHIMS@; and test -x @BINARY@
        set -l first @SHIMS@
        for entry in $PATH
            test "$entry" = "$first[1]"; or set -a first $entry
        end
        set -gx PATH $first
    end
end
safeshell_prompt
@FUNCTIONS@
true
