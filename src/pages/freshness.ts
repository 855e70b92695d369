const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** Parses a freshness limit, a duration such as `7d` or a date, to ms since the epoch; null when it is neither. */
export const freshSince = (text: string, now: number): number | null => {
  const relative = /^(\d{1,4})(h|d|w|m|y)$/i.exec(text.trim())
  if (relative === null) return /^\d{4}-\d\d-\d\d/.test(text.trim()) ? timeOf(text) : null
  const count = Number(relative[1])
  const unit = relative[2]?.toLowerCase()
  if (unit === 'h') return now - count * hourMs
  if (unit === 'd') return now - count * dayMs
  if (unit === 'w') return now - count * 7 * dayMs
  const since = new Date(now)
  if (unit === 'y') since.setUTCFullYear(since.getUTCFullYear() - count)
  else since.setUTCMonth(since.getUTCMonth() - count)
  return since.getTime()
}

const timeOf = (text: string): number | null => {
  const time = Date.parse(text)
  return Number.isNaN(time) ? null : time
}
