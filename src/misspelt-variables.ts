import { distance } from 'fastest-levenshtein'
import { providers } from '../specs/data/providers.ts'
import { configVariables } from './config.ts'

/** An unknown environment variable, and the known one that is probably meant. */
export interface Misspelt {
  readonly name: string
  readonly meant: string
}

type Environment = Readonly<Record<string, string | undefined>>

/** Minimum length of names to compare; shorter ones resemble too many others. */
const minLength = 8

/** Variables of prices and limits are read only together with a key, so that they are added here. */
const known: readonly string[] = [
  ...configVariables(),
  ...providers.flatMap(({ env }) => [`${env}_PRICES`, `${env}_LIMITS`]),
]
const all: ReadonlySet<string> = new Set(known.flatMap((name) => [name, `${name}_FILE`]))

/**
 * Returns variables whose names nearly match one of the configuration: `MONGODB_URI` in place of `MONGODB_URL` would
 * silently store the data in SQLite. If the similar variable is set as well, the unknown one is assumed to belong to
 * another program.
 */
export const misspeltIn = (env: Environment): readonly Misspelt[] =>
  Object.keys(env).flatMap((name) => {
    const meant = all.has(name) ? undefined : meantBy(name)
    return meant === undefined || isSet(env, meant) || isSet(env, `${meant}_FILE`) ? [] : [{ name, meant }]
  })

const isSet = (env: Environment, name: string): boolean => (env[name] ?? '') !== ''

const prefix = 'TROUPE_'

const meantBy = (name: string): string | undefined => {
  const own = name.startsWith(prefix) ? name.slice(prefix.length) : undefined
  if (own !== undefined && all.has(own)) return own
  return known.find((each) => each.length >= minLength && isNear(each, own ?? name))
}

/**
 * Whether the names are similar. Key variables may differ by one letter only, since some providers' names differ by
 * two.
 */
const isNear = (name: string, written: string): boolean => {
  const max = name.endsWith('_API_KEY') ? 1 : 2
  if (name[0] !== written[0] || Math.abs(name.length - written.length) > max) return false
  return distance(name, written.toUpperCase()) <= max
}
