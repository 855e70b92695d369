import type { SecretBox } from '#records/secret-box.ts'

/** A sealed key in the clear; null for one that cannot be opened any more, as after a move to another master key. */
export const openedKey = (box: Pick<SecretBox, 'open'>, sealed: string, aad: string): string | null => {
  try {
    return box.open(sealed, aad)
  } catch {
    return null
  }
}

/** The error for work with such a key. */
export const lostKeyMessage = 'The key can no longer be decrypted. Set it again.'
