/** Offset of the server's clock in ms, from the `date` header of its answers. Ages and countdowns use the server's time, since a browser's clock may be minutes off. */
let aheadMs = 0

/** @param date value of the header `date` */
export const noteServerDate = (date: string | null) => {
  const at = Date.parse(date ?? '')
  // the header has whole seconds
  if (Number.isFinite(at)) aheadMs = Math.abs(at - Date.now()) > 2000 ? at - Date.now() : 0
}

/** The current time by the server's clock. */
export const serverNow = () => new Date(Date.now() + aheadMs)

const pad = (value: number, digits: number = 2) => String(value).padStart(digits, '0')

const dayOf = (date: Date) => `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`

const clockOf = (date: Date) => `${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}`

/** Formats a time in the user's time zone, without the date if that is today. @param timestamp RFC 3339 */
export const time = (timestamp: string, now: Date = new Date()) => {
  const date = new Date(timestamp)
  return dayOf(date) === dayOf(now) ? clockOf(date) : `${dayOf(date)} ${clockOf(date)}`
}

/** Formats a time with milliseconds. */
export const preciseTime = (timestamp: string, now: Date = new Date()) =>
  `${time(timestamp, now)}.${pad(new Date(timestamp).getMilliseconds(), 3)}`

/** Seconds in their largest unit: `3 h`. */
const inUnit = (seconds: number) => {
  const [unit, size] = Object.entries({ d: 86_400, h: 3600, min: 60 }).find(([, each]) => seconds >= each) ?? ['s', 1]
  return `${Math.floor(seconds / size)} ${unit}`
}

/** Formats a duration in its largest unit: `3 h`. */
export const duration = (ms: number) => {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`
  return ms < 10_000 ? `${(ms / 1000).toFixed(1)} s` : inUnit(ms / 1000)
}

/** Time until a timestamp: `in 3 h`. */
export const ahead = (timestamp: string, now: Date = serverNow()) => {
  const seconds = Math.round((Date.parse(timestamp) - now.getTime()) / 1000)
  return seconds <= 0 ? 'due' : `in ${inUnit(seconds)}`
}

/** Formats the age of a timestamp: `3 h ago`. */
export const age = (timestamp: string, now: Date = serverNow()) => {
  const seconds = Math.floor((now.getTime() - Date.parse(timestamp)) / 1000)
  return seconds < 1 ? 'now' : `${inUnit(seconds)} ago`
}

/** Formats dollars, with more digits for small amounts. */
export const dollars = (amount: number) => {
  if (amount === 0) return '$0'
  return amount < 0.01 ? `$${amount.toPrecision(2)}` : `$${amount.toFixed(amount < 1 ? 4 : 2)}`
}

const aNumber = /^[$+−]?\d[\d,]*(\.\d+)?[KM]?( (ms|s|min|h|d|%)| \+ \d[\d,]*)?$/

/** Whether there are texts, and all are counts, amounts or durations: `1,204`, `$0.05`, `40 ms`, `33 + 8`. */
export const areNumbers = (texts: readonly string[]) => texts.length > 0 && texts.every((text) => aNumber.test(text))

type Tone = 'wait' | 'work' | 'bad' | 'calm' | 'still'

/** The tones that states have, except for calm ones. */
const toned: readonly (readonly [Tone, ...string[]])[] = [
  ['still', 'draft', 'deprecated', 'retired', 'info', 'off', 'untested', 'not known'],
  ['wait', 'pending', 'pending_review', 'in_review', 'pending_approval', 'awaiting_input', 'awaiting_connection'],
  ['wait', 'staged', 'paused', 'requires_action', 'queued', 'waiting', 'retrying', 'warning', 'draining'],
  ['work', 'working', 'thinking', 'acting', 'deciding', 'executing', 'running', 'attempting', 'approved'],
  ['work', 'syncing', 'fetching', 'extracting', 'embedding'],
  ['bad', 'failed', 'error', 'cancelled', 'interrupted', 'rejected', 'expired', 'deleted', 'parked'],
  ['bad', 'blocker', 'quarantined', 'failing', 'disabled', 'not answering'],
]

const tones = new Map(toned.flatMap(([tone, ...states]) => states.map((state) => [state, tone] as const)))

/** Display name of an actor's machine. */
export const machineName = (machine: string) => machine.replaceAll('_', ' ').replace(/^mcp\b/, 'MCP')

/** A state in words: the innermost part of its path. @param state dotted path or status */
export const stateName = (state: string) => (state.split('.').at(-1) ?? state).replaceAll('_', ' ')

/** The colour of a state, by the innermost part of its path that has one. @param state dotted path or status */
export const toneOf = (state: string): Tone =>
  tones.get(state.split('.').findLast((part) => tones.has(part)) ?? '') ?? 'calm'
