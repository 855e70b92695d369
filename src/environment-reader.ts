import { readFileSync } from 'node:fs'

/** Environment variables. */
export type Environment = Readonly<Record<string, string | undefined>>

/** Variables that hold a secret. */
const isSecret =
  /_API_KEY$|^(MASTER_KEY|MASTER_KEY_PREVIOUS|MONGODB_URL|REDIS_URL|REDIS_SENTINEL_PASSWORD|BOOTSTRAP_SECRET_KEY|BOOTSTRAP_OWNER_PASSWORD|WEB_SEARCH_ENGINES)$/

/** Reads environment variables, and records those with invalid values. */
export class EnvironmentReader {
  readonly problems: string[] = []
  readonly names: string[] = []
  readonly #env: Environment

  constructor(env: Environment) {
    this.#env = env
  }

  /** Returns the parsed value; undefined when the variable is unset, or invalid, which is recorded as a problem. */
  value<T>(name: string, parse: (text: string) => T | undefined, takes: string): T | undefined {
    this.names.push(name)
    const text = this.#textOf(name)
    if (text === undefined || text === '') return undefined
    const value = parse(text)
    if (value === undefined) this.problems.push(`${name} must be ${takes}`)
    return value
  }

  /** Returns the text of a variable; undefined also for an unreadable file, which is recorded as a problem. */
  #textOf(name: string): string | undefined {
    const text = this.#env[name]?.trim()
    const file = isSecret.test(name) ? this.#env[`${name}_FILE`]?.trim() : undefined
    if (file === undefined || file === '') return text
    if (text !== undefined && text !== '') {
      this.problems.push(`${name} and ${name}_FILE are both set: unset one of them`)
      return undefined
    }
    try {
      const secret = readFileSync(file, 'utf8').trim()
      // if it counted as unset, data would go to another store, or be encrypted with another key
      if (secret === '') this.problems.push(`${name}_FILE names a file that is empty`)
      return secret
    } catch {
      this.problems.push(`${name}_FILE must be the path of a file that this user may read`)
      return undefined
    }
  }
}

/** Parses a text of a pattern. */
export const matching =
  (pattern: RegExp) =>
  (text: string): string | undefined =>
    pattern.test(text) ? text : undefined

/**
 * Parses an HTTP URL. Whitespace is refused: the URL parser ignores line ends and tabs, but they would end up in
 * headers and logs.
 */
export const httpUrlOf = (text: string): string | undefined => {
  const url = /[\s\p{Cc}]/u.test(text) ? null : URL.parse(text)
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return undefined
  return url.search === '' && url.hash === '' ? text.replace(/(?<!\/)\/+$/, '') : undefined
}
