import { operands, type Program, type ProgramCall, wholeText } from '../program-call.ts'
import { nothing, type Trait, textValue, traitsOf, type Value, withTrait } from '../value.ts'
import { writesTo } from '../writes.ts'

/** Programs that print something: files, the environment, names, or their input in another form. */
export const reading: Program = (call) => {
  const { name, args, input } = call
  const source = sources[name]
  if (source !== undefined) return source(call)
  const decoded = decodes(call)
  if (decoded !== undefined) return decoded
  // every other program may print what it is given
  const named = operands(args).map(({ text }) => call.world.named(text))
  return textValue(passes.has(name) ? input.text : '', traitsOf([input, ...args, ...named]))
}

const passes: ReadonlySet<string> = new Set('cat tee head tail sort uniq gzip less more'.split(' '))

type Source = (call: ProgramCall) => Value | undefined

const dump =
  (from: string): Source =>
  () =>
    textValue('', [{ kind: 'secret', from }])
const identity =
  (from: string): Source =>
  () =>
    textValue('', [{ kind: 'identity', from }])

/** A folder that is not known, and is not the root of all. */
const folder: Source = ({ args }) => textValue('$FOLDER', traitsOf(args))

const environment: Source = ({ args, world }) => {
  const name = operands(args)[0]?.text
  if (name !== undefined && !name.includes('=')) return world.variables.get(name) ?? textValue(`$${name}`, [])
  return textValue('', [{ kind: 'secret', from: 'the environment' }])
}

const sources: Readonly<Record<string, Source>> = {
  env: environment,
  printenv: environment,
  export: ({ args, world }) => {
    for (const { text, traits } of args) assigned(world, text, traits)
    return args.some(({ text }) => text === '-p')
      ? textValue('', [{ kind: 'secret', from: 'the environment' }])
      : nothing
  },
  declare: ({ args, world }) => {
    for (const { text, traits } of args) assigned(world, text, traits)
    return args.some(({ text }) => text === '-x' || text === '-p')
      ? textValue('', [{ kind: 'secret', from: 'the environment' }])
      : nothing
  },
  local: ({ args, world }) => {
    for (const { text, traits } of args) assigned(world, text, traits)
    return nothing
  },
  read: ({ args, input, world }) => {
    for (const { text } of operands(args, ['-p', '-t', '-d', '-n'])) world.variables.set(text, input)
    return nothing
  },
  set: ({ args }) => (args.length === 0 ? textValue('', [{ kind: 'secret', from: 'the environment' }]) : nothing),
  hostname: identity('hostname'),
  whoami: identity('whoami'),
  id: identity('id'),
  uname: ({ args }) =>
    args.some(({ text }) => /^-\w{0,4}[an]/u.test(text))
      ? textValue('', [{ kind: 'identity', from: 'uname' }])
      : textValue(''),
  ifconfig: identity('ifconfig'),
  ip: ({ args }) =>
    /^(?:a|addr|address|route)\b/u.test(args[0]?.text ?? '')
      ? textValue('', [{ kind: 'identity', from: 'ip' }])
      : nothing,
  security: dump('the keychain'),
  pass: ({ args }) =>
    /^(?:show|\w{1,20}\/)/u.test(args[0]?.text ?? '') ? textValue('', [{ kind: 'secret', from: 'pass' }]) : nothing,
  history: ({ args }) =>
    args.length === 0 ? textValue('', [{ kind: 'secret', from: 'the history of commands' }]) : nothing,
  pbpaste: dump('the clipboard'),
  'wl-paste': dump('the clipboard'),
  xclip: ({ args, input }) =>
    args.some(({ text }) => text === '-o') ? textValue('', [{ kind: 'secret', from: 'the clipboard' }]) : input,
  screencapture: ({ args, world }) => {
    world.write(operands(args).at(-1)?.text ?? '', textValue('', [{ kind: 'secret', from: 'the screen' }]))
    return nothing
  },
  git: ({ args, world }) => gitPrints(args, world),
  echo: ({ args }) =>
    spoken(
      args.filter(({ text }) => !/^-[neE]{1,3}$/u.test(text)),
      args.some(({ text }) => /^-\w?e/u.test(text)),
    ),
  printf: ({ args }) => spoken(args, true),
  sops: ({ args }) =>
    args.some(({ text }) => text === '-d' || text === 'decrypt')
      ? textValue('', [{ kind: 'secret', from: 'sops' }])
      : nothing,
  mktemp: () => textValue('/tmp/new'),
  pwd: () => textValue('$PWD'),
  dirname: folder,
  realpath: folder,
  readlink: folder,
  ls: () => nothing,
  mkdir: () => nothing,
  cd: () => nothing,
  test: () => nothing,
  '[': () => nothing,
}

const assigned = (world: ProgramCall['world'], text: string, traits: readonly Trait[]): void => {
  const [, name, value] = /^(\w{1,64})=([\s\S]{0,4096})$/u.exec(text) ?? []
  if (name !== undefined) world.variables.set(name, textValue(value ?? '', traits))
}

const gitPrints = (args: readonly Value[], world: ProgramCall['world']): Value => {
  const text = wholeText(args)
  if (/^credential fill/u.test(text)) return textValue('', [{ kind: 'secret', from: 'git credential' }])
  if (/^config\b[^\n]{0,40}user\.(?:email|name)/u.test(text))
    return textValue('', [{ kind: 'identity', from: 'git config' }])
  if (/^(?:bundle create|archive)\b/u.test(text)) {
    const whole = textValue('', [{ kind: 'workspace', from: 'the repository' }])
    const made = operands(args, ['-o']).at(2)?.text ?? operands(args).at(1)?.text ?? ''
    world.write(made, whole)
    return whole
  }
  return text.includes('--show-toplevel') ? textValue('$REPOSITORY') : nothing
}

/** What `echo` and `printf` print; a text made of escapes was encoded. */
const spoken = (args: readonly Value[], hasEscapes: boolean): Value => {
  const text = wholeText(args)
  const escaped = hasEscapes ? unescaped(text) : text
  const isEncoded = escaped !== text && (text.match(/\\(?:x[0-9a-f]{2}|[0-7]{3}|u[0-9a-f]{4})/giu)?.length ?? 0) > 3
  const value: Value = { text: escaped, traits: traitsOf(args) }
  return isEncoded ? withTrait(value, { kind: 'decoded', from: 'escapes' }) : value
}

const unescaped = (text: string): string =>
  text
    .replaceAll(/\\x([0-9a-f]{1,2})/giu, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replaceAll(/\\0?([0-7]{3})/gu, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8) & 0xff))
    .replaceAll('\\n', '\n')

const decodings: Readonly<Record<string, (text: string) => boolean>> = {
  base64: (text) => /(?:^|\s)(?:-\w{0,3}[dD]|--decode)/u.test(text),
  base32: (text) => /(?:^|\s)(?:-\w{0,3}d|--decode)/u.test(text),
  gbase64: (text) => /-d|--decode/u.test(text),
  basenc: (text) => /-d|--decode/u.test(text),
  xxd: (text) => /-\w{0,3}r/u.test(text),
  openssl: (text) => /(?:^|\s)(?:enc|base64)\b/u.test(text) && /-d\b/u.test(text),
  uudecode: () => true,
  rev: () => true,
  zcat: () => true,
  gunzip: () => true,
  gzip: (text) => /-\w{0,3}d/u.test(text),
  xz: (text) => /-\w{0,3}d/u.test(text),
  tr: (text) => /[a-zA-Z]-[a-zA-Z]{1,2}/u.test(text) && /[n-zN-Z]-[a-mzA-MZ]|\[N-Z|n-za-m/u.test(text),
}

const decodes = ({ name, args, input, world }: ProgramCall): Value | undefined => {
  const test = decodings[name]
  if (test === undefined || !test(wholeText(args))) return undefined
  const files = operands(args).map(({ text }) => writesTo.read(world, text))
  const value = traitsOf([input, ...files])
  return { text: decodedText(name, input.text), traits: [{ kind: 'decoded', from: name }, ...value] }
}

const decodedText = (name: string, text: string): string => {
  if (name.endsWith('base64')) return Buffer.from(text, 'base64').toString('utf8')
  if (name === 'xxd') return Buffer.from(text.replaceAll(/\s/gu, ''), 'hex').toString('utf8')
  return name === 'rev' ? [...text].reverse().join('') : ''
}
