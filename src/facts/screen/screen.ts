import { hasClearSecret } from './clear-secrets.ts'
import { withoutHidden } from './hidden-characters.ts'
import { isInjection } from './injection.ts'

/** Reason why a text may not be stored. */
export type ScreenReason = 'empty' | 'hidden_characters' | 'prompt_injection' | 'secret'

/** The text to store, or the reason why it may not be stored. */
export type Screened =
  | { readonly ok: true; readonly content: string }
  | { readonly ok: false; readonly reason: ScreenReason }

/** Additional checks of the caller. */
export interface ScreenOptions {
  /** Detects keys and tokens that the rules here do not know, for example with the gateway's recognisers. */
  readonly isSecret?: (content: string) => boolean
}

/**
 * Screens a text before it is stored as a memory: hidden characters are removed; instructions to a model, and secrets,
 * are refused.
 */
export const screen = (content: string, { isSecret }: ScreenOptions = {}): Screened => {
  const { text, hides } = withoutHidden(content)
  const shown = text.trim()
  if (shown === '') return { ok: false, reason: 'empty' }
  if (hides) return { ok: false, reason: 'hidden_characters' }
  if (hasClearSecret(shown) || isSecret?.(shown) === true) return { ok: false, reason: 'secret' }
  if (isInjection(shown)) return { ok: false, reason: 'prompt_injection' }
  return { ok: true, content: shown }
}
