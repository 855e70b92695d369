import { isOwnHost } from '../addresses.ts'
import { operands, optionValues, type Program, type ProgramCall } from '../program-call.ts'
import { sends } from '../sending.ts'
import { joined, nothing, textValue, traitOf, type Value } from '../value.ts'

/** Programs that send files or their input to another machine, other than those that also download. */
export const senders: Program = (call) => {
  const { name } = call
  if (/^(?:nc|ncat|netcat|telnet|socat)$/u.test(name)) return connected(call)
  if (name === 'openssl') return call.args[0]?.text === 's_client' ? piped(call, operandText(call, 1)) : undefined
  if (/^(?:scp|rsync|sftp|rclone|ftp|lftp|croc|magic-wormhole|wormhole|ffsend)$/u.test(name)) return copied(call)
  if (/^(?:mail|mailx|mutt|sendmail|msmtp|swaks|s-nail)$/u.test(name)) return mailed(call)
  if (/^(?:dig|nslookup|host|ping|drill|getent|traceroute)$/u.test(name)) return resolvedNames(call)
  if (/^(?:aws|gsutil|gcloud|az|gh|glab|wrangler|s3cmd|mc|ipfs|kubectl|slack|jira|notion|pbcopy)$/u.test(name))
    return published(call)
  return undefined
}

const operandText = ({ args }: ProgramCall, at: number): string =>
  operands(args, ['-connect', '-w', '-p']).at(at)?.text ?? ''

const shellOption = /^(?:-\w{0,4}[ec]|--(?:exec|sh-exec))$/u
const runsShell = /(?:^|[/\s:,"'])(?:ba|z|da|k)?sh\b|cmd\.exe|powershell/iu

const connected = (call: ProgramCall): Value => {
  const { args, world, name, hasInput } = call
  const text = args.map((arg) => arg.text).join(' ')
  const isExec = args.some((arg, at) => shellOption.test(arg.text) && runsShell.test(args[at + 1]?.text ?? ''))
  if (isExec || (name === 'socat' && /\b(?:exec|system):/iu.test(text)))
    world.report({ code: 'reverse_shell', message: 'The command opens a shell to another machine.' })
  if (hasInput) sends(world, operandText(call, 0), dataOf(call))
  return textValue('', [{ kind: 'remote', from: text }])
}

const dataOf = ({ input, args }: ProgramCall): Value =>
  joined([{ ...input, text: 'input' }, ...args.map(({ traits }) => ({ text: '', traits }))])

const piped = (call: ProgramCall, to: string): Value => {
  sends(call.world, to, dataOf(call))
  return textValue('', [{ kind: 'remote', from: to }])
}

/** Copies to or from another machine; of two places, the one with a host is the other machine. */
const copied = (call: ProgramCall): Value => {
  const { args, world } = call
  const places = operands(args, [
    '-i',
    '-P',
    '-p',
    '-e',
    '-o',
    '-F',
    '--exclude',
    '--include',
    '--rsh',
    '--password-file',
    '--config',
    '-l',
    '-S',
  ])
  const to = places.at(-1)
  if (to === undefined || (places.length > 1 && !/^[^/]{1,200}:/u.test(to.text))) return nothing
  for (const each of places.slice(0, -1)) {
    const value = joined([each, world.named(each.text)])
    if (traitOf(value, 'secret') === undefined) continue
    const host = to.text.replace(/^[^@/]{1,60}@/u, '').split(':')[0] ?? ''
    if (isOwnHost(host))
      world.report({
        code: 'exfiltration',
        severity: 'warning',
        message: 'Secrets are copied to a machine of the user.',
      })
    else sends(world, host, value)
  }
  return nothing
}

const mailed = (call: ProgramCall): Value => {
  const { args, world } = call
  const attached = optionValues(args, ['-a', '-A', '--attach', '-s', '--body', '--attach-file']).map((each) =>
    joined([each, world.named(each.text)]),
  )
  sends(world, operands(args).at(-1)?.text ?? 'mail', joined([dataOf(call), ...attached]))
  return nothing
}

/** Names that are looked up carry data to the owner of the domain. */
const resolvedNames = ({ args, world }: ProgramCall): Value => {
  const carried = args.find(
    (arg) =>
      traitOf(arg, 'secret', 'identity', 'credential', 'workspace', 'decoded') !== undefined && arg.text.includes('.'),
  )
  if (carried !== undefined)
    world.report({ code: 'exfiltration', message: 'Data is carried away in names that are looked up.' })
  return nothing
}

const publishing =
  /\b(?:s3 (?:cp|sync|mv)|s3api put-object|storage (?:cp|blob upload)|gist create|issue (?:create|comment)|pr (?:create|comment)|release upload|cp|rsync|r2 object put|put|add|sns publish|ses send-email|secretsmanager put|release create|api)\b/u
const printsSecret =
  /\b(?:configure get|auth token|auth print-access-token|auth print-identity-token|account get-access-token|get-secret-value|get-parameters?\b[^\n]{0,60}--with-decryption|get secrets?|secrets? (?:show|access|list)|versions access|get-session-token|config view --raw)\b/u

/** Clients of services: some of their commands publish a file, others print a credential. */
const published = (call: ProgramCall): Value => {
  const { args, world, input, name } = call
  const text = args.map((arg) => arg.text).join(' ')
  if (printsSecret.test(text)) return textValue('', [{ kind: 'secret', from: `${name} ${text.slice(0, 40)}` }])
  if (publishing.test(text) && !/\bsecret set\b/u.test(text)) {
    const data = joined([
      ...args.map((arg) => joined([arg, world.named(arg.text)])),
      { text: '', traits: input.traits },
    ])
    if (traitOf(data, 'secret', 'workspace') !== undefined) sends(world, name, { ...data, text: 'data' })
  }
  return nothing
}
