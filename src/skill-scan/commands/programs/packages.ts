import { addressIn, isForge, isNear, isRegistry } from '../addresses.ts'
import { isMisspelt } from '../package-names.ts'
import { operands, optionValues, type Program, type ProgramCall } from '../program-call.ts'
import { runCode } from '../run-code.ts'
import { nothing, type Value } from '../value.ts'

const managers: Readonly<Record<string, RegExp>> = {
  pip: /^(?:install|download)$/u,
  pip3: /^install$/u,
  pipx: /^(?:install|run|inject)$/u,
  uv: /^(?:add|install|run)$/u,
  uvx: /^/u,
  npm: /^(?:i|in|install|add|exec|ci|x|init)$/u,
  pnpm: /^(?:i|add|install|dlx|exec)$/u,
  yarn: /^(?:add|dlx|global)$/u,
  bun: /^(?:add|install|x)$/u,
  bunx: /^/u,
  npx: /^/u,
  gem: /^install$/u,
  cargo: /^(?:install|add)$/u,
  go: /^(?:install|get|run)$/u,
  brew: /^(?:install|tap)$/u,
  conda: /^(?:install|create)$/u,
  easy_install: /^/u,
  deno: /^(?:install|run)$/u,
  poetry: /^(?:add|source)$/u,
  apt: /^install$/u,
  'apt-get': /^install$/u,
  dpkg: /^-i$/u,
  rpm: /^-\w{0,3}[iU]\w{0,3}$/u,
  helm: /^(?:install|repo|upgrade|template)$/u,
  code: /^--install-extension$/u,
}
const indexes = [
  '--index-url',
  '-i',
  '--extra-index-url',
  '--registry',
  '--default-index',
  '--index',
  '--find-links',
  '-f',
  '--source',
  '-c',
  '--channel',
]
const runs: ReadonlySet<string> = new Set(['npx', 'uvx', 'bunx'])

/** Managers of packages: a package from an unknown address runs code when it is installed. */
export const packages: Program = (call) => {
  const { name, args, shell, world } = call
  const inner = pythonModule(call)
  if (inner !== undefined) return inner
  const verb = managers[name]
  if (verb === undefined) return undefined
  if (/^(?:npm|yarn|pnpm|pip3?|poetry)$/u.test(name)) ownSettings(call)
  const [first] = operands(args, ['-C', '--prefix', '--cwd', '--directory'])
  if (name !== 'dpkg' && name !== 'rpm' && name !== 'code' && !verb.test(first?.text ?? '')) return undefined
  if (name === 'uv' && first?.text === 'run') return shell.call(operandsAfter(args, 'run'), call)
  const named = operands(args, [
    ...indexes,
    '-p',
    '--python',
    '-t',
    '--target',
    '-r',
    '--requirement',
    '-n',
    '--name',
    '-C',
    '--prefix',
    '--package',
    '--version',
  ])
  const wanted = [
    ...(runs.has(name) ? named.slice(0, 1) : named.slice(1)),
    ...optionValues(args, ['--package', '--from', '--with', '--git', '-p']),
  ]
  for (const each of wanted) installed(call, each)
  for (const index of optionValues(args, indexes)) otherIndex(call, index)
  if (args.some(({ text }) => text === '--trusted-host' || text === '--allow-unauthenticated'))
    world.report({
      code: 'weakens_security',
      severity: 'warning',
      message: 'Packages are taken without checking from whom they are.',
    })
  return nothing
}

/** `python -m pip install …` is the module's own command. */
const pythonModule = (call: ProgramCall): Value | undefined => {
  const { name, args, shell } = call
  if (!/^python[\d.]{0,5}$/u.test(name) || args[0]?.text !== '-m') return undefined
  return args[1]?.text === 'pip' || args[1]?.text === 'pipx' || args[1]?.text === 'uv'
    ? shell.call(args.slice(1), call)
    : undefined
}

const operandsAfter = (args: readonly Value[], word: string): readonly Value[] =>
  args.slice(args.findIndex(({ text }) => text === word) + 1).filter(({ text }, at) => at > 0 || !text.startsWith('-'))

const installed = (call: ProgramCall, { text, traits }: Value): void => {
  const { world, name } = call
  if (traits.length > 0) runCode.value(world, { text, traits })
  if (/[/.]/u.test(text) && world.traitsAt(text).length > 0) runCode.file(world, text)
  const address = addressIn(text.replace(/^[\w.-]{0,80}\s{0,2}@\s{0,2}/u, '').replace(/^git\+/u, ''))
  const remote = address ?? (/^git\+ssh:|^git@/u.test(text) ? text : undefined)
  const isShort = /^(?:npm|npx|pnpm|yarn|bun|bunx)$/u.test(name) && /^[\w-]{1,40}\/[\w.-]{1,60}(?:#|$)/u.test(text)
  if (remote !== undefined) fromAddress(call, remote)
  else if (isShort || /^(?:github|gitlab|bitbucket|gist):/iu.test(text)) fromAddress(call, `https://github.com/${text}`)
  else fromRegistry(call, text)
}

const fromRegistry = ({ world, name }: ProgramCall, text: string): void => {
  const plain = text.replace(/(?<=.)[=<>~!@[;].{0,100}$/u, '')
  const known = /^(?:apt|apt-get|dpkg|rpm|brew|conda|code|helm|go)$/u.test(name) ? undefined : isMisspelt(plain)
  if (known !== undefined) {
    const message = `The package ${plain.slice(0, 60)} is spelt almost as ${known}.`
    // one name that is close to another may be meant, several are not
    world.misspelt.add(plain)
    world.report({ code: 'misspelt_package', severity: world.misspelt.size > 1 ? 'blocker' : 'warning', message })
  } else if (runs.has(name) && !/@\d/u.test(text)) {
    const message = 'A package is run in whatever version is newest.'
    world.report({ code: 'unpinned_package', severity: 'info', message })
  }
}

const fromAddress = ({ world }: ProgramCall, address: string): void => {
  if (isNear(address) || isRegistry(address)) return
  const isPinned = /@[0-9a-f]{12,40}\b|#[0-9a-f]{12,40}\b|@v?\d+\.\d+/u.test(address)
  if (isForge(address)) {
    const message = 'A package is installed from a repository, in whatever state that is.'
    world.report({ code: 'remote_package', severity: isPinned ? 'info' : 'warning', message })
  } else {
    const message = 'A package from an unknown address is installed, which runs its code.'
    world.report({ code: 'remote_code', message })
  }
}

const isIndex = /^(?:registry|@[\w-]{1,40}:registry|global\.(?:extra-)?index-url|repositories\.)/iu

/** Settings of a manager, and what a package of the user's own is published with. */
const ownSettings = (call: ProgramCall): void => {
  const { args, world } = call
  const words = operands(args).map(({ text }) => text)
  const [key = '', value = ''] = words.slice(words[1] === 'set' ? 2 : words.length)
  const [name, given] = key.includes('=') ? [key.split('=', 1).join(''), key.slice(key.indexOf('=') + 1)] : [key, value]
  if (words[0] === 'config' && isIndex.test(name)) otherIndex(call, { text: given, traits: [] })
  if (words[0] === 'config' && /^(?:strict-ssl|audit|ignore-scripts)$/u.test(name) && given === 'false')
    world.report({ code: 'weakens_security', severity: 'warning', message: 'A check of packages is turned off.' })
  if (words[0] === 'whoami' || words[0] === 'access') world.isListing = true
  if (words[0] === 'publish' && world.isListing)
    world.report({ code: 'spreads', message: 'Packages of the user are found and published.' })
}

const otherIndex = ({ world, name }: ProgramCall, { text }: Value): void => {
  const address = addressIn(text)
  if (address === undefined || name === 'conda' || isRegistry(address) || isNear(address)) return
  const severity =
    name === 'helm' ||
    isForge(address) ||
    /\.(?:pkg\.dev|jfrog\.io|amazonaws\.com|azure\.com|cloudsmith\.io)\b/u.test(address)
      ? 'warning'
      : 'blocker'
  world.report({ code: 'remote_code', severity, message: 'Packages are taken from an unknown registry.' })
}
