/** Offset of the server's clock in ms, from the `date` header of its answers. Ages and countdowns use the server's time, since a browser's clock may be minutes off. */
let aheadMs = 0

/** @param {string | null} date value of the header `date` */
export const noteServerDate = (date) => {
  const at = Date.parse(date ?? '')
  // the header has whole seconds
  if (Number.isFinite(at)) aheadMs = Math.abs(at - Date.now()) > 2000 ? at - Date.now() : 0
}

/** The current time by the server's clock. */
export const serverNow = () => new Date(Date.now() + aheadMs)

/** @param {number} value @param {number} [digits] */
const pad = (value, digits = 2) => String(value).padStart(digits, '0')

/** @param {Date} date */
const dayOf = (date) => `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`

/** @param {Date} date */
const clockOf = (date) => `${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}`

/** Formats a time in the user's time zone, without the date if that is today. @param {string} timestamp RFC 3339 @param {Date} [now] */
export const time = (timestamp, now = new Date()) => {
  const date = new Date(timestamp)
  return dayOf(date) === dayOf(now) ? clockOf(date) : `${dayOf(date)} ${clockOf(date)}`
}

/** Formats a time with milliseconds. @param {string} timestamp @param {Date} [now] */
export const preciseTime = (timestamp, now = new Date()) =>
  `${time(timestamp, now)}.${pad(new Date(timestamp).getMilliseconds(), 3)}`

/** Seconds in their largest unit: `3 h`. @param {number} seconds */
const inUnit = (seconds) => {
  const [unit, size] = Object.entries({ d: 86_400, h: 3600, min: 60 }).find(([, each]) => seconds >= each) ?? ['s', 1]
  return `${Math.floor(seconds / size)} ${unit}`
}

/** Formats a duration in its largest unit: `3 h`. @param {number} ms */
export const duration = (ms) => {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`
  return ms < 10_000 ? `${(ms / 1000).toFixed(1)} s` : inUnit(ms / 1000)
}

/** Time until a timestamp: `in 3 h`. @param {string} timestamp @param {Date} [now] */
export const ahead = (timestamp, now = serverNow()) => {
  const seconds = Math.round((Date.parse(timestamp) - now.getTime()) / 1000)
  return seconds <= 0 ? 'due' : `in ${inUnit(seconds)}`
}

/** Formats the age of a timestamp: `3 h ago`. @param {string} timestamp @param {Date} [now] */
export const age = (timestamp, now = serverNow()) => {
  const seconds = Math.floor((now.getTime() - Date.parse(timestamp)) / 1000)
  return seconds < 1 ? 'now' : `${inUnit(seconds)} ago`
}

/** Formats dollars, with more digits for small amounts. @param {number} amount */
export const dollars = (amount) => {
  if (amount === 0) return '$0'
  return amount < 0.01 ? `$${amount.toPrecision(2)}` : `$${amount.toFixed(amount < 1 ? 4 : 2)}`
}

const aNumber = /^[$+−]?\d[\d,]*(\.\d+)?[KM]?( (ms|s|min|h|d|%)| \+ \d[\d,]*)?$/

/** Whether there are texts, and all are counts, amounts or durations: `1,204`, `$0.05`, `40 ms`, `33 + 8`. @param {readonly string[]} texts */
export const areNumbers = (texts) => texts.length > 0 && texts.every((text) => aNumber.test(text))

/** @typedef {'wait' | 'work' | 'bad' | 'calm' | 'still'} Tone */

/** The tones that states have, except for calm ones. @type {readonly (readonly [Tone, ...string[]])[]} */
const toned = [
  ['still', 'draft', 'deprecated', 'retired', 'info', 'off'],
  [
    'wait',
    'pending',
    'pending_review',
    'staged',
    'paused',
    'requires_action',
    'queued',
    'waiting',
    'retrying',
    'in_review',
    'warning',
    'draining',
  ],
  ['wait', 'pending_approval', 'awaiting_input', 'awaiting_connection'],
  ['work', 'working', 'thinking', 'acting', 'deciding', 'executing', 'running', 'attempting', 'approved'],
  ['work', 'syncing', 'fetching', 'extracting', 'embedding'],
  ['bad', 'failed', 'error', 'cancelled', 'interrupted', 'rejected', 'expired', 'deleted', 'parked'],
  ['bad', 'blocker', 'quarantined', 'failing', 'disabled', 'not answering'],
]

const tones = new Map(toned.flatMap(([tone, ...states]) => states.map((state) => /** @type {const} */ ([state, tone]))))

/** Display name of an actor's machine. @param {string} machine */
export const machineName = (machine) => machine.replaceAll('_', ' ').replace(/^mcp\b/, 'MCP')

/** A state in words: the innermost part of its path. @param {string} state dotted path or status */
export const stateName = (state) => (state.split('.').at(-1) ?? state).replaceAll('_', ' ')

/** The colour of a state, by the innermost part of its path that has one. @param {string} state dotted path or status @returns {Tone} */
export const toneOf = (state) => tones.get(state.split('.').findLast((part) => tones.has(part)) ?? '') ?? 'calm'
