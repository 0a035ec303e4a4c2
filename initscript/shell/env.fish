# Written by safeshell; "safeshell refresh" writes it again.
# Puts safeshell's shims first in PATH and, in an interactive fish, sees to it
# at each prompt that they still are. No output; a process only
# where PATH has changed.
function safeshell_prompt --on-event fish_prompt
    # A shell passes over shims that it cannot reach: no command is found then.
    if begin; test -d @HOME@; and not test -x @HOME@; end; or begin; test -d @SHIMS@; and not test -x @SHIMS@; end
        if test "$PATH" != @SHIMS@
            set -g safeshell_path $PATH
            set -gx PATH @SHIMS@
            echo @CLOSED@ >&2
        end
        return
    else if set -q safeshell_path[1]
        set -gx PATH $safeshell_path
        set -e safeshell_path
    end
    if set -q PATH[1]; and test "$PATH[1]" != @SHIMS@; and test -x @BINARY@
        set -l first @SHIMS@
        for entry in $PATH
            test "$entry" = "$first[1]"; or set -a first $entry
        end
        set -gx PATH $first
    end
    # What was installed since the shims were made gets its own.
    for entry in $PATH
        if test "$entry" != @SHIMS@; and string match -q '/*' -- $entry; and test $entry -nt @SEEN@; and test -x @BINARY@
            @BINARY@ refresh --added --quiet </dev/null >/dev/null 2>&1
            break
        end
    end
end
safeshell_prompt
@FUNCTIONS@
true
