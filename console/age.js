import { serverNow } from './server-time.js'

/** @type {readonly (readonly [string, number])[]} */
const units = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
  ['s', 1],
]

/** Formats a duration in its largest unit: `3 h`. @param {number} ms */
export const duration = (ms) => {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`
  const seconds = ms / 1000
  if (seconds < 10) return `${seconds.toFixed(1)} s`
  const [unit, size] = units.find(([, each]) => seconds >= each) ?? ['s', 1]
  return `${Math.floor(seconds / size)} ${unit}`
}

/** Formats the age of a timestamp: `3 h ago`. @param {string} timestamp @param {Date} [now] */
export const age = (timestamp, now = serverNow()) => {
  const ms = now.getTime() - Date.parse(timestamp)
  const seconds = Math.floor(ms / 1000)
  if (seconds < 1) return 'now'
  const [unit, size] = units.find(([, each]) => seconds >= each) ?? ['s', 1]
  return `${Math.floor(seconds / size)} ${unit} ago`
}
