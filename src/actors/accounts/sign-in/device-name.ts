/** Names of browsers by what their `User-Agent` contains; the first match counts, since most contain those of others. */
const browsers = [
  ['Edg', 'Edge'],
  ['OPR/', 'Opera'],
  ['Firefox/', 'Firefox'],
  ['Chrome/', 'Chrome'],
  ['Safari/', 'Safari'],
] as const

const systems = [
  ['Android', 'Android'],
  ['iPhone', 'iOS'],
  ['iPad', 'iPadOS'],
  ['Windows', 'Windows'],
  ['Mac OS X', 'macOS'],
  ['CrOS', 'ChromeOS'],
  ['Linux', 'Linux'],
] as const

/**
 * Returns a short name of the device of a sign-in, such as `Firefox on Linux`: enough for its member to recognise it. Any
 * other client is named by the first word of its header.
 */
export const deviceName = (userAgent = ''): string | null => {
  const [browser, system] = [browsers, systems].map((names) => names.find(([part]) => userAgent.includes(part))?.[1])
  if (browser !== undefined) return system === undefined ? browser : `${browser} on ${system}`
  const word = /^[\w.-]{1,40}/.exec(userAgent)
  return word === null ? null : word[0]
}
