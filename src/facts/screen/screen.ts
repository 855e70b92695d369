import { hasClearSecret } from './clear-secrets.ts'
import { withoutHidden } from './hidden-characters.ts'
import { isInjection } from './instructions/instructions.ts'

/** Reason why a text may not be stored. */
type ScreenReason = 'empty' | 'secret'

/** The text to store, or the reason why it may not be stored. */
export type Screened =
  | {
      readonly ok: true
      readonly content: string
      /** Whether it seems to contain instructions to a model, which must not read them as such. */
      readonly instructs: boolean
    }
  | { readonly ok: false; readonly reason: ScreenReason }

/** Additional checks of the caller. */
export interface ScreenOptions {
  /** Detects keys and tokens that the rules here do not know, for example with the gateway's recognisers. */
  readonly isSecret?: (content: string) => boolean
}

/**
 * Screens a text before it is stored as a memory: hidden characters are removed, secrets are refused. Instructions to a
 * model are only recognised, and kept from models when memories are recalled, since a request of the user's own reads alike
 * (specs/decisions/0276-instructions-in-memories.md).
 */
export const screen = (content: string, { isSecret }: ScreenOptions = {}): Screened => {
  const { text, hides } = withoutHidden(content)
  const shown = text.trim()
  if (shown === '') return { ok: false, reason: 'empty' }
  if (hasClearSecret(shown) || isSecret?.(shown) === true) return { ok: false, reason: 'secret' }
  return { ok: true, content: shown, instructs: hides || isInjection(shown) }
}
