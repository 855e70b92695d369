import { needsHost } from './programs/containers.ts'
import { readShell } from './read-shell.ts'
import { stringsIn } from './sources/statements.ts'
import type { World } from './world.ts'
import { isSuspiciousStart } from './writes.ts'

/** A field of settings whose value is run. */
const runs =
  /^[ \t]{0,40}(?:- )?["']?(?:command|cmd|run|exec|script|shell|entrypoint|(?:pre|post)?(?:install|prepare|publish|start|stop|test|build|commit|checkout|merge)|(?:pre|post)\w{1,20}|\w{2,20}Command|ExecStart(?:Pre|Post)?|ProgramArguments|helper|sshCommand|apiKeyHelper|awsAuthRefresh|hooksPath)["']?\s{0,4}[:=]\s{0,4}(\S[^\n]{0,4000})$/gimu
const scheduled =
  /^[ \t]{0,8}(?:(?:[\d*/,-]{1,20}[ \t]{1,4}){5}|@(?:reboot|hourly|daily|weekly|monthly)[ \t]{1,4})(\S[^\n]{2,2000})$/gmu
const arrayed = /^[ \t]{0,40}["']?args["']?\s{0,4}[:=]\s{0,4}(\[[^\]]{0,4000}\])/gmu

const open: readonly (readonly [pattern: RegExp, message: string])[] = [
  [/^[ \t]{0,60}["']?privileged["']?\s{0,2}:\s{0,2}true\b/imu, 'The container may do everything on its machine.'],
  [/^[ \t]{0,60}["']?hostPID["']?\s{0,2}:\s{0,2}true\b/imu, 'The container sees all programs of its machine.'],
  [
    /hostPath["']?\s{0,2}:\s{0,8}\{?\s{0,40}["']?path["']?\s{0,2}:\s{0,2}["']?(?:\/|\/(?:etc|root|home|var|proc))["']?\s{0,2}(?:$|[,}\n])/imu,
    'The container gets folders of its machine.',
  ],
  [
    /^[ \t]{0,60}- ["']?(?:\/|\/(?:etc|root|home|proc|sys|boot)\/?|~\/?|\$\{?HOME\}?\/?):\/[^\n]{0,200}$/mu,
    'The container gets folders of its machine.',
  ],
  [
    /^[ \t]{0,60}- ["']?(?:~|\$\{?HOME\}?)\/\.(?:ssh|aws|kube|gnupg)\b(?![^\n]{0,200}:ro\b)[^\n]{0,200}$/mu,
    'The container gets secrets of its machine.',
  ],
  [
    /cap_add["']?\s{0,2}:\s{0,2}\[?[\s-]{0,40}["']?(?:ALL|SYS_ADMIN|SYS_MODULE)\b/imu,
    'The container gets rights over its machine.',
  ],
]

/** Reads settings: the commands that they name, and the rights that they give to containers. */
export const readSettings = (text: string, world: World, base: number): void => {
  for (const { index, 1: value = '', 0: line } of text.matchAll(runs)) {
    world.at = base + index
    if (/^[|>][+-]?\s{0,4}$/u.test(value)) readShell(blockAfter(text, index + line.length, line), world)
    else readShell(commandOf(value, text.slice(index + line.length, index + line.length + 4200)), world)
    if (/ExecStart|ProgramArguments/u.test(line)) started(world, value)
  }
  for (const { index, 1: command = '' } of text.matchAll(scheduled)) {
    world.at = base + index
    readShell(command, world)
    started(world, command)
  }
  for (const [pattern, message] of open) {
    const found = pattern.exec(text)
    if (found === null) continue
    world.at = base + found.index
    const severity = needsHost.test(imageBefore(text, found.index)) ? 'warning' : 'blocker'
    world.report({ code: 'host_access', severity, message })
  }
}

/** Returns the image of the container that a place in settings belongs to. */
const imageBefore = (text: string, at: number): string =>
  [...text.slice(Math.max(0, at - 4_000), at).matchAll(/\bimage["']?\s{0,2}:\s{0,4}(\S{1,200})/gu)].at(-1)?.[1] ?? ''

const started = (world: World, command: string): void => {
  if (isSuspiciousStart(command))
    world.report({
      code: 'persistence',
      message: 'A command that starts by itself loads, hides or replaces something.',
    })
}

/** Returns a command of settings, with the arguments of the field after it. */
const commandOf = (value: string, after: string): string => {
  const words =
    value.startsWith('[') || /^["']/u.test(value) ? stringsIn(value).join(' ') : value.replace(/,\s{0,4}$/u, '')
  arrayed.lastIndex = 0
  const args = arrayed.exec(after.slice(0, 4200))
  const isNext = args !== null && !/["']?command["']?\s{0,4}[:=]/iu.test(after.slice(0, args.index))
  const given = isNext
    ? stringsIn(args[1] ?? '').map((word) =>
        /^[\w./:=@%+,-]{1,200}$/u.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`,
      )
    : []
  return [words.replaceAll('\\"', '"'), ...given].join(' ')
}

/** Returns the lines below a field that are indented further. */
const blockAfter = (text: string, at: number, line: string): string => {
  const indent = /^[ \t]{0,60}/u.exec(line)?.[0].length ?? 0
  const lines: string[] = []
  for (const each of text.slice(at + 1, at + 16_384).split('\n')) {
    const own = /^[ \t]{0,60}/u.exec(each)?.[0].length ?? 0
    if (each.trim() !== '' && own <= indent) break
    lines.push(each)
  }
  return lines.join('\n')
}
