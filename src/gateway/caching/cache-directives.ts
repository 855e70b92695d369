import type { CacheHeaders, CachePolicy } from '../call/reuse.ts'

/** What a caller permits, on the basis of the project's policy. */
export interface Directives {
  readonly mode: 'off' | 'exact' | 'semantic'
  /** Whether stored answers are read. */
  readonly reads: boolean
  /** Most ms since an answer was made. */
  readonly maxAgeMs: number
}

const maxLength = 512
const modes: ReadonlySet<string> = new Set(['off', 'exact', 'semantic'])

const isMode = (mode: string): mode is Directives['mode'] => modes.has(mode)

/** Reads the headers of a call; unknown values and directives are ignored. */
export const directivesOf = (policy: CachePolicy, { cacheControl = '', cacheMode = '' }: CacheHeaders): Directives => {
  const given = cacheMode.trim().toLowerCase()
  const usual = policy.mode === 'on_request' ? 'off' : policy.mode
  const words = cacheControl.slice(0, maxLength).toLowerCase().split(',')
  const directives = new Map(words.map((word) => splitAt(word, word.indexOf('='))))
  const seconds = Number(directives.get('max-age') || Number.NaN)
  return {
    mode: directives.has('no-store') ? 'off' : isMode(given) ? given : usual,
    reads: !directives.has('no-cache'),
    maxAgeMs: Number.isFinite(seconds) ? Math.max(0, seconds * 1000) : Number.POSITIVE_INFINITY,
  }
}

const splitAt = (word: string, at: number): readonly [name: string, value: string] =>
  at < 0 ? [word.trim(), ''] : [word.slice(0, at).trim(), word.slice(at + 1).trim()]
