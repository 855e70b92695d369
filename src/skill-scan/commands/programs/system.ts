import { operands, type Program, type ProgramCall, wholeText } from '../program-call.ts'
import { nothing, type Value } from '../value.ts'
import { writesTo } from '../writes.ts'

/** Programs by which rights and protections of the machine change. */
export const system: Program = (call) => {
  const { name, args } = call
  const judge = programs[name]
  if (judge === undefined) return undefined
  const text = wholeText(args)
  const message = judge(text, call)
  if (typeof message === 'string')
    call.world.report({
      code: 'weakens_security',
      severity: isOfOwnMachine(name, text) ? 'warning' : 'blocker',
      message,
    })
  return nothing
}

/** Whether a command is one by which people look after a machine of their own: it is theirs to judge. */
const isOfOwnMachine = (name: string, text: string): boolean => {
  if (/^(?:usermod|adduser|useradd|gpasswd)$/u.test(name))
    return !/\b(?:root|shadow|disk|lxd|kmem)\b|(?:^|\s)-o\b|-u\s{0,2}0\b|--non-unique/u.test(text)
  if (name === 'chmod')
    return !/(?:^|\s)(?:[ug]{0,2}u[g]?\+|\+|[ao]\+)[rwx]*s\b|(?:^|\s)0?[467][0-7]{3}\s|777/u.test(text)
  return name === 'visudo' || name === 'mount'
}

type Judge = (text: string, call: ProgramCall) => string | undefined

const setsUser = 'A program gets the rights of root for whoever runs it.'
const more = 'A user gets more rights on the machine.'
const off = 'A protection of the machine is turned off.'
const when = (isSo: boolean, message: string): string | undefined => (isSo ? message : undefined)
const guards =
  /\b(?:falcon-sensor|auditd|osqueryd|clamd|freshclam|fail2ban|rsyslogd|syslogd|wdavdaemon|mdatp|crowdstrike|sentineld|wazuh|MsMpEng|defender|falco|LuLu|LittleSnitch)\b/iu

const programs: Readonly<Record<string, Judge>> = {
  chmod: (text) => {
    if (/(?:^|\s)(?:[ugo]*\+[rwx]*s|[2467][0-7]{3}|0[2467][0-7]{3})\s/u.test(text)) return setsUser
    return when(/\b0?777\s{1,4}\/(?:\s|$|etc|usr|var|home)/u.test(text), 'Everybody may change files of the system.')
  },
  setcap: (text) =>
    when(
      /cap_(?:setuid|sys_admin|dac_|net_raw|setgid|sys_ptrace)/iu.test(text) &&
        !/\bcap_net_raw\b[^\n]{0,40}(?:ping|dumpcap|nmap)/u.test(text),
      setsUser,
    ),
  usermod: (text) =>
    when(
      /-\w{0,4}G\s{1,4}\S{0,40}\b(?:sudo|wheel|root|admin|docker|lxd|shadow|disk)\b/u.test(text) &&
        !/\bdocker\s{1,4}"?\$(?:USER|\{USER\}|\(whoami\))/u.test(text),
      more,
    ),
  adduser: (text) => when(/\b(?:sudo|wheel|admin)\b/u.test(text), more),
  useradd: (text) => when(/\b(?:sudo|wheel|admin)\b|-u\s{0,2}0\b|-o\b/u.test(text), more),
  gpasswd: (text) => when(/\b(?:sudo|wheel|docker)\b/u.test(text), more),
  dscl: (text) => when(/\badmin\b/u.test(text), more),
  dseditgroup: (text) => when(/\badmin\b/u.test(text), more),
  passwd: (text) => when(!/(?:^|\s)(?:-l|--lock)\b/u.test(text) && /-d\b|root\b/u.test(text), more),
  chpasswd: () => more,
  net: (text) => when(/\b(?:user|localgroup)\b[^\n]{0,60}\/add/iu.test(text), more),
  visudo: () => more,
  setenforce: (text) => when(/^(?:0|permissive)/iu.test(text), off),
  ufw: (text) => when(/\bdisable\b|default allow incoming/u.test(text), off),
  iptables: (text) => when(/-F\b|--flush|-P\s{1,4}INPUT\s{1,4}ACCEPT/u.test(text), off),
  nft: (text) => when(/flush ruleset/u.test(text), off),
  netsh: (text) => when(/firewall[^\n]{0,40}(?:off|disable)/iu.test(text), off),
  spctl: (text) => when(/disable/u.test(text), off),
  csrutil: (text) => when(/disable/u.test(text), off),
  'set-mppreference': () => off,
  'add-mppreference': () => off,
  'set-executionpolicy': (text) => when(/\bLocalMachine\b/iu.test(text) && /unrestricted|bypass/iu.test(text), off),
  auditctl: (text) => when(/-e\s{0,2}0|-D\b/u.test(text), off),
  sysctl: (text) => when(/randomize_va_space=0|yama\.ptrace_scope=0|kptr_restrict=0/u.test(text), off),
  insmod: () => 'A module is loaded into the kernel.',
  kextload: () => 'A module is loaded into the kernel.',
  pkill: (text) => when(guards.test(text), off),
  killall: (text) => when(guards.test(text), off),
  taskkill: (text) => when(guards.test(text), off),
  mount: (text) => when(/remount,rw\s{1,4}\/(?:\s|$)/u.test(text), off),
  wevtutil: (text) => when(/^cl\b/iu.test(text), off),
  tccutil: (text) => when(/\breset\s{1,4}All\b/u.test(text), off),
  dd: (text) => when(/of=\/dev\/mem/u.test(text), off),
  cp: (text, call) => linked(call, /-\w{0,4}s\b/u.test(text)),
  mv: (text, call) => linked(call, text === ''),
  ln: (text, call) => linked(call, text !== ''),
  install: (text, call) =>
    /-m\s{0,2}[2467][0-7]{3}|-m\s{0,2}0?4/u.test(text) && /-m\s{0,2}0?[4267][0-7]{3}\b/u.test(text)
      ? setsUser
      : linked(call, false),
  sed: (text, call) => edited(text, call),
}

/** A file that gets another place keeps its traits, and a place may let it run by itself. */
const linked = ({ args, world }: ProgramCall, _isLink: boolean): undefined => {
  const places = operands(args, ['-m', '-o', '-g', '-t'])
  const to = places.at(-1)?.text ?? ''
  for (const { text, traits } of places.slice(0, -1)) {
    const content: Value = { text: '', traits: [...world.named(text).traits, ...traits] }
    writesTo.file(world, {
      path: to.endsWith('/') || to === '.' ? `${to.replace(/^\.$/u, '')}${text.split('/').at(-1) ?? ''}` : to,
      content,
    })
  }
  return undefined
}

const edited = (text: string, { args, world }: ProgramCall): undefined => {
  if (!/(?:^|\s)-\w{0,3}i/u.test(text)) return undefined
  const [script, ...files] = operands(args, ['-e', '-f'])
  for (const { text: path } of files) writesTo.file(world, { path, content: { text: script?.text ?? '', traits: [] } })
  return undefined
}
