\builtin alias @NAME@ >/dev/null 2>&1 || \builtin alias @NAME@=@ALIAS@
