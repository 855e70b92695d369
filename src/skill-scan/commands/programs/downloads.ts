import { addressIn, isForge, isInstaller } from '../addresses.ts'
import { operands, optionValues, type Program, type ProgramCall } from '../program-call.ts'
import { headerData, sends, shows } from '../sending.ts'
import { joined, nothing, type Trait, textValue, traitOf, traitsOf, type Value } from '../value.ts'
import { writesTo } from '../writes.ts'

const data = [
  '-d',
  '--data',
  '--data-raw',
  '--data-binary',
  '--data-urlencode',
  '--data-ascii',
  '--json',
  '-F',
  '--form',
  '--form-string',
  '-T',
  '--upload-file',
  '--post-data',
  '--post-file',
  '--body-data',
  '--body-file',
  '--url-query',
]
const headers = ['-H', '--header', '-A', '--user-agent', '-e', '--referer', '-b', '--cookie']
const login = ['-u', '--user', '--oauth2-bearer', '--password', '--http-password']
const outputs = ['-o', '--output', '-O', '--output-document', '--out']
const others = [
  '-X',
  '--request',
  '-m',
  '--max-time',
  '--retry',
  '--retry-delay',
  '--connect-timeout',
  '--cacert',
  '--cert',
  '--key',
  '-w',
  '--write-out',
  '-x',
  '--proxy',
  '-c',
  '--cookie-jar',
  '-K',
  '--resolve',
  '-P',
  '--directory-prefix',
  '-D',
  '--dump-header',
  '-C',
]
const fetchers: ReadonlySet<string> = new Set(
  'curl wget curlie xh http https httpie aria2c axel fetch lwp-request lwp-download iwr irm invoke-webrequest invoke-restmethod start-bitstransfer bitsadmin certutil'.split(
    ' ',
  ),
)

/** Programs that get something from the network; what they send on the way is looked at too. */
export const downloads: Program = (call) => {
  const { name, args } = call
  if (name === 'git' && args.some(({ text }) => text === 'clone')) return cloned(call)
  if (name === 'tar' || name === 'unzip' || name === '7z' || name === 'bsdtar') return unpacked(call)
  if (name === 'sha256sum' || name === 'shasum' || name === 'gpg' || name === 'cosign' || name === 'minisign')
    return verified(call)
  if (!fetchers.has(name)) return undefined
  const isCurl = name === 'curl' || name === 'curlie'
  const saving = isCurl ? outputs.filter((each) => each !== '-O') : outputs
  const places = operands(args, [...data, ...headers, ...login, ...saving, ...others])
  const addresses = places.filter(({ text }) => /^[\w$"'{[-]/u.test(text))
  const target =
    addresses.find(({ text }) => addressIn(text) !== undefined) ??
    addresses.at(0) ??
    optionValues(args, ['-Uri', '-uri', '--url'])[0]
  const to = target?.text ?? ''
  sends(call.world, addressIn(to) ?? to, sent(call, places))
  shows(call.world, addressIn(to) ?? to, joined(optionValues(args, [...headers, ...login])))
  return saved(call, {
    to,
    output: optionValues(args, [...saving, '-OutFile', '-outfile'])[0]?.text,
    keepsName: isCurl
      ? args.some(({ text }) => /^-[a-zA-Z]{0,8}O|^--remote-name/u.test(text))
      : name !== 'iwr' && name !== 'irm',
  })
}

/** Returns everything that a request carries: data, files, its address, and headers that hold more than a key. */
const sent = ({ args, input, world }: ProgramCall, places: readonly Value[]): Value => {
  const bodies = optionValues(args, data).map((value) => bodyOf(value, input, world))
  const files = optionValues(args, ['-T', '--upload-file', '--post-file', '--body-file']).map(({ text }) =>
    text === '-' || text === '.' ? input : writesTo.read(world, text),
  )
  const shown = optionValues(args, headers).flatMap((header) => headerData(header) ?? [])
  const given = places.map((place) => (place.text.startsWith('@') ? bodyOf(place, input, world) : place))
  const addresses = given.map(({ text, traits }) => ({ text: '', traits, address: text }))
  return joined([...bodies, ...files, ...shown, ...addresses])
}

/** Returns the content of a body: `@file`, `name=@file`, `-` for the input, or the text itself. */
const bodyOf = (value: Value, input: Value, world: ProgramCall['world']): Value => {
  const path = /^(?:[\w.[\]-]{1,64}=)?[@<]([^;]{1,1024})/u.exec(value.text)?.[1]
  if (path === '-' || path === '/dev/stdin') return { ...input, text: input.text === '' ? 'input' : input.text }
  return path === undefined ? value : { ...writesTo.read(world, path, value.traits), text: path }
}

interface Saved {
  readonly to: string
  readonly output: string | undefined
  readonly keepsName: boolean
}

const saved = ({ world, name, args }: ProgramCall, { to, output, keepsName }: Saved): Value => {
  const traits: readonly Trait[] = [{ kind: 'remote', from: addressIn(to) ?? to }]
  const printed = output === '-' || args.some(({ text }) => /^-[a-zA-Z]{0,4}O-$|^-qO-$/u.test(text))
  if (output !== undefined && !printed && output !== '')
    writesTo.file(world, { path: output, content: textValue('', traits) })
  else if (!printed && keepsName && (name === 'curl' || name === 'wget' || name === 'aria2c')) {
    world.write(to.split(/[?#]/u, 1).join('').split('/').at(-1) ?? '', textValue('', traits))
    return name === 'curl' || name === 'wget' ? textValue('', traits) : nothing
  }
  return output !== undefined && !printed ? nothing : textValue('', traits)
}

const cloned = ({ args, world }: ProgramCall): Value => {
  const from = operands(args, ['-b', '--branch', '--depth', '-c']).at(1)?.text ?? ''
  if (/:\/\/|@/u.test(from) && !isForge(from) && !from.startsWith('$')) world.unpacked = [{ kind: 'unpacked', from }]
  return nothing
}

/** An archive that is opened or made. */
const unpacked = (call: ProgramCall): Value => {
  const { args, input, world, name } = call
  const files = operands(args, ['-C', '--directory', '-d', '--exclude']).map(({ text }) => text)
  const options = args.map(({ text }) => text).join(' ')
  if (name === 'tar' && /^-?\w{0,6}c|--create|\s-c/u.test(options)) return packed(call, files)
  const own = files.flatMap((file) => world.traitsAt(file))
  const remote = traitOf(textValue('', [...own, ...input.traits]), 'remote')
  if (remote !== undefined && !isInstaller(remote.from)) world.unpacked = [{ kind: 'unpacked', from: remote.from }]
  return textValue('', remote === undefined ? [] : [{ kind: 'unpacked', from: remote.from }])
}

const packed = ({ args, world }: ProgramCall, files: readonly string[]): Value => {
  const made = optionValues(args, [
    '-f',
    '--file',
    '-czf',
    '-cf',
    '-cjf',
    '-cJf',
    'czf',
    'cf',
    '-zcf',
    '-zcvf',
    '-czvf',
    'czvf',
    '-cvf',
  ])[0]?.text
  const isWhole = files.some((file) =>
    /^(?:\.|\.\/|~\/?|\*|\/|\$\(pwd\)|\$PWD|src\/?|\.git\/?|~\/(?:Documents|Desktop|projects?)\/?)$/u.test(file),
  )
  const whole: readonly Trait[] = isWhole ? [{ kind: 'workspace', from: 'all files' }] : []
  const content = textValue('', traitsOf([textValue('', whole), world.named(files.join(' ')), ...args]))
  if (made !== undefined && made !== '-') world.write(made, content)
  return content
}

/** A file whose checksum or signature was checked is known to be the one that was meant. */
const verified = ({ args, world, name }: ProgramCall): Value | undefined => {
  const checks = args.some(({ text }) => /^(?:-\w{0,4}c|--check|--verify|verify|verify-blob|-V\w{0,3})$/u.test(text))
  if (checks) world.isVerified = true
  return name === 'gpg' && !checks ? undefined : nothing
}
