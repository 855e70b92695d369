/**
 * Parses a Retry-After header: seconds, or a date of HTTP (RFC 9110, section 10.2.3). Returns ms from now, and 0 for a
 * date in the past; null for anything else.
 *
 * @param now ms since the epoch.
 */
export const retryAfterMs = (header: string | null, now: number): number | null => {
  const text = header?.trim() ?? ''
  if (/^\d{1,15}$/.test(text)) return Number(text) * 1000
  if (!httpDate.test(text)) return null
  const at = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`)
  return Number.isNaN(at) ? null : Math.max(0, at - now)
}

/** The three forms of a date in HTTP (RFC 9110, section 5.6.7). */
const httpDate =
  /^(?:[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT|[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT|[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4})$/
