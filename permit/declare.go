package permit

// InitCommand is the declaration in a shell script.
const InitCommand = "initcmds"
