import { copiesImage, isPlaceholderDisk } from '../disks.ts'
import { operands, type Program, type ProgramCall, wholeText } from '../program-call.ts'
import { nothing } from '../value.ts'

const everything =
  /^(?:\/(?:\*|\.\*)?|~\/?\*?|~\/\.\*|\$HOME\/?\*?|\/(?:etc|usr|var|home|boot|bin|sbin|lib\w{0,3}|root|opt|Users|System|Library|Applications|srv|mnt|dev|proc|data)(?:\/\*?)?|\/(?:home|Users)\/(?:\*|\$USER|\$\{USER\})\/?\*?|[a-z]:\\?(?:\*|Users\S{0,40}|Windows\S{0,40})?|--no-preserve-root|%USERPROFILE%\S{0,10}|\$env:\S{1,40})$/iu
const precious =
  /^(?:~|\$HOME)\/(?:(?:Documents|Desktop|Pictures|Downloads|Movies|Music|Videos|Library|Projects|projects|code|src|work|repos|workspace|\.ssh|\.aws|\.gnupg|\.kube|\.config|\.password-store|\.local|\.git|\.docker|\.mozilla|\.thunderbird)(?:\/\*?)?)$|^\/var\/(?:lib(?!\/apt\/lists\b)|backups?|mail)(?:\/|$)|^\/var\/(?:log|www)\/?\*?$|^\/(?:backups?|srv|mnt\/[\w-]{1,40}|data)\/?\*?$|time ?machine/iu
const histories = /\.(?:bash|zsh|python|node_repl|psql|mysql)_history|fish_history/u

const lost = 'The command destroys data that is not its own.'
const tracks = 'The command hides what was done.'

/** Commands that destroy what lies beyond the work at hand, or the traces of what was done. */
export const destruction: Program = (call) => {
  const { name, args, world } = call
  const text = wholeText(args)
  if (/^(?:rm|rmdir|del|erase|rd|remove-item|shred|srm|unlink|truncate|trash)$/u.test(name)) return removed(call, text)
  if (name === 'find' && /-delete\b/u.test(text)) return isRotation(text) ? nothing : removed(call, text)
  const message = others[name]?.(text)
  if (message !== undefined)
    world.report({ code: message === tracks ? 'covers_tracks' : 'destructive_command', message })
  return message === undefined ? undefined : nothing
}

const removed = ({ args, world, name }: ProgramCall, text: string): typeof nothing => {
  const isDeep =
    name === 'find' || name === 'shred' || /(?:^|\s)-{1,2}\w{0,6}(?:r|recurse|recursive)\w{0,4}\b|\/s\b/iu.test(text)
  for (const { text: path } of operands(args)) {
    if (isRotation(path)) continue
    if (
      (isDeep && everything.test(path)) ||
      (isDeep && precious.test(path)) ||
      (name === 'shred' && /^~|^\/home/u.test(path))
    )
      world.report({ code: 'destructive_command', message: lost })
    else if (
      histories.test(path) ||
      /^\/var\/log(?:\/(?:\*|\S{0,60}(?:auth|secure|syslog|audit|wtmp|btmp|lastlog|messages|kern|journal)\S{0,20})?)?$/u.test(
        path,
      )
    )
      world.report({ code: 'covers_tracks', message: tracks })
  }
  return nothing
}

/** What a search keeps to: names of a kind, and an age or a file to compare with. */
const named = /-i?(?:name|path|regex)\s{1,4}["']?([^\s"']{1,200})/u
const older = /-m(?:time|min)\s{1,4}\+[1-9]|(?:!|-not)\s{1,4}-newer\w{0,2}\s/u
const aged = /-[acm](?:time|min)\s{1,4}[+-]?[1-9]|-newer\w{0,2}\s/u
const logs = /auth|secure|syslog|audit|wtmp|btmp|lastlog|messages|kern|journal|^\*(?:\.\*)?$/iu
const theirs = /^(?:\/(?:\s|etc|usr|home|boot|bin|lib|root|Users)|~|\$HOME)(?!\/(?:\.?cache|backups?|tmp|logs?)\b)/iu

/** Whether a search finds old copies or logs of one kind in a folder: they are removed in turn, as backups are. */
const isRotation = (text: string): boolean => {
  const name = named.exec(text)?.[1] ?? ''
  if (!/[^*.?]/u.test(name) || theirs.test(`${text.trim()} `)) return false
  return /^\/var\/log/u.test(text) ? older.test(text) && !logs.test(name) : aged.test(text)
}

const when = (isSo: boolean, message: string): string | undefined => (isSo ? message : undefined)

const overwrites = /\bof=\/dev\/(?:sd|hd|nvme|disk|vd|mmcblk|rdisk)/u

const formatted = (text: string): string | undefined => when(!isPlaceholderDisk(text), lost)

const others: Readonly<Record<string, (text: string) => string | undefined>> = {
  mkfs: formatted,
  'mkfs.ext4': formatted,
  'mkfs.xfs': formatted,
  wipefs: () => lost,
  blkdiscard: () => lost,
  diskutil: (text) => when(/\berase(?:disk|volume)/iu.test(text), lost),
  dd: (text) => when(overwrites.test(text) && !copiesImage(text), lost),
  vssadmin: (text) => when(/delete shadows/iu.test(text), lost),
  wbadmin: (text) => when(/delete/iu.test(text), lost),
  bcdedit: (text) => when(/recoveryenabled|bootstatuspolicy/iu.test(text), lost),
  cipher: (text) => when(/\/w:/iu.test(text), lost),
  tmutil: (text) => when(/delete|disable/iu.test(text), lost),
  history: (text) => when(/-c\b|-w\s{1,4}\/dev\/null/u.test(text), tracks),
  unset: (text) => when(/\bHISTFILE\b/u.test(text), tracks),
  export: (text) => when(/\bHISTFILE=(?:\/dev\/null)?(?:\s|$)|\bHISTSIZE=0\b/u.test(text), tracks),
  set: (text) => when(/\+o\s{1,4}history/u.test(text), tracks),
  journalctl: (text) => when(/--vacuum-(?:time|size)[= ]1[sSK]?\b/u.test(text), tracks),
  'clear-eventlog': () => tracks,
}
