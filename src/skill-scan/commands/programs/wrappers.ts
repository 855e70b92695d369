import type { Program, ProgramCall } from '../program-call.ts'
import { joined, nothing, textValue, traitsOf, type Value } from '../value.ts'

/** Options of programs that run another one, after which a value follows. */
const taking: Readonly<Record<string, readonly string[]>> = {
  sudo: ['-u', '-g', '-h', '-p', '-C', '-r', '-t', '-U', '-D'],
  doas: ['-u', '-C'],
  env: ['-u', '-C', '-S'],
  nice: ['-n'],
  ionice: ['-c', '-n'],
  timeout: ['-s', '-k'],
  xargs: ['-I', '-n', '-P', '-L', '-d', '-s', '-a', '-E'],
  watch: ['-n'],
  stdbuf: ['-i', '-o', '-e'],
  flock: ['-w'],
  parallel: ['-j', '-N'],
  strace: ['-o', '-e'],
  torsocks: [],
  proxychains: ['-f'],
  systemd_run: ['-p', '-u'],
}

const plain =
  'nohup time exec command builtin setsid caffeinate unbuffer busybox toybox torsocks proxychains4 then do else chronic ltrace firejail eatmydata'
const known: ReadonlySet<string> = new Set([...Object.keys(taking), ...plain.split(' ')])

/** Programs that run another one, which is read in their place. */
export const wrappers: Program = (call) => {
  const { name, args, shell, world } = call
  if (name === 'xargs' || name === 'parallel') return repeated(call)
  if ((name === 'find' || name === 'fd') && !args.some(({ text }) => text === '-delete')) return eachFound(call)
  if (name === 'su' || name === 'runuser') return asOther(call)
  if (name === 'systemd-run') return shell.call(command(args, taking.systemd_run ?? []), call)
  if (name === 'env' && command(args, taking.env ?? []).length === 0) return undefined
  if (name === 'sudo' && args.length > 0)
    world.report({ code: 'needs_root', severity: 'info', message: 'The command runs as root.' })
  if (!known.has(name)) return undefined
  const words = command(args, taking[name] ?? [])
  // a timeout's first word is its duration
  return shell.call(name === 'timeout' || name === 'flock' ? words.slice(1) : words, call)
}

/** Returns the words of the inner command: after options, their values and assignments. */
const command = (args: readonly Value[], skipped: readonly string[]): readonly Value[] => {
  let at = 0
  for (; at < args.length; at += 1) {
    const text = args[at]?.text ?? ''
    if (skipped.includes(text)) at += 1
    else if (!text.startsWith('-') && !/^\w{1,64}=/u.test(text)) break
  }
  return args.slice(at)
}

const repeated = (call: ProgramCall): Value => {
  const { args, input, shell } = call
  const words = command(args, taking.xargs ?? [])
  const filled = words.map((word) =>
    /\{\}|%/u.test(word.text) ? joined([word, { text: '', traits: input.traits }]) : word,
  )
  const more = textValue(input.text.trim().split('\n', 1).join(''), input.traits)
  return words.length === 0 ? input : shell.call([...filled, more], { ...call, input: nothing, hasInput: false })
}

/** `find … -exec …`: files are found, and perhaps each is given to a command. */
const eachFound = (call: ProgramCall): Value => {
  const { args, shell, world } = call
  const at = args.findIndex(({ text }) => /^-(?:exec|execdir|ok|x|X)$/u.test(text))
  const found = args.slice(0, at < 0 ? undefined : at)
  const names = found.map(({ text }) => text).join(' ')
  const value: Value = { text: names, traits: traitsOf([...found, world.named(names)]) }
  if (at < 0) return value
  const rest = args.slice(at + 1)
  const end = rest.findIndex(({ text }) => text === ';' || text === '+' || text === '\\;')
  const words = rest.slice(0, end < 0 ? undefined : end)
  return shell.call(
    words.map((word) =>
      word.text.includes('{}') ? { text: word.text.replaceAll('{}', names), traits: value.traits } : word,
    ),
    call,
  )
}

const asOther = ({ args, shell, world, input }: ProgramCall): Value => {
  const at = args.findIndex(({ text }) => text === '-c' || text === '--command')
  const text = args[at + 1]
  return at < 0 || text === undefined ? nothing : shell.run(text.text, world, input)
}
