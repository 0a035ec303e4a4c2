# fish completion for safeshell.
function __safeshell_complete
    set -l before (commandline -opc)
    set -l raw (commandline -ct)
    set -l word (string unescape -- "$raw")
    or set word "$raw"
    set -l lines (command safeshell __complete fish $before[2..-1] "$word" 2>/dev/null </dev/null)
    set -g __safeshell_list
    switch "$lines[1]"
        case words
            set __safeshell_list $lines[2..-1]
        case dirs
            set -l option (string match -r -- '^--[^=]*=' "$word")
            for dir in (__fish_complete_directories (string replace -r -- '^--[^=]*=' '' "$word") '')
                set -a __safeshell_list "$option$dir"
            end
        case 'command *'
            set -l at (math (string replace 'command ' '' -- $lines[1]) + 2)
            set __safeshell_list (complete -C (string join -- ' ' (string escape -- $before[$at..-1]) "$raw"))
        case '*'
            return 1 # files, as fish has them
    end
end
complete -c safeshell -e
complete -c safeshell -n __safeshell_complete -f -a '$__safeshell_list'
