# Written by safeshell; "safeshell refresh" writes it again.
# Puts safeshell's shims first in PATH and changes nothing else, in any POSIX
# shell under any options. No output, no process, no effect without safeshell.
@PATH@
:
