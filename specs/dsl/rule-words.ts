/** Pattern of a version in semantic versioning 2.0. */
export const semverPattern =
  '^(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)(-[0-9A-Za-z-]+(\\.[0-9A-Za-z-]+)*)?(\\+[0-9A-Za-z-]+(\\.[0-9A-Za-z-]+)*)?$'

/** Descriptions of patterns, for error messages. */
export const patternWords: Readonly<Record<string, string>> = {
  [semverPattern]: 'a semantic version such as 1.2.0 or 2.0.0-rc.1',
  '^https?://': 'an http:// or https:// URL',
  '^[a-zA-Z0-9_-]+$': 'made of letters, digits, _ and - only',
  '^[!-~]+$': 'visible ASCII characters without spaces',
  '^\\d{1,9}(\\.\\d{1,18})?$': 'a decimal number as text, such as "12.50"',
}

/** Descriptions of formats, for error messages. */
export const formatWords: Readonly<Record<string, string>> = {
  'date-time': 'a time with its zone, such as 2026-01-31T00:00:00Z',
  date: 'a day such as 2026-01-31',
  email: 'an e-mail address',
  uri: 'a URL',
  uuid: 'a UUID',
}
