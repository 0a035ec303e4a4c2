# Written by safeshell; "safeshell refresh" writes it again.
# Puts safeshell's shims first in PATH, sees to it at each prompt that they still
# are, and lets the aliases of Remove-Item put files into the trash.
function global:safeshell_path {
    if ([IO.Directory]::Exists(@HOME@) -and -not [IO.Directory]::Exists(@SHIMS@)) {
        if (-not $global:safeshell_said) { [Console]::Error.WriteLine((@CLOSED@ -join ' ')) }
        $global:safeshell_said = $true
        return
    }
    if (-not [IO.File]::Exists(@BINARY@)) { return }
    $global:safeshell_said = $false
    $rest = @($env:PATH -split ':' | Where-Object { $_ -cne @SHIMS@ })
    $path = (@(@SHIMS@) + $rest) -join ':'
    if ($env:PATH -cne $path) { $env:PATH = $path }
    # What was installed since the shims were made gets its own.
    $seen = [IO.File]::GetLastWriteTimeUtc(@SEEN@)
    foreach ($dir in $rest) {
        if ($dir.StartsWith('/') -and [IO.Directory]::GetLastWriteTimeUtc($dir) -gt $seen) {
            $code = $global:LASTEXITCODE
            & @BINARY@ refresh --added --quiet *> $null
            $global:LASTEXITCODE = $code
            break
        }
    }
}
# Remove-Item's own parameters that are not here are refused, and nothing is removed.
function global:safeshell_remove {
    param(
        [switch] $Recurse,
        [switch] $Force,
        [Parameter(Mandatory, Position = 0, ValueFromRemainingArguments)] [string[]] $Path
    )
    $options = @('-d')
    if ($Recurse) { $options += '-r' }
    if ($Force) { $options += '-f' }
    foreach ($item in @(Resolve-Path -Path $Path)) {
        if ($item.Provider.Name -ceq 'FileSystem') {
            & @BINARY@ trash put @options -- $item.ProviderPath
        } else {
            Microsoft.PowerShell.Management\Remove-Item -LiteralPath $item.Path -Recurse:$Recurse -Force:$Force
        }
    }
}
if ([IO.File]::Exists(@BINARY@)) {
    # rm and rmdir are no aliases on Linux and macOS: there the shim is met.
    foreach ($name in 'del', 'erase', 'rd', 'ri', 'rm', 'rmdir') {
        $alias = Get-Alias -Name $name -ErrorAction Ignore
        if ($alias -and $alias.Definition -eq 'Remove-Item') {
            Set-Alias -Name $name -Value safeshell_remove -Scope Global -Option $alias.Options -Force
        }
    }
}
if (-not $global:safeshell_prompt) {
    $global:safeshell_prompt = $function:prompt
    # The prompt comes first: it may show $?.
    function global:prompt {
        & $global:safeshell_prompt
        $null = safeshell_path
    }
}
$null = safeshell_path
