import { addressIn, isOwnHost } from '../addresses.ts'
import { operands, type Program, type ProgramCall } from '../program-call.ts'
import { runCode } from '../run-code.ts'
import { readCode } from '../sources/read-code.ts'
import { nothing, textValue, traitsOf, type Value } from '../value.ts'

const shells: ReadonlySet<string> = new Set('sh bash zsh dash ksh ash fish rbash mksh'.split(' '))
const languages: Readonly<
  Record<string, { readonly inline: readonly string[]; readonly language: 'python' | 'javascript' | 'other' }>
> = {
  python: { inline: ['-c'], language: 'python' },
  node: { inline: ['-e', '--eval', '-p', '--print'], language: 'javascript' },
  deno: { inline: ['eval'], language: 'javascript' },
  bun: { inline: ['-e', '--eval'], language: 'javascript' },
  tsx: { inline: ['-e', '--eval'], language: 'javascript' },
  perl: { inline: ['-e', '-E', '-ne', '-pe'], language: 'other' },
  ruby: { inline: ['-e'], language: 'other' },
  php: { inline: ['-r'], language: 'other' },
  lua: { inline: ['-e'], language: 'other' },
  osascript: { inline: ['-e'], language: 'other' },
  pwsh: { inline: ['-c', '-Command', '-command'], language: 'other' },
  powershell: { inline: ['-c', '-Command', '-command'], language: 'other' },
}

/** Programs that run what they are given: as a text, as their input, or as a file. */
export const interpreters: Program = (call) => {
  const { name, args, world, shell, input } = call
  if (name === 'eval') return evaluated(call)
  if (name === 'source' || name === '.') return sourced(call)
  if (name === 'ssh') return remotely(call)
  if (name === 'chmod' || name === 'install') return undefined
  if (shells.has(name)) return shellRun(call)
  const language = languages[name.replace(/[\d.]{1,6}$/u, '')]
  if (language === undefined) return undefined
  const at = args.findIndex(({ text }) => language.inline.includes(text))
  const inline = args[at + 1]
  if (at >= 0 && inline !== undefined) {
    runCode.value(world, inline)
    return readCode(language.language, inline.text, { world, shell, input })
  }
  const [file] = operands(args.filter(({ text }) => text !== 'run'))
  if (args.some(({ text }) => text === '-m')) return nothing
  if (file !== undefined && file.text !== '-') return ranFile(call, file)
  if (call.hasInput) runCode.value(world, input)
  return call.hasInput ? readCode(language.language, input.text, { world, shell, input: nothing }) : nothing
}

const shellRun = (call: ProgramCall): Value => {
  const { args, world, shell, input, hasInput } = call
  const at = args.findIndex(({ text }) => /^-[a-z]{0,4}c$/u.test(text))
  const inline = args[at + 1]
  if (at >= 0 && inline !== undefined) {
    runCode.value(world, inline)
    return shell.run(inline.text, world, input)
  }
  const [file] = operands(args)
  const readsInput = args.some(({ text }) => /^-[a-z]{0,4}s$/u.test(text)) || file === undefined || file.text === '-'
  if (!readsInput) return ranFile(call, file)
  if (!hasInput) return nothing
  runCode.value(world, input)
  return shell.run(input.text, world)
}

/** A file that is run: a path, or what a process substitution prints. */
const ranFile = ({ world, name }: ProgramCall, file: Value): Value => {
  runCode.value(world, file)
  const address = addressIn(file.text)
  if (address !== undefined && address === file.text && name !== 'php')
    runCode.value(world, textValue('', [{ kind: 'remote', from: address }]))
  else runCode.file(world, file.text)
  return nothing
}

const evaluated = ({ args, world, shell }: ProgramCall): Value => {
  const text = args.map((arg) => arg.text).join(' ')
  runCode.value(world, { text, traits: traitsOf(args) })
  return shell.run(text, world)
}

const sourced = (call: ProgramCall): Value => {
  const [file] = call.args
  if (file === undefined) return nothing
  return ranFile(call, file)
}

const remoteOptions = ['-i', '-p', '-o', '-l', '-F', '-J', '-L', '-R', '-D']

/** A command on another machine: it is read as one of this machine. */
const remotely = ({ args, world, shell, input }: ProgramCall): Value => {
  const [, ...words] = operands(args, remoteOptions)
  const tunnel = args.some(({ text }) => /^-[NfTqC]{0,5}R/u.test(text))
  if (tunnel) {
    const to = operands(args, remoteOptions)[0]?.text.replace(/^[^@]{1,64}@/u, '') ?? ''
    const severity = isOwnHost(to) ? 'warning' : 'blocker'
    world.report({ code: 'reverse_shell', severity, message: 'A tunnel lets another machine into this one.' })
  }
  if (words.length === 0 && input.text !== '') return shell.run(input.text, world)
  return words.length === 0 ? input : shell.run(words.map(({ text }) => text).join(' '), world, input)
}
