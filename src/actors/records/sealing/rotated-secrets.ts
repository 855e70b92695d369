import { openedOrNull, type SecretBox } from '../secret-box.ts'
import { newSigningSecret } from '../secrets.ts'

/** A signing secret and those before it, as a record has them. */
export interface SealedSecrets {
  /** Sealed. */
  readonly secret: string
  /** The secrets of before that may still sign, newest first, sealed together; null for none. */
  readonly previous: string | null
  /** When the last of these ends, in ms since the epoch; null for none. */
  readonly untilMs: number | null
}

/** Secrets of before that sign at a time: a further rotation ends the one of these with the least time left. */
const maxPrevious = 4

interface PreviousSecret {
  readonly secret: string
  readonly untilMs: number
}

/** How the secrets of one record are sealed. */
export interface SealedBy {
  readonly box: SecretBox
  readonly aad: string
  /** In ms since the epoch. */
  readonly now: number
}

/** Returns the secrets that sign now, the newest first. */
export const signingSecrets = (held: SealedSecrets, by: SealedBy): readonly string[] => [
  by.box.open(held.secret, by.aad),
  ...previousOf(held, by).map(({ secret }) => secret),
]

/** Puts a new secret in place of the current one, which signs until `untilMs` as well. */
export const rotatedSecrets = (held: SealedSecrets, untilMs: number, by: SealedBy): SealedSecrets => {
  const { box, aad, now } = by
  // a secret that cannot be opened any more never signs, and must not prevent a new one
  const secret = openedOrNull(box, held.secret, aad)
  // the secret that receivers have now signs for its own time, however much more the others have left
  const replaced = secret === null || untilMs <= now ? [] : [{ secret, untilMs }]
  const kept = [...replaced, ...longest(previousOf(held, by), maxPrevious - replaced.length)]
  const text = kept.map((each) => `${each.untilMs} ${each.secret}`).join('\n')
  return {
    secret: box.seal(newSigningSecret(), aad),
    previous: kept.length === 0 ? null : box.seal(text, aad),
    untilMs: kept.length === 0 ? null : Math.max(...kept.map((each) => each.untilMs)),
  }
}

const longest = (secrets: readonly PreviousSecret[], count: number): readonly PreviousSecret[] => {
  const minEnd = secrets.map((each) => each.untilMs).sort((a, b) => b - a)[count - 1] ?? 0
  return secrets.filter((each) => each.untilMs >= minEnd).slice(0, count)
}

/** Rows of earlier releases have one secret by itself, which ends with `untilMs`. */
const previousOf = ({ previous, untilMs }: SealedSecrets, { box, aad, now }: SealedBy): readonly PreviousSecret[] => {
  if (previous === null || untilMs === null || untilMs <= now) return []
  const lines = (openedOrNull(box, previous, aad) ?? '').split('\n').map((line) => line.split(' '))
  return lines
    .map(([first = '', secret]) =>
      secret === undefined ? { secret: first, untilMs } : { secret, untilMs: Number(first) },
    )
    .filter((each) => each.secret !== '' && each.untilMs > now)
}
