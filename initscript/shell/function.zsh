if ! \builtin typeset -f @NAME@ >/dev/null; then
  function @NAME@ {
    if [[ -x @BINARY@ ]]; then
      @BINARY@ exec --builtin -- @NAME@ "$@" </dev/null || case $? in 127) ;; *) \return $? ;; esac
    fi
    \builtin @NAME@ "$@"
  }
fi
