if not functions -q safeshell_orig_@NAME@
    if functions -q @NAME@
        functions --copy @NAME@ safeshell_orig_@NAME@
    else
        function safeshell_orig_@NAME@
            eval 'builtin @NAME@ $argv'
        end
    end
    function @NAME@
        if test -x @BINARY@
            @BINARY@ exec --builtin -- @NAME@ $argv </dev/null
            or begin
                set -l judged $status
                test $judged -eq 127; or return $judged
            end
        end
        safeshell_orig_@NAME@ $argv
    end
end
