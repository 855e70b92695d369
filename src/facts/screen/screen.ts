import { hasClearSecret } from './clear-secrets.ts'
import { withoutHidden } from './hidden-characters.ts'
import { isInjection } from './injection.ts'

/** Why a content may not be kept. */
export type ScreenReason = 'empty' | 'hidden_characters' | 'prompt_injection' | 'secret'

/** A content as it may be kept, or why it may not. */
export type Screened =
  | { readonly ok: true; readonly content: string }
  | { readonly ok: false; readonly reason: ScreenReason }

/** What the caller knows beside the rules here. */
export interface ScreenOptions {
  /** Finds keys and tokens that the rules here do not know, such as the gateway's recognisers. */
  readonly isSecret?: (content: string) => boolean
}

/** Examines what would be remembered: hidden characters go, orders to a model and secrets are refused. */
export const screen = (content: string, { isSecret }: ScreenOptions = {}): Screened => {
  const { text, hides } = withoutHidden(content)
  const shown = text.trim()
  if (shown === '') return { ok: false, reason: 'empty' }
  if (hides) return { ok: false, reason: 'hidden_characters' }
  if (hasClearSecret(shown) || isSecret?.(shown) === true) return { ok: false, reason: 'secret' }
  if (isInjection(shown)) return { ok: false, reason: 'prompt_injection' }
  return { ok: true, content: shown }
}
