import { addressIn, isInstaller, isPlaceholder } from '../commands/addresses.ts'
import { copiesImage, isPlaceholderDisk } from '../commands/disks.ts'
import { isBounded } from '../commands/sudo-rules.ts'
import { hidesItself, isSuspiciousStart } from '../commands/writes.ts'
import type { Rule } from '../finding.ts'

const rule = (
  [code, message]: readonly [code: string, message: string],
  pattern: RegExp,
  more: Partial<Rule> = {},
): Rule => ({
  ...{ code, severity: 'blocker', message, pattern, quotable: true },
  ...more,
})

/** Whether a command takes its code from the installer of a known tool. */
const isKnown = ([text]: readonly string[]): boolean => isInstaller(addressIn(text ?? '') ?? '')

/** Whether a command names an address, and not only says where one belongs. */
const hasAddress = ([text]: readonly string[]): boolean =>
  (text ?? '')
    .split(/[\s|]{1,8}/u)
    .some((word) => /^["']?(?:[a-z]{2,6}:\/\/|[$`\d]|[\w-]{1,63}\.[\w.-]{2,200})/iu.test(word) && !isPlaceholder(word))

/** Returns the line that a match ends in. */
const lineOf = ({ 0: text, index = 0, input = '' }: RegExpMatchArray): string => {
  const end = input.indexOf('\n', index + text.length)
  const from = Math.max(input.lastIndexOf('\n', index) + 1, index - 400)
  return input.slice(from, Math.min(end < 0 ? input.length : end, index + text.length + 400))
}

/** Whether a line adds a key that the user has, from its file. */
const addsOwnKey = (line: string): boolean =>
  /\.pub\b/u.test(line) && !/\b(?:curl|wget|echo|printf)\b|:\/\//u.test(line)

const runsRemote = 'Code from the network is run without being looked at.'

/** Commands that destroy data, expose a machine to others, or run unreviewed code. */
export const commandRules: readonly Rule[] = [
  rule(
    ['remote_code', runsRemote],
    /\b(?:curl|wget|aria2c)\b[^\n|;]{1,400}\|\s{0,4}(?:sudo\s{1,4}(?:-\w{1,4}\s{1,4})?)?(?:\/(?:usr\/)?bin\/)?(?:(?:ba|z|da|k|fi)?sh\b|(?:python3?|node|perl|ruby|php|pwsh|powershell|deno|bun)\b(?!\s{1,4}[-\w./'"$]))/gi,
    { holds: (match) => !isKnown(match) && hasAddress(match) },
  ),
  rule(
    ['remote_code_installer', 'An installer from the network is run without being looked at.'],
    /\b(?:curl|wget)\b[^\n|;]{1,400}\|\s{0,4}(?:sudo\s{1,4}(?:-\w{1,4}\s{1,4})?)?(?:ba|z|da)?sh\b/gi,
    { severity: 'warning', holds: (match) => isKnown(match) },
  ),
  rule(
    ['remote_code', runsRemote],
    /(?:\b(?:ba|z)?sh\s{1,4}(?:-c\s{1,4})?(?:<\(|["']?\$\()|\b(?:eval|source|\.)\s{1,4}(?:<\(|["'`]?\$?\())\s{0,4}(?:curl|wget)\b[^\n]{1,300}/gi,
    { holds: (match) => !isKnown(match) },
  ),
  rule(
    ['remote_code', runsRemote],
    /\b(?:iex|invoke-expression)\b[^\n]{0,80}(?:downloadstring|invoke-webrequest|\biwr\b|\birm\b|net\.webclient|frombase64string)|(?:downloadstring|\biwr\b|\birm\b|invoke-webrequest)[^\n|]{1,300}\|\s{0,4}(?:iex|invoke-expression)\b/gi,
    { holds: (match) => !isKnown(match) },
  ),
  rule(
    ['remote_code', runsRemote],
    /\b(?:exec|eval)\s{0,2}\(\s{0,2}(?:requests\.get|urllib\.request\.urlopen|urlopen|httpx\.get|await\s{1,2}\(?\s{0,2}(?:await\s{1,2})?fetch|fetch)\s{0,2}\(/gi,
  ),
  rule(
    ['encoded_command', 'An encoded command is decoded and run.'],
    /(?:base64\s{1,4}(?:-d|-D|--decode)|xxd\s{1,4}-r|openssl\s{1,4}(?:enc\s{1,4})?-?(?:base64\s{1,4})?-d)[^\n|]{0,80}\|\s{0,4}(?:sudo\s{1,4})?(?:(?:ba|z|da)?sh|python3?|node|perl|ruby|eval)\b|\beval\b[^\n]{0,40}\$\([^\n)]{0,300}base64\s{1,4}(?:-d|-D|--decode)|\b(?:ba|z)?sh\s{1,4}(?:-c\s{1,4}|<<<\s{0,4})["'`]?\$\([^\n)]{0,300}base64\s{1,4}(?:-d|-D|--decode)/gi,
    { quotable: true },
  ),
  rule(
    ['encoded_command', 'An encoded command is decoded and run.'],
    /\b(?:exec|eval|Function|os\.system|subprocess\.\w{1,12}|compile)\s{0,2}\(\s{0,2}(?:[\w.]{1,40}\(){0,3}\s{0,2}(?:base64\.b64decode|codecs\.decode|zlib\.decompress|marshal\.loads|bytes\.fromhex|binascii\.\w{3,12}|atob|Buffer\.from|decodeURIComponent|String\.fromCharCode|unescape)\b/gi,
  ),
  rule(
    ['encoded_command', 'An encoded command is decoded and run.'],
    /\b(?:powershell|pwsh)(?:\.exe)?\b[^\n]{0,120}\s-(?:e|en|enc|encodedcommand)\s{1,4}[A-Za-z0-9+/=]{16,}/gi,
  ),
  rule(
    ['reverse_shell', 'The command opens a shell to another machine.'],
    /\/dev\/(?:tcp|udp)\/[\w.$-]{1,100}\/|\b(?:nc|ncat|netcat)\b[^\n]{0,80}\s-(?:\w{0,4})(?:e|c)\s{1,4}(?:\/bin\/)?(?:ba|z)?sh|\bmkfifo\b[^\n]{0,120}\b(?:nc|ncat|netcat|openssl|telnet)\b|\bsocat\b[^\n]{0,120}\bexec:|socket\.socket\([^\n]{0,200}(?:subprocess|os\.dup2|pty\.spawn)|\bTCPSocket\.(?:open|new)\([^\n]{0,120}exec|fsockopen\([^\n]{0,120}(?:exec|proc_open)|Net\.Sockets\.TCPClient/gi,
  ),
  rule(
    ['destructive_command', 'The command destroys data that is not its own.'],
    /\brm\s{1,4}(?:-{1,2}[\w-]{1,20}\s{1,4}){1,4}(?:--no-preserve-root\s{1,4})?["']?(?:\/(?=[\s"'*;&|)]|$)|\/\*|~\/?(?=[\s"';&|)*]|$)|\$HOME\/?(?=[\s"';&|)*]|$)|\$\{HOME\}\/?(?=[\s"';&|)*]|$)|\/(?:etc|usr|var|home|boot|bin|lib|root|opt|Users)\/?(?=[\s"';&|)*]|$))/gim,
  ),
  rule(
    ['destructive_command', 'The command destroys data that is not its own.'],
    /\bmkfs(?:\.\w{2,6})?\s{1,4}[^\n]{0,40}\/dev\/|\bdd\b[^\n]{0,120}\bof=\/dev\/(?:sd|hd|nvme|disk|vd|mmcblk)|>\s{0,3}\/dev\/(?:sd[a-z]|nvme\d|hd[a-z])|:\s{0,2}\(\)\s{0,2}\{\s{0,2}:\s{0,2}\|\s{0,2}:\s{0,2}&\s{0,2}\}\s{0,2};|\b(?:del|erase)\s{1,4}(?:\/\w\s{1,4}){1,4}["']?c:\\|\b(?:rd|rmdir)\s{1,4}(?:\/\w\s{1,4}){1,3}["']?c:\\|remove-item\b[^\n]{0,80}-recurse[^\n]{0,80}(?:c:\\|\$env:(?:userprofile|systemroot)|~)|\bformat\s{1,4}c:|shutil\.rmtree\(\s{0,2}(?:["'](?:\/|~|\/home|\/etc)["']|os\.path\.expanduser\(\s{0,2}["']~["']\s{0,2}\)|Path\.home\(\))|\bchmod\s{1,4}(?:-R\s{1,4})?777\s{1,4}\/(?:\s|$)|\bfind\s{1,4}(?:\/|~)\s[^\n]{0,120}-delete|\bshred\b[^\n]{0,60}(?:~|\/home|\/etc|\/dev)|\bwipefs\b/gim,
    { holds: (match) => !isPlaceholderDisk(lineOf(match)) && !copiesImage(lineOf(match)) },
  ),
  rule(
    ['covers_tracks', 'The command hides what was done.'],
    /\bhistory\s{1,4}-c\b|\bunset\s{1,4}HISTFILE\b|\bHISTFILE=\/dev\/null|\bset\s{1,4}\+o\s{1,4}history|\bHISTSIZE=0|\brm\s{1,4}(?:-\w{1,4}\s{1,4})?[^\n]{0,20}(?:\.bash_history|\.zsh_history)|\b(?:truncate|rm|shred)\b[^\n]{0,60}\/var\/log\/(?:\*|\S{0,40}(?:auth|secure|syslog|audit|wtmp|lastlog|messages|journal))|\bwevtutil\s{1,4}cl\b|clear-eventlog/gi,
  ),
  rule(
    ['weakens_security', 'The command turns off a protection of the machine.'],
    /\bset-mppreference\b[^\n]{0,80}-disable|\bsetenforce\s{1,4}0|\bufw\s{1,4}disable|\biptables\s{1,4}-F\b|\bspctl\s{1,4}--master-disable|\bcsrutil\s{1,4}disable|\bchmod\s{1,4}(?:u\+s|\+s|4755|6755)\b|NOPASSWD:\s{0,2}(?:ALL\b|\/\w)|>>?\s{0,3}\/etc\/(?:sudoers|passwd|shadow|ld\.so\.preload)|\bnet\s{1,4}(?:user|localgroup)\s[^\n]{0,60}\/add/gi,
    { holds: (match) => !/NOPASSWD|sudoers/iu.test(match[0]) || !isBounded(lineOf(match)) },
  ),
  rule(
    ['persistence', 'The command leaves something behind that runs again or lets somebody in.'],
    />>?\s{0,3}["']?(?:~|\$HOME|\/root|\/home\/[\w.-]{1,40})\/\.ssh\/authorized_keys|\|\s{0,3}tee\s{1,4}(?:-a\s{1,4})?[^\n]{0,20}\.ssh\/authorized_keys|\bauthorized_keys\b[^\n]{0,40}["']a["']|\b(?:crontab\s{1,4}-|\(crontab\s{1,4}-l)[^\n]{0,200}(?:curl|wget|nc|bash\s{1,2}-i|python\d?\s{1,2}-c|base64)|\breg\s{1,4}add\b[^\n]{0,120}\\run\b/gi,
    { holds: (match) => !/authorized_keys/iu.test(match[0]) || !addsOwnKey(lineOf(match)) },
  ),
  rule(
    ['persistence', 'The command leaves something behind that loads, hides or replaces something when it runs again.'],
    />>?\s{0,3}["']?\/etc\/cron[\w./-]{0,40}|\bschtasks\b[^\n]{0,160}\/create|\blaunchctl\s{1,4}(?:load|bootstrap)\b[^\n]{0,80}LaunchAgents/gi,
    { holds: (match) => isSuspiciousStart(lineOf(match)) || hidesItself.test(lineOf(match)) },
  ),
  rule(
    ['persistence', "The command changes a user's start files with code from elsewhere."],
    /(?:curl|wget|base64|nc\s|bash\s{1,2}-i)[^\n]{0,200}>>\s{0,3}["']?(?:~|\$HOME)\/\.(?:bashrc|zshrc|profile|bash_profile|zprofile|zshenv)/gi,
  ),
  rule(
    ['changes_agent', 'The text changes the settings of the agent that reads it.'],
    /(?:>>?|tee(?:\s{1,4}-a)?|write(?: \w{1,12}){0,3} to|append(?: \w{1,12}){0,3} to|add(?: \w{1,12}){0,4} to|modify|edit|overwrite)\s{1,4}["'`]?(?:~\/|\.\/|\$HOME\/)?(?:\.claude\/settings(?:\.local)?\.json|\.cursor\/mcp\.json|\.codex\/config\.toml|\.vscode\/settings\.json|claude_desktop_config\.json|\.git\/hooks\/[\w-]{1,30})/gi,
    { severity: 'warning' },
  ),
  rule(
    ['changes_agent', 'The agent is run without asking for permissions.'],
    /--dangerously-skip-permissions|--yolo\b|dangerouslyDisableSandbox|--dangerously-bypass-approvals-and-sandbox/gi,
    { severity: 'warning' },
  ),
  rule(
    ['needs_root', 'The command runs as root.'],
    /(?:^|[\s;&|(`])sudo\s{1,4}(?!apt|apt-get|dnf|yum|brew|pacman|systemctl)[\w./-]{2,}/gi,
    {
      severity: 'info',
    },
  ),
]
