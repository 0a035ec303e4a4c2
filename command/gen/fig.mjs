// Imports facts about programs from the npm package @withfig/autocomplete (MIT; see
// NOTICE): names of programs and subcommands, which options take a value, marks of
// danger. Nothing else of it is taken. Run by hand, in a directory where npm has
// installed the package:
//
//   node fig.mjs node_modules/@withfig/autocomplete/build > specs/imported.yaml
import { readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const dir = resolve(process.argv[2])
const list = (x) => (x === undefined ? [] : Array.isArray(x) ? x : [x])
const word = (s) => typeof s === 'string' && /^[A-Za-z0-9_.+:@-]+$/.test(s)

// takes says whether an option's value is the next word ("") or only in the same ("?").
function takes(option) {
  const args = list(option.args)
  if (args.length === 0) return undefined
  return args[0].isOptional || option.requiresSeparator || option.requiresEquals ? '?' : ''
}

function line(command) {
  const values = [], dangers = []
  for (const o of list(command.options)) {
    for (const n of list(o.name)) {
      if (!word(n) || !n.startsWith('-')) continue
      const t = takes(o)
      if (t !== undefined) values.push(n + t)
      if (o.isDangerous) dangers.push(n)
    }
  }
  return { values: [...new Set(values)], dangers: [...new Set(dangers)] }
}

function syntax(command) {
  const p = command.parserDirectives ?? {}
  return [p.flagsArePosixNoncompliant && 'one-dash', p.optionsMustPrecedeArguments && 'stops'].filter(Boolean)
}

const quoted = (s) => JSON.stringify(s)
const programs = new Map()
for (const file of readdirSync(dir).sort()) {
  const name = file.replace(/\.js$/, '')
  if (!file.endsWith('.js') || !word(name) || name.startsWith('-')) continue
  let spec
  try {
    spec = (await import(pathToFileURL(join(dir, file)).href)).default
  } catch {
    continue // one that wants the terminal that it was written for
  }
  if (typeof spec !== 'object' || spec === null) continue
  programs.set(name, spec)
}

const out = [
  '# Facts of the npm package @withfig/autocomplete, by command/gen/fig.mjs. Not edited: a',
  '# stanza of the same name in another file comes first.',
]
for (const [name, spec] of [...programs].sort(([a], [b]) => (a < b ? -1 : 1))) {
  const own = line(spec), subs = new Map()
  for (const s of list(spec.subcommands)) {
    const { values, dangers } = line(s)
    const key = JSON.stringify([values, dangers, s.isDangerous ?? false])
    const names = list(s.name).filter((n) => word(n) && !n.startsWith('-'))
    if (names.length > 0) subs.set(key, { values, dangers, danger: s.isDangerous, names: [...(subs.get(key)?.names ?? []), ...names] })
  }
  const how = [...(subs.size > 0 ? ['subcommands'] : []), ...syntax(spec)]
  out.push('', `${quoted(name)}:`)
  if (how.length > 0) out.push(`  syntax: ${how.join(' ')}`)
  if (own.values.length > 0) out.push(`  options: ${quoted(own.values.join(' '))}`)
  if (own.dangers.length > 0) out.push(`  danger: ${quoted(own.dangers.join(' '))}`)
  if (subs.size > 0) out.push('  subcommands:')
  for (const { names, values, dangers, danger } of subs.values()) {
    const parts = []
    if (values.length > 0) parts.push(`options: ${quoted(values.join(' '))}`)
    if (dangers.length > 0) parts.push(`danger: ${quoted(dangers.join(' '))}`)
    if (danger) parts.push('dangerous: true')
    const all = [...new Set(names)]
    while (all.length > 0) out.push(`    ${quoted(all.splice(0, 20).join(' '))}: {${parts.join(', ')}}`) // YAML's keys are short
  }
  if (out.at(-1) === `${quoted(name)}:`) out[out.length - 1] += ' {}'
}
process.stdout.write(out.join('\n') + '\n')
