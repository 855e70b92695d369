import { operands, type Program, type ProgramCall, wholeText } from '../program-call.ts'
import { nothing, traitOf, type Value } from '../value.ts'
import { hidesItself, isSuspiciousStart, writesTo } from '../writes.ts'

/** Programs that let something run later, or each time something else happens. */
export const schedules: Program = (call) => {
  const { name } = call
  if (name === 'crontab') return crontab(call)
  if (name === 'at' || name === 'batch') return later(call)
  if (name === 'launchctl' || name === 'systemctl' || name === 'loginctl') return services(call)
  if (name === 'schtasks' || name === 'reg' || name === 'sc') return windows(call)
  if (name === 'git') return configured(call)
  if (name === 'claude' || name === 'codex' || name === 'gemini') return agents(call)
  if (name === 'tee') return copied(call)
  return undefined
}

const again = 'persistence'

const crontab = ({ args, input, hasInput, world }: ProgramCall): Value => {
  if (args.some(({ text }) => text === '-l')) return nothing
  if (args.some(({ text }) => text === '-r')) {
    world.report({
      code: 'destructive_command',
      severity: 'warning',
      message: 'All scheduled commands of the user are removed.',
    })
    return nothing
  }
  if (hasInput) writesTo.file(world, { path: '/etc/cron', content: input })
  else if (args.length > 0) world.report({ code: again, severity: 'warning', message: 'Commands are scheduled.' })
  return nothing
}

const later = ({ input, world, shell }: ProgramCall): Value => {
  if (isSuspiciousStart(input.text) || traitOf(input, 'remote', 'decoded') !== undefined)
    world.report({ code: again, message: 'A command that loads or hides something is run later.' })
  return shell.run(input.text, world)
}

const defences =
  /\b(?:stop|disable|mask|unload|bootout|kill)\b[^\n]{0,60}\b(?:firewalld|ufw|nftables|iptables|auditd|apparmor|selinux|falcon-sensor|crowdstrike|clamav\S{0,10}|fail2ban|osqueryd?|rsyslog|syslog|systemd-journald|defender|mdatp|wazuh\S{0,10}|sentinel\S{0,10}|falco|com\.apple\.\w{0,20}(?:xprotect|gatekeeper|alf)\w{0,20})\b/iu

const services = ({ args, world }: ProgramCall): Value => {
  const text = wholeText(args)
  if (defences.test(text))
    world.report({ code: 'weakens_security', message: 'A protection of the machine is turned off.' })
  else if (/\b(?:load|bootstrap)\b/u.test(text) && /Launch(?:Agents|Daemons)/u.test(text))
    world.report({
      code: again,
      severity: isSuspiciousStart(text) ? 'blocker' : 'warning',
      message: 'A program starts with the machine.',
    })
  else if (/enable-linger/u.test(text))
    world.report({ code: again, severity: 'warning', message: 'Programs of the user run without the user.' })
  return nothing
}

const windows = ({ name, args, world }: ProgramCall): Value => {
  const text = wholeText(args)
  if (/\/create\b|\\run\b|\bcreate\b[^\n]{0,100}binpath/iu.test(text)) {
    const isOwn = name === 'schtasks' && !isSuspiciousStart(text) && !hidesItself.test(text)
    world.report({
      code: again,
      severity: isOwn ? 'warning' : 'blocker',
      message: 'A program starts with the machine.',
    })
  }
  return nothing
}

/** Settings of Git that let it run a program, or that lead it to another server. */
const configured = ({ args, world }: ProgramCall): undefined => {
  const words = operands(args, ['-C'])
  if (words[0]?.text !== 'config') return undefined
  const [, key, value] = words.map(({ text }) => text)
  const isGlobal = args.some(({ text }) => text === '--global' || text === '--system')
  const runs =
    /^(?:core\.(?:fsmonitor|sshcommand|pager|editor|gitproxy)|alias\.|credential\.\S{0,60}helper|filter\.|diff\.|init\.templatedir)/iu.test(
      key ?? '',
    )
  if (/^core\.hookspath$/iu.test(key ?? '') && isGlobal)
    world.report({ code: again, message: 'Hooks run in each repository of the user.' })
  else if (runs && isSuspiciousStart(value ?? ''))
    world.report({ code: again, message: 'Git runs a program that loads or hides something.' })
  else if (
    /^url\.\S{1,200}\.insteadof$/iu.test(key ?? '') &&
    !/^url\.(?:https:\/\/|ssh:\/\/|git@)(?:[^@/]{0,80}@)?(?:github|gitlab|bitbucket)\.\w{2,4}/iu.test(key ?? '')
  )
    world.report({ code: again, message: 'Git is led to another server than the address says.' })
  else if (/sslverify$/iu.test(key ?? '') && value === 'false')
    world.report({
      code: 'weakens_security',
      severity: isGlobal ? 'blocker' : 'warning',
      message: 'Git no longer checks with whom it speaks.',
    })
  return undefined
}

const agents = ({ args, world }: ProgramCall): Value => {
  const text = wholeText(args)
  if (/--dangerously|--yolo\b|bypassPermissions|--full-auto|danger-full-access/u.test(text))
    world.report({
      code: 'changes_agent',
      severity: 'warning',
      message: 'The agent is run without asking for permissions.',
    })
  else if (/\bmcp add\b/u.test(text))
    world.report({ code: 'changes_agent', severity: 'warning', message: 'The agent gets another tool server.' })
  return nothing
}

const copied = ({ args, input, world }: ProgramCall): Value => {
  for (const { text } of operands(args)) writesTo.file(world, { path: text, content: input })
  return input
}
